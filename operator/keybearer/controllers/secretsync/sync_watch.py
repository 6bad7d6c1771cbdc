"""How often syncs of the service are looked at: at leisure, and again and again while something is under way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.client import SecretSync
from keybearer.controllers.secretsync.remote_syncs import RemoteSyncs, SyncBoard
from keybearer.controllers.work import WorkKey

__all__ = ["BUSY", "REFRESH", "SyncWatch", "is_busy"]

BUSY = frozenset({"pending", "running"})
"""What the status of a job says until it has ended."""
REFRESH = timedelta(minutes=5)
"""Between two looks at a sync at rest: what others do with it in the service."""
_SOON = timedelta(milliseconds=300)
"""Between two looks at a run that is under way."""
_LATER = timedelta(seconds=2)
_SOON_FOR_SECONDS = 30.0
_AGAIN_SECONDS = REFRESH.total_seconds()
_AGAIN_MAX_SECONDS = 3600.0
"""Between pushes that fail for a reason that no attempt mends: each time twice as long, up to this."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """A job that failed, and when the next one is due (monotonic seconds)."""

    job_id: str | None
    wait: float
    due_at: float


def is_busy(sync: SecretSync) -> bool:
    """Return whether something of the sync is under way."""
    return not BUSY.isdisjoint({sync.sync_status, sync.import_status, sync.remove_status})


class SyncWatch:
    """Looks that all who wait share; remembers what each object awaits, as long as it does."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._board = SyncBoard(clock)
        self._awaited: dict[WorkKey, tuple[str, float]] = {}
        self._failed: dict[WorkKey, _Failed] = {}

    async def look(
        self, remote: RemoteSyncs, project_id: str, sync_id: str, *, anew: bool = False
    ) -> SecretSync | None:
        """Return the sync as it is now, by a look that others share; None where the project has none of that id.

        Args:
            remote: the service.
            project_id: of the sync.
            sync_id: its id.
            anew: whether the look must begin now: one of a moment ago doesn't know what was just set off.
        """
        now = self._clock.monotonic()
        not_before = now if anew else now - _SOON.total_seconds() / 2
        return await self._board.look(remote.session, project_id, sync_id, not_before=not_before)

    def pause(self, key: WorkKey, sync: SecretSync) -> timedelta:
        """Return when an object looks again: soon while something is under way, less soon once that takes long."""
        if sync.sync_status == "succeeded":
            self._failed.pop(key, None)
        if not is_busy(sync):
            self._awaited.pop(key, None)
            return REFRESH
        now = self._clock.monotonic()
        sync_id, since = self._awaited.get(key, (sync.id, now))
        if sync_id != sync.id:
            since = now
        self._awaited[key] = sync.id, since
        return _SOON if now - since < _SOON_FOR_SECONDS else _LATER

    def is_due_again(self, key: WorkKey, sync: SecretSync) -> bool:
        """Tell whether a failed push is to be set off again; its first failure is seen, and it waits from then on."""
        now = self._clock.monotonic()
        kept = self._failed.get(key)
        if kept is not None and kept.job_id == sync.last_sync_job_id:
            return now >= kept.due_at
        wait = _AGAIN_SECONDS if kept is None else min(2 * kept.wait, _AGAIN_MAX_SECONDS)
        self._failed[key] = _Failed(sync.last_sync_job_id, wait, now + wait)
        return False

    def forget(self, key: WorkKey) -> None:
        """End what an object that is gone awaits."""
        self._awaited.pop(key, None)
        self._failed.pop(key, None)
