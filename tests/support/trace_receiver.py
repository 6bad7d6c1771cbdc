"""A collector of traces: takes OTLP over HTTP and decodes it, as OpenTelemetry's own collector does."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tools.local.waiting import eventually

__all__ = ["ReceivedSpan", "TraceReceiver"]

_PATH = "/v1/traces"


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """A span as it was sent; ids in hexadecimal, `parent` empty at the root of a trace."""

    service: str
    name: str
    kind: str
    trace_id: str
    span_id: str
    parent: str
    attributes: dict[str, str | int]
    failed: str | None
    events: int


class TraceReceiver:
    """Listens on a free port within its context, and keeps every span that it was sent."""

    def __init__(self) -> None:
        self._spans: list[ReceivedSpan] = []
        self.bodies: list[bytes] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                is_ours = self.path == _PATH and self.headers["content-type"] == "application/x-protobuf"
                if is_ours:
                    receiver.take(body)
                self.send_response(HTTPStatus.OK if is_ours else HTTPStatus.BAD_REQUEST)
                self.send_header("content-type", "application/x-protobuf")
                self.end_headers()
                self.wfile.write(ExportTraceServiceResponse().SerializeToString())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's signature
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, name="trace receiver")

    @property
    def base(self) -> str:
        """What OTEL_EXPORTER_OTLP_ENDPOINT says: without the path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def endpoint(self) -> str:
        """What --traces-endpoint says."""
        return self.base + _PATH

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def spans(self) -> tuple[ReceivedSpan, ...]:
        """What came so far."""
        return tuple(self._spans)

    def span(self, name: str, **attributes: str) -> ReceivedSpan:
        """Return the latest span of that name with these attributes (dots written as `__`), once it has come."""
        wanted = {key.replace("__", "."): value for key, value in attributes.items()}

        def found() -> ReceivedSpan | None:
            some = [
                one for one in self.spans if one.name == name and wanted.items() <= one.attributes.items()
            ]
            return some[-1] if some else None

        eventually(found, awaited=f"a span {name!r} with {wanted}")
        span = found()
        assert span is not None
        return span

    def children(self, of: ReceivedSpan) -> list[ReceivedSpan]:
        """Return what came so far of the parts of a span."""
        return [one for one in self.spans if one.parent == of.span_id]

    def take(self, body: bytes) -> None:
        """Decode one export."""
        self.bodies.append(body)
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            told = {one.key: one.value.string_value for one in resource.resource.attributes}
            for scope in resource.scope_spans:
                self._spans += [_received(told["service.name"], span) for span in scope.spans]


def _received(service: str, span: Span) -> ReceivedSpan:
    attributes: dict[str, str | int] = {
        one.key: one.value.int_value if one.value.HasField("int_value") else one.value.string_value
        for one in span.attributes
    }
    failed = span.status.message if span.status.code == Status.STATUS_CODE_ERROR else None
    return ReceivedSpan(
        service,
        span.name,
        Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        attributes,
        failed,
        len(span.events),
    )
