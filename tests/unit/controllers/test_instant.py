"""The streams of the instant path, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from itertools import pairwise

import pytest

from keybearer.client import EventPlace, ProjectEvent
from keybearer.controllers import instant as module
from keybearer.controllers.event_feed import FeedRefusal, RefusalKind
from keybearer.controllers.instant import InstantUpdates
from keybearer.controllers.registrations import PLACES_PER_STREAM, STREAMS_PER_PROJECT
from keybearer.controllers.sources.query import SourceKey, SourceQuery
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.event_feeds import (
    CROWDED,
    DENIED_FEED,
    FAILED,
    NO_LOGIN,
    UNAVAILABLE,
    FakeFeed,
    FakeFeeds,
    FeedBrokenError,
    event,
)
from unit.controllers.fakes.source_session import FakeSession, listing
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time, settle

_WHOLE: frozenset[EventPlace] = frozenset()


def source(
    path: str = "/",
    environment: str = "dev",
    *,
    project: str = "shop",
    session: str = "session",
    recursive: bool = False,
) -> SourceKey:
    query = SourceQuery(project, by_slug=False, environment=environment, path=path, recursive=recursive)
    return SourceKey(session, query)


class Desk:
    """Instant updates that run, and what they said."""

    def __init__(self) -> None:
        self.touched: list[tuple[set[SourceKey], float]] = []
        self.told: list[SourceKey] = []
        self.attempts: list[str] = []
        self.events = 0
        self.session = FakeSession(listing())
        self.feeds: FakeFeeds = self.session.feeds.serve()
        self.instant = InstantUpdates(LoopClock(), SteadyChance())
        self.instant.on_touch = self._touch
        self.instant.on_told = self.told.extend
        self.instant.on_attempt = self.attempts.append
        self.instant.on_event = self._count

    @property
    def feed(self) -> FakeFeed:
        """The only feed that is open."""
        (feed,) = self.feeds.open_now
        return feed

    def follow(self, *keys: SourceKey) -> None:
        for key in keys:
            self.instant.follow(key, self.session)

    def read_well(self, *keys: SourceKey) -> None:
        self.follow(*keys)
        for key in keys:
            self.instant.judged(key, readable=True)

    async def hears(self, *events: ProjectEvent | Exception) -> set[SourceKey]:
        """Return what is touched by these events."""
        self.touched.clear()
        self.feed.tell(*events)
        await settle()
        return {key for keys, _ in self.touched for key in keys}

    def _touch(self, keys: Collection[SourceKey], since: float) -> None:
        self.touched.append((set(keys), since))

    def _count(self) -> None:
        self.events += 1


@asynccontextmanager
async def listening() -> AsyncIterator[Desk]:
    desk = Desk()
    started = asyncio.Event()
    running = asyncio.create_task(desk.instant.run(started))
    await started.wait()
    yield desk
    assert not running.done(), "the instant path must outlive whatever a stream does"
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert not desk.feeds.open_now, "a drain closes all streams"
    assert desk.instant.open_streams == 0


def now() -> float:
    return asyncio.get_running_loop().time()


class TestOneStreamForAProject:
    @in_virtual_time
    async def test_all_sources_of_an_identity_in_a_project_share_a_stream(self) -> None:
        async with listening() as desk:
            desk.follow(source("/"), source("/web"), source("/", "prod"))
            await asyncio.sleep(1)
            assert desk.feeds.asked == [_WHOLE]
            assert desk.instant.open_streams == 1

    @in_virtual_time
    async def test_other_projects_and_other_identities_have_streams_of_their_own(self) -> None:
        async with listening() as desk:
            desk.follow(source(), source(project="bank"), source(session="other"))
            await asyncio.sleep(1)
            assert desk.instant.open_streams == 3

    @in_virtual_time
    async def test_an_open_stream_makes_all_its_sources_due_once(self) -> None:
        async with listening() as desk:
            desk.follow(source("/"), source("/web"))
            await asyncio.sleep(1)
            assert desk.touched == [({source("/"), source("/web")}, 1000.01)]

    @in_virtual_time
    async def test_the_stream_closes_with_its_last_source(self) -> None:
        async with listening() as desk:
            desk.follow(source("/"), source("/web"))
            await asyncio.sleep(1)
            desk.instant.forget(source("/"))
            await settle()
            assert desk.instant.open_streams == 1
            desk.instant.forget(source("/web"))
            await settle()
            assert desk.instant.open_streams == 0
            assert not desk.feeds.open_now

    @in_virtual_time
    async def test_the_newest_session_is_asked_for_the_next_stream(self) -> None:
        fresh = FakeSession(listing())
        fresh.feeds.serve()
        async with listening() as desk:
            desk.follow(source())
            await asyncio.sleep(1)
            desk.instant.follow(source(), fresh)
            desk.feed.tell(FeedBrokenError("gone"))
            await asyncio.sleep(5)
            assert len(fresh.feeds.open_now) == 1
            desk.instant.forget(source())
            await settle()


class TestMatching:
    @pytest.mark.parametrize(
        ("told", "touched"),
        [
            pytest.param(event("dev", "/web"), {"/web", "web below", "all below"}, id="the folder itself"),
            pytest.param(event("dev", "/web", None), {"/web", "web below", "all below"}, id="imports of it"),
            pytest.param(event("dev", "/web/"), {"/web", "web below", "all below"}, id="another spelling"),
            pytest.param(event("dev", "/web/deep"), {"web below", "all below"}, id="a folder in it"),
            pytest.param(event("dev", "/website"), {"all below"}, id="a folder whose name begins alike"),
            pytest.param(event("dev", "/"), {"/", "all below"}, id="the root"),
            pytest.param(event("prod", "/web"), set(), id="another environment"),
            pytest.param(
                ProjectEvent("secret:update"),
                {"/", "/web", "web below", "all below"},
                id="an event that doesn't say where",
            ),
            pytest.param(
                ProjectEvent("secret:update", event("dev", "/").places + event("dev", "/web/x").places),
                {"/", "web below", "all below"},
                id="several places at once",
            ),
        ],
    )
    def test_a_source_is_due_when_a_folder_that_it_reads_changed(
        self, told: ProjectEvent, touched: set[str]
    ) -> None:
        sources = {
            "/": source("/"),
            "/web": source("/web"),
            "web below": source("/web", recursive=True),
            "all below": source("/", recursive=True),
        }

        @in_virtual_time
        async def check() -> None:
            async with listening() as desk:
                desk.follow(*sources.values())
                await asyncio.sleep(1)
                due = await desk.hears(told)
                assert {name for name, key in sources.items() if key in due} == touched
                assert desk.events == 1

        check()


class TestShown:
    @in_virtual_time
    async def test_a_source_is_shown_as_instant_while_its_stream_is_open(self) -> None:
        async with listening() as desk:
            desk.follow(source())
            assert desk.instant.is_instant(source()) is None
            await asyncio.sleep(1)
            assert desk.instant.is_instant(source()) is True
            assert desk.told == [source()]

    @in_virtual_time
    async def test_a_short_break_is_not_shown(self) -> None:
        async with listening() as desk:
            desk.follow(source())
            await asyncio.sleep(1)
            desk.feeds.serve(*[FAILED] * 4)
            desk.feed.tell(FeedBrokenError("restart"))
            await asyncio.sleep(60)
            assert len(desk.feeds.open_now) == 1
            assert desk.told == [source()]
            await asyncio.sleep(300)
            assert desk.instant.is_instant(source())

    @in_virtual_time
    async def test_a_long_break_is_shown_and_so_is_its_end(self) -> None:
        async with listening() as desk:
            desk.follow(source())
            await asyncio.sleep(1)
            desk.feeds.refuse(FAILED)
            desk.feed.tell(FeedBrokenError("outage"))
            await asyncio.sleep(130)
            assert desk.instant.is_instant(source()) is False
            desk.feeds.serve()
            await asyncio.sleep(60)
            assert desk.instant.is_instant(source())
            assert desk.told == [source()] * 3

    @in_virtual_time
    async def test_a_refusal_is_shown_at_once(self) -> None:
        async with listening() as desk:
            desk.follow(source())
            await asyncio.sleep(1)
            desk.feeds.refuse(UNAVAILABLE)
            desk.feed.tell(FeedBrokenError("a service without events took its place"))
            await asyncio.sleep(3)
            assert desk.instant.is_instant(source()) is False

    @in_virtual_time
    async def test_while_the_service_is_away_at_the_start_nothing_is_shown_for_a_while(self) -> None:
        async with listening() as desk:
            desk.feeds.refuse(FAILED)
            desk.follow(source())
            await asyncio.sleep(100)
            assert desk.instant.is_instant(source()) is None
            await asyncio.sleep(30)
            assert desk.instant.is_instant(source()) is False
            assert desk.told == [source()]


class TestConnecting:
    @in_virtual_time
    async def test_a_broken_stream_is_opened_again_and_its_sources_are_due(self) -> None:
        async with listening() as desk:
            desk.follow(source())
            await asyncio.sleep(100)
            assert await desk.hears(FeedBrokenError("gone")) == set()
            await asyncio.sleep(2)
            assert [keys for keys, _ in desk.touched] == [{source()}]
            assert len(desk.feeds.opened) == 2
            assert desk.feeds.opened[0].is_closed

    @in_virtual_time
    async def test_attempts_come_further_and_further_apart_and_never_in_a_hot_loop(self) -> None:
        async with listening() as desk:
            desk.feeds.refuse(FAILED)
            desk.follow(source())
            await asyncio.sleep(1000)
            pauses = [later - before for before, later in pairwise(desk.feeds.asked_at)]
            assert pauses[0] >= 0.5
            assert pauses == sorted(pauses)
            assert pauses[-1] <= 61
            assert 15 <= len(pauses) <= 45

    @in_virtual_time
    async def test_a_stream_that_ends_right_after_it_opened_counts_as_a_failure(self) -> None:
        async with listening() as desk:
            desk.follow(source())
            for _ in range(600):
                for feed in desk.feeds.open_now:
                    feed.tell(FeedBrokenError("at once"))
                await asyncio.sleep(1)
            assert len(desk.feeds.opened) < 30

    @in_virtual_time
    async def test_a_stream_that_lasted_is_opened_again_soon(self) -> None:
        async with listening() as desk:
            desk.follow(source())
            for _ in range(5):
                await asyncio.sleep(90)
                broken_at = now()
                desk.feed.tell(FeedBrokenError("a token that ran out"))
                await asyncio.sleep(5)
                assert desk.feeds.asked_at[-1] - broken_at <= 1

    @pytest.mark.parametrize(
        ("refusal", "attempts"),
        [
            pytest.param(UNAVAILABLE, range(5, 10), id="no such route"),
            pytest.param(CROWDED, range(8, 20), id="too many streams"),
            pytest.param(
                FeedRefusal(RefusalKind.FAILED, "wait", timedelta(minutes=20)),
                range(3, 5),
                id="a wait that was asked for",
            ),
        ],
    )
    def test_a_stream_that_is_not_to_be_had_is_tried_again_rarely(
        self, refusal: FeedRefusal, attempts: range
    ) -> None:
        @in_virtual_time
        async def check() -> None:
            async with listening() as desk:
                desk.feeds.refuse(refusal)
                desk.follow(source())
                await asyncio.sleep(3600)
                assert len(desk.feeds.asked) in attempts
                assert desk.instant.is_instant(source()) is False
                assert desk.told == [source()]

        check()

    @in_virtual_time
    async def test_a_service_that_learns_to_tell_events_is_listened_to(self) -> None:
        async with listening() as desk:
            desk.feeds.serve(UNAVAILABLE, UNAVAILABLE)
            desk.follow(source())
            await asyncio.sleep(1800)
            assert desk.instant.is_instant(source())

    @in_virtual_time
    async def test_a_fault_of_ours_ends_neither_this_stream_nor_others(self) -> None:
        async with listening() as desk:
            desk.feeds.serve(ZeroDivisionError("a fault"))
            desk.follow(source())
            await asyncio.sleep(5)
            desk.feed.tell(ZeroDivisionError("another fault"))
            await asyncio.sleep(5)
            assert len(desk.feeds.open_now) == 1

    @in_virtual_time
    async def test_what_happened_is_counted(self) -> None:
        async with listening() as desk:
            desk.feeds.serve(FAILED)
            desk.follow(source())
            await asyncio.sleep(5)
            desk.feed.tell(FeedBrokenError("gone"))
            await asyncio.sleep(5)
            assert desk.attempts == ["failed", "opened", "ended", "opened"]

    @in_virtual_time
    async def test_an_operator_has_a_bounded_number_of_streams(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "STREAMS_MAX", 3)
        monkeypatch.setattr(module, "_STREAMS_PER_IDENTITY", 2)
        async with listening() as desk:
            desk.follow(*(source(project=f"p{number}") for number in range(5)))
            await asyncio.sleep(1)
            assert desk.instant.open_streams == 2
            desk.follow(*(source(project=f"p{number}", session="other") for number in range(5)))
            await asyncio.sleep(1)
            assert desk.instant.open_streams == 3
            desk.instant.forget(source(project="p0"))
            desk.instant.forget(source(project="p1"))
            await asyncio.sleep(3600)
            assert desk.instant.open_streams == 3


class TestSettling:
    @in_virtual_time
    async def test_the_first_read_waits_until_its_stream_is_open(self) -> None:
        async with listening() as desk:
            desk.feeds.seconds = 0.2
            desk.follow(source())
            await desk.instant.settle(source())
            assert now() == pytest.approx(1000.2)
            await desk.instant.settle(source())
            assert now() == pytest.approx(1000.2)

    @in_virtual_time
    async def test_a_refusal_settles_it_too(self) -> None:
        async with listening() as desk:
            desk.feeds.refuse(UNAVAILABLE)
            desk.follow(source())
            await desk.instant.settle(source())
            assert now() == pytest.approx(1000.01)

    @in_virtual_time
    async def test_a_slow_service_holds_a_first_read_up_for_two_seconds_at_most(self) -> None:
        async with listening() as desk:
            desk.feeds.seconds = 10
            desk.follow(source())
            await desk.instant.settle(source())
            assert now() == pytest.approx(1002)

    @in_virtual_time
    async def test_a_source_that_nobody_follows_is_waited_for_by_nobody(self) -> None:
        async with listening() as desk:
            await desk.instant.settle(source())
            assert now() == 1000


class TestSinglePlaces:
    """An identity that may not listen to the whole project."""

    @in_virtual_time
    async def test_the_places_that_could_be_read_are_listened_to(self) -> None:
        async with listening() as desk:
            desk.feeds.serve(whole=False)
            desk.read_well(source("/a"), source("/b"), source("/c", "prod"))
            desk.follow(source("/forbidden"))
            await asyncio.sleep(2)
            assert desk.feeds.asked[0] == _WHOLE
            listened = {place for feed in desk.feeds.open_now for place in feed.places}
            assert listened == {EventPlace("dev", "/a"), EventPlace("dev", "/b"), EventPlace("prod", "/c")}
            assert desk.instant.is_instant(source("/a")) is True
            assert desk.instant.is_instant(source("/forbidden")) is None

    @in_virtual_time
    async def test_sources_that_are_read_later_are_added_together(self) -> None:
        async with listening() as desk:
            desk.feeds.serve(whole=False)
            desk.read_well(source("/a"))
            await asyncio.sleep(2)
            desk.touched.clear()
            desk.read_well(source("/b"), source("/a/deep"))
            await asyncio.sleep(2)
            assert desk.feed.places == {EventPlace("dev", "/a"), EventPlace("dev", "/b")}
            assert len(desk.feeds.asked) == 3
            # What happened while the stream was exchanged is found by one read of each.
            assert [keys for keys, _ in desk.touched] == [{source("/a"), source("/b"), source("/a/deep")}]

    @in_virtual_time
    async def test_streams_that_stay_as_they_are_stay_open(self) -> None:
        async with listening() as desk:
            desk.feeds.serve(whole=False)
            desk.read_well(*(source(f"/{number}") for number in range(PLACES_PER_STREAM)))
            await asyncio.sleep(2)
            first = desk.feed
            desk.read_well(source("/new"))
            await asyncio.sleep(2)
            assert not first.is_closed
            assert len(desk.feeds.open_now) == 2

    @in_virtual_time
    async def test_what_finds_no_room_is_left_to_polling(self) -> None:
        room = PLACES_PER_STREAM * STREAMS_PER_PROJECT
        async with listening() as desk:
            desk.feeds.serve(whole=False)
            desk.read_well(*(source(f"/{number}") for number in range(room + 1)))
            await asyncio.sleep(2)
            assert desk.instant.open_streams == STREAMS_PER_PROJECT
            assert desk.instant.is_instant(source("/0")) is True
            assert desk.instant.is_instant(source(f"/{room}")) is False
            desk.instant.forget(source("/0"))
            await asyncio.sleep(2)
            assert desk.instant.is_instant(source(f"/{room}"))

    @in_virtual_time
    async def test_a_place_that_is_forbidden_later_leaves_the_stream_of_the_others(self) -> None:
        async with listening() as desk:
            desk.feeds.serve(whole=False)
            desk.read_well(source("/a"), source("/b"))
            await asyncio.sleep(2)
            desk.instant.judged(source("/b"), readable=False)
            await asyncio.sleep(2)
            assert desk.feed.places == {EventPlace("dev", "/a")}
            assert desk.instant.is_instant(source("/a"))

    @in_virtual_time
    async def test_an_exchange_of_streams_is_not_shown(self) -> None:
        async with listening() as desk:
            desk.feeds.serve(whole=False)
            desk.read_well(source("/a"))
            await asyncio.sleep(2)
            desk.told.clear()
            desk.read_well(source("/b"))
            await asyncio.sleep(2)
            assert source("/a") not in desk.told

    @in_virtual_time
    async def test_places_that_are_denied_too_are_tried_again_rarely(self) -> None:
        async with listening() as desk:
            desk.feeds.refuse(DENIED_FEED)
            desk.read_well(source("/a"))
            await asyncio.sleep(3600)
            assert len(desk.feeds.asked) < 10
            assert desk.instant.is_instant(source("/a")) is False


class TestALostRight:
    """What becomes of sources whose stream was open, and is refused when it is opened again."""

    @pytest.mark.parametrize(
        "refusal",
        [
            pytest.param(DENIED_FEED, id="the right is lost"),
            pytest.param(UNAVAILABLE, id="the project is gone"),
            pytest.param(NO_LOGIN, id="the login is refused"),
        ],
    )
    def test_the_sources_of_a_stream_that_is_refused_are_due_once(self, refusal: FeedRefusal) -> None:
        @in_virtual_time
        async def check() -> None:
            async with listening() as desk:
                desk.read_well(source("/a"), source("/b"))
                await asyncio.sleep(2)
                desk.touched.clear()
                desk.feeds.refuse(refusal)
                desk.feed.tell(FeedBrokenError("ended"))
                await asyncio.sleep(3)
                assert [keys for keys, _ in desk.touched] == [{source("/a"), source("/b")}]
                await asyncio.sleep(3600)
                assert len(desk.touched) == 1

        check()

    @in_virtual_time
    async def test_a_service_that_is_away_makes_nothing_due(self) -> None:
        async with listening() as desk:
            desk.read_well(source("/a"))
            await asyncio.sleep(2)
            desk.touched.clear()
            desk.feeds.refuse(FAILED)
            desk.feed.tell(FeedBrokenError("outage"))
            await asyncio.sleep(3600)
            assert desk.touched == []

    @in_virtual_time
    async def test_a_stream_that_was_never_open_makes_nothing_due(self) -> None:
        async with listening() as desk:
            desk.feeds.refuse(DENIED_FEED)
            desk.read_well(source("/a"))
            await asyncio.sleep(3600)
            assert desk.touched == []

    @in_virtual_time
    async def test_a_single_place_that_is_lost_makes_its_stream_due(self) -> None:
        async with listening() as desk:
            desk.feeds.serve(whole=False)
            desk.read_well(source("/a"), source("/b"))
            await asyncio.sleep(2)
            desk.touched.clear()
            desk.feeds.refuse(DENIED_FEED)
            desk.feed.tell(FeedBrokenError("ended"))
            await asyncio.sleep(3)
            assert [keys for keys, _ in desk.touched] == [{source("/a"), source("/b")}]

    @in_virtual_time
    async def test_who_lost_the_right_polls_at_once_and_is_told_why(self) -> None:
        async with listening() as desk:
            desk.read_well(source("/a"))
            await asyncio.sleep(2)
            assert desk.instant.why_polling(source("/a")) is None
            desk.feeds.refuse(DENIED_FEED)
            desk.feed.tell(FeedBrokenError("ended"))
            await asyncio.sleep(1.2)
            assert desk.instant.is_instant(source("/a")) is False
            assert desk.instant.why_polling(source("/a")) is RefusalKind.DENIED
            desk.instant.judged(source("/a"), readable=False)
            await asyncio.sleep(600)
            assert desk.instant.is_instant(source("/a")) is False
            assert desk.instant.why_polling(source("/a")) is RefusalKind.DENIED

    @in_virtual_time
    async def test_the_whole_project_is_listened_to_again_as_soon_as_a_source_can_be_read_again(self) -> None:
        async with listening() as desk:
            desk.read_well(source("/a"), source("/b"))
            await asyncio.sleep(2)
            desk.feeds.refuse(DENIED_FEED)
            desk.feed.tell(FeedBrokenError("ended"))
            await asyncio.sleep(3)
            for one in (source("/a"), source("/b")):
                desk.instant.judged(one, readable=False)
            await asyncio.sleep(600)
            before = len(desk.feeds.asked)
            desk.feeds.serve()
            for one in (source("/a"), source("/b")):
                desk.instant.judged(one, readable=True)
            await asyncio.sleep(1)
            assert desk.feeds.asked[before:] == [_WHOLE]
            assert desk.instant.is_instant(source("/a")) is True
            assert desk.instant.is_instant(source("/b")) is True
            assert desk.instant.why_polling(source("/a")) is None

    @in_virtual_time
    async def test_who_gets_back_a_part_only_listens_to_that_part(self) -> None:
        async with listening() as desk:
            desk.read_well(source("/a"), source("/b"))
            await asyncio.sleep(2)
            desk.feeds.serve(whole=False)
            desk.feed.tell(FeedBrokenError("ended"))
            await asyncio.sleep(3)
            desk.instant.judged(source("/a"), readable=False)
            await asyncio.sleep(3)
            assert desk.feed.places == {EventPlace("dev", "/b")}
            assert desk.instant.is_instant(source("/b")) is True
            desk.instant.judged(source("/a"), readable=True)
            await asyncio.sleep(5)
            assert desk.feed.places == {EventPlace("dev", "/a"), EventPlace("dev", "/b")}
            asked = len(desk.feeds.asked)
            await asyncio.sleep(3600)
            assert len(desk.feeds.asked) == asked


class TestWhyPolling:
    @pytest.mark.parametrize("refusal", [UNAVAILABLE, CROWDED, FAILED], ids=lambda one: one.kind.value)
    def test_the_refusal_of_the_last_attempt_is_why(self, refusal: FeedRefusal) -> None:
        @in_virtual_time
        async def check() -> None:
            async with listening() as desk:
                desk.feeds.refuse(refusal)
                desk.follow(source())
                await asyncio.sleep(200)
                assert desk.instant.why_polling(source()) is refusal.kind

        check()

    @in_virtual_time
    async def test_another_refusal_is_told(self) -> None:
        async with listening() as desk:
            desk.feeds.refuse(CROWDED)
            desk.follow(source())
            await asyncio.sleep(60)
            assert desk.told == [source()]
            desk.feeds.refuse(UNAVAILABLE)
            await asyncio.sleep(1200)
            assert desk.told == [source()] * 2

    @in_virtual_time
    async def test_a_place_without_room_is_one_too_many(self) -> None:
        room = PLACES_PER_STREAM * STREAMS_PER_PROJECT
        async with listening() as desk:
            desk.feeds.serve(whole=False)
            desk.read_well(*(source(f"/{number}") for number in range(room + 1)))
            await asyncio.sleep(2)
            assert desk.instant.why_polling(source(f"/{room}")) is RefusalKind.CROWDED
            assert desk.instant.why_polling(source("/0")) is None
