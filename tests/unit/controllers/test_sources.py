from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from keybearer.controllers import sources as module
from keybearer.controllers.queue import Lane, WorkKey
from keybearer.controllers.sources import (
    NotChanged,
    SourceFailure,
    SourceKey,
    SourceQuery,
    SourceReader,
    SourceReading,
)
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.source_session import DENIED, OUTAGE, FakeSession, listing
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time, settle

_QUERY = SourceQuery("shop", by_slug=False, environment="dev", path="/")
_EVER = float("-inf")
_MINUTE = timedelta(minutes=1)
_5M = timedelta(minutes=5)
_ON_CHANGE = timedelta()


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
        interval: timedelta = _5M,
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


class TestPolling:
    @in_virtual_time
    async def test_a_source_is_polled_at_its_shortest_interval_by_its_tag(self) -> None:
        session = FakeSession(listing("cnry-1"), NotChanged())
        async with reading() as desk:
            await desk.read(session, "slow", interval=_5M)
            await desk.read(session, "quick", interval=_MINUTE)
            await asyncio.sleep(190)

        assert session.asked == [None, "tag", "tag", "tag"]
        assert desk.called == []
        assert desk.results == ["changed", "unchanged", "unchanged", "unchanged"]

    @in_virtual_time
    async def test_a_subscriber_with_an_interval_after_one_without_is_polled_for(self) -> None:
        session = FakeSession(listing("cnry-1"), NotChanged())
        async with reading() as desk:
            await desk.read(session, "on change only", interval=_ON_CHANGE)
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
            await desk.read(session, interval=_5M)
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
            await desk.read(session, interval=_ON_CHANGE)
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


def test_a_question_names_its_folder_and_no_session() -> None:
    assert str(source("/apps/web").query) == "shop/dev:/apps/web"
