"""`keybearer syncs run`, `import` and `remove`: what a sync does, and how that ends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keybearer.cli.connecting import ProjectName, connected, project_id_of
from keybearer.cli.following import Job, follow, require_succeeded
from keybearer.cli.output import Output, OutputFormat, Yes, print_done, print_json, require_confirmed, spinner
from keybearer.cli.sync_finding import Which, named_sync
from keybearer.cli.words import Preference

if TYPE_CHECKING:
    from keybearer.client import Keybearer, SecretSync

__all__ = ["import_secrets", "remove_pushed", "run_sync"]

Wait = Annotated[bool, typer.Option("--wait", help="Until it has ended; the exit status tells how.")]
Timeout = Annotated[int, typer.Option(help="Seconds to wait at most.", min=1)]
_PATIENCE_SECONDS = 600


def run_sync(
    sync: Which,
    project: ProjectName,
    remove_foreign: Annotated[
        bool,
        typer.Option(
            "--remove-foreign",
            help="Also remove what others keep there under names that the key schema makes, this once.",
        ),
    ] = False,
    wait: Wait = False,
    timeout: Timeout = _PATIENCE_SECONDS,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Push a sync's secrets now.

    What the sync neither wrote nor imported stays at the destination, unless --remove-foreign.
    """
    if remove_foreign:
        require_confirmed(
            f"Remove from the destination of sync {sync} of {project} also what it did not write?", yes=yes
        )
    with connected() as client:
        found = named_sync(client, sync, project_id_of(client, project))
        told = client.secret_syncs.sync(
            found.id, destination=found.destination, remove_foreign=remove_foreign
        )
        _conclude(client, told, Job.SYNC, timeout if wait else None, output)


def import_secrets(
    sync: Which,
    project: ProjectName,
    prefer: Annotated[
        Preference,
        typer.Option(help="Whose value stays where the folder and the destination both have a key."),
    ] = Preference.SOURCE,
    wait: Wait = False,
    timeout: Timeout = _PATIENCE_SECONDS,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Bring what the destination holds into the folder."""
    behavior: Literal["prioritize-source", "prioritize-destination"] = (
        "prioritize-source" if prefer is Preference.SOURCE else "prioritize-destination"
    )
    with connected() as client:
        found = named_sync(client, sync, project_id_of(client, project))
        told = client.secret_syncs.import_secrets(found.id, destination=found.destination, behavior=behavior)
        _conclude(client, told, Job.IMPORT, timeout if wait else None, output)


def remove_pushed(
    sync: Which,
    project: ProjectName,
    wait: Wait = False,
    timeout: Timeout = _PATIENCE_SECONDS,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Remove a sync's secrets from the destination.

    The sync stays.
    """
    require_confirmed(f"Remove what sync {sync} of {project} pushed from its destination?", yes=yes)
    with connected() as client:
        found = named_sync(client, sync, project_id_of(client, project))
        told = client.secret_syncs.remove_secrets(found.id, destination=found.destination)
        _conclude(client, told, Job.REMOVE, timeout if wait else None, output)


def _conclude(
    client: Keybearer, sync: SecretSync, job: Job, patience_seconds: int | None, output: OutputFormat
) -> None:
    """Tell what a sync was told to do, or how that ended; None for no waiting."""
    if patience_seconds is None:
        print_done(output, sync, f"Sync {sync.name}: {job} is {job.status_of(sync)}.")
        return
    read: Callable[[], SecretSync] = partial(client.secret_syncs.get, sync.id, destination=sync.destination)
    with spinner() as tell:
        ended = follow(sync, job, read, tell, patience=timedelta(seconds=patience_seconds))
    if output is OutputFormat.JSON:
        print_json(ended)
    require_succeeded(ended, job)
    if output is not OutputFormat.JSON:
        message = job.message_of(ended)
        print_done(output, ended, f"Sync {ended.name}: {job} succeeded.{f' {message}.' if message else ''}")
