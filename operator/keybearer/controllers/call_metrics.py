"""What the metrics, and traces where there are any, tell of calls: those to services, and writes to the API server.

Each label is one of few: operations and kinds are this program's own, and a status is one that HTTP knows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from http import HTTPStatus

from prometheus_client import CollectorRegistry, Counter, Histogram

from keybearer.base.tracing import Span, SpanKind, Tracer
from keybearer.kube.exchange import Act

__all__ = ["UNANSWERED", "CallMetrics"]

UNANSWERED = "none"
"""The status of a call that got no answer."""
_OTHER = "other"
_STATUSES = {status.value: str(status.value) for status in HTTPStatus}
_SECONDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_FAILED_FROM = 400


class CallMetrics:
    """Counters and histograms of calls, in the operator's registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._service_calls = Counter(
            "keybearer_service_calls",
            "Requests sent to services, by how they ended.",
            ["operation", "status"],
            registry=registry,
        )
        self._service_seconds = Histogram(
            "keybearer_service_call_duration_seconds",
            "From a request to a service to the end of its answer; of a stream of events, to its beginning.",
            ["operation"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._writes = Counter(
            "keybearer_api_writes",
            "Writes sent to the API server, of all kinds, by how they ended.",
            ["verb", "object", "subresource", "status"],
            registry=registry,
        )
        self._write_seconds = Histogram(
            "keybearer_api_write_duration_seconds",
            "From a write to the API server to its answer, without the wait for a turn.",
            ["verb"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.tracer: Tracer | None = None
        # A look into a dictionary instead of a search for labels: there are few of them.
        self._ends: dict[tuple[str, ...], tuple[Counter, Histogram]] = {}

    def service_call(self, operation: str) -> _Call:
        """Begin a request to a service."""
        span = self._span(f"service {operation}", {"keybearer.operation": operation})
        return _Call(lambda status, seconds: self._ended_call(operation, status, seconds), span)

    def api_write(self, act: Act) -> _Call:
        """Begin a write to the API server."""
        what = f"{act.kind}/{act.subresource}" if act.subresource else act.kind
        attributes = {"k8s.verb": act.verb, "k8s.kind": act.kind, "k8s.subresource": act.subresource}
        span = self._span(f"{act.verb} {what}", attributes)
        return _Call(lambda status, seconds: self._ended_write(act, status, seconds), span)

    def _span(self, name: str, attributes: dict[str, str]) -> Span | None:
        return None if self.tracer is None else self.tracer.begin(name, SpanKind.CLIENT, attributes)

    def _ended_call(self, operation: str, status: str, seconds: float) -> None:
        known = self._ends.get((operation, status))
        if known is None:
            known = (
                self._service_calls.labels(operation, status),
                self._service_seconds.labels(operation),
            )
            self._ends[operation, status] = known
        known[0].inc()
        known[1].observe(seconds)

    def _ended_write(self, act: Act, status: str, seconds: float) -> None:
        known = self._ends.get((*act, status))
        if known is None:
            known = self._writes.labels(*act, status), self._write_seconds.labels(act.verb)
            self._ends[*act, status] = known
        known[0].inc()
        known[1].observe(seconds)


class _Call:
    """A call under way."""

    __slots__ = ("_ended", "_span", "_started")

    def __init__(self, ended: Callable[[str, float], None], span: Span | None) -> None:
        self._ended = ended
        self._span = span
        self._started = time.perf_counter()

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        return () if self._span is None else self._span.headers

    def end(self, status: int | None) -> None:
        self._ended(UNANSWERED if status is None else _STATUSES.get(status, _OTHER), self._elapsed())
        if self._span is None:
            return
        if status is None:
            self._span.fail("no answer")
        else:
            self._span.tell({"http.response.status_code": status})
            if status >= _FAILED_FROM:
                self._span.fail(f"status {status}")
        self._span.end()

    def _elapsed(self) -> float:
        return time.perf_counter() - self._started
