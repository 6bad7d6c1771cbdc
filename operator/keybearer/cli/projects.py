"""`keybearer projects`, `keybearer environments` and `keybearer folders`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.folder_paths import parent_and_name
from keybearer.cli.connecting import (
    EnvironmentName,
    FolderPath,
    ProjectName,
    connected,
    in_project,
    project_id_of,
)
from keybearer.cli.nouns import Noun
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import Output, OutputFormat, Yes, print_done, require_confirmed

if TYPE_CHECKING:
    from keybearer.client import Environment, Folder, Project

__all__ = ["environments", "folders", "projects"]

projects = new_group("List, create and delete projects.")
environments = new_group("List, create and delete the environments of a project.")
folders = new_group("List, create and delete the folders of an environment.")

PROJECT: Noun[Project] = Noun(
    "project",
    ("SLUG", "NAME", "ENVIRONMENTS", "ID"),
    lambda one: (one.slug, one.name, " ".join(each.slug for each in one.environments), one.id),
)
ENVIRONMENT: Noun[Environment] = Noun(
    "environment", ("SLUG", "NAME", "ID"), lambda one: (one.slug, one.name, one.id)
)
FOLDER: Noun[Folder] = Noun(
    "folder", ("PATH", "DESCRIPTION", "ID"), lambda one: (one.path or one.name, one.description, one.id)
)


@projects.command("list")
def list_projects(output: Output = OutputFormat.TABLE) -> None:
    """List the projects that you may see."""
    with connected() as client:
        PROJECT.print_list(output, client.projects.list())


@projects.command("create")
def create_project(
    name: Annotated[str, typer.Argument(help="For people.")],
    slug: Annotated[
        str | None, typer.Option(help="For requests, 5 to 36 characters. Default: made from the name.")
    ] = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    for_certificates: Annotated[
        bool,
        typer.Option(
            "--for-certificates",
            help="Make a project for certificates. The first one holds certificates that name no project.",
        ),
    ] = False,
    default_environments: Annotated[
        bool,
        typer.Option(
            "--environments/--no-environments", help="Make dev, staging and prod, or no environments."
        ),
    ] = True,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Create a project."""
    with connected() as client:
        made = client.projects.create(
            name,
            slug=slug,
            description=description,
            type="cert-manager" if for_certificates else "secret-manager",
            should_create_default_envs=default_environments,
        )
    PROJECT.print_made(output, made)


@projects.command("delete")
def delete_project(
    project: Annotated[str, typer.Argument(help="Slug or id.")],
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete a project with all its secrets."""
    require_confirmed(f"Delete project {project} with all its secrets?", yes=yes)
    with connected() as client:
        deleted = client.projects.delete(project_id_of(client, project))
    PROJECT.print_done(output, deleted, "is deleted")


@environments.command("list")
def list_environments(project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """List the environments of a project."""
    with in_project(project) as (client, project_id):
        ENVIRONMENT.print_list(output, client.environments.list(project_id=project_id))


@environments.command("create")
def create_environment(
    slug: Annotated[str, typer.Argument(help="For requests, such as qa.")],
    project: ProjectName,
    name: Annotated[str | None, typer.Option(help="For people. Default: the slug.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Add an environment to a project."""
    with in_project(project) as (client, project_id):
        made = client.environments.create(name or slug, slug, project_id=project_id)
    ENVIRONMENT.print_done(output, made, "is made")


@environments.command("delete")
def delete_environment(
    slug: Annotated[str, typer.Argument(help="Which.")],
    project: ProjectName,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete an environment with all its secrets."""
    require_confirmed(f"Delete environment {slug} of {project} with all its secrets?", yes=yes)
    with in_project(project) as (client, project_id):
        found = client.environments.get_by_slug(slug, project_id=project_id)
        deleted = client.environments.delete(found.id, project_id=project_id)
    ENVIRONMENT.print_done(output, deleted, "is deleted")


@folders.command("list")
def list_folders(
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="All folders below.")] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the folders in a folder."""
    with in_project(project) as (client, project_id):
        found = client.folders.list(
            project_id=project_id, environment=environment, path=path, recursive=recursive
        )
    FOLDER.print_list(output, found)


@folders.command("create")
def create_folder(
    path: Annotated[str, typer.Argument(help="Its whole path, such as /apps/web; parents are made too.")],
    project: ProjectName,
    environment: EnvironmentName,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Create a folder."""
    above, name = parent_and_name(path)
    with in_project(project) as (client, project_id):
        made = client.folders.create(
            name, project_id=project_id, environment=environment, path=above, description=description
        )
    print_done(output, made, f"Folder {environment}:{made.path or path} is made.")


@folders.command("delete")
def delete_folder(
    path: Annotated[str, typer.Argument(help="Its whole path, such as /apps/web.")],
    project: ProjectName,
    environment: EnvironmentName,
    force: Annotated[bool, typer.Option("--force", help="Also if it has secrets or folders.")] = False,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete a folder."""
    require_confirmed(f"Delete folder {environment}:{path}?", yes=yes)
    above, name = parent_and_name(path)
    with in_project(project) as (client, project_id):
        deleted = client.folders.delete(
            name, project_id=project_id, environment=environment, path=above, force_delete=force
        )
    print_done(output, deleted, f"Folder {environment}:{path} is deleted.")
