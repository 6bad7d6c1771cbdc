"""The listener of the service's metrics, apart from that of requests: who reads the ones needn't reach the others."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from keybearer.base.logs import get_logger
from keybearer.server.bounded_protocol import bounded_protocol
from keybearer.server.context import ServiceContext
from keybearer.server.rate_limits import RateLimits
from keybearer.server.request_tallies import RequestTallies
from keybearer.store.tallies import StoreTallies

__all__ = ["METRICS_OPTION", "MetricsListen", "metrics_served"]

METRICS_OPTION = "--metrics-listen"
_CONNECTIONS_MAX = 32
_CLOSE_SECONDS = 2
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MetricsListen:
    """Where metrics are served, and what makes the application that serves them."""

    host: str
    port: int
    make: Callable[[ServiceContext, StoreTallies, RequestTallies, RateLimits | None], ASGIApp]


@contextlib.asynccontextmanager
async def metrics_served(app: ASGIApp, listener: socket.socket) -> AsyncIterator[None]:
    """Serve within, plainly by HTTP and to whoever reaches the address."""
    server = _BesideServer(
        uvicorn.Config(
            app,
            http=bounded_protocol(_CONNECTIONS_MAX),
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_graceful_shutdown=_CLOSE_SECONDS,
        )
    )
    host, port = listener.getsockname()[:2]
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="serve-metrics")
    _log.info("metrics_served", address=f"{host}:{port}")
    try:
        yield
    finally:
        server.should_exit = True
        await serving


class _BesideServer(uvicorn.Server):
    """A server that leaves signals to the process's own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing."""
        yield
