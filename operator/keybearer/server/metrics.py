"""The service's metrics, and the application that serves them on a listener of their own.

They hold counts alone: labels are routes, methods and words of this program, never what a caller sent. Imported only
where they are asked for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from keybearer import __version__
from keybearer.base.errors import KeybearerError
from keybearer.base.tally import Durations
from keybearer.domain.syncs.tallies import PushTallies, Waiting
from keybearer.server.context import ServiceContext
from keybearer.server.push_metrics import push_families
from keybearer.server.rate_limits import RateLimits, RequestClass
from keybearer.server.request_tallies import RequestTallies
from keybearer.store.tallies import StoreTallies

__all__ = ["MetricSources", "ServiceMetrics", "metrics_app", "sources_of"]

_QUESTION_SECONDS = 2
"""For what must be asked of the database: less than any scrape waits."""
_KEPT_SECONDS = 5
"""How old its answer may be: many who scrape ask it no more often."""
_STREAMS = "/api/v1/events/subscribe/project-events"
"""Its requests last as long as their readers: how long says nothing."""


@dataclass(frozen=True, slots=True)
class MetricSources:
    """Where the numbers are, asked for each scrape.

    Attributes:
        requests: counted by the shell of requests.
        store: counted by the store.
        event_streams: how many are open.
        running_jobs: of secret syncs, in this process.
        pushes: counted by runs of secret syncs.
        audit: lines that wait to be written, and those that were lost.
        rate_limited: refusals by class.
    """

    requests: RequestTallies
    store: StoreTallies
    event_streams: Callable[[], int]
    running_jobs: Callable[[], int]
    pushes: PushTallies
    audit: Callable[[], tuple[int, int]]
    rate_limited: Callable[[], Mapping[RequestClass, int]]


class ServiceMetrics(Collector):
    """Families of the service, in a registry of their own."""

    def __init__(self, sources: MetricSources) -> None:
        self._sources = sources
        self.waiting: Waiting | None = None
        """For any process on this database; None where it can't be asked."""
        self.registry = CollectorRegistry()
        Gauge("keybearer_build_info", "The version that runs.", ["version"], registry=self.registry).labels(
            __version__
        ).set(1)
        self.registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Return what was counted so far."""
        yield from self._requests()
        yield from self._work()
        yield from self._store()

    def _requests(self) -> Iterator[Metric]:
        ended = list(self._sources.requests.items())
        counted = CounterMetricFamily(
            "keybearer_server_requests",
            "Requests that were answered, by route and class of status.",
            labels=("route", "method", "status"),
        )
        for route, method, status, durations in ended:
            counted.add_metric((route, method, status), sum(durations.counts))
        yield counted
        lasted = HistogramMetricFamily(
            "keybearer_server_request_duration_seconds",
            "From the head of a request to the end of its answer; streams of events left out.",
            labels=("route", "method"),
        )
        for (route, method), group in groupby(ended, key=lambda one: (one[0], one[1])):
            if route != _STREAMS:
                together = Durations().take_in(durations for *_, durations in group)
                lasted.add_metric((route, method), together.buckets(), together.total)
        yield lasted
        yield _gauge(
            "keybearer_server_requests_in_flight",
            "Requests that are being answered, streams of events among them.",
            self._sources.requests.in_flight,
        )
        yield _gauge(
            "keybearer_server_event_streams",
            "Streams of events that are open.",
            self._sources.event_streams(),
        )
        limited = CounterMetricFamily(
            "keybearer_server_rate_limited",
            "Requests that a rate limit refused, by class.",
            labels=("class",),
        )
        refused = self._sources.rate_limited()
        for kind in RequestClass:
            if kind is not RequestClass.ALL:
                limited.add_metric((kind.value,), refused.get(kind, 0))
        yield limited

    def _work(self) -> Iterator[Metric]:
        jobs = GaugeMetricFamily(
            "keybearer_server_sync_jobs",
            "Jobs of secret syncs: those that run in this process, and those that wait for any process.",
            labels=("state",),
        )
        jobs.add_metric(("running",), self._sources.running_jobs())
        if self.waiting is not None:
            jobs.add_metric(("waiting",), self.waiting.jobs)
        yield jobs
        yield from push_families(
            self._sources.pushes, None if self.waiting is None else self.waiting.unpushed
        )
        yield CounterMetricFamily(
            "keybearer_server_certificates",
            "Certificates that were issued and stored, those of authorities among them.",
            value=self._sources.store.certificates,
        )

    def _store(self) -> Iterator[Metric]:
        store = self._sources.store
        waits = HistogramMetricFamily(
            "keybearer_server_database_wait_seconds",
            "Waits for the turn to write, and for a connection to read with.",
            labels=("turn",),
        )
        for turn, durations in (("read", store.read_waits), ("write", store.write_waits)):
            waits.add_metric((turn,), durations.buckets(), durations.total)
        yield waits
        waiting, lost = self._sources.audit()
        yield CounterMetricFamily(
            "keybearer_server_audit_lines",
            "Lines of the audit log that were written.",
            value=store.audit_lines,
        )
        yield _gauge("keybearer_server_audit_lines_waiting", "Lines of the audit log to be written.", waiting)
        yield CounterMetricFamily(
            "keybearer_server_audit_lines_lost", "Lines of the audit log that could not be kept.", value=lost
        )


def _gauge(name: str, told: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, told, value=value)


def sources_of(
    context: ServiceContext, store: StoreTallies, requests: RequestTallies, limits: RateLimits | None
) -> MetricSources:
    """Return where a service's numbers are."""
    return MetricSources(
        requests=requests,
        store=store,
        event_streams=lambda: context.events.open_streams,
        running_jobs=lambda: context.sync_engine.running,
        pushes=context.sync_engine.tallies,
        audit=lambda: (context.audit.waiting, context.audit.lost),
        rate_limited=lambda: {} if limits is None else limits.refused,
    )


def metrics_app(
    context: ServiceContext, store: StoreTallies, requests: RequestTallies, limits: RateLimits | None
) -> ASGIApp:
    """Return the application that answers `GET /metrics`, and nothing else."""
    metrics = ServiceMetrics(sources_of(context, store, requests, limits))
    return _MetricsApp(metrics, context.sync_engine.waiting)


class _MetricsApp:
    def __init__(
        self,
        metrics: ServiceMetrics,
        ask: Callable[[], Awaitable[Waiting]],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._metrics = metrics
        self._ask = ask
        self._monotonic = monotonic
        self._asking = asyncio.Lock()
        self._kept_until = monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/metrics":
            answer: Response = PlainTextResponse("There is only /metrics here\n", 404)
        elif scope["method"] not in {"GET", "HEAD"}:
            answer = PlainTextResponse("Metrics are read by GET\n", 405, {"allow": "GET"})
        else:
            await self._ask_anew()
            answer = Response(
                generate_latest(self._metrics.registry), headers={"content-type": CONTENT_TYPE_LATEST}
            )
        await answer(scope, receive, send)

    async def _ask_anew(self) -> None:
        """Have the metrics tell what waits, as of a few seconds ago at most."""
        # One at a time: whoever waits here finds the answer of the one before.
        async with self._asking:
            if self._metrics.waiting is not None and self._monotonic() < self._kept_until:
                return
            try:
                async with asyncio.timeout(_QUESTION_SECONDS):
                    self._metrics.waiting = await self._ask()
            except (KeybearerError, TimeoutError):
                # A database that is away is no reason to tell nothing else.
                self._metrics.waiting = None
            self._kept_until = self._monotonic() + _KEPT_SECONDS
