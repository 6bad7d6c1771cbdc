"""An HTTP server on loopback that answers as a test says: for what a real API server does only on bad days."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import orjson
import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer

from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["Reply", "ScriptedServer", "Seen", "lines_of", "write_kubeconfig"]


@dataclass(frozen=True)
class Seen:
    """A request that arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = field(repr=False)

    @property
    def json(self) -> object:
        """Return the body, parsed."""
        return orjson.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """What is answered: a whole body, or chunks with whatever the test awaits in between."""

    status: int = 200
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    stream: Callable[[web.StreamResponse], Awaitable[None]] | None = None


class ScriptedServer:
    """Answers the n-th request with the n-th reply, and all further ones with the last."""

    def __init__(self, *replies: Reply) -> None:
        self.seen: list[Seen] = []
        self._arrival = asyncio.Condition()
        self._replies = replies
        app = web.Application(client_max_size=16 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._server = TestServer(app)

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.close()

    @property
    def url(self) -> str:
        """Return where it listens."""
        return str(self._server.make_url("")).rstrip("/")

    async def arrived(self, count: int) -> None:
        """Return when so many requests have come."""
        async with asyncio.timeout(PATIENCE_SECONDS), self._arrival:
            await self._arrival.wait_for(lambda: len(self.seen) >= count)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        reply = self._replies[min(len(self.seen), len(self._replies) - 1)]
        self.seen.append(
            Seen(
                request.method,
                request.raw_path.partition("?")[0],
                dict(request.query),
                dict(request.headers),
                await request.read(),
            )
        )
        async with self._arrival:
            self._arrival.notify_all()
        if reply.stream is not None:
            response = web.StreamResponse(status=reply.status, headers=reply.headers)
            await response.prepare(request)
            await reply.stream(response)
            return response
        body = reply.body if isinstance(reply.body, bytes) else orjson.dumps(reply.body)
        return web.Response(status=reply.status, body=body, headers=reply.headers)


def write_kubeconfig(
    path: Path, server: str, user: Mapping[str, object] | None = None, /, **cluster: object
) -> str:
    """Write a kubeconfig for the server and return its path."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "me", "namespace": "team-a"}}],
        "clusters": [{"name": "it", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "me", "user": dict(user or {})}],
    }
    path.write_text(yaml.safe_dump(config))
    return str(path)


def lines_of(events: Iterable[object]) -> bytes:
    """Return the events of a watch as they travel."""
    return b"".join(orjson.dumps(event) + b"\n" for event in events)
