"""Domain to wire: the JSON of each kind of answer, as plain dictionaries; of lists, which may be long, as bytes.

Their shapes are those of `keybearer.wire`, which the contract tests hold every answer against.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import orjson

from keybearer.base.slices import in_slices
from keybearer.domain.folders import FolderView
from keybearer.domain.identity_lookup import IdentityView
from keybearer.domain.identity_memberships import IdentityMembership
from keybearer.domain.issuing import IssuedToken
from keybearer.domain.projects import ProjectView
from keybearer.domain.secrets.questions import SecretListing, ShownImport, ShownSecret
from keybearer.store.records import (
    ClientSecret,
    Identity,
    Membership,
    UniversalAuth,
)
from keybearer.wire.base import write_instant

__all__ = [
    "client_secret_json",
    "folder_json",
    "folder_with_environment_json",
    "identity_detail_json",
    "identity_json",
    "identity_membership_json",
    "identity_view_json",
    "listing_body",
    "membership_json",
    "project_json",
    "secret_json",
    "token_json",
    "universal_auth_json",
]

Json = dict[str, object]


def secret_json(shown: ShownSecret) -> Json:
    """Return a secret (wire.md section 2.1)."""
    secret = shown.secret
    details = secret.details
    answer: Json = {
        "id": secret.id,
        "_id": secret.id,
        "workspace": secret.project_id,
        "projectId": secret.project_id,
        "environment": secret.environment,
        "version": secret.version,
        "type": "personal" if secret.owner else "shared",
        "secretKey": secret.key,
        "secretValue": shown.value,
        "secretComment": details.comment,
        "createdAt": write_instant(secret.created_at),
        "updatedAt": write_instant(secret.updated_at),
        "secretValueHidden": shown.hidden,
        "secretPath": secret.path,
        "skipMultilineEncoding": secret.skip_multiline_encoding,
        "secretReminderNote": details.reminder_note,
        "secretReminderRepeatDays": details.reminder_repeat_days,
        "secretReminderRecipients": details.reminder_recipients,
        "secretMetadata": [
            {"key": item.key, "value": item.value, "isEncrypted": item.is_encrypted}
            for item in details.metadata
        ],
        "tags": [
            {"id": tag.id, "slug": tag.slug, "color": tag.color, "name": tag.name} for tag in secret.tags
        ],
        "isRotatedSecret": False,
    }
    if secret.owner:
        answer["user"] = secret.owner
    return answer


async def listing_body(listing: SecretListing) -> bytes:
    """Return a list as JSON, rendered in slices; `imports` is never null (wire.md section 2.2)."""
    blocks: list[bytes] = []
    for block in listing.imports:
        blocks.append(await _import_body(block))
        await asyncio.sleep(0)  # a thousand short blocks are as long as a few long ones
    return b'{"secrets":%b,"imports":[%b]}' % (await _secrets_body(listing.secrets), b",".join(blocks))


async def _import_body(block: ShownImport) -> bytes:
    place = {"secretPath": block.path, "environment": block.environment, "folderId": block.folder_id}
    return b'%b,"secrets":%b}' % (orjson.dumps(place)[:-1], await _secrets_body(block.secrets))


async def _secrets_body(secrets: Sequence[ShownSecret]) -> bytes:
    """Return a JSON array; of ten thousand secrets only a slice exists as dictionaries at a time."""
    slices = [orjson.dumps([secret_json(shown) for shown in some])[1:-1] async for some in in_slices(secrets)]
    return b"[%b]" % b",".join(slices)


def token_json(issued: IssuedToken) -> Json:
    """Return the answer of login and renew (wire.md section 1.2)."""
    return {
        "accessToken": issued.text,
        "expiresIn": issued.terms.expires_in,
        "accessTokenMaxTTL": issued.terms.max_ttl,
        "tokenType": "Bearer",
    }


def project_json(view: ProjectView) -> Json:
    """Return a project (wire.md section 2.10)."""
    project = view.project
    return {
        "id": project.id,
        "_id": project.id,
        "name": project.name,
        "slug": project.slug,
        "description": project.description,
        "type": project.type,
        "orgId": project.organization_id,
        "autoCapitalization": project.auto_capitalization,
        "version": 3,
        "upgradeStatus": None,
        "hasDeleteProtection": project.has_delete_protection,
        "auditLogsRetentionDays": None,
        "createdAt": write_instant(project.created_at),
        "updatedAt": write_instant(project.updated_at),
        "environments": [{"id": item.id, "name": item.name, "slug": item.slug} for item in view.environments],
    }


def folder_json(view: FolderView, *, relative_to: str | None = None) -> Json:
    """Return a folder (wire.md section 2.9), with its path under another where one is given."""
    folder = view.folder
    modified = folder.last_secret_modified
    answer: Json = {
        "id": folder.id,
        "name": folder.name,
        "version": folder.version,
        "createdAt": write_instant(folder.created_at),
        "updatedAt": write_instant(folder.updated_at),
        "envId": folder.environment_id,
        "parentId": folder.parent_id,
        "isReserved": folder.is_reserved,
        "description": folder.description,
        "lastSecretModified": None if modified is None else write_instant(modified),
        "path": folder.path,
    }
    if relative_to is not None:
        answer["relativePath"] = folder.path.removeprefix(relative_to.rstrip("/"))
    return answer


def folder_with_environment_json(view: FolderView) -> Json:
    """Return a folder that was asked for by its id."""
    environment = view.environment
    return {
        **folder_json(view),
        "projectId": environment.project_id,
        "environment": {
            "envId": environment.id,
            "envName": environment.name,
            "envSlug": environment.slug,
        },
    }


def identity_json(identity: Identity) -> Json:
    """Return a machine identity as lists have it (wire.md section 1.4)."""
    return {
        "id": identity.id,
        "name": identity.name,
        "orgId": identity.organization_id,
        "role": identity.role,
        "createdAt": write_instant(identity.created_at),
        "updatedAt": write_instant(identity.updated_at),
    }


def identity_view_json(view: IdentityView) -> Json:
    """Return a machine identity with its ways to log in."""
    return {
        **identity_json(view.identity),
        "hasDeleteProtection": False,
        "authMethods": view.auth_methods,
        "metadata": [],
    }


def identity_detail_json(view: IdentityView) -> Json:
    """Return a machine identity as it is read: Terraform's provider looks for it one level deeper."""
    return {**identity_view_json(view), "identity": _identity_itself_json(view)}


