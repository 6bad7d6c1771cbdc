"""`keybearer secrets import` and `keybearer secrets export`: between a folder and a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.runs import in_runs
from keybearer.cli.connecting import EnvironmentName, FolderPath, ProjectName, in_folder
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import (
    Output,
    OutputFormat,
    note,
    print_done,
    print_exactly,
    progress,
    steers_terminal,
)
from keybearer.cli.private_files import write_private
from keybearer.cli.private_input import read_text
from keybearer.cli.secret_files import FileFormat, format_of, read_secrets, write_secrets
from keybearer.cli.secret_output import WithImports

if TYPE_CHECKING:
    from keybearer.client import ChangedSecret, Secret

__all__ = ["export_secrets", "import_secrets", "readable_values"]

_BATCH_ITEMS = 100
"""Small enough for the progress to move; the service takes ten times as many."""
_BATCH_BYTES = 1024 * 1024

Recursive = Annotated[
    bool,
    typer.Option(
        "--recursive", "-r", help="Also the folders below. If names are equal, the path that sorts last wins."
    ),
]


def import_secrets(
    file: Annotated[Path, typer.Argument(help="The file; - is standard input.", allow_dash=True)],
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    form: Annotated[
        FileFormat | None, typer.Option("--format", help="Its format. Default: by its name.")
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Write the secrets of a file into a folder.

    Creates new secrets, and changes those that have another value. Deletes nothing. Numbers and booleans of JSON and
    YAML become text as they are written; null, lists and mappings are refused.
    """
    from keybearer.client import ChangedSecret, ClientError

    given = read_secrets(read_text(file), format_of(file, form))
    created = updated = 0
    with in_folder(project, environment, path) as (client, place):
        found = client.secrets.list(**place, include_imports=False, expand_secret_references=False)
        present = {
            secret.secret_key: secret.secret_value for secret in found if not secret.secret_value_hidden
        }
        changed = [ChangedSecret(name, value) for name, value in given.items() if present.get(name) != value]
        with progress("Writing secrets", len(changed)) as advance:
            for batch in in_runs(changed, _bytes_of, count_max=_BATCH_ITEMS, weight_max=_BATCH_BYTES):
                try:
                    written = client.secrets.update_many(tuple(batch), **place, mode="upsert")
                except ClientError:
                    if created or updated:
                        note(f"{created + updated} secrets were written before; run it again to go on.")
                    raise
                new = sum(secret.version == 1 for secret in written)
                created, updated = created + new, updated + len(written) - new
                advance(len(written))
    unchanged = len(given) - len(changed)
    print_done(
        output,
        {"created": created, "updated": updated, "unchanged": unchanged},
        f"{environment}:{path}: {created} created, {updated} updated, {unchanged} unchanged.",
    )


def export_secrets(
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    form: Annotated[
        FileFormat | None,
        typer.Option("--format", help="env, json or yaml. Default: by the file's name, otherwise env."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="Write a file that only you can read, instead of printing.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    recursive: Recursive = False,
    imports: WithImports = True,
    references: Annotated[
        bool, typer.Option("--expand/--no-expand", help="Replace ${...} by what it names.")
    ] = True,
) -> None:
    """Print a folder's secrets and their values, or write a file."""
    chosen = FileFormat.ENV if file is None and form is None else format_of(file or Path(), form)
    with in_folder(project, environment, path) as (client, place):
        found = client.secrets.list(
            **place,
            recursive=recursive,
            include_imports=imports,
            expand_secret_references=references,
            unique_keys=True,
        )
    if not found:
        note(f"There are no secrets in {environment}:{path}.")
    text = write_secrets(readable_values(found), chosen)
    if file is None:
        if sys.stdout.isatty() and steers_terminal(text):
            raise CommandError(
                "values hold control characters, which could steer the terminal",
                ExitStatus.REFUSED,
                "Say --file FILE, or send the output somewhere else.",
            )
        print_exactly(text)
        return
    write_private(file, text, force=force)
    note(f"{len(found)} secrets of {environment}:{path} are in {file}.")


def readable_values(found: Sequence[Secret]) -> dict[str, str]:
    """Return names and values.

    Raises:
        CommandError: a value is hidden from whoever asks; a part would pass for the whole.
    """
    hidden = [secret.secret_key for secret in found if secret.secret_value_hidden]
    if hidden:
        raise CommandError(
            f"{len(hidden)} values are hidden from you, that of {hidden[0]!r} among them",
            ExitStatus.DENIED,
            "Ask an admin of the project for the action read-value there.",
        )
    return {secret.secret_key: secret.secret_value for secret in found}


def _bytes_of(changed: ChangedSecret) -> int:
    return len(changed.secret_name) + len(changed.secret_value or "") * 4
