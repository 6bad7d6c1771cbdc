"""Waiting until what a secret sync was told to do has ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.waiting import wait_until_over

if TYPE_CHECKING:
    from keybearer.client import SecretSync

__all__ = ["Job", "follow", "require_succeeded"]

_POLL_SECONDS = 1.0
_UNDER_WAY = frozenset({"pending", "running"})


class Job(StrEnum):
    """What a sync can be told to do: the word of its fields."""

    SYNC = "sync"
    IMPORT = "import"
    REMOVE = "remove"

    def status_of(self, sync: SecretSync) -> str | None:
        """Return how far it came."""
        match self:
            case Job.SYNC:
                return sync.sync_status
            case Job.IMPORT:
                return sync.import_status
            case Job.REMOVE:
                return sync.remove_status

    def message_of(self, sync: SecretSync) -> str | None:
        """Return why it failed, or what else there is to know."""
        match self:
            case Job.SYNC:
                return sync.last_sync_message
            case Job.IMPORT:
                return sync.last_import_message
            case Job.REMOVE:
                return sync.last_remove_message


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
    """Return the sync once its job is over, however it ended.

    Args:
        sync: as the service answered when it was told.
        job: what it was told.
        read: asks the service how the sync is now.
        tell: is given each new status.
        patience: how long to wait at most.
        sleep: waits, in seconds.
        monotonic: tells lengths of time, in seconds.

    Raises:
        CommandError: it isn't over after that time; it goes on by itself.
    """

    def under_way(now: SecretSync) -> str | None:
        status = job.status_of(now)
        return status if status in _UNDER_WAY else None

    return wait_until_over(
        sync,
        read,
        under_way,
        lambda status: tell(f"{sync.name}: {status}"),
        lambda status: CommandError(
            f"sync {sync.name} is still {status} after {patience.total_seconds():.0f} s; it goes on by itself",
            ExitStatus.UNAVAILABLE,
            f"Look at it later: keybearer syncs get {sync.name}",
        ),
        every_seconds=_POLL_SECONDS,
        until=monotonic() + patience.total_seconds(),
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
