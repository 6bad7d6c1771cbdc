"""`keybearer grants`: what members may or may not do in a part of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import EnvironmentName, ProjectName, in_project
from keybearer.cli.identity_finding import actor_id_of
from keybearer.cli.members import Member
from keybearer.cli.nouns import Noun
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import Output, OutputFormat, Yes, print_done, require_confirmed
from keybearer.cli.words import Action, Subject

if TYPE_CHECKING:
    from keybearer.client import Grant

__all__ = ["grants"]

grants = new_group("What members may do in parts of a project.")
GRANT: Noun[Grant] = Noun(
    "grant",
    ("EFFECT", "ACTIONS", "ON", "WHERE", "WHO", "ID"),
    lambda one: (
        one.effect,
        ", ".join(one.actions),
        ", ".join(one.subjects),
        f"{one.environment}:{one.secret_path}",
        one.identity_id,
        one.id,
    ),
)


@grants.command("list")
def list_grants(
    project: ProjectName,
    member: Annotated[
        str | None, typer.Option(help="Only of this member: email of a person, or name or id of an identity.")
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the grants of a project."""
    with in_project(project) as (client, project_id):
        whose = None if member is None else actor_id_of(client, member, project_id)
        found = client.grants.list(project_id=project_id, identity_id=whose)
    GRANT.print_list(output, found)


@grants.command("add")
def add_grant(
    who: Member,
    project: ProjectName,
    environment: EnvironmentName,
    action: Annotated[list[Action], typer.Option(help="What; repeatable.", show_default=False)],
    pattern: Annotated[
        str,
        typer.Option("--path", help="Which folders: * matches within a name, ** any depth."),
    ] = "/**",
    subject: Annotated[
        list[Subject] | None,
        typer.Option(
            metavar="SUBJECT",
            help="On what; repeatable: secrets (default), secret-folders, secret-imports, environments, tags, "
            "workspace.",
        ),
    ] = None,
    deny: Annotated[
        bool, typer.Option("--deny", help="Forbid it. This wins over roles and other grants.")
    ] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Let a member do something in a part of a project.

    With --deny, forbid it.

    For all environments say --env '*'. Quote patterns, or the shell reads them.
    """
    with in_project(project) as (client, project_id):
        made = client.grants.create(
            actor_id_of(client, who, project_id),
            actions=tuple(one.value for one in action),
            environment=environment,
            secret_path=pattern,
            effect="deny" if deny else "allow",
            subjects=tuple(one.value for one in subject or [Subject.SECRETS]),
            project_id=project_id,
        )
    may = "may not" if deny else "may"
    print_done(
        output,
        made,
        f"{who} {may} {', '.join(made.actions)} in {made.environment}:{made.secret_path}; "
        f"the grant's id is {made.id}.",
    )


@grants.command("remove")
def remove_grant(
    grant_id: Annotated[str, typer.Argument(help="Id of the grant.")],
    project: ProjectName,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Remove a grant."""
    require_confirmed(f"Take grant {grant_id} away?", yes=yes)
    with in_project(project) as (client, project_id):
        removed = client.grants.delete(grant_id, project_id=project_id)
    print_done(output, removed, f"Grant {removed.id} is taken away.")
