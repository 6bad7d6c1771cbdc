"""How commits reach the streams of a process: at once, with their consequences, or as an end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from keybearer.base.clock import SystemClock
from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.authentication import Authentication
from keybearer.domain.authorization import Principal
from keybearer.domain.errors import LimitReachedError, NotFoundError, UnauthenticatedError
from keybearer.domain.event_stream import REFUSED, Ended, EventStream, Happened, Registration
from keybearer.domain.events import Events
from keybearer.store.records import Project
from keybearer.store.revisions import ChangeKind, Changes, ListChange
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import EVENT_STREAMS_MAX
from support.service_domain import ServiceDomain, service_domain
from tools.local.waiting import PATIENCE_SECONDS

_ALL = [Registration(kind) for kind in ChangeKind]


class _Tokens:
    """Authentication to which every token is still good, until they were revoked."""

    def __init__(self) -> None:
        self.are_revoked = False

    async def recheck(self, principal: Principal, address: str | None) -> Principal:
        del address
        if self.are_revoked:
            raise UnauthenticatedError("revoked")
        return principal


class House:
    """A service's domain with one project, and events whose consequences the test decides."""

    def __init__(self, domain: ServiceDomain, project: Project) -> None:
        self.domain = domain
        self.project = project
        self.consequences: list[ListChange] | Exception = []
        self.asked: list[ListChange] = []
        self.tokens = _Tokens()
        authentication = cast("Authentication", self.tokens)
        self.events = Events(domain.database, authentication, SystemClock(), self._dependents)

    def change(self, key: str) -> ListChange:
        place = (EnvironmentSlug("dev"), FolderPath("/"))
        return ListChange(ChangeKind.UPDATED, self.project.id, *place, key)

    async def commit(self, *keys: str, **more: object) -> None:
        """Commit a unit that noted these changes."""
        async with self.domain.database.writing() as unit:
            unit.changes.folders += [self.change(key) for key in keys]
            for name, value in more.items():
                setattr(unit.changes, name, value)

    async def stream(self) -> EventStream:
        return await self.events.subscribe(self.domain.admin, self.project.id, _ALL, None, None)

    async def _dependents(self, unit: UnitOfWork, changes: Sequence[ListChange]) -> Sequence[ListChange]:
        del unit
        self.asked += changes
        if isinstance(self.consequences, Exception):
            raise self.consequences
        return self.consequences


class Ear:
    """Listens to a stream."""

    def __init__(self, house: House, stream: EventStream) -> None:
        self._events, self._stream = house.events, stream
        self.heard: list[str] = []
        self.end = ""
        self._news = asyncio.Condition()

    async def listen(self) -> None:
        async with self._events.listening(self._stream):
            async for item in self._stream.items():
                async with self._news:
                    if isinstance(item, Happened):
                        self.heard += [change.key for change in item.changes]
                    elif isinstance(item, Ended):
                        self.end = item.message
                    self._news.notify_all()

    async def until(self, *keys: str, ended: bool = False) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), self._news:
            await self._news.wait_for(lambda: set(keys) <= set(self.heard) and (bool(self.end) or not ended))


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with service_domain(tmp_path) as domain:
        yield House(domain, await domain.project("shop-slug"))


@asynccontextmanager
async def listening(house: House, *, count: int = 1) -> AsyncIterator[list[Ear]]:
    ears = [Ear(house, await house.stream()) for _ in range(count)]
    tasks = [asyncio.create_task(ear.listen()) for ear in ears]
    tasks.append(asyncio.create_task(house.events.run()))
    await asyncio.sleep(0)
    yield ears
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_every_stream_of_the_project_hears_a_commit_and_what_follows_from_it(house: House) -> None:
    house.consequences = [house.change("REFERRING")]
    async with listening(house, count=3) as ears:
        await house.commit("KEY")
        for ear in ears:
            await ear.until("KEY", "REFERRING")
        assert house.asked == [house.change("KEY")]


async def test_what_is_undone_is_heard_by_nobody(house: House) -> None:
    async with listening(house) as (ear,):
        with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the block is what is tested
            async with house.domain.database.writing() as unit:
                unit.changes.folders.append(house.change("UNDONE"))
                raise ZeroDivisionError
        await house.commit("DONE")
        await ear.until("DONE")
        assert ear.heard == ["DONE"]


async def test_while_nobody_listens_no_consequences_are_looked_up(house: House) -> None:
    running = asyncio.create_task(house.events.run())
    await house.commit("KEY")
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert house.asked == []


async def test_consequences_that_can_t_be_found_end_all_streams(house: House) -> None:
    house.consequences = RuntimeError("too many")
    async with listening(house, count=2) as ears:
        await house.commit("KEY")
        for ear in ears:
            await ear.until(ended=True)
            assert "read anew" in ear.end
    house.consequences = []
    async with listening(house) as (ear,):
        await house.commit("LATER")
        await ear.until("LATER")


async def test_a_change_of_the_whole_organization_ends_its_streams(house: House) -> None:
    async with listening(house) as (ear,):
        await house.commit(organizations={house.domain.admin.organization_id})
        await ear.until(ended=True)


async def test_a_gap_of_the_bus_ends_all_streams(house: House) -> None:
    gaps: list[object] = []
    house.domain.database.bus.subscribe = lambda _, on_gap: gaps.append(on_gap)  # type: ignore[assignment, misc] # a bus that can lose something
    house = House(house.domain, house.project)
    (on_gap,) = gaps
    async with listening(house) as (ear,):
        on_gap()  # type: ignore[operator] # as above
        await ear.until(ended=True)
        assert "missed" in ear.end


async def test_a_service_that_stops_ends_its_streams_and_those_that_come_too_late(house: House) -> None:
    async with listening(house) as (ear,):
        house.events.close()
        await ear.until(ended=True)
    async with listening(house) as (late,):
        await late.until(ended=True)


async def test_the_sixth_stream_of_an_identity_finds_no_room_until_another_ends(house: House) -> None:
    async with listening(house, count=EVENT_STREAMS_MAX):
        with pytest.raises(
            LimitReachedError, match=f"Too many active connections for project {house.project.id}"
        ):
            await Ear(house, await house.stream()).listen()
    async with listening(house) as (ear,):
        await house.commit("KEY")
        await ear.until("KEY")


async def test_a_right_that_went_before_the_stream_was_entered_is_noticed(house: House) -> None:
    """Nobody tells a stream of it that isn't among those of the process yet."""
    ear = Ear(house, await house.stream())
    house.tokens.are_revoked = True
    listens = asyncio.create_task(ear.listen())
    await asyncio.sleep(0)
    await house.commit("KEY")
    await ear.until(ended=True)
    await listens
    assert (ear.heard, ear.end) == ([], REFUSED)


async def test_an_unknown_project_is_not_found(house: House) -> None:
    with pytest.raises(NotFoundError):
        await house.events.subscribe(house.domain.admin, "nowhere", _ALL, None, None)


def test_changes_hold_no_place_for_a_value() -> None:
    assert set(ListChange.__slots__) == {"kind", "project_id", "environment", "path", "key", "owner"}
    assert "value" not in repr(Changes())
