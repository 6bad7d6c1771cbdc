"""A reader of sources that runs in virtual time, and what those who read with it are told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta

from keybearer.controllers.sources.query import SourceKey, SourceQuery
from keybearer.controllers.sources.reader import SourceReader
from keybearer.controllers.sources.state import SourceReading
from keybearer.controllers.work import Lane, WorkKey
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.source_session import FakeSession
from unit.controllers.fakes.virtual_loop import LoopClock

__all__ = ["FIVE_MINUTES", "ON_CHANGE", "Desk", "now", "reading", "source", "sync", "values"]

_QUERY = SourceQuery("shop", by_slug=False, environment="dev", path="/")
_EVER = float("-inf")
FIVE_MINUTES = timedelta(minutes=5)
ON_CHANGE = timedelta()


def sync(name: str) -> WorkKey:
    return WorkKey("SecretSync", "team-a", name)


def source(path: str = "/", session: str = "session") -> SourceKey:
    return SourceKey(session, replace(_QUERY, path=path))


class Desk:
    """A reader that runs, and whom it called."""

    def __init__(self) -> None:
        self.called: list[tuple[str, Lane]] = []
        self.reader = SourceReader(LoopClock(), self._call, SteadyChance())
        self.results: list[str] = []
        self.reader.on_read = self.results.append

    def _call(self, key: WorkKey, lane: Lane) -> None:
        self.called.append((key.name, lane))

    async def read(
        self,
        session: FakeSession,
        who: str = "a",
        *,
        key: SourceKey | None = None,
        interval: timedelta = FIVE_MINUTES,
        not_before: float = _EVER,
    ) -> SourceReading:
        return await self.reader.read(
            key or source(session=session.id), session, sync(who), interval, not_before=not_before
        )


@asynccontextmanager
async def reading() -> AsyncIterator[Desk]:
    desk = Desk()
    started = asyncio.Event()
    running = asyncio.create_task(desk.reader.run(started))
    await started.wait()
    yield desk
    assert not running.done(), "the reader must outlive whatever a source does"
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


def now() -> float:
    return asyncio.get_running_loop().time()


def values(reading: SourceReading) -> list[str] | None:
    return None if reading.secrets is None else [secret.value for secret in reading.secrets]
