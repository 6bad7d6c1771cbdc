"""The blocking client: takes steps in the caller's thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import cached_property
from inspect import iscoroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx

from keybearer.client.auth import farewell
from keybearer.client.catalogue import Groups
from keybearer.client.credentials import Credentials, SuppliedToken
from keybearer.client.errors import ClientClosed, InvalidArgument, TransportError
from keybearer.client.messages import Response
from keybearer.client.options import ClientOptions, base_url_of, open_session
from keybearer.client.resources import BlockingShell
from keybearer.client.session import Session
from keybearer.client.steps import Alone, Ask, Step, Steps, Transmit, Wait
from keybearer.client.transport import Intake, failure_of, new_http, opened, outgoing

if TYPE_CHECKING:
    from keybearer.client.events import EventsApi

__all__ = ["Keybearer"]

T = TypeVar("T")


class Keybearer(Groups[BlockingShell]):
    """A client of one service as one identity; may be shared by threads.

    Use it as a context manager, or call `close`.

    Args:
        url: the address of the service.
        credentials: what to log in with, on first use and whenever the token has run out; or a token from
            elsewhere. None for what needs no token, or to log in by `auth` later.
        options: how to behave.
        http: connections to share with other clients (`new_http` of `keybearer.client`); they are borrowed,
            never closed. The trust of `options.ca_pem` is theirs to have then.
        sleep: waits, in seconds, before a retry.
    """

    def __init__(
        self,
        url: str,
        credentials: Credentials | SuppliedToken | None = None,
        *,
        options: ClientOptions | None = None,
        http: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._base_url = base_url_of(url)
        self._options = options or ClientOptions()
        self._session = open_session(credentials, self._options)
        self._http = http or new_http(self._options)
        self._owns_http = http is None
        self._sleep = sleep
        self._alone = threading.Lock()

    @property
    def session(self) -> Session:
        """The client's state."""
        return self._session

    @cached_property
    def events(self) -> EventsApi:
        """Changes as they happen."""
        from keybearer.client.events import EventsApi

        return EventsApi(self)

    def run(self, steps: Steps[T]) -> T:
        """Take the steps, and return their result."""
        outcome: object = None
        with closing(steps):
            while True:
                try:
                    step = steps.send(outcome)
                except StopIteration as end:
                    result: T = end.value
                    return result
                outcome = self._take(step)

    def close(self) -> None:
        """Revoke the tokens that were logged in for, and close connections of our own."""
        try:
            if not self._session.is_closed:
                self.run(farewell(self._session))
        finally:
            if self._owns_http:
                self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _shell(self) -> BlockingShell:
        return self

    def _take(self, step: Step[Any]) -> object:
        match step:
            case Transmit():
                return self._send(step)
            case Wait(delay):
                self._sleep(delay.total_seconds())
                return None
            case Ask(source):
                text = source()
                if not isinstance(text, str):
                    if iscoroutine(text):
                        text.close()
                    raise InvalidArgument("a source that must be awaited needs the asynchronous client")
                return text
            case Alone(steps):
                with self._alone:
                    return self.run(steps)
            case _:
                raise TypeError(step)

    def _send(self, step: Transmit) -> Response | TransportError:
        if self._http.is_closed:
            raise ClientClosed("the connections of this client were closed")
        request = outgoing(self._base_url, self._options, step)
        deadline = self._options.clock.monotonic() + self._options.timeout.total_seconds()
        try:
            answer = self._http.send(request, stream=True, auth=None, follow_redirects=False)
            stream = opened(step.request, answer)
            if stream is not None:
                return stream
            try:
                intake = Intake(step.request, answer, self._options, deadline)
                for piece in answer.iter_bytes():
                    intake.add(piece)
            finally:
                answer.close()
        except (httpx.TransportError, TimeoutError) as error:
            return failure_of(step.request, self._base_url, error)
        return intake.response()
