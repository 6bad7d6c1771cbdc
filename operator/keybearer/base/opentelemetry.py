"""Traces by OpenTelemetry, sent by OTLP over HTTP. Imported only where they are asked for: it takes its time.

Everything that can be set is OpenTelemetry's own: the variables OTEL_* say where to send to, by which certificates
and header fields, what is sampled, and how much is kept until it is sent.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from keybearer import __version__
from keybearer.base.tracing import Attributes, SpanKind

__all__ = ["OpenTelemetry"]

_KINDS = {
    SpanKind.INTERNAL: trace.SpanKind.INTERNAL,
    SpanKind.CLIENT: trace.SpanKind.CLIENT,
    SpanKind.SERVER: trace.SpanKind.SERVER,
}
_CLOSE_SECONDS = 5.0
_FIELDS = frozenset({b"traceparent", b"tracestate"})
_W3C = TraceContextTextMapPropagator()


class _Span:
    """A span of OpenTelemetry's."""

    __slots__ = ("_span",)

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    @property
    def trace_id(self) -> str:
        return trace.format_trace_id(self._span.get_span_context().trace_id)

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        fields: dict[str, str] = {}
        _W3C.inject(fields, trace.set_span_in_context(self._span, Context()))
        return tuple(fields.items())

    def name(self, name: str) -> None:
        self._span.update_name(name)

    def tell(self, attributes: Attributes) -> None:
        self._span.set_attributes(attributes)

    def fail(self, why: str) -> None:
        self._span.set_status(trace.StatusCode.ERROR, why)

    def end(self) -> None:
        self._span.end()


class OpenTelemetry:
    """Makes spans, and sends them from a thread of its own; it holds up nobody, and drops what is too much."""

    def __init__(self, service_name: str, *, endpoint: str | None = None) -> None:
        """Begin.

        Args:
            service_name: who tells, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say otherwise.
            endpoint: where traces go, with its whole path; without it the variables of OpenTelemetry say.
        """
        own = Resource({SERVICE_NAME: service_name, SERVICE_VERSION: __version__})
        resource = Resource.get_empty().merge(own).merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
        self._tracer = self._provider.get_tracer("keybearer", __version__)

    @contextmanager
    def within(
        self,
        name: str,
        kind: SpanKind,
        attributes: Attributes,
        joins: Sequence[tuple[bytes, bytes]] | None = None,
    ) -> Iterator[_Span]:
        """Yield a span that lasts as long as the block, and that what is begun in the block is a part of.

        Args:
            name: what is done.
            kind: which side of a call it is.
            attributes: to whom.
            joins: the header of a request, whose trace it joins if there is one.
        """
        with self._tracer.start_as_current_span(
            name,
            context=None if joins is None else _told(joins),
            kind=_KINDS[kind],
            attributes=attributes,
            # Their texts and the places that they came through could quote what they are about.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            yield _Span(span)

    def begin(self, name: str, kind: SpanKind, attributes: Attributes) -> _Span:
        """Return a span that is a part of what is under way here, and that nothing else is a part of."""
        return _Span(self._tracer.start_span(name, kind=_KINDS[kind], attributes=attributes))

    def current(self) -> _Span | None:
        """Return the span that is under way here."""
        span = trace.get_current_span()
        return _Span(span) if span.get_span_context().is_valid else None

    def close(self) -> None:
        """Send what waits to be sent, within a few seconds; what is left then goes with the process."""
        # OpenTelemetry itself waits for half a minute, which is all that a process may have to end.
        ending = threading.Thread(target=self._provider.shutdown, name="send the last traces", daemon=True)
        ending.start()
        ending.join(_CLOSE_SECONDS)


def _told(header: Sequence[tuple[bytes, bytes]]) -> Context:
    """Return the context that the fields of a header name: nothing but a trace's, whatever else was sent."""
    carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in header if name in _FIELDS}
    return _W3C.extract(carrier, Context())
