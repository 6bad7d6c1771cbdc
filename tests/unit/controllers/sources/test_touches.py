"""Sources that are due because something was heard of them, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest

from keybearer.controllers.sources.query import SourceKey, SourceQuery
from keybearer.controllers.sources.reader import SourceReader
from keybearer.controllers.work import Lane, WorkKey
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.source_follower import FakeFollower
from unit.controllers.fakes.source_session import DENIED, OUTAGE, FakeSession, listing
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time, settle

_EVER = float("-inf")
_HOUR = timedelta(hours=1)
_ON_CHANGE = timedelta()


def source(path: str = "/") -> SourceKey:
    return SourceKey("session", SourceQuery("shop", by_slug=False, environment="dev", path=path))


def sync(name: str) -> WorkKey:
    return WorkKey("SecretSync", "team-a", name)


class Desk:
    """A reader that runs, and whom it called."""

    def __init__(self) -> None:
        self.called: list[tuple[str, Lane]] = []
        self.follower = FakeFollower()
        self.reader = SourceReader(LoopClock(), self._call, SteadyChance(), self.follower)

    def _call(self, key: WorkKey, lane: Lane) -> None:
        self.called.append((key.name, lane))

    async def read(
        self, session: FakeSession, who: str = "a", path: str = "/", interval: timedelta = _HOUR
    ) -> None:
        await self.reader.read(source(path), session, sync(who), interval, not_before=_EVER)

    def touch(self, *paths: str) -> None:
        self.reader.touch([source(path) for path in paths or ("/",)], now())


@asynccontextmanager
async def reading() -> AsyncIterator[Desk]:
    desk = Desk()
    started = asyncio.Event()
    running = asyncio.create_task(desk.reader.run(started))
    await started.wait()
    yield desk
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


def now() -> float:
    return asyncio.get_running_loop().time()


@in_virtual_time
async def test_a_source_that_is_touched_is_read_at_once_and_its_subscribers_are_called() -> None:
    session = FakeSession(listing("cnry-1"), listing("cnry-2"))
    async with reading() as desk:
        await desk.read(session)
        await asyncio.sleep(10)
        touched_at = now()
        desk.touch()
        await asyncio.sleep(0.5)
        assert session.asked == [None, "tag"]
        assert session.asked_at[1] - touched_at < 0.1
        assert desk.called == [("a", Lane.CHANGE)]


@in_virtual_time
async def test_without_an_interval_a_source_is_read_when_it_is_touched() -> None:
    session = FakeSession(listing("cnry-1"), listing("cnry-2"))
    async with reading() as desk:
        await desk.read(session, interval=_ON_CHANGE)
        await asyncio.sleep(10_000)
        assert len(session.asked) == 1
        desk.touch()
        await asyncio.sleep(1)
        assert len(session.asked) == 2


@in_virtual_time
async def test_a_hundred_writes_in_a_second_are_a_few_reads_and_the_last_is_seen() -> None:
    session = FakeSession(listing("cnry-1"))
    async with reading() as desk:
        await desk.read(session)
        await asyncio.sleep(10)
        for _ in range(100):
            desk.touch()
            await asyncio.sleep(0.01)
        last = now()
        await asyncio.sleep(5)
        assert len(session.asked) - 1 <= 4
        assert session.asked_at[-1] >= last - 0.01


@in_virtual_time
async def test_what_is_heard_while_a_read_is_under_way_costs_another_read() -> None:
    session = FakeSession(listing("cnry-1"), listing("cnry-2"), seconds=0.4)
    async with reading() as desk:
        first = asyncio.create_task(desk.read(session))
        await asyncio.sleep(0.2)
        desk.touch()
        await first
        await asyncio.sleep(2)
        assert len(session.asked) == 2
        assert desk.called == [("a", Lane.CHANGE)]


@in_virtual_time
async def test_a_read_that_began_later_than_what_is_heard_is_not_repeated() -> None:
    session = FakeSession(listing("cnry-1"))
    async with reading() as desk:
        opened_at = now()
        await asyncio.sleep(1)
        await desk.read(session)
        desk.reader.touch([source()], opened_at)
        await asyncio.sleep(5)
        assert len(session.asked) == 1


@in_virtual_time
async def test_many_sources_that_are_due_at_once_are_spread() -> None:
    sessions = {f"/{number}": FakeSession(listing()) for number in range(1000)}
    async with reading() as desk:
        desk.reader = SourceReader(LoopClock(), desk._call)
        started = asyncio.Event()
        running = asyncio.create_task(desk.reader.run(started))
        await started.wait()
        await asyncio.gather(*(desk.read(session, path, path) for path, session in sessions.items()))
        await asyncio.sleep(60)
        touched_at = now()
        desk.touch(*sessions)
        await asyncio.sleep(10)
        delays = [session.asked_at[1] - touched_at for session in sessions.values()]
        assert max(delays) < 6
        assert sum(delay > 1 for delay in delays) > 500
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@in_virtual_time
async def test_polling_goes_on_beside_what_is_heard() -> None:
    session = FakeSession(listing("cnry-1"))
    async with reading() as desk:
        await desk.read(session)
        desk.touch()
        await asyncio.sleep(3 * 3600 + 60)
        assert len(session.asked) == 5


@in_virtual_time
async def test_a_source_that_fails_is_tried_when_it_is_touched() -> None:
    session = FakeSession(OUTAGE)
    async with reading() as desk:
        await desk.read(session)
        await asyncio.sleep(600)
        session.then(listing("cnry-1"))
        asked = len(session.asked)
        desk.touch()
        await asyncio.sleep(1)
        assert len(session.asked) == asked + 1
        assert desk.called[-1] == ("a", Lane.CHANGE)


@in_virtual_time
async def test_what_nobody_reads_any_more_is_not_touched() -> None:
    session = FakeSession(listing("cnry-1"))
    async with reading() as desk:
        await desk.read(session)
        desk.reader.retain(sync("a"), frozenset())
        desk.touch()
        await asyncio.sleep(5)
        assert len(session.asked) == 1
        assert desk.follower.followed == {}


@in_virtual_time
async def test_the_first_read_comes_after_the_stream_settled_and_later_ones_do_not_wait() -> None:
    session = FakeSession(listing("cnry-1"))
    async with reading() as desk:
        desk.follower.settling_seconds = 0.7
        await desk.read(session)
        assert session.asked_at == [pytest.approx(1000.7)]
        assert desk.follower.followed == {source(): session}
        await asyncio.sleep(5)
        desk.touch()
        await asyncio.sleep(0.1)
        assert len(session.asked) == 2


@pytest.mark.parametrize(
    ("answer", "judgements"),
    [
        pytest.param(listing("cnry-1"), [True], id="a listing"),
        pytest.param(DENIED, [False], id="a refusal"),
        pytest.param(OUTAGE, [], id="an outage says nothing"),
    ],
)
def test_the_follower_learns_what_could_be_read(answer: object, judgements: list[bool]) -> None:
    @in_virtual_time
    async def check() -> None:
        async with reading() as desk:
            await desk.read(FakeSession(answer))  # type: ignore[arg-type] # one of the table's answers
            assert desk.follower.judgements == judgements

    check()


@in_virtual_time
async def test_an_object_is_instant_when_all_its_sources_are() -> None:
    session = FakeSession(listing("cnry-1"))
    async with reading() as desk:
        assert desk.reader.is_instant(sync("a")) is None
        await desk.read(session, path="/one")
        await desk.read(session, path="/two")
        desk.follower.instant = {source("/one"): True}
        assert desk.reader.is_instant(sync("a")) is None
        desk.follower.instant[source("/two")] = False
        assert desk.reader.is_instant(sync("a")) is False
        desk.follower.instant[source("/two")] = True
        assert desk.reader.is_instant(sync("a")) is True


@in_virtual_time
async def test_objects_are_called_to_show_that_a_source_is_instant_now() -> None:
    session = FakeSession(listing("cnry-1"))
    async with reading() as desk:
        await desk.read(session, "a")
        await desk.read(session, "b")
        desk.reader.show([source(), source("/gone")])
        await settle()
        assert desk.called == [("a", Lane.REFRESH), ("b", Lane.REFRESH)]


@in_virtual_time
async def test_who_waits_for_the_first_read_is_not_called_to_show_what_it_will_see() -> None:
    async with reading() as desk:
        desk.follower.settling_seconds = 1
        first = asyncio.create_task(desk.read(FakeSession(listing("cnry-1"))))
        await settle()
        desk.reader.show([source()])
        await first
        assert desk.called == []
