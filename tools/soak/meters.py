"""Samples while everything works: memory of each program, requests to the service and to the API server."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tools.bench.api_counters import ApiCounts, count_entries
from tools.bench.process_meter import ProcessMeter
from tools.bench.proxy import Route
from tools.controlplane.errors import ControlPlaneError
from tools.soak.house import House, leads
from tools.soak.memory import Stretch
from tools.soak.sight import Sight

__all__ = ["AuditTail", "Calls", "Meters"]

_EACH_SECONDS = 2.0
_PIECE_BYTES = 8 * 1024 * 1024


class AuditTail:
    """Reads a growing audit log, each line once.

    Args:
        path: the file; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def read(self) -> ApiCounts:
        """Return what came since the last time; at most 8 MiB of it, the rest comes the next time."""
        if not self._path.exists():
            return count_entries(())
        with self._path.open("rb") as log:
            log.seek(self._offset)
            piece = log.read(_PIECE_BYTES)
        whole = piece[: piece.rfind(b"\n") + 1]
        self._offset += len(whole)
        return count_entries(whole.splitlines())


@dataclass(slots=True)
class Calls:
    """Requests of the operators between two samples.

    Attributes:
        at: second of the run at the end.
        seconds: how long it was.
        answered: by the service with what was asked for, 304 included.
        refused: by the service or the proxy with another status, or cut off.
        writes, reads: of the API server.
    """

    at: float
    seconds: float
    answered: int
    refused: int
    writes: int
    reads: int


@dataclass(slots=True)
class Meters:
    """What was sampled.

    Attributes:
        stretches: memory.
        calls: requests.
        requests: to the service, by route and status, over the whole run.
        writes: to the API server by kind, over the whole run.
    """

    house: House
    sight: Sight
    stretches: list[Stretch] = field(default_factory=list)
    calls: list[Calls] = field(default_factory=list)
    requests: Counter[Route] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    _sampled: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def run(self) -> None:
        """Sample each 2 s until cancelled."""
        tail = AuditTail(self.house.audit_log)
        while (await asyncio.to_thread(tail.read)).writes_total:
            pass  # of the time before
        counted, before = self.house.proxy.counts(), self.sight.now()
        while True:
            await asyncio.sleep(_EACH_SECONDS)
            await self._sample_memory()
            api = await asyncio.to_thread(tail.read)
            now, requests = self.sight.now(), self.house.proxy.since(counted)
            counted = self.house.proxy.counts()
            self.requests += requests
            self.writes += api.writes
            answered = sum(count for route, count in requests.items() if 200 <= route.status < 400)
            self.calls.append(
                Calls(
                    at=now,
                    seconds=now - before,
                    answered=answered,
                    refused=requests.total() - answered,
                    writes=api.writes_total,
                    reads=api.reads.total(),
                )
            )
            before = now
            async with self._sampled:
                self._sampled.notify_all()

    async def fresh_writes(self) -> Counter[str]:
        """Return the writes up to a moment after this call; `run` must be running."""
        # The sample under way may have read the log before this call, the next one can't have.
        wanted = len(self.calls) + 2
        async with self._sampled:
            await self._sampled.wait_for(lambda: len(self.calls) >= wanted)
        return self.writes.copy()

    async def _sample_memory(self) -> None:
        for name, operator in self.house.operators.items():
            leading = await asyncio.to_thread(leads, operator)
            with contextlib.suppress(ControlPlaneError):
                self._add(f"{name}, {'leading' if leading else 'standing by'}", operator.pid)
        with contextlib.suppress(ControlPlaneError):
            self._add("service", self.house.service.pid)

    def _add(self, job: str, pid: int) -> None:
        try:
            resident = ProcessMeter(pid).memory().resident
        except (FileNotFoundError, ProcessLookupError):
            return  # it has just ended
        if not resident:
            return  # likewise, and nobody has asked for its status yet
        program = job.partition(",")[0]
        current = next(
            (one for one in reversed(self.stretches) if one.job.partition(",")[0] == program), None
        )
        if current is None or (current.job, current.pid) != (job, pid):
            current = Stretch(job, pid)
            self.stretches.append(current)
        current.points.append((self.sight.now(), resident))
