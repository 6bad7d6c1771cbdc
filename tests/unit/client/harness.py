"""A service that answers as a test says, and one way to call both clients."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, ParamSpec, TypeVar

import httpx
import orjson

from keybearer.client import (
    AsyncKeybearer,
    ClientOptions,
    Keybearer,
    KubernetesAuth,
    SuppliedToken,
    UniversalAuth,
)
from keybearer.client.call import Call
from keybearer.client.operation import Operation
from keybearer.interface.route import Route

__all__ = [
    "URL",
    "FakeClock",
    "FakeService",
    "Kind",
    "Reply",
    "Runner",
    "Sent",
    "called",
    "login_answer",
    "secret_body",
    "sent",
]

Kind = Literal["asynchronous", "blocking"]
Reply = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]
Credentials = UniversalAuth | KubernetesAuth | SuppliedToken | None

T = TypeVar("T")
P = ParamSpec("P")

URL = "http://service"


Sent = tuple[str, str, dict[str, str], Any]
"""Method, path, query and body of a request."""


def sent(operation: Operation[Any]) -> Sent:
    """Return what an operation sends."""
    request = operation.request()
    body = None if request.body is None else orjson.loads(request.body)
    return request.method, request.path, dict(request.query), body


def called(route: Route[P, Any, Any]) -> Callable[P, Call[Any]]:
    """Return what makes the operation of a route from its command's arguments."""

    def call(*args: P.args, **kwargs: P.kwargs) -> Call[Any]:
        return Call(route, route.takes(*args, **kwargs))

    return call


def login_answer(token: str = "cnry-token-1", expires_in: int = 7200, max_ttl: int = 0) -> httpx.Response:
    """Return what a login answers."""
    body = {
        "accessToken": token,
        "expiresIn": expires_in,
        "accessTokenMaxTTL": max_ttl,
        "tokenType": "Bearer",
    }
    return httpx.Response(200, json=body)


def secret_body(key: str, value: str = "cnry-value", **more: object) -> dict[str, object]:
    """Return a secret as a server answers it."""
    return {"id": f"id-{key}", "secretKey": key, "secretValue": value, **more}


@dataclass
class FakeClock:
    """All clocks at once; `sleep` moves them."""

    seconds: float = 0.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return 1000.0 + self.seconds

    def boottime(self) -> float:
        return 5000.0 + self.seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


@dataclass
class FakeService:
    """Answers each path with its replies in turn, the last for ever; an exception is raised as by the network."""

    replies: dict[str, list[Reply]] = field(default_factory=dict)
    seen: list[httpx.Request] = field(default_factory=list)

    def on(self, path: str, *replies: Reply) -> FakeService:
        """Say what a path answers."""
        self.replies[path] = list(replies)
        return self

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        replies = self.replies.get(request.url.raw_path.decode().partition("?")[0])
        if replies is None:
            raise AssertionError(f"the test says nothing of {request.method} {request.url}")
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, httpx.Response):
            # A fresh one each time: a response can be read once.
            return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)
        return reply(request)

    @property
    def paths(self) -> list[str]:
        """Return the paths that were asked, in order."""
        return [request.url.path for request in self.seen]

    def bearers(self, path: str) -> list[str | None]:
        """Return the Authorization header of each request for a path."""
        return [seen.headers.get("authorization") for seen in self.seen if seen.url.path == path]

    def body(self, index: int = -1) -> dict[str, object]:
        """Return a request's body, parsed."""
        body: dict[str, object] = orjson.loads(self.seen[index].content)
        return body


@dataclass
class Runner:
    """Makes clients of one kind, and calls them in the one way that fits both."""

    kind: Kind
    service: FakeService
    clock: FakeClock
    process_env: MutableMapping[str, str] = field(default_factory=dict)
    borrowed: list[httpx.Client | httpx.AsyncClient] = field(default_factory=list)

    @property
    def options(self) -> ClientOptions:
        """Return options with the test's clock, for tests to change."""
        rng = random.Random(1)  # noqa: S311 - jitter that is the same each time
        return ClientOptions(clock=self.clock, rng=rng, process_env=self.process_env)

    def client(
        self, credentials: Credentials = None, options: ClientOptions | None = None
    ) -> AsyncKeybearer | Keybearer:
        """Return a client of the fake service."""
        chosen = options or self.options
        transport = httpx.MockTransport(self.service)
        if self.kind == "asynchronous":
            http = httpx.AsyncClient(transport=transport)
            self.borrowed.append(http)
            return AsyncKeybearer(URL, credentials, options=chosen, http=http, sleep=self.clock.sleep_async)
        blocking = httpx.Client(transport=transport)
        self.borrowed.append(blocking)
        return Keybearer(URL, credentials, options=chosen, http=blocking, sleep=self.clock.sleep)

    async def of(self, result: Awaitable[T] | T) -> T:
        """Return the result of a call of either kind."""
        return await result if isinstance(result, Awaitable) else result

    async def close(self, client: AsyncKeybearer | Keybearer) -> None:
        """Close a client of either kind."""
        if isinstance(client, AsyncKeybearer):
            await client.aclose()
        else:
            client.close()
