"""`keybearer imports`: what a folder takes from other folders of its project."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import EnvironmentName, FolderPath, ProjectName, connected, project_id_of
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_found,
    require_confirmed,
)

if TYPE_CHECKING:
    from keybearer.client import SecretImport

__all__ = ["imports"]

imports = typer.Typer(
    help="List, add and remove what a folder imports.", no_args_is_help=True, rich_markup_mode=None
)

Source = Annotated[
    str, typer.Argument(help="The folder that is imported, such as prod:/shared.", metavar="ENV:PATH")
]


@imports.command("list")
def list_imports(
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    output: Output = OutputFormat.TABLE,
) -> None:
    """List what a folder imports, by position.

    Of equal names the last import wins, and the folder's own secret goes before all.
    """
    with connected() as client:
        found = client.imports.list(
            project_id=project_id_of(client, project), environment=environment, path=path
        )
    print_found(
        output,
        found,
        ("POSITION", "FROM", "CREATED", "ID"),
        [(str(one.position), _source_of(one), one.created_at, one.id) for one in found],
    )


@imports.command("add")
def add_import(
    source: Source,
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    output: Output = OutputFormat.TABLE,
) -> None:
    """Have a folder import another one, in the last place."""
    from_environment, from_path = _split(source)
    with connected() as client:
        made = client.imports.create(
            from_environment,
            from_path,
            project_id=project_id_of(client, project),
            environment=environment,
            path=path,
        )
    print_done(output, asdict(made), f"{environment}:{path} imports {_source_of(made)}.")


@imports.command("remove")
def remove_import(
    source: Source,
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Have a folder no longer import another one. The secrets stay where they are."""
    wanted = ":".join(_split(source))
    require_confirmed(f"Have {environment}:{path} no longer import {wanted}?", yes=yes)
    with connected() as client:
        project_id = project_id_of(client, project)
        found = client.imports.list(project_id=project_id, environment=environment, path=path)
        chosen = next((one for one in found if _source_of(one) == wanted), None)
        if chosen is None:
            raise CommandError(
                f"{environment}:{path} doesn't import {wanted}",
                ExitStatus.NOT_FOUND,
                "List what it imports: keybearer imports list",
            )
        removed = client.imports.delete(chosen.id, project_id=project_id, environment=environment, path=path)
    print_done(output, asdict(removed), f"{environment}:{path} no longer imports {wanted}.")


def _source_of(one: SecretImport) -> str:
    return f"{one.import_env.slug}:{one.import_path}"


def _split(source: str) -> tuple[str, str]:
    environment, colon, path = source.partition(":")
    if not (colon and environment and path):
        raise CommandError(
            f"{source!r} is no ENV:PATH",
            ExitStatus.USAGE,
            "Name environment and folder, such as prod:/shared.",
        )
    return environment, "/" + path.strip("/")
