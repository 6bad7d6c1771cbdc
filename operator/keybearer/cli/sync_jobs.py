"""`keybearer syncs run`, `import` and `remove`: what a sync does, and how that ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keybearer.cli.connecting import ProjectName
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import Output, OutputFormat, Yes, print_done, print_json, require_confirmed, spinner
from keybearer.cli.sync_finding import Which, one_sync
from keybearer.cli.waiting import wait_until_over

if TYPE_CHECKING:
    from keybearer.client import Keybearer, SecretSync

__all__ = ["Job", "follow", "import_secrets", "remove_pushed", "require_succeeded", "run_sync"]

_POLL_SECONDS = 1.0
_UNDER_WAY = frozenset({"pending", "running"})
_PATIENCE_SECONDS = 600
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it has ended. The exit status says how.")]
Timeout = Annotated[int, typer.Option(help="Seconds to wait at most.", min=1)]


class Job(StrEnum):
    """What a sync can be told to do: the word of its fields."""

    SYNC = "sync"
    IMPORT = "import"
    REMOVE = "remove"

    def status_of(self, sync: SecretSync) -> str | None:
        """Return how far it came."""
        return {
            Job.SYNC: sync.sync_status,
            Job.IMPORT: sync.import_status,
            Job.REMOVE: sync.remove_status,
        }[self]

    def message_of(self, sync: SecretSync) -> str | None:
        """Return why it failed, or what else there is to know."""
        return {
            Job.SYNC: sync.last_sync_message,
            Job.IMPORT: sync.last_import_message,
            Job.REMOVE: sync.last_remove_message,
        }[self]


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

    Secrets that others wrote stay at the destination, unless --remove-foreign.
    """
    if remove_foreign:
        require_confirmed(
            f"Remove from the destination of sync {sync} of {project} also what it did not write?", yes=yes
        )
    with one_sync(sync, project) as (client, found):
        told = client.secret_syncs.sync(
            found.id, destination=found.destination, remove_foreign=remove_foreign
        )
        _conclude(client, told, Job.SYNC, timeout if wait else None, output)


def import_secrets(
    sync: Which,
    project: ProjectName,
    prefer: Annotated[
        Literal["source", "destination"],
        typer.Option(help="Whose value stays where the folder and the destination both have a key."),
    ] = "source",
    wait: Wait = False,
    timeout: Timeout = _PATIENCE_SECONDS,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Import what the destination has into the folder."""
    behavior: Literal["prioritize-source", "prioritize-destination"] = (
        "prioritize-source" if prefer == "source" else "prioritize-destination"
    )
    with one_sync(sync, project) as (client, found):
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
    with one_sync(sync, project) as (client, found):
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


def follow(
    sync: SecretSync,
    job: Job,
    read: Callable[[], SecretSync],
    tell: Callable[[str], None],
    *,
    patience: timedelta,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> SecretSync:
    """Return the sync once its job is over, however it ended; the arguments are those of `wait_until_over`.

    Raises:
        CommandError: it isn't over after that time; it goes on by itself.
    """

    def under_way(now: SecretSync) -> str | None:
        status = job.status_of(now)
        return status if status in _UNDER_WAY else None

    return wait_until_over(
        f"sync {sync.name}",
        sync,
        read,
        under_way,
        tell,
        f"keybearer syncs get {sync.name}",
        patience=patience,
        every_seconds=_POLL_SECONDS,
        sleep=sleep,
        monotonic=monotonic,
    )


def require_succeeded(sync: SecretSync, job: Job) -> None:
    """Return if the job of the sync succeeded.

    Raises:
        CommandError: it failed.
    """
    if job.status_of(sync) != "succeeded":
        raise CommandError(
            f"sync {sync.name}: {job.message_of(sync) or f'{job} ended as {job.status_of(sync)}'}",
            ExitStatus.FAILED,
            f"Look at it: keybearer syncs get {sync.name}",
        )
