"""Lines of the audit log that no writing unit brings along: what was read, and what was refused.

They wait in memory and are written together, at most a second later: a reader is not made to wait for a commit.
A process that is killed loses what waits; one that ends in good order writes it. How many there may be in a
minute is bounded, for each actor and for all, so that nobody fills the disk with them: what goes beyond is
counted, and told in one line per actor when the minute is over.

A *strict* trail is for who would rather refuse a reading than miss its line: each reading has one, without a bound,
and whoever answers waits until it is written (`settle`). Those who read at the same time share one commit.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.base.origin import Origin, current_origin, request_from
from keybearer.domain.audit import EventType, audited
from keybearer.store.audit import AuditActor, AuditDetail, AuditEvent, AuditRecord
from keybearer.store.audit_chain.taking_in import TakenIn
from keybearer.store.database import Database
from keybearer.store.failures import BusyError

__all__ = ["DEFAULT_RETENTION", "AuditTrail"]

DEFAULT_RETENTION = timedelta(days=90)
_BATCH_SECONDS = 1.0
_BATCH_ROWS = 500
_MAX_WAITING = 10_000
_MINUTE_SECONDS = 60.0
_PRUNE_SECONDS = 3600.0
_PRUNE_ROWS = 1000
_TAKEN_IN_AT_ONCE = 500
_MAX_ACTORS = 1000
_MAX_TOLD = 20
_READS_EACH, _READS_ALL = 1000, 5000
_REFUSALS_EACH, _REFUSALS_ALL = 30, 300
_OTHERS = AuditActor("unknown", None, "", None)
_log = get_logger(__name__)


@dataclass(slots=True)
class _Minute:
    """What one kind of events has used of its bounds in the present minute."""

    each: int
    all: int
    taken: dict[str, int] = field(default_factory=dict)
    total: int = 0
    omitted: dict[str, tuple[AuditEvent, int]] = field(default_factory=dict)
    omitted_of_others: int = 0

    def take(self, event: AuditEvent) -> bool:
        """Return whether there is room for the event; count it either way."""
        key = event.actor.id or event.ip_address or ""
        if key not in self.taken and len(self.taken) >= _MAX_ACTORS:
            key = ""
        used = self.taken.get(key, 0)
        if used < self.each and self.total < self.all:
            self.taken[key] = used + 1
            self.total += 1
            return True
        if key not in self.omitted and len(self.omitted) >= _MAX_TOLD:
            self.omitted_of_others += 1
        else:
            first, count = self.omitted.get(key, (event, 0))
            self.omitted[key] = (first, count + 1)
        return False

    def omissions(self, kind: str) -> Iterator[AuditEvent]:
        """Yield what is told of the events that had no room."""
        for first, count in self.omitted.values():
            details: dict[str, AuditDetail] = {"kind": kind, "count": count}
            yield replace(first, event_type=EventType.EVENTS_OMITTED, project_id=None, details=details)
        if self.omitted_of_others:
            with request_from(Origin()):
                yield audited(_OTHERS, EventType.EVENTS_OMITTED, kind=kind, count=self.omitted_of_others)


class AuditTrail:
    """Takes events at any time, from the event loop only; `keep_written` must run for them to be stored."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        retention: timedelta = DEFAULT_RETENTION,
        strict: bool = False,
    ) -> None:
        self._database = database
        self._clock = clock
        self._retention = retention
        self._strict = strict
        self._writing = asyncio.Lock()
        self._waiting: list[AuditRecord] = []
        self._in_doubt = False
        self.lost = 0
        """Lines that could not be kept."""
        self._woken = asyncio.Event()
        self._minute_ends = clock.monotonic() + _MINUTE_SECONDS
        self._seen: set[Hashable] = set()
        self._begin_minute()

    @property
    def waiting(self) -> int:
        """How many lines wait to be written."""
        return len(self._waiting)

    def read(self, event: AuditEvent) -> None:
        """Record that values were read.

        Raises:
            BusyError: too much waits to be written, and the trail is strict.
        """
        self._end_minute()
        if self._strict and len(self._waiting) >= _MAX_WAITING:
            raise BusyError("the audit log can't be written at the moment; try again")
        if self._reads.take(event):
            self._put(event)

    def read_again(self, answer: Hashable, event: AuditEvent) -> None:
        """Record that the answer to an earlier reading was given out again: once a minute per address, or if strict.

        Raises:
            BusyError: too much waits to be written, and the trail is strict.
        """
        self._end_minute()
        origin = current_origin()
        seen = (answer, origin.address)
        if not self._strict:
            if seen in self._seen or len(self._seen) >= _READS_ALL:
                return
            self._seen.add(seen)
        self.read(
            replace(
                event,
                ip_address=origin.address,
                user_agent=origin.user_agent,
                request_id=origin.request_id,
            )
        )

    def refused(self, event: AuditEvent) -> None:
        """Record that somebody was refused."""
        self._end_minute()
        if self._refusals.take(event):
            self._put(event)

    async def settle(self) -> None:
        """Return when all that was recorded so far is written, if the trail is strict; else at once.

        Raises:
            BusyError: it can't be written at the moment; it goes on waiting.
        """
        if self._strict:
            await self.flush()

    async def flush(self) -> None:
        """Write all that waits.

        Raises:
            BusyError: other writers held the turn for too long; it goes on waiting.
        """
        self._end_minute()
        async with self._writing:
            await self._write()

    async def _write(self) -> None:
        while self._waiting:
            records, self._waiting = self._waiting[:_BATCH_ROWS], self._waiting[_BATCH_ROWS:]
            try:
                async with self._database.writing() as unit:
                    there = set()
                    if self._in_doubt:
                        there = await unit.audit_log.stored(record.id for record in records)
                    await unit.audit_log.add(record for record in records if record.id not in there)
            except BaseException:
                # A commit that was cut off may have happened: those that are there are left out at the next try.
                self._in_doubt = True
                self._waiting = [*records, *self._waiting]
                raise
            self._in_doubt = False

    async def close(self) -> None:
        """Write what waits, for the last time; what can't be written is lost, and that is told.

        The register notes which line each chain reached, so that nobody can cut off their ends later.
        """
        try:
            await self.flush()
        except Exception as error:  # noqa: BLE001 - whatever it is, the process ends
            _log.error("audit_events_lost", events=len(self._waiting), kind=type(error).__name__)
            return
        try:
            await self._note_chains()
        except Exception as error:  # noqa: BLE001 - the next process that starts notes it
            _log.warning("audit_chains_not_noted", kind=type(error).__name__)

    async def keep_written(self) -> None:
        """Write what waits, a second after the first of it came, until cancelled."""
        while True:
            await self._woken.wait()
            await asyncio.sleep(_BATCH_SECONDS)
            self._woken.clear()
            try:
                await self.flush()
            except Exception as error:  # noqa: BLE001 - whatever it is, what waits is tried again
                _log.warning("audit_log_waits", events=len(self._waiting), kind=type(error).__name__)
                self._woken.set()

    async def keep_pruned(self) -> None:
        """Every hour, remove lines older than the retention and chain those of earlier versions, until cancelled."""
        while True:
            try:
                await self.prune()
            except Exception as error:  # noqa: BLE001 - the next hour tries again
                _log.warning("audit_log_not_pruned", kind=type(error).__name__)
            try:
                await self.take_in()
            except Exception as error:  # noqa: BLE001 - same; what was chained stays so
                _log.warning("audit_log_not_chained", kind=type(error).__name__)
            await asyncio.sleep(_PRUNE_SECONDS)

    async def prune(self) -> None:
        """Remove what is older than the retention; other writers have their turn between the batches."""
        before = self._clock.now() - self._retention
        removed = 1
        while removed:
            async with self._database.writing() as unit:
                removed = await unit.audit_log.prune(before, limit=_PRUNE_ROWS)
        await self._note_chains()

    async def take_in(self) -> None:
        """Chain the lines of earlier versions; other writers have their turn between the batches."""
        place = None
        while (place := await self.take_in_some(place)) is not None:
            pass

    async def take_in_some(self, place: TakenIn | None) -> TakenIn | None:
        """Chain one batch that follows the place where this process stopped; None if no line is left."""
        async with self._database.writing() as unit:
            return await unit.audit_log.take_in(place, limit=_TAKEN_IN_AT_ONCE)

    async def _note_chains(self) -> None:
        async with self._database.writing() as unit:
            await unit.audit_log.note_chains(self._clock.now() - self._retention)

    def _put(self, event: AuditEvent) -> None:
        if len(self._waiting) >= _MAX_WAITING:
            self.lost += 1
            _log.error("audit_event_lost", event_type=event.event_type, request_id=event.request_id)
            return
        self._waiting.append(AuditRecord.of(event, self._clock.now()))
        self._woken.set()

    def _begin_minute(self) -> None:
        bounds = (sys.maxsize, sys.maxsize) if self._strict else (_READS_EACH, _READS_ALL)
        self._reads = _Minute(*bounds)
        self._refusals = _Minute(_REFUSALS_EACH, _REFUSALS_ALL)
        self._seen.clear()

    def _end_minute(self) -> None:
        now = self._clock.monotonic()
        if now < self._minute_ends:
            return
        over = [("read", self._reads), ("refused", self._refusals)]
        self._minute_ends = now + _MINUTE_SECONDS
        self._begin_minute()
        for kind, minute in over:
            for event in minute.omissions(kind):
                self._put(event)
