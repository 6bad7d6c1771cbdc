"""`keybearer projects`, `keybearer environments` and `keybearer folders`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from keybearer.cli.connecting import EnvironmentName, FolderPath, ProjectName, connected, project_id_of
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_found,
    require_confirmed,
)

__all__ = ["environments", "folders", "projects"]

projects = typer.Typer(help="List, create and delete projects.", no_args_is_help=True, rich_markup_mode=None)
environments = typer.Typer(
    help="List, create and delete the environments of a project.", no_args_is_help=True, rich_markup_mode=None
)
folders = typer.Typer(
    help="List, create and delete the folders of an environment.", no_args_is_help=True, rich_markup_mode=None
)


@projects.command("list")
def list_projects(output: Output = OutputFormat.TABLE) -> None:
    """List the projects that you may see."""
    with connected() as client:
        found = client.projects.list()
    print_found(
        output,
        found,
        ("SLUG", "NAME", "ENVIRONMENTS", "ID"),
        [
            (
                project.slug,
                project.name,
                " ".join(environment.slug for environment in project.environments),
                project.id,
            )
            for project in found
        ],
    )


@projects.command("create")
def create_project(
    name: Annotated[str, typer.Argument(help="For people.")],
    slug: Annotated[str | None, typer.Option(help="For requests; made from the name without.")] = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    for_certificates: Annotated[
        bool,
        typer.Option(
            "--for-certificates", help="The first of these is where certificates go that name no project."
        ),
    ] = False,
    default_environments: Annotated[
        bool,
        typer.Option("--environments/--no-environments", help="With dev, staging and prod, or with none."),
    ] = True,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Create a project."""
    with connected() as client:
        project = client.projects.create(
            name,
            slug=slug,
            description=description,
            type="cert-manager" if for_certificates else "secret-manager",
            should_create_default_envs=default_environments,
        )
    print_done(output, asdict(project), f"Project {project.slug} is made; its id is {project.id}.")


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
    print_done(output, asdict(deleted), f"Project {deleted.slug} is deleted.")


@environments.command("list")
def list_environments(project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """List the environments of a project."""
    with connected() as client:
        found = client.environments.list(project_id=project_id_of(client, project))
    print_found(
        output,
        found,
        ("SLUG", "NAME", "ID"),
        [(environment.slug, environment.name, environment.id) for environment in found],
    )


@environments.command("create")
def create_environment(
    slug: Annotated[str, typer.Argument(help="For requests, such as qa.")],
    project: ProjectName,
    name: Annotated[str | None, typer.Option(help="For people; the slug without.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Add an environment to a project."""
    with connected() as client:
        made = client.environments.create(name or slug, slug, project_id=project_id_of(client, project))
    print_done(output, asdict(made), f"Environment {made.slug} is made.")


@environments.command("delete")
def delete_environment(
    slug: Annotated[str, typer.Argument(help="Which.")],
    project: ProjectName,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete an environment with all its secrets."""
    require_confirmed(f"Delete environment {slug} of {project} with all its secrets?", yes=yes)
    with connected() as client:
        project_id = project_id_of(client, project)
        found = client.environments.get_by_slug(slug, project_id=project_id)
        deleted = client.environments.delete(found.id, project_id=project_id)
    print_done(output, asdict(deleted), f"Environment {deleted.slug} is deleted.")


@folders.command("list")
def list_folders(
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="All below it.")] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the folders in a folder."""
    with connected() as client:
        found = client.folders.list(
            project_id=project_id_of(client, project),
            environment=environment,
            path=path,
            recursive=recursive,
        )
    rows = [(folder.path or folder.name, folder.description, folder.id) for folder in found]
    print_found(output, found, ("PATH", "DESCRIPTION", "ID"), rows)


@folders.command("create")
def create_folder(
    path: Annotated[str, typer.Argument(help="Its whole path, such as /apps/web; parents are made too.")],
    project: ProjectName,
    environment: EnvironmentName,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Create a folder."""
    above, name = _split(path)
    with connected() as client:
        made = client.folders.create(
            name,
            project_id=project_id_of(client, project),
            environment=environment,
            path=above,
            description=description,
        )
    print_done(output, asdict(made), f"Folder {environment}:{made.path or path} is made.")


@folders.command("delete")
def delete_folder(
    path: Annotated[str, typer.Argument(help="Its whole path, such as /apps/web.")],
    project: ProjectName,
    environment: EnvironmentName,
    force: Annotated[bool, typer.Option("--force", help="Also with secrets and folders in it.")] = False,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete a folder."""
    require_confirmed(f"Delete folder {environment}:{path}?", yes=yes)
    above, name = _split(path)
    with connected() as client:
        deleted = client.folders.delete(
            name,
            project_id=project_id_of(client, project),
            environment=environment,
            path=above,
            force_delete=force,
        )
    print_done(output, asdict(deleted), f"Folder {environment}:{path} is deleted.")


def _split(path: str) -> tuple[str, str]:
    above, _, name = ("/" + path.strip("/")).rpartition("/")
    return above or "/", name
