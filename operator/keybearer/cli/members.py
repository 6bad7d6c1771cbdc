"""`keybearer members`: who has which roles in a project, people and machine identities alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import ProjectName, in_project
from keybearer.cli.identity_finding import identity_id_of, membership_of
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import Output, OutputFormat, Yes, print_done, print_found
from keybearer.cli.sync_owners import Heir, part_from_syncs
from keybearer.cli.words import ProjectRole

if TYPE_CHECKING:
    from keybearer.client import IdentityMembership, UserMembership
    from keybearer.wire.roles import ProjectRoleSlug

__all__ = ["Member", "members"]

members = new_group("Who is in a project, and with which roles.")

Member = Annotated[
    str, typer.Argument(help="Email of a person, or name, client id or id of a machine identity.")
]


@members.command("list")
def list_members(project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """List people and machine identities of a project, with their roles."""
    with in_project(project) as (client, project_id):
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
        list[ProjectRole],
        typer.Option(help="A role that replaces the present ones; repeatable.", show_default=False),
    ],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Give somebody exactly these roles in a project.

    Adds the member to the project if necessary.
    """
    roles: tuple[ProjectRoleSlug, ...] = tuple(one.value for one in role)
    made: UserMembership | IdentityMembership
    with in_project(project) as (client, project_id):
        if "@" in who:
            (made,) = client.memberships.put_users((who,), project_id=project_id, roles=roles)
        else:
            identity_id = identity_id_of(client, who)
            made = client.memberships.put_identity(identity_id, project_id=project_id, roles=roles)
    print_done(output, made, f"{who} is in {project} as {_roles(made)}.")


@members.command("remove")
def remove_member(
    who: Member,
    project: ProjectName,
    transfer_syncs_to: Heir = None,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Remove a member from a project.

    The member's syncs stop, unless --transfer-syncs-to.
    """
    removed: UserMembership | IdentityMembership
    with in_project(project) as (client, project_id):
        found = membership_of(client, project_id, who) if "@" in who else None
        member_id = identity_id_of(client, who) if found is None else found.user.id
        question = f"Take {who} out of {project}?"
        part_from_syncs(client, member_id, who, transfer_syncs_to, question, yes=yes, project_id=project_id)
        if found is not None:
            removed = client.memberships.remove_user(found.id, project_id=project_id)
        else:
            removed = client.memberships.remove_identity(member_id, project_id=project_id)
    print_done(output, removed, f"{who} is no longer in {project}.")


def _roles(membership: UserMembership | IdentityMembership) -> str:
    return ", ".join(role.role for role in membership.roles)
