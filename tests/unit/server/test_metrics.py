"""The service's metrics: what is counted of requests and of the store, and how it is served."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import httpx
import pytest
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from keybearer.base.tally import Durations
from keybearer.domain.syncs.tallies import PushTallies, Unpushed, Waiting
from keybearer.server.metrics import MetricSources, ServiceMetrics, _MetricsApp
from keybearer.server.rate_limits import RequestClass
from keybearer.server.request_scope import RequestShell
from keybearer.server.request_tallies import RequestTallies
from keybearer.store.failures import UnavailableError
from keybearer.store.tallies import StoreTallies


class Desk:
    def __init__(self) -> None:
        self.requests, self.store, self.pushes = RequestTallies(), StoreTallies(), PushTallies()
        self.metrics = ServiceMetrics(
            MetricSources(
                requests=self.requests,
                store=self.store,
                event_streams=lambda: 3,
                running_jobs=lambda: 2,
                pushes=self.pushes,
                audit=lambda: (7, 1),
                rate_limited=lambda: {RequestClass.AUTH: 4},
            )
        )

    def value(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(f"keybearer_server_{name}", labels)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_durations_are_counted_up_to_each_bound() -> None:
    durations = Durations()
    for seconds in (0.001, 0.0011, 100.0):
        durations.add(seconds)
    buckets = dict(durations.buckets())
    assert (buckets["0.001"], buckets["0.0025"], buckets["30.0"], buckets["+Inf"]) == (1, 2, 2, 3)
    assert durations.total == pytest.approx(100.0021)


async def test_a_request_is_counted_by_its_route_and_never_by_its_path(desk: Desk) -> None:
    in_flight: list[int] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        in_flight.append(desk.requests.in_flight)
        known = scope["path"].startswith("/known/")
        if known:
            scope["route"] = Route("/known/{name}", lambda _: Response())
        await Response(b"", 204 if known else 404)(scope, receive, send)

    shell = RequestShell(application, desk.requests)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(shell), base_url="http://service") as client:
        await client.get("/known/cnry-a")
        await client.get("/known/cnry-b")
        await client.request("BREW", "/cnry-c")
        await client.request("STEEP", "/cnry-d")

    assert desk.value("requests_total", route="/known/{name}", method="GET", status="2xx") == 2
    assert desk.value("requests_total", route="none", method="other", status="4xx") == 2
    assert desk.value("request_duration_seconds_count", route="/known/{name}", method="GET") == 2
    assert in_flight == [1, 1, 1, 1]
    assert desk.value("requests_in_flight") == 0


async def test_a_request_that_breaks_is_not_in_flight_any_more(desk: Desk) -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive, send
        raise RuntimeError("cnry")

    transport = httpx.ASGITransport(RequestShell(application, desk.requests), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        await client.get("/")
    assert desk.value("requests_in_flight") == 0
    assert desk.value("requests_total", route="none", method="GET", status="none") == 1


def test_streams_of_events_are_counted_and_not_timed(desk: Desk) -> None:
    route = "/api/v1/events/subscribe/project-events"
    desk.requests.ended(route, "POST", 200, 86_400.0)
    assert desk.value("requests_total", route=route, method="POST", status="2xx") == 1
    assert desk.value("request_duration_seconds_count", route=route, method="POST") is None
    assert desk.value("event_streams") == 3


def test_the_store_and_its_work_are_told(desk: Desk) -> None:
    desk.store.write_waits.add(0.2)
    desk.store.certificates, desk.store.audit_lines = 5, 6
    assert desk.value("database_wait_seconds_count", turn="write") == 1
    assert desk.value("database_wait_seconds_count", turn="read") == 0
    assert desk.value("certificates_total") == 5
    assert [desk.value(f"audit_lines{end}") for end in ("_total", "_waiting", "_lost_total")] == [6, 7, 1]
    assert desk.value("rate_limited_total", **{"class": "auth"}) == 4
    assert desk.value("rate_limited_total", **{"class": "read"}) == 0


@pytest.mark.parametrize("is_away", [False, True], ids=["the database answers", "the database is away"])
async def test_what_the_database_must_be_asked_for_is_left_out_when_it_is_away(
    desk: Desk, *, is_away: bool
) -> None:
    async def ask() -> Waiting:
        if is_away:
            raise UnavailableError("away")
        return Waiting(9)

    transport = httpx.ASGITransport(_MetricsApp(desk.metrics, ask))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        answer = await client.get("/metrics")
        elsewhere = await client.get("/api/status")
        written = await client.post("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert ('keybearer_server_sync_jobs{state="waiting"} 9.0' in answer.text) is not is_away
    assert 'keybearer_server_sync_jobs{state="running"} 2.0' in answer.text
    assert (elsewhere.status_code, written.status_code) == (404, 405)


def test_pushes_are_told_by_destination_and_a_destination_of_syncs_begins_with_zeros(desk: Desk) -> None:
    counts = desk.pushes.of("gitlab")
    counts.written, counts.skipped, counts.failed, counts.removed = 4, 3, 2, 1
    desk.metrics.waiting = Waiting(
        9,
        (
            Unpushed("codehost", 2, 200, timedelta(minutes=1)),
            Unpushed("gitlab", 0, 0, timedelta(0)),
        ),
    )
    for destination, counted, waiting in (
        ("gitlab", (4, 3, 2, 1), (0, 0, 0)),
        ("codehost", (0, 0, 0, 0), (2, 200, 60)),
    ):
        told = [
            desk.value(f"push_keys_{what}_total", destination=destination)
            for what in ("written", "skipped", "failed", "removed")
        ]
        assert tuple(told) == counted
        names = ("pushes_waiting", "push_keys_waiting", "push_oldest_change_age_seconds")
        assert tuple(desk.value(name, destination=destination) for name in names) == waiting
    labels = {
        name: set(sample.labels)
        for family in desk.metrics.registry.collect()
        for sample in family.samples
        if (name := family.name).startswith("keybearer_server_push")
    }
    assert len(labels) == 7
    assert set(map(frozenset, labels.values())) == {frozenset({"destination"})}


def test_without_a_database_what_this_process_counted_is_told_all_the_same(desk: Desk) -> None:
    desk.pushes.of("gitlab").written = 4
    assert desk.value("push_keys_written_total", destination="gitlab") == 4
    assert desk.value("push_keys_waiting", destination="gitlab") is None


async def test_many_who_scrape_ask_the_database_once_in_a_few_seconds(desk: Desk) -> None:
    asked: list[float] = []
    now = 100.0

    async def ask() -> Waiting:
        asked.append(now)
        await asyncio.sleep(0)
        return Waiting(len(asked))

    transport = httpx.ASGITransport(_MetricsApp(desk.metrics, ask, lambda: now))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        await asyncio.gather(*[client.get("/metrics") for _ in range(5)])
        now = 104.9
        assert 'keybearer_server_sync_jobs{state="waiting"} 1.0' in (await client.get("/metrics")).text
        now = 105.0
        assert 'keybearer_server_sync_jobs{state="waiting"} 2.0' in (await client.get("/metrics")).text
    assert asked == [100.0, 105.0]
