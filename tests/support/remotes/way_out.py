"""What apps and drivers are called with in tests: a way out to loopback that takes no time to wait."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from keybearer.base.clock import Clock, SystemClock
from keybearer.destinations.session import AppContext
from keybearer.destinations.short_lived import ShortLived
from keybearer.outbound.remote import RemoteHttp
from support.directory import loopback_gate

__all__ = ["ORGANIZATION", "WayOut", "way_out"]

ORGANIZATION = "5f3c5d9e-6a52-4a9a-9a0e-0d5d6f1c2b3a"


@dataclass
class WayOut:
    """The context of an app, and the waits that it asked for.

    Attributes:
        clock: of the way out, which each wait moves on: for the limits of a copy.
        on_wait: called with each wait, in place of the time that would have passed.
    """

    context: AppContext
    waits: list[timedelta] = field(default_factory=list)
    clock: Clock = field(default_factory=SystemClock)
    on_wait: Callable[[timedelta], Awaitable[None]] | None = None


class _Moved(Clock):
    """A clock that what was waited for has moved on."""

    def __init__(self, right: Clock, waits: list[timedelta]) -> None:
        self._right = right
        self._waits = waits

    def now(self) -> datetime:
        return self._right.now() + sum(self._waits, timedelta(0))

    def monotonic(self) -> float:
        return self._right.monotonic() + sum(self._waits, timedelta(0)).total_seconds()

    def boottime(self) -> float:
        return self._right.boottime() + sum(self._waits, timedelta(0)).total_seconds()


@asynccontextmanager
async def way_out(
    *, clock: Clock | None = None, trusted: ssl.SSLContext | None = None, **endpoints: str
) -> AsyncIterator[WayOut]:
    """Yield a way out that may call loopback; `endpoints` are those of `AppContext`."""
    waits: list[timedelta] = []

    async def wait(seconds: float) -> None:
        waits.append(timedelta(seconds=seconds))
        if way.on_wait is not None:
            await way.on_wait(waits[-1])

    told = _Moved(clock or SystemClock(), waits)
    http = RemoteHttp(loopback_gate("127.0.0.0/8"), told, trusted, wait)
    way = WayOut(AppContext(http, ShortLived(told), ORGANIZATION, endpoints), waits, told)
    try:
        yield way
    finally:
        await http.close()
