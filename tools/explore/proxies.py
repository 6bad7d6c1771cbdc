"""Proxies that know what passes them: before the API server for each lane, before the service for each namespace.

They run in the event loop of the search. What is held up or lost is what a network, a load balancer or the other
side may do at any time. The API server itself never sends an event twice or leaves one out, but a watch that was
broken and taken up elsewhere shows both.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from tools.explore.moments import call_moment, event_moment, read_kube_ask
from tools.explore.plans import Act
from tools.explore.post import Post

__all__ = ["DELAY_SECONDS", "EVENT_DELAY_SECONDS", "KubeProxy", "ServiceGate", "listening"]

DELAY_SECONDS = 20.0
"""Longer than the operator waits for any answer: it has given up when the request arrives."""
EVENT_DELAY_SECONDS = 5.0
"""Longer than what the scenario does meanwhile takes."""
_AGAIN_SECONDS = 2.0
"""Long enough for the events that follow to arrive first."""
_PER_HOP = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_STATUS: Mapping[Act, tuple[int, str]] = {
    Act.CONFLICT: (409, "Conflict"),
    Act.THROTTLED: (429, "TooManyRequests"),
    Act.FAILED: (500, "InternalError"),
}


class _Proxy:
    """What both kinds have in common.

    Args:
        upstream: base URL of what stands behind.
        session: what forwards; borrowed.
    """

    def __init__(self, upstream: str, session: aiohttp.ClientSession) -> None:
        self._upstream = upstream
        self._session = session

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        raise NotImplementedError

    def refusal(self, act: Act) -> web.Response:
        """Return the refusal that stands for the act."""
        raise NotImplementedError

    async def ask(self, request: web.BaseRequest, body: bytes) -> aiohttp.ClientResponse:
        """Send the request on; the caller releases the answer."""
        return await self._session.request(
            request.method,
            URL(self._upstream + request.raw_path, encoded=True),
            headers=_end_to_end(request.headers),
            data=body or None,
            allow_redirects=False,
        )

    async def forward(self, request: web.BaseRequest, body: bytes) -> web.Response:
        """Return the answer of what stands behind."""
        async with await self.ask(request, body) as answer:
            return web.Response(
                status=answer.status, headers=_end_to_end(answer.headers), body=await answer.read()
            )

    async def disturbed(
        self, request: web.BaseRequest, body: bytes, act: Act | None, post: Post
    ) -> web.Response:
        """Answer a request at which this is to be done."""
        match act:
            case None:
                return await self.forward(request, body)
            case Act.KILLED_BEFORE:
                post.kill()
                return _cut(request)
            case Act.KILLED_AFTER:
                await self.forward(request, body)
                post.kill()
                return _cut(request)
            case Act.ANSWER_LOST:
                await self.forward(request, body)
                return _cut(request)
            case Act.DELAYED:
                return await asyncio.shield(self._carried_out_late(request, body, post))
            case _:
                return self.refusal(act)

    def _carried_out_late(
        self, request: web.BaseRequest, body: bytes, post: Post
    ) -> asyncio.Task[web.Response]:
        """Return what sends a request on later, whether or not anybody waits for the answer by then."""

        async def send() -> web.Response:
            await asyncio.sleep(DELAY_SECONDS)
            return await self.forward(request, body)

        task = asyncio.get_running_loop().create_task(send(), name=f"late {request.method} {request.path}")
        post.late.add(task)
        task.add_done_callback(post.late.discard)
        return task


class KubeProxy(_Proxy):
    """Stands between one operator and the API server.

    Attributes:
        posts: who is told, by namespace.
    """

    def __init__(self, upstream: str, session: aiohttp.ClientSession) -> None:
        super().__init__(upstream, session)
        self.posts: dict[str, Post] = {}

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer as the API server does, but for disturbances."""
        body = await request.read()
        ask = read_kube_ask(request.method, request.raw_path, body)
        if ask.is_watch:
            return await self._watch(request)
        post = self.posts.get(ask.namespace)
        if post is None or not ask.is_write or not post.naming.is_ours(ask.name):
            return await self.forward(request, body)
        return await self.disturbed(request, body, post.meet(ask.moment(post.naming)), post)

    async def _watch(self, request: web.BaseRequest) -> web.StreamResponse:
        ask = read_kube_ask(request.method, request.raw_path, b"")
        async with await self.ask(request, b"") as answer:
            downstream = web.StreamResponse(status=answer.status, headers=_end_to_end(answer.headers))
            await downstream.prepare(request)
            rest = b""
            # Either side may go at any time.
            with contextlib.suppress(ConnectionResetError, aiohttp.ClientError):
                async for piece in answer.content.iter_any():
                    *lines, rest = (rest + piece).split(b"\n")
                    for line in lines:
                        post = self.posts.get(ask.namespace)
                        what = None if post is None else event_moment(ask, line, post.naming)
                        act = None if post is None or what is None else post.meet(what)
                        if act is Act.EVENT_DELAYED:
                            await asyncio.sleep(EVENT_DELAY_SECONDS)
                        if act is not Act.EVENT_DROPPED:
                            await downstream.write(line + b"\n")
                        if act is Act.EVENT_TWICE and post is not None:
                            again = asyncio.create_task(_written_again(downstream, line + b"\n"))
                            post.late.add(again)
                            again.add_done_callback(post.late.discard)
                if rest:
                    await downstream.write(rest)
            return downstream

    def refusal(self, act: Act) -> web.Response:
        """Return what an API server says."""
        status, reason = _STATUS[act]
        body = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "a disturbance of the search",
            "reason": reason,
            "code": status,
        }
        return web.json_response(body, status=status, headers=_retry(act))


