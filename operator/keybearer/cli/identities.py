"""`keybearer identities`: machine identities and their client secrets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.auth_methods import kubernetes_auth, ldap_auth
from keybearer.cli.connecting import connected, project_id_of
from keybearer.cli.failures import CommandError, ExitStatus, failure_of
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    note,
    print_done,
    print_found,
    print_json,
    print_table,
    require_confirmed,
)
from keybearer.cli.sync_owners import Heir, announce_syncs, hand_over, syncs_of
from keybearer.wire.roles import OrganizationRoleSlug, ProjectRoleSlug

if TYPE_CHECKING:
    from keybearer.client import Identity, Keybearer

__all__ = ["identities"]

identities = typer.Typer(
    help="List, create and delete machine identities.", no_args_is_help=True, rich_markup_mode=None
)
client_secrets = typer.Typer(
    help="What an identity logs in with.", no_args_is_help=True, rich_markup_mode=None
)
identities.add_typer(client_secrets, name="client-secret")
identities.add_typer(kubernetes_auth, name="kubernetes-auth")
identities.add_typer(ldap_auth, name="ldap-auth")

_INTERRUPTED = CommandError("interrupted", ExitStatus.INTERRUPTED)

IdentityId = Annotated[str, typer.Argument(help="Id of the identity.")]


@identities.command("list")
def list_identities(output: Output = OutputFormat.TABLE) -> None:
    """List the machine identities of the organization."""
    with connected() as client:
        found = client.identities.list()
    rows = [(identity.name, identity.role, identity.created_at, identity.id) for identity in found]
    print_found(output, found, ("NAME", "ROLE", "CREATED", "ID"), rows)


@identities.command("create")
def create_identity(
    name: Annotated[str, typer.Argument(help="For people.")],
    role: Annotated[OrganizationRoleSlug, typer.Option(help="In the organization.")] = "no-access",
    project: Annotated[
        str | None, typer.Option("--project", "-p", help="Slug or id of a project to put it into.")
    ] = None,
    project_role: Annotated[ProjectRoleSlug, typer.Option(help="Its role there.")] = "viewer",
    output: Output = OutputFormat.TABLE,
) -> None:
    """Create an identity that logs in by client id.

    Make it a client secret next: keybearer identities client-secret create.
    """
    with connected() as client:
        project_id = None if project is None else project_id_of(client, project)
        identity = client.identities.create(name, organization_id=_organization_id(client), role=role)
        with _taken_back_on_failure(client, identity):
            settings = client.identities.universal_auth.attach(identity.id)
            if project_id is not None:
                client.memberships.put_identity(identity.id, project_id=project_id, roles=(project_role,))
    if output is OutputFormat.JSON:
        print_json({**asdict(identity), "client_id": settings.client_id})
        return
    print_table(("FIELD", "CONTENT"), [("id", identity.id), ("client id", settings.client_id)])
    note(f"Make what it logs in with: keybearer identities client-secret create {identity.id}")


@identities.command("delete")
def delete_identity(
    identity_id: IdentityId,
    transfer_syncs_to: Heir = None,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete an identity; its tokens end at once.

    Its syncs stop, unless --transfer-syncs-to.
    """
    with connected() as client:
        owned = syncs_of(client, identity_id)
        announce_syncs(owned, f"identity {identity_id}", transfer_syncs_to)
        require_confirmed(f"Delete identity {identity_id}?", yes=yes)
        hand_over(client, owned, identity_id, transfer_syncs_to)
        deleted = client.identities.delete(identity_id)
    print_done(output, asdict(deleted), f"Identity {deleted.name} is deleted.")


@client_secrets.command("create")
def create_client_secret(
    identity_id: IdentityId,
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
    ttl: Annotated[int, typer.Option(help="Seconds until it ends; 0 for never.", min=0)] = 0,
    uses: Annotated[int, typer.Option(help="Logins it is good for; 0 for any number.", min=0)] = 0,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make a client secret, and print it this once."""
    with connected() as client:
        settings = client.identities.universal_auth.get(identity_id)
        made = client.identities.client_secrets.create(
            identity_id, description=description, ttl=ttl, num_uses_limit=uses
        )
    if output is OutputFormat.JSON:
        print_json(
            {
                "client_id": settings.client_id,
                "client_secret": made.client_secret,
                **asdict(made.client_secret_data),
            }
        )
        return
    print_table(
        ("FIELD", "CONTENT"),
        [
            ("client id", settings.client_id),
            ("client secret", made.client_secret),
            ("id", made.client_secret_data.id),
        ],
    )
    note("Keep the client secret now: it is not shown again.")


@client_secrets.command("list")
def list_client_secrets(identity_id: IdentityId, output: Output = OutputFormat.TABLE) -> None:
    """List what is known of an identity's client secrets."""
    with connected() as client:
        found = client.identities.client_secrets.list(identity_id)
    print_found(
        output,
        found,
        ("BEGINS", "DESCRIPTION", "USES", "STATE", "CREATED", "ID"),
        [
            (
                secret.client_secret_prefix,
                secret.description,
                _uses(secret.client_secret_num_uses, secret.client_secret_num_uses_limit),
                "revoked" if secret.is_client_secret_revoked else "good",
                secret.created_at,
                secret.id,
            )
            for secret in found
        ],
    )


@client_secrets.command("revoke")
def revoke_client_secret(
    identity_id: IdentityId,
    client_secret_id: Annotated[str, typer.Argument(help="Id of the client secret.")],
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """End a client secret."""
    require_confirmed(f"Revoke client secret {client_secret_id}?", yes=yes)
    with connected() as client:
        revoked = client.identities.client_secrets.revoke(identity_id, client_secret_id)
    print_done(output, asdict(revoked), f"Client secret {revoked.client_secret_prefix}... is revoked.")


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


def _organization_id(client: Keybearer) -> str:
    found = client.organizations.list()
    if not found:
        raise CommandError("you belong to no organization", ExitStatus.DENIED)
    return found[0].id


def _uses(so_far: int, limit: int) -> str:
    return f"{so_far} of {limit}" if limit else str(so_far)
