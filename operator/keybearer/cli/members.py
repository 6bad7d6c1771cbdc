"""`keybearer members`: who has which roles in a project, people and machine identities alike."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import ProjectName, connected, project_id_of
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_found,
    require_confirmed,
)
from keybearer.cli.sync_owners import Heir, announce_syncs, hand_over, syncs_of
from keybearer.cli.words import ProjectRole

if TYPE_CHECKING:
    from keybearer.client import IdentityMembership, Keybearer, UserMembership
    from keybearer.wire.roles import ProjectRoleSlug

__all__ = ["Member", "actor_id_of", "members"]

members = typer.Typer(
    help="Who is in a project, and with which roles.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Member = Annotated[str, typer.Argument(help="Email of a person, or id of a machine identity.")]


@members.command("list")
def list_members(project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """List people and machine identities of a project, with their roles."""
    with connected() as client:
        project_id = project_id_of(client, project)
        people = client.memberships.list_users(project_id=project_id)
        machines = client.memberships.list_identities(project_id=project_id)
        names = {identity.id: identity.name for identity in client.identities.list()} if machines else {}
    rows = [("person", one.user.email, _roles(one), one.user.id) for one in people]
    rows += [("machine", names.get(one.identity_id, ""), _roles(one), one.identity_id) for one in machines]
    print_found(output, {"users": people, "identities": machines}, ("KIND", "WHO", "ROLES", "ID"), rows)


@members.command("set")
def set_member(
    who: Member,
    project: ProjectName,
    role: Annotated[
        list[ProjectRole], typer.Option(help="Its roles from now on; repeatable.", show_default=False)
    ],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Give somebody exactly these roles in a project.

    Who is not in it yet is put into it.
    """
    roles: tuple[ProjectRoleSlug, ...] = tuple(one.value for one in role)
    made: UserMembership | IdentityMembership
    with connected() as client:
        project_id = project_id_of(client, project)
        if "@" in who:
            (made,) = client.memberships.put_users((who,), project_id=project_id, roles=roles)
        else:
            made = client.memberships.put_identity(who, project_id=project_id, roles=roles)
    print_done(output, asdict(made), f"{who} is in {project} as {_roles(made)}.")


@members.command("remove")
def remove_member(
    who: Member,
    project: ProjectName,
    transfer_syncs_to: Heir = None,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Take somebody out of a project.

    The member's syncs stop, unless --transfer-syncs-to.
    """
    removed: UserMembership | IdentityMembership
    with connected() as client:
        project_id = project_id_of(client, project)
        found = _membership_of(client, project_id, who) if "@" in who else None
        member_id = who if found is None else found.user.id
        owned = syncs_of(client, member_id, project_id=project_id)
        announce_syncs(owned, who, transfer_syncs_to)
        require_confirmed(f"Take {who} out of {project}?", yes=yes)
        hand_over(client, owned, member_id, transfer_syncs_to, project_id=project_id)
        if found is not None:
            removed = client.memberships.remove_user(found.id, project_id=project_id)
        else:
            removed = client.memberships.remove_identity(who, project_id=project_id)
    print_done(output, asdict(removed), f"{who} is no longer in {project}.")


def actor_id_of(client: Keybearer, project_id: str, who: str) -> str:
    """Return the id of a member that is named by email or id.

    Raises:
        CommandError: nobody of the project has the email.
    """
    return _membership_of(client, project_id, who).user.id if "@" in who else who


def _membership_of(client: Keybearer, project_id: str, email: str) -> UserMembership:
    for one in client.memberships.list_users(project_id=project_id):
        if one.user.email == email.strip().lower():
            return one
    raise CommandError(
        f"nobody of the project has the email {email!r}",
        ExitStatus.NOT_FOUND,
        "List who is in it: keybearer members list",
    )


def _roles(membership: UserMembership | IdentityMembership) -> str:
    return ", ".join(role.role for role in membership.roles)
