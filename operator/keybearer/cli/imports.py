"""`keybearer imports`: what a folder takes from other folders of its project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import EnvironmentName, FolderPath, ProjectName, in_project
from keybearer.cli.failures import misused, not_found
from keybearer.cli.nouns import Noun
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import Output, OutputFormat, Yes, print_done, require_confirmed

if TYPE_CHECKING:
    from keybearer.client import SecretImport

__all__ = ["imports"]

imports = new_group("List, add and remove what a folder imports.")
IMPORT: Noun[SecretImport] = Noun(
    "import",
    ("POSITION", "FROM", "CREATED", "ID"),
    lambda one: (str(one.position), _source_of(one), one.created_at, one.id),
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

    If names are equal, the last import wins. The folder's own secret wins over all imports.
    """
    with in_project(project) as (client, project_id):
        found = client.imports.list(project_id=project_id, environment=environment, path=path)
    IMPORT.print_list(output, found)


@imports.command("add")
def add_import(
    source: Source,
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make a folder import another folder, in the last position."""
    from_environment, from_path = _split(source)
    with in_project(project) as (client, project_id):
        made = client.imports.create(
            from_environment, from_path, project_id=project_id, environment=environment, path=path
        )
    print_done(output, made, f"{environment}:{path} imports {_source_of(made)}.")


@imports.command("remove")
def remove_import(
    source: Source,
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Stop a folder from importing another folder. The secrets stay where they are."""
    wanted = ":".join(_split(source))
    require_confirmed(f"Have {environment}:{path} no longer import {wanted}?", yes=yes)
    with in_project(project) as (client, project_id):
        found = client.imports.list(project_id=project_id, environment=environment, path=path)
        ids = [one.id for one in found if _source_of(one) == wanted]
        if not ids:
            raise not_found(
                f"{environment}:{path} doesn't import {wanted}",
                "List what it imports: keybearer imports list",
            )
        removed = client.imports.delete(ids[0], project_id=project_id, environment=environment, path=path)
    print_done(output, removed, f"{environment}:{path} no longer imports {wanted}.")


def _source_of(one: SecretImport) -> str:
    return f"{one.import_env.slug}:{one.import_path}"


def _split(source: str) -> tuple[str, str]:
    environment, colon, path = source.partition(":")
    if not (colon and environment and path):
        raise misused(f"{source!r} is no ENV:PATH", "Name environment and folder, such as prod:/shared.")
    return environment, "/" + path.strip("/")
