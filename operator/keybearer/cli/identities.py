"""`keybearer identities`: machine identities and their client secrets."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.auth_methods import kubernetes_auth, ldap_auth
from keybearer.cli.connecting import connected, project_id_of
from keybearer.cli.failures import CommandError, ExitStatus, failure_of, misused
from keybearer.cli.identity_finding import WhichIdentity, identity_id_of, organization_id_of
from keybearer.cli.nouns import Noun
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    note,
    print_done,
    print_fields,
    print_json,
    require_confirmed,
)
from keybearer.cli.sync_owners import Heir, part_from_syncs
from keybearer.wire.roles import OrganizationRoleSlug, ProjectRoleSlug

if TYPE_CHECKING:
    from keybearer.client import ClientSecret, Identity, Keybearer

__all__ = ["identities"]

identities = new_group("List, create and delete machine identities.")
client_secrets = new_group("What an identity logs in with.")
identities.add_typer(client_secrets, name="client-secret")
identities.add_typer(kubernetes_auth, name="kubernetes-auth")
identities.add_typer(ldap_auth, name="ldap-auth")

IDENTITY: Noun[Identity] = Noun(
    "identity",
    ("NAME", "ROLE", "CREATED", "ID"),
    lambda one: (one.name, one.role, one.created_at, one.id),
)
CLIENT_SECRET: Noun[ClientSecret] = Noun(
    "client secret",
    ("BEGINS", "DESCRIPTION", "USES", "STATE", "CREATED", "ID"),
    lambda one: (
        one.client_secret_prefix,
        one.description,
        _uses(one.client_secret_num_uses, one.client_secret_num_uses_limit),
        "revoked" if one.is_client_secret_revoked else "good",
        one.created_at,
        one.id,
    ),
)
_SECRET_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_INTERRUPTED = CommandError("interrupted", ExitStatus.INTERRUPTED)


@identities.command("list")
def list_identities(output: Output = OutputFormat.TABLE) -> None:
    """List the machine identities of the organization."""
    with connected() as client:
        IDENTITY.print_list(output, client.identities.list())


@identities.command("create")
def create_identity(
    name: Annotated[str, typer.Argument(help="For people.")],
    role: Annotated[OrganizationRoleSlug, typer.Option(help="In the organization.")] = "no-access",
    project: Annotated[
        str | None, typer.Option("--project", "-p", help="Slug or id of a project that it joins.")
    ] = None,
    project_role: Annotated[ProjectRoleSlug, typer.Option(help="Its role there.")] = "viewer",
    output: Output = OutputFormat.TABLE,
) -> None:
    """Create an identity that logs in by client id.

    Then make its client secret: keybearer identities client-secret create.
    """
    with connected() as client:
        project_id = None if project is None else project_id_of(client, project)
        identity = client.identities.create(name, organization_id=organization_id_of(client), role=role)
        with _taken_back_on_failure(client, identity):
            settings = client.identities.universal_auth.attach(identity.id)
            if project_id is not None:
                client.memberships.put_identity(identity.id, project_id=project_id, roles=(project_role,))
    told = {**asdict(identity), "client_id": settings.client_id}
    print_fields(output, told, [("id", identity.id), ("client id", settings.client_id)])
    if output is OutputFormat.TABLE:
        note(f"Make what it logs in with: keybearer identities client-secret create {identity.id}")


@identities.command("delete")
def delete_identity(
    identity: WhichIdentity,
    transfer_syncs_to: Heir = None,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete an identity; its tokens end at once.

    Its syncs stop, unless --transfer-syncs-to.
    """
    with connected() as client:
        identity_id = identity_id_of(client, identity)
        who = f"identity {identity}"
        part_from_syncs(client, identity_id, who, transfer_syncs_to, f"Delete {who}?", yes=yes)
        deleted = client.identities.delete(identity_id)
    IDENTITY.print_done(output, deleted, "is deleted")


@client_secrets.command("create")
def create_client_secret(
    identity: WhichIdentity,
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
    ttl: Annotated[int, typer.Option(help="Seconds until it ends; 0 for never.", min=0)] = 0,
    uses: Annotated[int, typer.Option(help="How many logins it allows; 0 for any number.", min=0)] = 0,
    manifest: Annotated[
        str | None,
        typer.Option(
            help="Print a Secret of Kubernetes with this name instead, which has the login under clientId and "
            "clientSecret.",
            metavar="SECRET",
        ),
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make a client secret. It is shown only this once.

    With --manifest, `kubectl -n NAMESPACE apply --server-side --force-conflicts -f -` makes the Secret, or puts the
    new login into it. Other keys of the Secret stay.
    """
    if manifest is not None and not _SECRET_NAME.fullmatch(manifest):
        raise misused(f"--manifest: {manifest!r} is no name of a Secret")
    with connected() as client:
        identity_id = identity_id_of(client, identity)
        settings = client.identities.universal_auth.get(identity_id)
        made = client.identities.client_secrets.create(
            identity_id, description=description, ttl=ttl, num_uses_limit=uses
        )
    if manifest is not None:
        login = {"clientId": settings.client_id, "clientSecret": made.client_secret}
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in login.items()}
        print_json({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": manifest}, "data": encoded})
        return
    data, secret = made.client_secret_data, made.client_secret
    told = {"client_id": settings.client_id, "client_secret": secret, **asdict(data)}
    rows = [("client id", settings.client_id), ("client secret", secret), ("id", data.id)]
    print_fields(output, told, rows)
    if output is OutputFormat.TABLE:
        note("Keep the client secret now: it is not shown again.")


@client_secrets.command("list")
def list_client_secrets(identity: WhichIdentity, output: Output = OutputFormat.TABLE) -> None:
    """List an identity's client secrets, without their values."""
    with connected() as client:
        found = client.identities.client_secrets.list(identity_id_of(client, identity))
    CLIENT_SECRET.print_list(output, found)


@client_secrets.command("revoke")
def revoke_client_secret(
    identity: WhichIdentity,
    client_secret_id: Annotated[str, typer.Argument(help="Id of the client secret.")],
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Revoke a client secret."""
    require_confirmed(f"Revoke client secret {client_secret_id}?", yes=yes)
    with connected() as client:
        revoked = client.identities.client_secrets.revoke(identity_id_of(client, identity), client_secret_id)
    print_done(output, revoked, f"Client secret {revoked.client_secret_prefix}... is revoked.")


@contextmanager
def _taken_back_on_failure(client: Keybearer, identity: Identity) -> Iterator[None]:
    """Delete the identity if the block fails, so that the command can be repeated; say so where that fails too."""
    from keybearer.client import ClientError

    try:
        yield
    except (ClientError, KeyboardInterrupt) as error:
        try:
            client.identities.delete(identity.id)
        except ClientError:
            why = failure_of(error) if isinstance(error, ClientError) else _INTERRUPTED
            raise CommandError(
                f"{why}; identity {identity.name!r} is made, not ready to use, and can't be deleted now",
                why.status,
                f"Delete it, and begin anew: keybearer identities delete {identity.id}",
            ) from error
        raise


def _uses(so_far: int, limit: int) -> str:
    return f"{so_far} of {limit}" if limit else str(so_far)
