"""The asynchronous client: takes steps on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, nullcontext
from functools import cached_property
from inspect import isawaitable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx

from keybearer.base.calls import Call
from keybearer.client.auth import farewell
from keybearer.client.catalogue import Groups
from keybearer.client.credentials import Credentials, SuppliedToken
from keybearer.client.errors import ClientClosed, TransportError
from keybearer.client.messages import Query, Response
from keybearer.client.options import ClientOptions, base_url_of, open_session
from keybearer.client.resources import AsyncShell
from keybearer.client.session import Session
from keybearer.client.steps import Alone, Ask, Step, Steps, Transmit, Wait
from keybearer.client.transport import Intake, failure_of, length_of, new_async_http, opened, outgoing

if TYPE_CHECKING:
    from keybearer.client.events import AsyncEventsApi

__all__ = ["AsyncKeybearer"]

T = TypeVar("T")


class AsyncKeybearer(Groups[AsyncShell]):
    """A client of one service as one identity, for use on one event loop.

    Use it as an async context manager, or call `aclose`.

    Args:
        url: the address of the service.
        credentials: what to log in with, on first use and whenever the token has run out; or a token from
            elsewhere. None for what needs no token, or to log in by `auth` later.
        options: how to behave.
        http: connections to share with other clients (`new_async_http` of `keybearer.client`); they are
            borrowed, never closed. The trust of `options.ca_pem` is theirs to have then.
        sleep: waits, in seconds, before a retry.
        body_turn: given how many bytes an answer says to have, waits until its body may be taken in, and is held
            meanwhile; for a process that bounds the memory of many clients. The time of waiting doesn't count.
        watch: told of each request that is sent, by the name of its operation, and how it ends.
    """

    def __init__(
        self,
        url: str,
        credentials: Credentials | SuppliedToken | None = None,
        *,
        options: ClientOptions | None = None,
        http: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        body_turn: Callable[[int | None], AbstractAsyncContextManager[None]] = lambda _: nullcontext(),
        watch: Callable[[str], Call] | None = None,
    ) -> None:
        self._base_url = base_url_of(url)
        self._options = options or ClientOptions()
        self._session = open_session(credentials, self._options)
        self._http = http or new_async_http(self._options)
        self._owns_http = http is None
        self._sleep = sleep
        self._body_turn = body_turn
        self._watch = watch
        self._alone = asyncio.Lock()

    @property
    def session(self) -> Session:
        """The client's state."""
        return self._session

    @cached_property
    def events(self) -> AsyncEventsApi:
        """Changes as they happen."""
        from keybearer.client.events import AsyncEventsApi

        return AsyncEventsApi(self)

    async def run(self, steps: Steps[T]) -> T:
        """Take the steps, and return their result."""
        outcome: object = None
        with closing(steps):
            while True:
                try:
                    step = steps.send(outcome)
                except StopIteration as end:
                    result: T = end.value
                    return result
                outcome = await self._take(step)

    async def aclose(self) -> None:
        """Revoke the tokens that were logged in for, and close connections of our own."""
        try:
            if not self._session.is_closed:
                await self.run(farewell(self._session))
        finally:
            if self._owns_http:
                await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def _shell(self) -> AsyncShell:
        return self

    async def _take(self, step: Step[Any]) -> object:
        match step:
            case Transmit():
                return await self._send(step)
            case Wait(delay):
                await self._sleep(delay.total_seconds())
                return None
            case Ask(source):
                text = source()
                return await text if isawaitable(text) else text
            case Alone(steps):
                async with self._alone:
                    return await self.run(steps)
            case _:
                raise TypeError(step)

    async def _send(self, step: Transmit) -> Response | TransportError:
        if self._watch is None:
            return await self._transmit(step)
        call = self._watch(step.operation)
        status = None
        try:
            outcome = await self._transmit(step, tuple(call.headers))
            status = None if isinstance(outcome, TransportError) else outcome.status
        finally:
            call.end(status)
        return outcome

    async def _transmit(self, step: Transmit, beside: Query = ()) -> Response | TransportError:
        if self._http.is_closed:
            raise ClientClosed("the connections of this client were closed")
        request = outgoing(self._base_url, self._options, step, beside)
        try:
            async with asyncio.timeout(self._options.timeout.total_seconds()) as limit:
                answer = await self._http.send(request, stream=True, auth=None, follow_redirects=False)
                self._session.hear_time(answer.headers.get("date"))
                stream = opened(step.request, answer)
                if stream is not None:
                    return stream
                try:
                    async with self._turn(answer, limit) as left:
                        deadline = self._options.clock.monotonic() + left
                        intake = Intake(step.request, answer, self._options, deadline)
                        async for piece in answer.aiter_bytes():
                            intake.add(piece)
                finally:
                    await answer.aclose()
        except (httpx.TransportError, TimeoutError) as error:
            return failure_of(step.request, self._base_url, error)
        return intake.response()

    @asynccontextmanager
    async def _turn(self, answer: httpx.Response, limit: asyncio.Timeout) -> AsyncIterator[float]:
        """Wait for the turn to take the body in, with the clock stopped; yield the seconds that are left."""
        loop = asyncio.get_running_loop()
        left = (limit.when() or loop.time()) - loop.time()
        limit.reschedule(None)
        async with self._body_turn(length_of(answer)):
            limit.reschedule(loop.time() + left)
            yield left
