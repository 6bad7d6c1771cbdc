"""`keybearer secrets`: list, get, set and delete."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from keybearer.cli.connecting import EnvironmentName, FolderPath, ProjectName, connected, project_id_of
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_exactly,
    print_found,
    print_json,
    print_table,
    require_confirmed,
)
from keybearer.cli.private_input import read_text
from keybearer.cli.transfer import export_secrets, import_secrets

if TYPE_CHECKING:
    from keybearer.client import Secret

__all__ = ["secrets"]

secrets = typer.Typer(help="Read and write secrets.", no_args_is_help=True, rich_markup_mode=None)
secrets.command("import")(import_secrets)
secrets.command("export")(export_secrets)

_HIDDEN = "(hidden)"

Show = Annotated[bool, typer.Option("--show", help="Show the values.")]
Personal = Annotated[
    bool, typer.Option("--personal", help="Your own value, which only you see, on top of the shared one.")
]


@secrets.command("list")
def list_secrets(
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Also the folders below.")] = False,
    imports: Annotated[
        bool, typer.Option("--imports/--no-imports", help="Also what the folder imports.")
    ] = True,
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag; repeatable.")] = None,
    personal: Annotated[
        bool, typer.Option("--personal", help="Your own values in place of shared ones.")
    ] = False,
    show: Show = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the secrets of a folder; without values, unless --show."""
    with connected() as client:
        found = client.secrets.list(
            project_id=project_id_of(client, project),
            environment=environment,
            secret_path=path,
            recursive=recursive,
            include_imports=imports,
            tag_slugs=tuple(tag or ()),
            include_personal_overrides=personal,
            view_secret_value=show,
        )
    print_found(
        output,
        [_plain(secret, show=show) for secret in found],
        (
            "NAME",
            *(("VALUE",) if show else ()),
            *(("TYPE",) if personal else ()),
            "WHERE",
            "VERSION",
            "UPDATED",
        ),
        [
            (
                secret.secret_key,
                *((_value(secret),) if show else ()),
                *((str(secret.type),) if personal else ()),
                f"{secret.environment}:{secret.secret_path}",
                str(secret.version),
                secret.updated_at,
            )
            for secret in found
        ],
    )


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
    with connected() as client:
        secret = client.secrets.get(
            name,
            project_id=project_id_of(client, project),
            environment=environment,
            secret_path=path,
            version=version,
            type=_type(personal=personal),
            view_secret_value=shown,
        )
    if plain:
        if secret.secret_value_hidden:
            raise CommandError(f"the value of {name!r} is hidden from you", ExitStatus.DENIED)
        print_exactly(secret.secret_value + ("\n" if sys.stdout.isatty() else ""))
    elif output is OutputFormat.JSON:
        print_json(_plain(secret, show=show))
    else:
        rows = [
            ("name", secret.secret_key),
            ("value", _value(secret) if show else _HIDDEN + " ask with --show or --plain"),
            ("where", f"{secret.environment}:{secret.secret_path}"),
            ("version", str(secret.version)),
            ("type", secret.type),
            ("comment", secret.secret_comment),
            ("tags", ", ".join(tag.slug for tag in secret.tags)),
            ("updated", secret.updated_at),
            ("id", secret.id),
        ]
        print_table(("FIELD", "CONTENT"), [row for row in rows if row[1]])


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
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Take an empty value for what it is.")
    ] = False,
    comment: Annotated[str | None, typer.Option(help="A comment beside it.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Its tags from now on, by slug; repeatable.")] = None,
    personal: Personal = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Create a secret, or give it another value.

    The value comes from standard input (without the line end of its last line), a file, or a prompt without echo.
    """
    from keybearer.client import ChangedSecret

    key, value = _given(name, file, literal=literal)
    if not value and not allow_empty:
        raise CommandError(
            f"no value was given for {key}", ExitStatus.USAGE, "Say --allow-empty if it is to be empty."
        )
    with connected() as client:
        project_id = project_id_of(client, project)
        tag_ids = tuple(client.tags.get_by_slug(slug, project_id=project_id).id for slug in tag or ())
        (secret,) = client.secrets.update_many(
            (ChangedSecret(key, value, secret_comment=comment, tag_ids=tag_ids or None),),
            project_id=project_id,
            environment=environment,
            secret_path=path,
            type=_type(personal=personal),
            mode="upsert",
        )
    whose = "Your own " if personal else ""
    print_done(
        output,
        _plain(secret, show=False),
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
    with connected() as client:
        deleted = client.secrets.delete_many(
            tuple(names),
            project_id=project_id_of(client, project),
            environment=environment,
            secret_path=path,
            type=_type(personal=personal),
        )
    print_done(
        output,
        [_plain(secret, show=False) for secret in deleted],
        f"Deleted from {environment}:{path}: {listed}.",
    )


def _given(name: str, file: Path | None, *, literal: bool) -> tuple[str, str]:
    if literal:
        key, equals, value = name.partition("=")
        if not equals or not key or file is not None:
            raise CommandError("--literal takes NAME=VALUE, and no --file", ExitStatus.USAGE)
        return key, value
    if "=" in name:
        raise CommandError(
            "an argument can be seen by others on this machine, and stays in the shell's history",
            ExitStatus.USAGE,
            "Pipe the value in, name a --file, give only the name to be asked, or say --literal.",
        )
    if file is not None:
        return name, read_text(file)
    if sys.stdin.isatty():
        return name, str(
            typer.prompt(f"Value of {name}", hide_input=True, err=True, default="", show_default=False)
        )
    return name, read_text(Path("-")).removesuffix("\n").removesuffix("\r")


def _type(*, personal: bool) -> Literal["shared", "personal"]:
    return "personal" if personal else "shared"


def _value(secret: Secret) -> str:
    return _HIDDEN if secret.secret_value_hidden else secret.secret_value


def _plain(secret: Secret, *, show: bool) -> dict[str, Any]:
    """Return the fields of interface.md section 2.7, the value only where it is to be shown."""
    return {
        "secret_key": secret.secret_key,
        **({"secret_value": secret.secret_value} if show and not secret.secret_value_hidden else {}),
        "secret_comment": secret.secret_comment,
        "secret_path": secret.secret_path,
        "environment": secret.environment,
        "workspace": secret.workspace,
        "version": secret.version,
        "type": secret.type,
        "id": secret.id,
        "created_at": secret.created_at,
        "updated_at": secret.updated_at,
    }
