"""`/healthz`, `/readyz` and `/metrics`, on a port of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from keybearer.base.errors import ConfigurationError

__all__ = ["ProbeState", "serve_probes"]


class ProbeState:
    """What the probes answer: `unready` is None when fine, else a sentence. Whoever answers is healthy."""

    def __init__(self) -> None:
        self.unready: Callable[[], str | None] = lambda: "starting"
        self.collect: Callable[[], None] = lambda: None


@asynccontextmanager
async def serve_probes(listen: str, registry: CollectorRegistry, state: ProbeState) -> AsyncIterator[str]:
    """Serve while the context lasts; yield `host:port` as bound.

    Raises:
        ConfigurationError: the address is malformed or taken.
    """
    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or len(port) > 5 or int(port) > 65535:
        msg = f"--metrics-listen {listen!r} is no HOST:PORT"
        raise ConfigurationError(msg)

    async def healthz(_: web.Request) -> web.Response:
        return _answer(None)

    async def readyz(_: web.Request) -> web.Response:
        return _answer(state.unready())

    async def metrics(_: web.Request) -> web.Response:
        state.collect()
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host.strip("[]") or "127.0.0.1", int(port))
        try:
            await site.start()
        except OSError as error:
            msg = f"--metrics-listen {listen}: {error.strerror}; choose another port"
            raise ConfigurationError(msg) from error
        bound = runner.addresses[0]
        yield f"{bound[0]}:{bound[1]}"
    finally:
        await runner.cleanup()


def _answer(trouble: str | None) -> web.Response:
    return web.Response(text="ok" if trouble is None else trouble, status=200 if trouble is None else 503)
