"""One read serves all who want a source, if it is new enough for them, and holds up nobody else."""

from __future__ import annotations

import asyncio

import pytest

from keybearer.controllers.sources.session import NotChanged
from keybearer.controllers.sources.state import SourceReading
from unit.controllers.fakes.reading_desk import now, reading, source, values
from unit.controllers.fakes.source_session import DENIED, OUTAGE, FakeSession, listing
from unit.controllers.fakes.virtual_loop import in_virtual_time, settle


class TestSingleFlight:
    @in_virtual_time
    async def test_many_who_want_one_source_cost_one_request(self) -> None:
        session = FakeSession(listing("cnry-1"))
        async with reading() as desk:
            saved = 0

            def count() -> None:
                nonlocal saved
                saved += 1

            desk.reader.on_saved = count
            answers = await asyncio.gather(*(desk.read(session, str(number)) for number in range(50)))

        assert len(session.asked) == 1
        assert {tuple(values(answer) or ()) for answer in answers} == {("cnry-1",)}
        assert saved == 49

    @in_virtual_time
    async def test_different_questions_and_different_identities_are_asked_apart(self) -> None:
        one, other = FakeSession(listing("cnry-1")), FakeSession(listing("cnry-2"), session_id="other")
        async with reading() as desk:
            await asyncio.gather(
                desk.read(one),
                desk.read(one, key=source("/db")),
                desk.read(other, key=source(session="other")),
            )

        assert (len(one.asked), len(other.asked)) == (2, 1)
        assert len(desk.reader) == 3

    @in_virtual_time
    async def test_a_later_reader_gets_what_is_held_without_a_request(self) -> None:
        session = FakeSession(listing("cnry-1"))
        async with reading() as desk:
            await desk.read(session, "a")
            await asyncio.sleep(60)
            answer = await desk.read(session, "b")

        assert values(answer) == ["cnry-1"]
        assert answer.read_at == 1000.0
        assert len(session.asked) == 1

    @in_virtual_time
    async def test_a_cancelled_reader_takes_nothing_from_the_others(self) -> None:
        session = FakeSession(listing("cnry-1"), seconds=5)
        async with reading() as desk:
            impatient = asyncio.create_task(desk.read(session, "impatient"))
            await settle()
            patient = asyncio.create_task(desk.read(session, "patient"))
            await settle()
            impatient.cancel()

            assert values(await patient) == ["cnry-1"]
            assert impatient.cancelled()
        assert len(session.asked) == 1

    @in_virtual_time
    async def test_a_poll_that_is_due_while_a_read_begins_asks_nothing_itself(self) -> None:
        session = FakeSession(listing("cnry-1"), seconds=5)
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(60)
            wanted = asyncio.create_task(desk.read(session, "b", not_before=now()))
            await asyncio.sleep(0)  # the read is on its way, and its first step is still to come
            (held,) = desk.reader._sources.values()
            assert held.reading is not None
            desk.reader._poll(held)

            assert values(await wanted) == ["cnry-1"]
        assert len(session.asked) == 2


class TestNotBefore:
    @in_virtual_time
    async def test_what_was_read_before_is_read_anew(self) -> None:
        session = FakeSession(listing("cnry-old"), listing("cnry-new"))
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(10)
            answer = await desk.read(session, not_before=now())

        assert values(answer) == ["cnry-new"]
        assert answer.read_at == pytest.approx(1010.1)

    @in_virtual_time
    async def test_what_was_read_exactly_then_is_good_enough(self) -> None:
        session = FakeSession(listing("cnry-1"))
        async with reading() as desk:
            first = await desk.read(session)
            await desk.read(session, not_before=first.read_at)

        assert len(session.asked) == 1

    @in_virtual_time
    async def test_a_read_under_way_that_began_too_early_is_followed_by_one_more(self) -> None:
        session = FakeSession(listing("cnry-old"), listing("cnry-new"), seconds=2)
        async with reading() as desk:
            early = asyncio.create_task(desk.read(session, "a"))
            await asyncio.sleep(1)
            late = [asyncio.create_task(desk.read(session, str(n), not_before=now())) for n in range(10)]

            assert values(await early) == ["cnry-old"]
            assert [values(await one) for one in late] == [["cnry-new"]] * 10
        assert len(session.asked) == 2

    @in_virtual_time
    async def test_nothing_changed_counts_as_read(self) -> None:
        session = FakeSession(listing("cnry-1"), NotChanged())
        async with reading() as desk:
            await desk.read(session)
            await asyncio.sleep(10)
            answer = await desk.read(session, not_before=now())

        assert session.asked == [None, "tag"]
        assert values(answer) == ["cnry-1"]
        assert answer.read_at > 1010

    @in_virtual_time
    async def test_a_failed_try_since_then_is_an_answer(self) -> None:
        session = FakeSession(DENIED)
        async with reading() as desk:
            asked_at = now()
            answer = await desk.read(session, not_before=asked_at)

        assert answer == SourceReading(None, -1.0, DENIED)
        assert len(session.asked) == 1

    @in_virtual_time
    async def test_an_older_failure_is_no_answer(self) -> None:
        session = FakeSession(DENIED, listing("cnry-1"))
        async with reading() as desk:
            await desk.read(session)
            answer = await desk.read(session, not_before=now())

        assert answer.failure is None
        assert values(answer) == ["cnry-1"]

    @in_virtual_time
    async def test_between_two_reads_lies_the_least_gap(self) -> None:
        session = FakeSession(listing("cnry-1"))
        async with reading() as desk:
            for _ in range(4):
                await desk.read(session, not_before=now())

        gaps = [
            later - earlier for earlier, later in zip(session.asked_at, session.asked_at[1:], strict=False)
        ]
        assert gaps == pytest.approx([0.5] * 3)


class TestTenants:
    @in_virtual_time
    async def test_services_that_hang_keep_no_other_session_waiting(self) -> None:
        hanging = {f"/{number}": FakeSession(OUTAGE, seconds=10, session_id="slow") for number in range(50)}
        async with reading() as desk:
            slow = [
                asyncio.create_task(desk.read(session, key=source(path))) for path, session in hanging.items()
            ]
            await settle()
            healthy = FakeSession(listing("cnry-1"), session_id="healthy")
            began = now()
            answer = await desk.read(healthy, key=source("/other"))
            await asyncio.gather(*slow)

        assert values(answer) == ["cnry-1"]
        assert answer.read_at == began


def test_a_question_names_its_folder_and_no_session() -> None:
    assert str(source("/apps/web").query) == "shop/dev:/apps/web"
