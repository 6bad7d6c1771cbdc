"""What `status.push` tells of a destination: names that failed, names of others, removals that passed. Pure."""

from __future__ import annotations

import re
from datetime import datetime

from keybearer.client import SecretSync
from keybearer.controllers.resource_fields import told_instant
from keybearer.controllers.secretsync.destination_names import PlacedNames
from keybearer.controllers.secretsync.status import (
    FAILED_MAX,
    FOREIGN_MAX,
    FailedName,
    PushStatus,
    RemoteSyncStatus,
)

__all__ = [
    "has_news",
    "is_parked",
    "is_shown",
    "next_attempt",
    "with_names",
]

_NEXT_ATTEMPT = re.compile(r"(?:; the next attempt is at|, and the rest follows at) (\S+Z)$")
"""How our service ends the message of a push that it tries again, or goes on with, by itself (decision 28)."""
_BUSY = frozenset({"pending", "running"})


def next_attempt(message: str | None) -> datetime | None:
    """Return when the service goes on with a push by itself; None where it doesn't, or doesn't say so."""
    found = None if message is None else _NEXT_ATTEMPT.search(message)
    return None if found is None else told_instant(found[1])


def is_parked(sync: SecretSync, now: datetime) -> bool:
    """Tell whether a push waits for a time that its remote asked for: whoever sets it off now breaks into that."""
    due_at = next_attempt(sync.last_sync_message) if sync.sync_status == "pending" else None
    return due_at is not None and due_at > now


def has_news(before: RemoteSyncStatus | None, now: RemoteSyncStatus) -> bool:
    """Tell whether a push has ended since the last look and left something to say of single names."""
    if now.sync_status in _BUSY or not (now.sync_status == "failed" or now.last_sync_message):
        return False
    if before is None:
        return True
    ends = [(one.last_sync_job_id, one.sync_status, one.last_sync_message) for one in (before, now)]
    return ends[0] != ends[1]


def with_names(push: PushStatus, names: PlacedNames | None) -> PushStatus:
    """Return the status with what is told of single names; None: nothing is."""
    known = names or PlacedNames()
    failed = tuple(
        FailedName(name=one.name, key=one.key, message=one.message) for one in known.failed[:FAILED_MAX]
    )
    return push.model_copy(
        update={
            "failed": failed or None,
            "failed_total": len(known.failed) or None,
            "foreign": known.foreign[:FOREIGN_MAX] or None,
            "foreign_total": len(known.foreign) or None,
        }
    )


def is_shown(push: PushStatus, names: PlacedNames) -> bool:
    """Tell whether the status shows just the names of others that there are now."""
    shown = push.foreign or (), push.foreign_total or 0
    return shown == (names.foreign[:FOREIGN_MAX], len(names.foreign))
