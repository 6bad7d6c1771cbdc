"""Failures of a source are told once and when they last, and it is tried again until it recovers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from keybearer.controllers.sources.session import NotChanged, SourceFailure
from keybearer.controllers.work import Lane
from unit.controllers.fakes.reading_desk import ON_CHANGE, now, reading, values
from unit.controllers.fakes.source_session import DENIED, OUTAGE, FakeSession, listing
from unit.controllers.fakes.virtual_loop import in_virtual_time


class TestFailures:
    @in_virtual_time
    async def test_one_passing_failure_of_a_held_source_is_not_told_and_is_tried_again_soon(self) -> None:
        session = FakeSession(listing("cnry-1"), OUTAGE, NotChanged())
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(320)
            answer = await desk.read(session)

        assert len(session.asked) == 3
        assert desk.called == []
        assert answer.failure is None
        assert desk.results == ["changed", "failed", "unchanged"]

    @in_virtual_time
    async def test_a_second_failure_in_a_row_is_told_once_and_the_last_listing_stays(self) -> None:
        session = FakeSession(listing("cnry-1"), OUTAGE)
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(1800)
            answer = await desk.read(session)

        assert desk.called == [("a", Lane.REFRESH)]
        assert answer.failure == OUTAGE
        assert values(answer) == ["cnry-1"]
        waits = [
            later - earlier for earlier, later in zip(session.asked_at, session.asked_at[1:], strict=False)
        ]
        assert waits[1] == pytest.approx(5 * 0.85 + 0.1)
        assert waits[-1] == pytest.approx(60 * 0.85 + 0.1), "an outage is asked about once a minute"

    @in_virtual_time
    async def test_a_passing_failure_without_any_listing_is_told(self) -> None:
        session = FakeSession(OUTAGE)
        async with reading() as desk:
            answer = await desk.read(session)

        assert answer.failure == OUTAGE
        assert desk.called == [("a", Lane.REFRESH)]

    @in_virtual_time
    async def test_a_definitive_failure_is_told_at_once(self) -> None:
        session = FakeSession(listing("cnry-1"), DENIED)
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(310)
            answer = await desk.read(session)

        assert desk.called == [("a", Lane.REFRESH)]
        assert answer.failure == DENIED

    @in_virtual_time
    async def test_what_was_read_before_access_was_refused_is_given_to_nobody_any_more(self) -> None:
        session = FakeSession(listing("cnry-1"), DENIED, OUTAGE)
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(310)
            assert (await desk.read(session)).secrets is None
            assert desk.reader._values_bytes == 0
            await asyncio.sleep(60)
            answer = await desk.read(session)

        assert (answer.secrets, answer.failure) == (None, OUTAGE), "an outage gives back no values"
        assert session.asked[:3] == [None, "tag", None], "the tag is of no use without its listing"

    @in_virtual_time
    async def test_another_failure_than_before_is_told(self) -> None:
        session = FakeSession(OUTAGE, DENIED)
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(30)

        assert desk.called == [("a", Lane.REFRESH)] * 2

    @in_virtual_time
    async def test_the_same_failure_with_another_wait_is_not_told_again(self) -> None:
        throttled = SourceFailure("ServiceThrottled", "slow down", passing=True, after=timedelta(seconds=90))
        session = FakeSession(throttled, replace(throttled, after=timedelta(seconds=30)))
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(600)

        assert desk.called == [("a", Lane.REFRESH)]
        waits = [
            later - earlier for earlier, later in zip(session.asked_at, session.asked_at[1:], strict=False)
        ]
        assert waits[0] == pytest.approx(90.1), "the service said when"

    @in_virtual_time
    async def test_a_service_that_asks_for_a_day_is_asked_again_within_ten_minutes(self) -> None:
        async with reading() as desk:
            session = FakeSession(replace(OUTAGE, after=timedelta(days=1)))
            await desk.read(session)
            await asyncio.sleep(590)
            assert len(session.asked) == 1, "what it asks for counts up to there"
            await asyncio.sleep(20)
            assert len(session.asked) == 2

    @pytest.mark.parametrize("ailing", [OUTAGE, DENIED], ids=["an outage", "a refusal"])
    @pytest.mark.parametrize("unchanged", [True, False], ids=["unchanged", "changed"])
    @in_virtual_time
    async def test_recovery_is_told_even_when_nothing_changed(
        self, ailing: SourceFailure, *, unchanged: bool
    ) -> None:
        # After a refusal nothing is held that could be unchanged: the whole listing is asked for.
        same = NotChanged() if ailing.passing else listing("cnry-1")
        well = same if unchanged else listing("cnry-2")
        session = FakeSession(listing("cnry-1"), ailing, ailing, well)
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(400)
            answer = await desk.read(session)

        assert desk.called == [("a", Lane.REFRESH), ("a", Lane.CHANGE)]
        assert answer.failure is None

    @in_virtual_time
    async def test_a_source_that_is_read_only_on_change_is_still_asked_until_it_recovers(self) -> None:
        session = FakeSession(OUTAGE, listing("cnry-1"))
        async with reading() as desk:
            await desk.read(session, interval=ON_CHANGE)
            await asyncio.sleep(3600)

        assert len(session.asked) == 2
        assert desk.called[-1] == ("a", Lane.CHANGE)

    @in_virtual_time
    async def test_a_reader_who_needs_a_fresh_reading_waits_a_tolerated_failure_out(self) -> None:
        session = FakeSession(listing("cnry-1"), OUTAGE, listing("cnry-2"))
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(10)
            answer = await desk.read(session, not_before=now())

        assert values(answer) == ["cnry-2"]

    @in_virtual_time
    async def test_a_fault_in_one_session_ends_neither_the_reader_nor_shows_what_it_says(self) -> None:
        session = FakeSession(RuntimeError("cnry-in-the-text"), listing("cnry-1"))
        async with reading() as desk:
            answer = await desk.read(session)
            assert answer.failure is not None
            assert answer.failure.reason == "InternalError"
            assert "cnry" not in answer.failure.message
            assert "RuntimeError" in answer.failure.message
            await asyncio.sleep(30)
            assert values(await desk.read(session)) == ["cnry-1"]

    @in_virtual_time
    async def test_nothing_changed_in_answer_to_a_whole_read_is_a_failure_and_no_endless_loop(self) -> None:
        session = FakeSession(NotChanged())
        async with reading() as desk:
            answer = await desk.read(session, not_before=now())

        assert answer.failure is not None
        assert answer.failure.reason == "ServiceRefused"
        assert len(session.asked) == 1
