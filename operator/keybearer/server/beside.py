"""Small servers beside that of requests, each with a listener of its own: metrics and probes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.types import ASGIApp

from keybearer.base.logs import get_logger
from keybearer.server.bounded_protocol import bounded_protocol

__all__ = ["served_beside"]

_CONNECTIONS_MAX = 32
_CONNECTIONS_PER_ADDRESS = 8
_CLOSE_SECONDS = 2
_log = get_logger(__name__)


@contextlib.asynccontextmanager
async def served_beside(app: ASGIApp, listener: socket.socket, what: str) -> AsyncIterator[None]:
    """Serve within, plainly by HTTP and to whoever reaches the address; `what` is served, for the log."""
    server = _BesideServer(
        uvicorn.Config(
            app,
            http=bounded_protocol(_CONNECTIONS_MAX, _CONNECTIONS_PER_ADDRESS),
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
    serving = asyncio.create_task(server.serve(sockets=[listener]), name=f"serve-{what}")
    _log.info("served_beside", what=what, address=f"{host}:{port}")
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
