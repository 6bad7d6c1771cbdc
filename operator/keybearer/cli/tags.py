"""`keybearer tags`: the tags that secrets of a project may carry."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from keybearer.cli.connecting import ProjectName, connected, project_id_of
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_found,
    require_confirmed,
)

__all__ = ["tags"]

tags = typer.Typer(
    help="List, create and delete the tags of a project.", no_args_is_help=True, rich_markup_mode=None
)


@tags.command("list")
def list_tags(project: ProjectName, output: Output = OutputFormat.TABLE) -> None:
    """List the tags of a project."""
    with connected() as client:
        found = client.tags.list(project_id=project_id_of(client, project))
    print_found(
        output,
        found,
        ("SLUG", "NAME", "COLOR", "ID"),
        [(tag.slug, tag.name, tag.color, tag.id) for tag in found],
    )


@tags.command("create")
def create_tag(
    slug: Annotated[str, typer.Argument(help="For requests, such as rotate-soon.")],
    project: ProjectName,
    name: Annotated[str | None, typer.Option(help="For people. Default: the slug.")] = None,
    color: Annotated[str | None, typer.Option(help="Such as #ff0000.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Create a tag. Secrets get it with keybearer secrets set --tag."""
    with connected() as client:
        made = client.tags.create(slug, name=name, color=color, project_id=project_id_of(client, project))
    print_done(output, asdict(made), f"Tag {made.slug} is made.")


@tags.command("delete")
def delete_tag(
    slug: Annotated[str, typer.Argument(help="Which.")],
    project: ProjectName,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete a tag, and remove it from secrets."""
    require_confirmed(f"Delete tag {slug} of {project}, also from its secrets?", yes=yes)
    with connected() as client:
        project_id = project_id_of(client, project)
        found = client.tags.get_by_slug(slug, project_id=project_id)
        deleted = client.tags.delete(found.id, project_id=project_id)
    print_done(output, asdict(deleted), f"Tag {deleted.slug} is deleted.")
