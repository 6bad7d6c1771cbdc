"""Serves the page, its answers and its changes on loopback, behind the gate."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib import resources

import orjson
from aiohttp import web

from keybearer.base.errors import ConfigurationError
from keybearer.cli.dashboard.board import Board
from keybearer.cli.dashboard.gate import HEADERS, Gate, new_token
from keybearer.cli.dashboard.view import Query

__all__ = ["serve"]

_HOST = "127.0.0.1"
_STREAMS_MAX = 16
"""Pages that are kept up to date at once."""
_STRANGERS_MAX = 64
"""Connections at once on which nobody has named the token yet: every program of the machine can open some."""
_PAUSE_SECONDS = 1.0
"""Between two messages of a stream, however much changes."""
_SHUTDOWN_SECONDS = 0.5
_BEAT_SECONDS = 15.0
"""A page asks again so often though nothing changed: instants pass, and the operators are looked at when asked."""
_FILES: Mapping[str, tuple[str, str]] = {
    "": ("index.html", "text/html"),
    "page.js": ("page.js", "text/javascript"),
    "page.css": ("page.css", "text/css"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}


@asynccontextmanager
async def serve(board: Board, port: int) -> AsyncIterator[str]:
    """Serve while the context lasts; yield the address with its token.

    Args:
        board: what is shown.
        port: to listen on; 0 for one that is free.

    Raises:
        ConfigurationError: the port is taken.
    """
    listening = _listening(port)
    gate = Gate(new_token(), listening.getsockname()[1])
    server = _Server(board, gate)
    # A stream ends as soon as its page is closed. It never ends otherwise, so the shutdown doesn't wait for it.
    serving = _Connections(server)
    runner = web.ServerRunner(serving, shutdown_timeout=_SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        yield gate.address
    finally:
        await runner.cleanup()


class _Connections(web.Server):
    """Keeps connections bounded: the oldest on which nobody has named the token makes room.

    A browser names it at once. So a program that opens connections and keeps them takes no answer away.
    """

    def __init__(self, server: _Server) -> None:
        super().__init__(self._answer, access_log=None, handler_cancellation=True)
        self._server = server
        self._strangers: dict[web.RequestHandler, None] = {}

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """Take note of a connection."""
        super().connection_made(handler, transport)
        self._strangers[handler] = None
        if len(self._strangers) > _STRANGERS_MAX:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.force_close()

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """Forget a connection."""
        self._strangers.pop(handler, None)
        super().connection_lost(handler, exc)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        asked = self._server.asked(request)
        if isinstance(asked, HTTPStatus):
            return _refusal(asked)
        self._strangers.pop(request.protocol, None)
        return await self._server.answer(request, asked)


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # A port of a dashboard that just ended is free; two that live never share one.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_HOST, port))
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"--port {port}: {error.strerror}; leave --port out for a port that is free"
        ) from error
    return listening


class _Server:
    def __init__(self, board: Board, gate: Gate) -> None:
        self._board = board
        self._gate = gate
        self._streams = 0
        page = resources.files("keybearer.cli.dashboard") / "page"
        self._contents = {path: ((page / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}

    def asked(self, request: web.BaseRequest) -> str | HTTPStatus:
        """Return what is asked for below the token, or the status of the refusal."""
        path = request.raw_path.partition("?")[0]
        return self._gate.judge(request.method, path, request.headers)

    async def answer(self, request: web.BaseRequest, asked: str) -> web.StreamResponse:
        """Answer a request that passed the gate."""
        if asked in self._contents:
            content, kind = self._contents[asked]
            return web.Response(body=content, content_type=kind, charset="utf-8", headers=HEADERS)
        if asked == "changes":
            return await self._changes(request)
        kind, _, name = asked.partition("/")
        if kind != "view" or name not in self._board.views:
            return _refusal(HTTPStatus.NOT_FOUND)
        query = Query.of(request.query.get("search", ""), request.query.get("page", ""))
        view = await self._board.view(name, query)
        return web.Response(body=orjson.dumps(view), content_type="application/json", headers=HEADERS)

    async def _changes(self, request: web.BaseRequest) -> web.StreamResponse:
        if self._streams >= _STREAMS_MAX:
            return _refusal(HTTPStatus.SERVICE_UNAVAILABLE)
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream"})
        self._streams += 1
        try:
            await response.prepare(request)
            if request.method == "GET":
                await self._tell(response)
        except ConnectionError:
            pass  # the page was closed
        finally:
            self._streams -= 1
        return response

    async def _tell(self, response: web.StreamResponse) -> None:
        revision = -1
        while True:
            try:
                async with asyncio.timeout(_BEAT_SECONDS):
                    revision = await self._board.changes.after(revision)
            except TimeoutError:
                revision = self._board.changes.revision
            await response.write(f"data: {revision}\n\n".encode())
            await asyncio.sleep(_PAUSE_SECONDS)


def _refusal(status: HTTPStatus) -> web.Response:
    headers = {**HEADERS, "Allow": "GET, HEAD"} if status is HTTPStatus.METHOD_NOT_ALLOWED else HEADERS
    return web.Response(status=status, headers=headers)
