"""One request, and what may come before its answer counts: the right to write, new credentials, a wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import NamedTuple

from keybearer.base.calls import Call
from keybearer.kube.answers import error_of_answer
from keybearer.kube.connection import Answer, Connection, Request
from keybearer.kube.errors import TooManyRequestsError, UnavailableError

__all__ = ["Act", "Exchange"]

_TRIES_WHEN_SHED = 3
_LONGEST_WAIT_SECONDS = 3.0
"""A longer Retry-After is the caller's to honour: its queue can do other work meanwhile."""


class Act(NamedTuple):
    """What a write does, for those who count: one of few, and no object's name."""

    verb: str
    kind: str
    subresource: str = ""


class Exchange:
    """Sends requests, at most so many at once; further ones wait in the order they came."""

    def __init__(
        self,
        connection: Connection,
        *,
        max_in_flight: int,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._connection = connection
        self._slots = asyncio.Semaphore(max_in_flight)
        self._sleep = sleep
        self.admit_write: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
        """Entered around each write: may make it wait, and may take the time."""
        self.on_end: Callable[[bool], None] = lambda _: None
        """Told of each request that was sent whether the API server answered it, were it with a refusal."""
        self.watch_write: Callable[[Act], Call] | None = None
        """Told of each write that is sent, and how it ends."""

    async def ask(
        self,
        subject: str,
        request: Request,
        *,
        act: Act | None = None,
        allow: Callable[[], None] | None = None,
    ) -> Answer:
        """Return an answer whose status is under 300.

        Args:
            subject: what is done to which object; begins the text of an error.
            request: what to send.
            act: what it does, where it is a write.
            allow: called for each attempt after any wait for a slot, and again by `Connection.send`; what it raises
                goes on to the caller, and nothing is sent.

        Raises:
            KubeError: any of its kinds.
        """
        if request.method == "GET":
            return await self._ask(subject, request, act, allow)
        async with self.admit_write():
            return await self._ask(subject, request, act, allow)

    async def _ask(
        self, subject: str, request: Request, act: Act | None, allow: Callable[[], None] | None
    ) -> Answer:
        async with self._slots:
            shed = 0
            while True:
                if allow is not None:
                    allow()  # Also before a connection is opened: what is refused here is neither sent nor counted.
                renewals = self._connection.renewals
                answer = await self._watched(request, act, allow)
                if answer.status < 300:
                    return answer
                if answer.status == 401 and await self._connection.renew(renewals):
                    continue
                error = error_of_answer(subject, answer.status, answer.body, answer.retry_after)
                shed += 1
                if (
                    not isinstance(error, TooManyRequestsError)
                    or shed == _TRIES_WHEN_SHED
                    or error.retry_after > _LONGEST_WAIT_SECONDS
                ):
                    raise error
                await self._sleep(error.retry_after)

    async def _watched(self, request: Request, act: Act | None, allow: Callable[[], None] | None) -> Answer:
        if act is None or self.watch_write is None:
            return await self._send(request, allow)
        call = self.watch_write(act)
        status = None
        try:
            answer = await self._send(request, allow)
            status = answer.status
        finally:
            call.end(status)
        return answer

    async def _send(self, request: Request, allow: Callable[[], None] | None) -> Answer:
        answered = False
        try:
            answer = await self._connection.send(request, allow=allow)
            answered = answer.status < 500
        except UnavailableError:
            self.on_end(answered)
            raise
        self.on_end(answered)
        return answer
