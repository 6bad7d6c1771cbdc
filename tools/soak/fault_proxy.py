"""The counting proxy with faults: what happens to requests is set while it works, and a seed chooses which."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import aiohttp
from aiohttp import web

from tools.bench.proxy import EVENT_ROUTE, CountingProxy

__all__ = ["Fault", "FaultyProxy"]

_ERRORS: Mapping[int, str] = {500: "InternalServerError", 502: "BadGateway", 503: "ServiceUnavailable"}


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to a share of the requests.

    Attributes:
        kind: `delay`: they wait; `cut`: the connection ends, half of the times after the service has answered;
            `throttle`: 429 with `Retry-After`; `errors`: 500, 502 or 503.
        share: of the requests, from 0 to 1.
        most_seconds: of a delay.
    """

    kind: Literal["delay", "cut", "throttle", "errors"]
    share: float = 0.5
    most_seconds: float = 3.0


class FaultyProxy(CountingProxy):
    """Forwards to one service, but for faults.

    Args:
        upstream: base URL of the service.
        session: what forwards; borrowed.
        rng: chooses the requests.

    Attributes:
        fault: what is wrong now; None for nothing.
        faults: how many requests met one.
    """

    def __init__(self, upstream: str, session: aiohttp.ClientSession, rng: random.Random) -> None:
        super().__init__(upstream, 0.0, session)
        self._rng = rng
        self._streams: set[asyncio.BaseTransport] = set()
        self.fault: Fault | None = None
        self.faults = 0

    def cut_streams(self) -> None:
        """All streams of events that are open have ended, without a word."""
        for transport in self._streams:
            if isinstance(transport, asyncio.WriteTransport):
                transport.abort()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer as the service does, or as the fault has it."""
        fault = self.fault
        if fault is None or self._rng.random() >= fault.share:
            return await self._forward(request)
        self.faults += 1
        match fault.kind:
            case "delay":
                await asyncio.sleep(self._rng.uniform(0.1, fault.most_seconds))
                return await self._forward(request)
            case "cut":
                if self._rng.random() < 0.5 and request.path != EVENT_ROUTE:
                    await super().handle(request)
                else:
                    self.count(request, 0)
                if request.transport is not None:
                    request.transport.abort()
                return web.Response(status=502)  # nobody reads it
            case "throttle":
                self.count(request, 429)
                return _refusal(429, "TooManyRequests", {"Retry-After": "1"})
            case "errors":
                status = self._rng.choice(list(_ERRORS))
                self.count(request, status)
                return _refusal(status, _ERRORS[status], {})

    async def _forward(self, request: web.BaseRequest) -> web.StreamResponse:
        transport = request.transport
        if request.path != EVENT_ROUTE or transport is None:
            return await super().handle(request)
        self._streams.add(transport)
        try:
            return await super().handle(request)
        finally:
            self._streams.discard(transport)


def _refusal(status: int, error: str, headers: Mapping[str, str]) -> web.Response:
    body = {"reqId": "req-soak", "statusCode": status, "message": "a fault of the soak", "error": error}
    return web.json_response(body, status=status, headers=headers)
