"""`keybearer secrets`: list, get, set and delete."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from keybearer.cli.connecting import EnvironmentName, FolderPath, ProjectName, in_folder, require_folder
from keybearer.cli.failures import CommandError, ExitStatus, misused
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_exactly,
    print_fields,
    print_found,
    require_confirmed,
)
from keybearer.cli.private_input import read_text
from keybearer.cli.secret_history import history, rollback
from keybearer.cli.secret_output import (
    HIDDEN,
    Personal,
    Show,
    WithImports,
    plain_secret,
    secret_type,
    value_of,
)
from keybearer.cli.transfer import export_secrets, import_secrets

__all__ = ["secrets"]

secrets = new_group("Read and write secrets.")
secrets.command("import")(import_secrets)
secrets.command("export")(export_secrets)
secrets.command("history")(history)
secrets.command("rollback")(rollback)


@secrets.command("list")
def list_secrets(
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Also the folders below.")] = False,
    imports: WithImports = True,
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag; repeatable.")] = None,
    personal: Annotated[
        bool, typer.Option("--personal", help="Your own values in place of shared ones.")
    ] = False,
    show: Show = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the secrets of a folder; without values, unless --show."""
    with in_folder(project, environment, path) as (client, place):
        found = client.secrets.list(
            **place,
            recursive=recursive,
            include_imports=imports,
            tag_slugs=tuple(tag or ()),
            include_personal_overrides=personal,
            view_secret_value=show,
        )
        if not found:
            require_folder(client, place)
    value, kind = ("VALUE",) if show else (), ("TYPE",) if personal else ()
    rows = [
        (
            one.secret_key,
            *((value_of(one),) if show else ()),
            *((str(one.type),) if personal else ()),
            f"{one.environment}:{one.secret_path}",
            str(one.version),
            one.updated_at,
        )
        for one in found
    ]
    content = [plain_secret(one, show=show) for one in found]
    print_found(output, content, ("NAME", *value, *kind, "WHERE", "VERSION", "UPDATED"), rows)


@secrets.command("get")
def get_secret(
    name: Annotated[str, typer.Argument(help="Name of the secret.")],
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    version: Annotated[int | None, typer.Option(help="An older version.")] = None,
    personal: Personal = False,
    show: Show = False,
    plain: Annotated[bool, typer.Option("--plain", help="Print the value and nothing else.")] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show a secret; its value with --show or, alone, with --plain."""
    shown = show or plain
    with in_folder(project, environment, path) as (client, place):
        secret = client.secrets.get(
            name, **place, version=version, type=secret_type(personal=personal), view_secret_value=shown
        )
    if plain:
        if secret.secret_value_hidden:
            raise CommandError(f"the value of {name!r} is hidden from you", ExitStatus.DENIED)
        print_exactly(secret.secret_value + ("\n" if sys.stdout.isatty() else ""))
        return
    rows = [
        ("name", secret.secret_key),
        ("value", value_of(secret) if show else HIDDEN + " ask with --show or --plain"),
        ("where", f"{secret.environment}:{secret.secret_path}"),
        ("version", str(secret.version)),
        ("type", secret.type),
        ("comment", secret.secret_comment),
        ("tags", ", ".join(tag.slug for tag in secret.tags)),
        ("updated", secret.updated_at),
        ("id", secret.id),
    ]
    print_fields(output, plain_secret(secret, show=show), [row for row in rows if row[1]])


@secrets.command("set")
def set_secret(
    name: Annotated[str, typer.Argument(help="Name of the secret; with --literal NAME=VALUE.")],
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    file: Annotated[
        Path | None,
        typer.Option(help="Take the value from a file, as it is; - is standard input.", allow_dash=True),
    ] = None,
    literal: Annotated[
        bool,
        typer.Option(
            "--literal", help="Take NAME=VALUE from the argument, which others on this machine can see."
        ),
    ] = False,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Accept an empty value.")] = False,
    comment: Annotated[str | None, typer.Option(help="A comment for the secret.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Slug of a tag that replaces the present ones; repeatable.")
    ] = None,
    personal: Personal = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Create a secret, or give it another value.

    The value comes from standard input (without the line end of its last line), a file, or a prompt without echo.
    """
    from keybearer.client import ChangedSecret

    key, value = _given(name, file, literal=literal)
    if not value and not allow_empty:
        raise misused(f"no value was given for {key}", "Say --allow-empty if it is to be empty.")
    with in_folder(project, environment, path) as (client, place):
        project_id = place["project_id"]
        tag_ids = tuple(client.tags.get_by_slug(slug, project_id=project_id).id for slug in tag or ())
        (secret,) = client.secrets.update_many(
            (ChangedSecret(key, value, secret_comment=comment, tag_ids=tag_ids or None),),
            **place,
            type=secret_type(personal=personal),
            mode="upsert",
        )
    whose = "Your own " if personal else ""
    print_done(
        output,
        plain_secret(secret, show=False),
        f"{whose}{secret.secret_key} is set in {environment}:{path}, version {secret.version}.",
    )


@secrets.command("delete")
def delete_secrets(
    names: Annotated[list[str], typer.Argument(help="Names of the secrets.")],
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    personal: Personal = False,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete secrets of a folder: all of those named, or none."""
    listed = ("your own " if personal else "") + ", ".join(names)
    require_confirmed(f"Delete {listed} from {environment}:{path}?", yes=yes)
    with in_folder(project, environment, path) as (client, place):
        deleted = client.secrets.delete_many(tuple(names), **place, type=secret_type(personal=personal))
    content = [plain_secret(secret, show=False) for secret in deleted]
    print_done(output, content, f"Deleted from {environment}:{path}: {listed}.")


def _given(name: str, file: Path | None, *, literal: bool) -> tuple[str, str]:
    if literal:
        key, equals, value = name.partition("=")
        if not equals or not key or file is not None:
            raise misused("--literal takes NAME=VALUE, and no --file")
        return key, value
    if "=" in name:
        raise misused(
            "an argument can be seen by others on this machine, and stays in the shell's history",
            "Pipe the value in, name a --file, give only the name to be asked, or say --literal.",
        )
    if file is not None:
        return name, read_text(file)
    if sys.stdin.isatty():
        asked = typer.prompt(f"Value of {name}", hide_input=True, err=True, default="", show_default=False)
        return name, str(asked)
    return name, read_text(Path("-")).removesuffix("\n").removesuffix("\r")
