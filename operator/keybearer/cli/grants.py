"""`keybearer grants`: what members may or may not do in a part of a project."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from keybearer.cli.connecting import EnvironmentName, ProjectName, connected, project_id_of
from keybearer.cli.members import Member, actor_id_of
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_found,
    require_confirmed,
)
from keybearer.cli.words import Action, Subject

__all__ = ["grants"]

grants = typer.Typer(
    help="What members may do in parts of a project.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@grants.command("list")
def list_grants(
    project: ProjectName,
    member: Annotated[
        str | None, typer.Option(help="Of this one only: email of a person, or id of an identity.")
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the grants of a project."""
    with connected() as client:
        project_id = project_id_of(client, project)
        whose = None if member is None else actor_id_of(client, project_id, member)
        found = client.grants.list(project_id=project_id, identity_id=whose)
    print_found(
        output,
        found,
        ("EFFECT", "ACTIONS", "ON", "WHERE", "WHO", "ID"),
        [
            (
                grant.effect,
                ", ".join(grant.actions),
                ", ".join(grant.subjects),
                f"{grant.environment}:{grant.secret_path}",
                grant.identity_id,
                grant.id,
            )
            for grant in found
        ],
    )


@grants.command("add")
def add_grant(
    who: Member,
    project: ProjectName,
    environment: EnvironmentName,
    action: Annotated[list[Action], typer.Option(help="What; repeatable.", show_default=False)],
    pattern: Annotated[
        str,
        typer.Option("--path", help="Which folders: * stands for what is within a name, ** for any depth."),
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
        bool, typer.Option("--deny", help="Forbid it: goes before what roles and grants allow.")
    ] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Let a member do something in a part of a project.

    With --deny, forbid it.

    For all environments say --env '*'. Quote patterns, or the shell reads them.
    """
    with connected() as client:
        project_id = project_id_of(client, project)
        made = client.grants.create(
            actor_id_of(client, project_id, who),
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
        asdict(made),
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
    """Take a grant away."""
    require_confirmed(f"Take grant {grant_id} away?", yes=yes)
    with connected() as client:
        removed = client.grants.delete(grant_id, project_id=project_id_of(client, project))
    print_done(output, asdict(removed), f"Grant {removed.id} is taken away.")
