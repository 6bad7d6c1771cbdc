"""Listings are held within bounds: what was used least lately makes room, and no subscriber notices."""

from __future__ import annotations

import asyncio

import pytest

from keybearer.controllers.sources import reader as module
from keybearer.controllers.sources.session import NotChanged
from keybearer.controllers.work import Lane
from unit.controllers.fakes.reading_desk import now, reading, source, sync, values
from unit.controllers.fakes.source_session import FakeSession, listing
from unit.controllers.fakes.virtual_loop import in_virtual_time


class TestMemory:
    @pytest.fixture(autouse=True)
    def _little_room(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_VALUES_MAX_BYTES", 1200)

    @in_virtual_time
    async def test_the_least_recently_used_listing_makes_room_and_is_read_whole_when_needed(self) -> None:
        sessions = {
            path: FakeSession(listing("cnry-" + "x" * 400), NotChanged()) for path in ("/1", "/2", "/3")
        }
        async with reading() as desk:
            for path, session in sessions.items():
                await desk.read(session, key=source(path))
            sessions["/1"].then(listing("cnry-" + "x" * 400))
            answer = await desk.read(sessions["/1"], key=source("/1"))

            assert values(answer) == ["cnry-" + "x" * 400]
            assert sessions["/1"].asked == [None, None]
            assert [path for path, session in sessions.items() if len(session.asked) > 1] == ["/1"]
            held = [one.secrets is not None for one in desk.reader._sources.values()]
            assert held.count(True) == 2
            assert desk.reader._values_bytes == sum(one.size for one in desk.reader._sources.values())

    @in_virtual_time
    async def test_what_counts_is_the_memory_a_value_takes_and_not_its_characters(self) -> None:
        async with reading() as desk:
            for path in ("/1", "/2"):
                await desk.read(FakeSession(listing("cnry-" + "\N{OLD KEY}" * 200)), key=source(path))
            held = [one.key.query.path for one in desk.reader._sources.values() if one.secrets is not None]

        assert held == ["/2"]

    @in_virtual_time
    async def test_a_listing_that_was_used_lately_stays(self) -> None:
        async with reading() as desk:
            for path in ("/1", "/2", "/1", "/3"):
                await desk.read(FakeSession(listing("cnry-" + "x" * 400)), key=source(path))
            held = {one.key.query.path for one in desk.reader._sources.values() if one.secrets is not None}

        assert held == {"/1", "/3"}

    @in_virtual_time
    async def test_a_content_keeps_its_number_and_no_other_has_it(self) -> None:
        one, two = listing("cnry-1"), listing("cnry-2")
        session, other = FakeSession(one), FakeSession(one, session_id="other")
        async with reading() as desk:
            first = await desk.read(session)
            session.then(NotChanged(), one, two, one)
            seen = []
            for _ in range(4):
                await asyncio.sleep(10)
                seen.append((await desk.read(session, not_before=now())).content)
            elsewhere = await desk.read(other, key=source(session="other"))

        assert seen[:2] == [first.content] * 2
        assert len({first.content, *seen[2:], elsewhere.content}) == 4

    @in_virtual_time
    async def test_an_evicted_listing_that_is_read_again_unchanged_calls_nobody(self) -> None:
        big = listing("cnry-" + "x" * 800)
        async with reading() as desk:
            await desk.read(FakeSession(big), "a", key=source("/1"))
            await desk.read(FakeSession(big), "b", key=source("/2"))
            await asyncio.sleep(1000)
            assert desk.called == []

    @in_virtual_time
    async def test_an_evicted_listing_that_changed_meanwhile_calls(self) -> None:
        big = listing("cnry-" + "x" * 800)
        async with reading() as desk:
            first = FakeSession(big, listing("cnry-" + "y" * 800))
            await desk.read(first, "a", key=source("/1"))
            await desk.read(FakeSession(big), "b", key=source("/2"))
            await asyncio.sleep(310)
            assert desk.called == [("a", Lane.CHANGE)]

    @in_virtual_time
    async def test_a_listing_larger_than_all_room_is_still_served(self) -> None:
        async with reading() as desk:
            answer = await desk.read(FakeSession(listing("cnry-" + "x" * 5000)))
            assert answer.secrets is not None

    @in_virtual_time
    async def test_a_source_that_nobody_wants_any_more_leaves_no_account_of_itself(self) -> None:
        session = FakeSession(listing("cnry-" + "x" * 400), seconds=5)
        async with reading() as desk:
            waiting = asyncio.create_task(desk.read(session))
            await asyncio.sleep(1)
            desk.reader.retain(sync("a"), frozenset())

            assert (await waiting).secrets is not None, "who waited is served"
            assert (len(desk.reader), desk.reader._values_bytes) == (0, 0)
            await asyncio.sleep(3600)
        assert len(session.asked) == 1
