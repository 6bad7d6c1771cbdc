"""A session follows what a service tells of its changes, or says why it doesn't."""

from __future__ import annotations

from dataclasses import replace

import httpx
import orjson
import pytest

from keybearer.client import EventPlace, EventType, ProjectEvent
from keybearer.controllers.event_feed import FeedRefusal, RefusalKind
from unit.controllers.fakes.session_with_service import (
    EVENTS,
    LOGIN,
    QUERY,
    SLUG,
    Answer,
    Service,
    found,
    listed,
    refused,
    session,
    wire,
)
from unit.controllers.fakes.virtual_loop import in_virtual_time


def stream(*frames: str) -> httpx.Response:
    content = "".join(f"{frame}\n\n" for frame in frames).encode()
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=content)


class TestFeeds:
    @in_virtual_time
    async def test_a_feed_of_the_project_or_of_places_is_opened(self) -> None:
        service = Service(events=stream("event: ping", "event: secret:update\ndata: {}"))
        async with session(service) as one:
            for places in ([], [EventPlace("dev", "/a"), EventPlace("prod")]):
                feed = await one.open_feed(QUERY, places)
                assert not isinstance(feed, FeedRefusal)
                assert await feed.__anext__() == ProjectEvent("secret:update")
                await feed.aclose()

        whole, placed = (orjson.loads(request.content) for request in service.seen)
        assert whole["projectId"] == "shop-id"
        assert [item["event"] for item in whole["register"]] == list(EventType)
        assert all("conditions" not in item for item in whole["register"])
        conditions = [item["conditions"] for item in placed["register"]]
        assert conditions[::4] == [
            {"environmentSlug": "dev", "secretPath": "/a"},
            {"environmentSlug": "prod", "secretPath": "/"},
        ]
        assert len(conditions) == 8

    @in_virtual_time
    async def test_a_project_that_is_named_by_its_slug_is_looked_up_first(self) -> None:
        slug = httpx.Response(200, json={"id": "shop-id", "name": "shop", "slug": "shop"})
        service = Service(slug=slug, events=stream("event: ping"))
        async with session(service) as one:
            feed = await one.open_feed(replace(QUERY, project="shop", by_slug=True), [])
            assert not isinstance(feed, FeedRefusal)
            await feed.aclose()
        assert service.paths == [SLUG, EVENTS]

    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            pytest.param(refused(403), RefusalKind.DENIED, id="403"),
            pytest.param(refused(404), RefusalKind.UNAVAILABLE, id="404"),
            pytest.param(refused(400), RefusalKind.UNAVAILABLE, id="400"),
            pytest.param(refused(422), RefusalKind.UNAVAILABLE, id="422"),
            pytest.param(refused(429), RefusalKind.CROWDED, id="429"),
            pytest.param(refused(401), RefusalKind.FAILED, id="401"),
            pytest.param(refused(503), RefusalKind.FAILED, id="503"),
            pytest.param(found(), RefusalKind.UNAVAILABLE, id="no stream"),
            pytest.param(httpx.ConnectError("refused"), RefusalKind.FAILED, id="no answer"),
        ],
    )
    def test_a_refusal_says_what_may_be_tried_next(self, answer: Answer, kind: RefusalKind) -> None:
        @in_virtual_time
        async def check() -> None:
            async with session(Service(events=answer)) as one:
                refusal = await one.open_feed(QUERY, [])
                assert isinstance(refusal, FeedRefusal)
                assert refusal.kind is kind
                assert "cnry" not in refusal.why

        check()

    @in_virtual_time
    async def test_a_refused_login_is_not_taken_for_a_service_without_events(self) -> None:
        async with session(Service(login=refused(400), events=stream("event: ping")), token=False) as one:
            refusal = await one.open_feed(QUERY, [])
        assert isinstance(refusal, FeedRefusal)
        assert refusal.kind is RefusalKind.FAILED

    @in_virtual_time
    async def test_streams_that_fail_don_t_keep_lists_from_being_read(self) -> None:
        service = Service(events=httpx.ConnectError("refused"), list=found(wire("A")))
        async with session(service) as one:
            for _ in range(20):
                await one.open_feed(QUERY, [])
            assert listed(await one.list_source(QUERY, None))

    @in_virtual_time
    async def test_an_outage_holds_streams_back_as_well(self) -> None:
        service = Service(events=stream("event: ping"), list=httpx.ConnectError("refused"))
        async with session(service) as one:
            for _ in range(6):
                await one.list_source(QUERY, None)
            refusal = await one.open_feed(QUERY, [])
        assert isinstance(refusal, FeedRefusal)
        assert refusal.after is not None
        assert EVENTS not in service.paths

    @in_virtual_time
    async def test_refused_credentials_are_not_shown_again_by_a_stream(self) -> None:
        service = Service(login=refused(401))
        async with session(service, token=False) as one:
            for _ in range(5):
                refusal = await one.open_feed(QUERY, [])
                assert isinstance(refusal, FeedRefusal)
                assert refusal.after is not None
        assert service.paths == [LOGIN]
