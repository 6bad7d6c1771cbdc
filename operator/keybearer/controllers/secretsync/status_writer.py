"""Writes the status of a SecretSync: one patch, and only if it says something new."""

from __future__ import annotations

from keybearer.base.clock import Clock
from keybearer.controllers.conditions import Tone
from keybearer.controllers.objects import ObjectStore, ObservedObject, TargetKey
from keybearer.controllers.reading import read_status
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.report import Report, build_status, says_the_same
from keybearer.controllers.secretsync.status import SecretSyncStatus, Updates
from keybearer.controllers.sources.reader import SourceReader
from keybearer.controllers.status_patch import StatusPatch
from keybearer.controllers.target.spec import TargetKind
from keybearer.controllers.target.status import TargetName
from keybearer.controllers.telemetry import Telemetry

__all__ = ["StatusWriter"]


class StatusWriter:
    """Writes what a run came to, and notes what must be known should it be cut off."""

    def __init__(
        self,
        clock: Clock,
        objects: ObjectStore,
        patch: StatusPatch,
        sources: SourceReader,
        telemetry: Telemetry,
    ) -> None:
        self._clock = clock
        self._objects = objects
        self._patch = patch
        self._sources = sources
        self._telemetry = telemetry

    def latest(self, seen: ObservedObject, previous: SecretSyncStatus) -> SecretSyncStatus:
        """Return the status of before the run, or what the run itself has noted there."""
        current = self._objects.get(seen.key)
        if current is None or current.uid != seen.uid or current.status_json == seen.status_json:
            return previous
        return read_status(current, SecretSyncStatus)

    async def write(self, seen: ObservedObject, previous: SecretSyncStatus, report: Report) -> None:
        """Write the status that the report leads to, and tell of it.

        Raises:
            ObjectGoneError: the SecretSync is gone, or another one of the same name.
            KubeError: the API server refuses or can't be asked.
        """
        status = build_status(
            previous,
            report,
            generation=seen.generation,
            updates=_updates(previous, is_instant=self._sources.is_instant(seen.key)),
            now=self._clock.now(),
        )
        # Ready comes first and keeps its reason under a suspension; the last one is what was told last.
        was = previous.conditions[-1].reason if previous.conditions else None
        fine = report.tone in (Tone.READY, Tone.PAUSED) or report.reason == Reason.PLANNED
        self._telemetry.outcome(
            seen, str(report.reason), report.message, was=was, fine=fine, conditions=status.conditions
        )
        if not says_the_same(status, previous):
            await self._patch.apply(seen, status.to_wire())

    async def note_move(self, seen: ObservedObject, previous: SecretSyncStatus, now: TargetKey) -> None:
        """Note that this target is about to be written in place of the one that the status names.

        Raises:
            ObjectGoneError: the SecretSync is gone, or another one of the same name.
            KubeError: the API server refuses or can't be asked.
        """
        moving_to = TargetName(kind=TargetKind(now.kind), name=now.name)
        await self._patch.apply(seen, previous.model_copy(update={"moving_to": moving_to}).to_wire())


def _updates(previous: SecretSyncStatus, *, is_instant: bool | None) -> Updates:
    """Return how changes arrive; as before while that isn't known, for a restart must cost no status writes."""
    if is_instant is None:
        return previous.updates or Updates.POLLING
    return Updates.EVENTS if is_instant else Updates.POLLING