def universal_auth_json(auth: UniversalAuth) -> Json:
    """Return a Universal Auth configuration (wire.md sections 1.2 and 1.4)."""
    return {
        "id": auth.id,
        "clientId": auth.client_id,
        "identityId": auth.identity_id,
        "accessTokenTTL": auth.access_token_ttl,
        "accessTokenMaxTTL": auth.access_token_max_ttl,
        "accessTokenNumUsesLimit": auth.access_token_num_uses_limit,
        "accessTokenPeriod": auth.access_token_period,
        "accessTokenTrustedIps": _addresses(auth.access_token_trusted_ips),
        "clientSecretTrustedIps": _addresses(auth.client_secret_trusted_ips),
        "lockoutEnabled": auth.lockout_enabled,
        "lockoutThreshold": auth.lockout_threshold,
        "lockoutDurationSeconds": auth.lockout_duration_seconds,
        "lockoutCounterResetSeconds": auth.lockout_counter_reset_seconds,
        "createdAt": write_instant(auth.created_at),
        "updatedAt": write_instant(auth.updated_at),
    }


def client_secret_json(secret: ClientSecret, auth_id: str) -> Json:
    """Return a client secret, without its text."""
    used = secret.last_used_at
    return {
        "id": secret.id,
        "description": secret.description,
        "clientSecretPrefix": secret.prefix,
        "clientSecretNumUses": secret.num_uses,
        "clientSecretNumUsesLimit": secret.num_uses_limit,
        "clientSecretTTL": secret.ttl,
        "isClientSecretRevoked": secret.revoked,
        "identityUAId": auth_id,
        "clientSecretLastUsedAt": None if used is None else write_instant(used),
        "createdAt": write_instant(secret.created_at),
        "updatedAt": write_instant(secret.updated_at),
    }


def membership_json(membership: Membership) -> Json:
    """Return an identity's roles in a project."""
    return {
        "id": membership.id,
        "projectId": membership.project_id,
        "identityId": membership.identity_id,
        "roles": [{"role": role} for role in membership.roles],
        "createdAt": write_instant(membership.created_at),
        "updatedAt": write_instant(membership.updated_at),
    }


def identity_membership_json(found: IdentityMembership) -> Json:
    """Return an identity's roles in a project, with both sides."""
    return {
        **membership_json(found.membership),
        "identity": _identity_itself_json(found.identity),
        "project": {"id": found.project.id, "name": found.project.name},
    }


def _identity_itself_json(view: IdentityView) -> Json:
    return {
        "id": view.identity.id,
        "name": view.identity.name,
        "hasDeleteProtection": False,
        "authMethods": view.auth_methods,
    }


def _addresses(ranges: Iterable[str]) -> list[Json]:
    return [{"ipAddress": address} for address in ranges]