class ServiceGate(_Proxy):
    """Stands between the operator and the service for the identity of one namespace.

    Attributes:
        post: who is told; None while nothing runs in the namespace.
    """

    def __init__(self, upstream: str, session: aiohttp.ClientSession) -> None:
        super().__init__(upstream, session)
        self.post: Post | None = None

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer as the service does, but for disturbances."""
        body = await request.read()
        post = self.post
        what = None
        if post is not None:
            post.note_call()
            what = call_moment(request.method, request.raw_path, post.naming)
        if post is None or what is None:
            return await self._passed_through(request, body)
        return await self.disturbed(request, body, post.meet(what), post)

    async def _passed_through(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        async with await self.ask(request, body) as answer:
            if answer.content_type != "text/event-stream":
                return web.Response(
                    status=answer.status, headers=_end_to_end(answer.headers), body=await answer.read()
                )
            downstream = web.StreamResponse(status=answer.status, headers=_end_to_end(answer.headers))
            await downstream.prepare(request)
            with contextlib.suppress(ConnectionResetError, aiohttp.ClientError):
                async for piece in answer.content.iter_any():
                    await downstream.write(piece)
            return downstream

    def refusal(self, act: Act) -> web.Response:
        """Return what a service says."""
        status, reason = _STATUS[act]
        body = {
            "reqId": "req-explore",
            "statusCode": status,
            "message": "a disturbance of the search",
            "error": reason,
        }
        return web.json_response(body, status=status, headers=_retry(act))


@contextlib.asynccontextmanager
async def listening(proxy: _Proxy) -> AsyncIterator[str]:
    """The proxy listens on a free loopback port while the block runs; give its URL."""
    # Whoever asked and is gone must not keep a watch open.
    server = web.Server(proxy.handle, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=0.2)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _written_again(downstream: web.StreamResponse, line: bytes) -> None:
    """Send an event once more, after those that follow it, as a watch that begins anew from an old version does."""
    await asyncio.sleep(_AGAIN_SECONDS)
    with contextlib.suppress(ConnectionResetError):
        await downstream.write(line)


def _cut(request: web.BaseRequest) -> web.Response:
    """End the connection without an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=502)  # nobody reads it


def _retry(act: Act) -> Mapping[str, str]:
    return {"Retry-After": "1"} if act is Act.THROTTLED else {}


def _end_to_end(headers: Mapping[str, str]) -> CIMultiDict[str]:
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in _PER_HOP)
