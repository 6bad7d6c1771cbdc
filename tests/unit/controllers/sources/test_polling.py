"""A source is polled as often as its subscribers need it, and they are called when it changes."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from keybearer.controllers.sources.session import NotChanged
from keybearer.controllers.work import Lane
from unit.controllers.fakes.reading_desk import FIVE_MINUTES, ON_CHANGE, now, reading, source, sync, values
from unit.controllers.fakes.source_session import FakeSession, listing
from unit.controllers.fakes.virtual_loop import in_virtual_time

_MINUTE = timedelta(minutes=1)


class TestPolling:
    @in_virtual_time
    async def test_a_source_is_polled_at_its_shortest_interval_by_its_tag(self) -> None:
        session = FakeSession(listing("cnry-1"), NotChanged())
        async with reading() as desk:
            await desk.read(session, "slow", interval=FIVE_MINUTES)
            await desk.read(session, "quick", interval=_MINUTE)
            await asyncio.sleep(190)

        assert session.asked == [None, "tag", "tag", "tag"]
        assert desk.called == []
        assert desk.results == ["changed", "unchanged", "unchanged", "unchanged"]

    @in_virtual_time
    async def test_a_subscriber_with_an_interval_after_one_without_is_polled_for(self) -> None:
        session = FakeSession(listing("cnry-1"), NotChanged())
        async with reading() as desk:
            await desk.read(session, "on change only", interval=ON_CHANGE)
            await asyncio.sleep(3600)
            assert len(session.asked) == 1
            await desk.read(session, "polls", interval=_MINUTE)
            await asyncio.sleep(125)

        assert len(session.asked) == 3

    @in_virtual_time
    async def test_subscribers_that_keep_coming_put_no_poll_off(self) -> None:
        session = FakeSession(listing("cnry-1"), NotChanged())
        async with reading() as desk:
            for number in range(10):
                await desk.read(session, str(number), interval=_MINUTE)
                await asyncio.sleep(20)

        assert len(session.asked) == 4

    @in_virtual_time
    async def test_a_longer_interval_than_before_counts_after_the_poll_that_is_due(self) -> None:
        session = FakeSession(listing("cnry-1"), NotChanged())
        async with reading() as desk:
            await desk.read(session, interval=_MINUTE)
            await desk.read(session, interval=FIVE_MINUTES)
            await asyncio.sleep(65)
            assert len(session.asked) == 2
            await asyncio.sleep(240)
            assert len(session.asked) == 2

    @in_virtual_time
    async def test_a_change_calls_each_subscriber_once(self) -> None:
        session = FakeSession(listing("cnry-1"), listing("cnry-2"), NotChanged())
        async with reading() as desk:
            await desk.read(session, "a")
            await desk.read(session, "b")
            assert desk.called == [], "a first reading is news to nobody"
            await asyncio.sleep(700)
            assert sorted(desk.called) == [("a", Lane.CHANGE), ("b", Lane.CHANGE)]
            assert values(await desk.read(session, "a")) == ["cnry-2"]

    @in_virtual_time
    async def test_a_whole_answer_that_is_the_same_calls_nobody(self) -> None:
        session = FakeSession(listing("cnry-1", etag=None), listing("cnry-1", etag=None))
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(700)

        assert session.asked == [None, None, None]
        assert desk.called == []
        assert desk.results == ["changed", "unchanged", "unchanged"]

    @in_virtual_time
    async def test_who_leaves_is_called_no_more_and_the_last_ends_the_polls(self) -> None:
        session = FakeSession(listing("cnry-1"), listing("cnry-2"), listing("cnry-3"))
        async with reading() as desk:
            await desk.read(session, "stays")
            await desk.read(session, "leaves")
            desk.reader.retain(sync("leaves"), frozenset())
            await asyncio.sleep(310)
            assert desk.called == [("stays", Lane.CHANGE)]
            desk.reader.retain(sync("stays"), frozenset())
            await asyncio.sleep(3600)

        assert len(session.asked) == 2
        assert (len(desk.reader), desk.reader._values_bytes) == (0, 0)

    @in_virtual_time
    async def test_what_is_retained_stays_and_what_is_not_goes(self) -> None:
        session = FakeSession(listing("cnry-1"))
        async with reading() as desk:
            await desk.read(session, key=source("/old"))
            await desk.read(session, key=source("/new"))
            desk.reader.retain(sync("a"), frozenset({source("/new")}))

            assert len(desk.reader) == 1
            assert desk.reader.sessions_in_use() == {"session"}
            desk.reader.retain(sync("a"), frozenset())
            assert desk.reader.sessions_in_use() == set()

    @in_virtual_time
    async def test_the_newest_session_is_the_one_that_asks(self) -> None:
        old, new = FakeSession(listing("cnry-1")), FakeSession(NotChanged())
        async with reading() as desk:
            await desk.read(old, "a")
            await desk.read(new, "b")
            await asyncio.sleep(310)

        assert (len(old.asked), new.asked) == (1, ["tag"])

    @in_virtual_time
    async def test_a_stopped_reader_polls_no_more(self) -> None:
        session = FakeSession(listing("cnry-1"))
        async with reading() as desk:
            await desk.read(session)
        await asyncio.sleep(3600)

        assert len(session.asked) == 1
        with pytest.raises(asyncio.CancelledError):
            await desk.read(session, not_before=now())
