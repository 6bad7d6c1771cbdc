"""Streams of events, asynchronous and blocking: two ways to take pieces, one way to read them.

A stream ends by an error, always: `StreamEnded` with the service's reason, or `TransportError` where it went
without a word or fell silent. Who wants to go on subscribes again and then reads anew, for nothing is replayed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import httpx

from keybearer.base.clock import Clock
from keybearer.client.auth import perform
from keybearer.client.errors import StreamEnded, TransportError
from keybearer.client.event_frames import FrameReader, ProjectEvent, event_of, fault_of
from keybearer.client.messages import Request
from keybearer.client.operations.events import EventPlace, OpenEventStream
from keybearer.client.resources import AsyncShell, BlockingShell, Resource
from keybearer.client.transport import STREAM_SILENCE, failure_of
from keybearer.wire.events import EventType

__all__ = ["AsyncEventStream", "AsyncEventsApi", "EventStream", "EventsApi"]


class _Reading:
    """What has come of a stream, and since when nothing has."""

    def __init__(self, request: Request, clock: Clock) -> None:
        self._request = request
        self._clock = clock
        self._frames = FrameReader()
        self._heard_at = clock.monotonic()
        self._events: deque[ProjectEvent | StreamEnded] = deque()

    def next(self) -> ProjectEvent | None:
        """Return the next event that has come; None if more must be read.

        Raises:
            StreamEnded: the service said so.
        """
        if not self._events:
            return None
        event = self._events.popleft()
        if isinstance(event, StreamEnded):
            raise event
        return event

    def take(self, piece: bytes) -> None:
        """Take a piece in.

        Raises:
            DecodeError: it is nothing that a service sends.
        """
        for frame in self._frames.feed(piece):
            self._heard_at = self._clock.monotonic()
            if frame.event == "error":
                self._events.append(StreamEnded(f"{self._request}: {fault_of(frame)}"))
            elif frame.event != "ping":
                self._events.append(event_of(frame))

    def patience(self) -> float:
        """Return for how many seconds more the stream may stay silent.

        Raises:
            TransportError: for none.
        """
        left = self._heard_at + STREAM_SILENCE.total_seconds() - self._clock.monotonic()
        if left <= 0:
            raise self.silent()
        return left

    def silent(self) -> TransportError:
        """Return the error of a stream that is taken for dead."""
        seconds = STREAM_SILENCE.total_seconds()
        return TransportError(f"{self._request}: the event stream was silent for {seconds:g} s", sent=True)

    def ended(self) -> TransportError:
        """Return the error of a stream that ended without a word."""
        return TransportError(f"{self._request}: the event stream ended", sent=True)

    def broken(self, answer: httpx.Response, error: Exception) -> TransportError:
        """Return the error of a stream that broke."""
        url = answer.request.url
        return failure_of(self._request, f"{url.scheme}://{url.netloc.decode()}", error)


class AsyncEventStream:
    """Events as they happen; an asynchronous iterator and context manager.

    For one task. A wait that is cancelled ends the stream.
    """

    def __init__(self, answer: httpx.Response, request: Request, clock: Clock) -> None:
        self._answer = answer
        self._pieces = answer.aiter_bytes()
        self._reading = _Reading(request, clock)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ProjectEvent:
        """Return the next event.

        Raises:
            StreamEnded: the service ended the stream, and said why.
            TransportError: the stream broke, ended without a word, or is dead.
            DecodeError: it is none of this interface.
        """
        while (event := self._reading.next()) is None:
            try:
                async with asyncio.timeout(self._reading.patience()):
                    piece = await anext(self._pieces)
            except StopAsyncIteration:
                raise self._reading.ended() from None
            except (httpx.ReadTimeout, TimeoutError) as error:
                raise self._reading.silent() from error
            except (httpx.TransportError, httpx.StreamError) as error:
                raise self._reading.broken(self._answer, error) from error
            self._reading.take(piece)
        return event

    async def aclose(self) -> None:
        """Give the connection up."""
        await self._answer.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


class EventStream:
    """Events as they happen; an iterator that blocks, and a context manager."""

    def __init__(self, answer: httpx.Response, request: Request, clock: Clock) -> None:
        self._answer = answer
        self._pieces = answer.iter_bytes()
        self._reading = _Reading(request, clock)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ProjectEvent:
        """Return the next event; the errors are those of `AsyncEventStream`."""
        while (event := self._reading.next()) is None:
            self._reading.patience()
            try:
                piece = next(self._pieces)
            except StopIteration:
                raise self._reading.ended() from None
            except httpx.ReadTimeout as error:
                raise self._reading.silent() from error
            except (httpx.TransportError, httpx.StreamError) as error:
                raise self._reading.broken(self._answer, error) from error
            self._reading.take(piece)
        return event

    def close(self) -> None:
        """Give the connection up."""
        self._answer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncEventsApi(Resource[AsyncShell]):
    """`client.events` of the asynchronous client."""

    async def subscribe(
        self,
        *,
        project_id: str,
        events: Sequence[EventType] = tuple(EventType),
        places: Sequence[EventPlace] = (),
    ) -> AsyncEventStream:
        """Open a stream of events of a project; at all places where none is given.

        Each event at each place is a registration, of which a stream has at most ten.

        Raises:
            ServiceError: the service refuses, or has no such route.
            TransportError: no answer came.
            DecodeError: the answer is no event stream.
            InvalidArgument: there are too many registrations, or none.
        """
        operation = OpenEventStream(project_id=project_id, events=tuple(events), places=tuple(places))
        session = self.shell.session
        answer = await self.shell.run(perform(session, operation))
        return AsyncEventStream(answer, operation.request(), session.clock)


class EventsApi(Resource[BlockingShell]):
    """`client.events` of the blocking client."""

    def subscribe(
        self,
        *,
        project_id: str,
        events: Sequence[EventType] = tuple(EventType),
        places: Sequence[EventPlace] = (),
    ) -> EventStream:
        """Open a stream of events of a project, as `AsyncEventsApi.subscribe` does."""
        operation = OpenEventStream(project_id=project_id, events=tuple(events), places=tuple(places))
        session = self.shell.session
        answer = self.shell.run(perform(session, operation))
        return EventStream(answer, operation.request(), session.clock)
