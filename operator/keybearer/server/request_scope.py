"""The outermost shell of each request: its id, its line in the log, the bound of its body, headers of each answer."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keybearer.base.ids import new_request_id
from keybearer.base.logs import Logger, get_logger
from keybearer.base.origin import Origin, request_from
from keybearer.base.tracing import Span, SpanKind, Tracer
from keybearer.server.body_bounds import bounded_body
from keybearer.server.request_tallies import RequestTallies
from keybearer.wire.limits import REQUEST_BODY_MAX_BYTES

__all__ = ["PRINCIPAL_KEY", "REQUEST_ID_HEADER", "RequestShell", "request_id_of"]

REQUEST_ID_HEADER = "x-request-id"
PRINCIPAL_KEY = "keybearer.principal"
"""Under which a request's scope has who asks, once the token was accepted."""
_HEADER_BYTES = REQUEST_ID_HEADER.encode()
_NOT_GUESSED = (b"x-content-type-options", b"nosniff")
_NOT_KEPT = (b"cache-control", b"no-store")
_KEY = "keybearer.request_id"
_SERVER_ERROR = 500
_log = get_logger(__name__)


def request_id_of(scope: Scope) -> str:
    """Return the id that stands in logs and error bodies."""
    request_id: str = scope[_KEY]
    return request_id


class RequestShell:
    """Wraps the application. One line is logged per request; the path only as its route's template."""

    def __init__(
        self, app: ASGIApp, tallies: RequestTallies | None = None, tracer: Tracer | None = None
    ) -> None:
        self._app = app
        self._tallies = tallies
        self._tracer = tracer
        # Bound once: the lazy logger would be built anew for each line.
        self._log: Logger = _log.bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["method"] == "HEAD":
            # A HEAD is answered as a GET without its body (RFC 9110, 9.3.2). The server keeps its own scope.
            await self({**scope, "method": "GET"}, receive, _without_body(send))
        elif self._tracer is None:
            await self._serve(scope, receive, send, None)
        else:
            attributes = {"http.request.method": scope["method"], "url.scheme": scope["scheme"]}
            with self._tracer.within(
                scope["method"], SpanKind.SERVER, attributes, joins=scope["headers"]
            ) as span:
                await self._serve(scope, receive, send, span)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, span: Span | None) -> None:
        if self._tallies is not None:
            self._tallies.in_flight += 1
        started = time.perf_counter()
        request_id = new_request_id()
        scope[_KEY] = request_id
        path = scope["path"]
        if path.endswith("/") and len(path) > 1:
            # Both forms of every route are served (wire.md section 0).
            scope["path"] = path[:-1]
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"]
                headers.append((_HEADER_BYTES, request_id.encode()))
                headers.append(_NOT_GUESSED)
                # What says nothing else about it may hold a secret: lists, logins, keys, and refusals beside them.
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append(_NOT_KEPT)
            await send(message)

        try:
            with request_from(_origin(scope, request_id)):
                await self._app(scope, bounded_body(receive, REQUEST_BODY_MAX_BYTES), answer)
        except Exception as error:
            if status == 0:
                raise
            # Answered and logged with its place by the handler of what nobody foresaw; raised again by the
            # framework only for the server's own log, which would print its text.
            _log.debug("request_error_was_answered", request_id=request_id, kind=type(error).__name__)
        finally:
            route = getattr(scope.get("route"), "path", None)
            seconds = time.perf_counter() - started
            if self._tallies is not None:
                self._tallies.in_flight -= 1
                self._tallies.ended(route, scope["method"], status, seconds)
            beside = {}
            if span is not None:
                beside["trace_id"] = span.trace_id
                _tell(span, scope["method"], route, status, request_id)
            self._log.info(
                "request",
                request_id=request_id,
                method=scope["method"],
                route=route,
                status=status,
                duration_ms=round(seconds * 1000, 2),
                **beside,
            )


def _tell(span: Span, method: str, route: str | None, status: int, request_id: str) -> None:
    span.tell({"http.response.status_code": status, "keybearer.request_id": request_id})
    if route is not None:
        span.name(f"{method} {route}")
        span.tell({"http.route": route})
    if not 0 < status < _SERVER_ERROR:
        span.fail(f"status {status}" if status else "no answer")


def _origin(scope: Scope, request_id: str) -> Origin:
    client = scope.get("client")
    user_agent = next((value for name, value in scope["headers"] if name == b"user-agent"), b"")
    return Origin(None if client is None else client[0], user_agent.decode("latin-1"), request_id)


def _without_body(send: Send) -> Send:
    async def answer(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return answer
