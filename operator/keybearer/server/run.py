"""The service as a process: lock, open, bootstrap, listen, serve until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal

import orjson
import uvicorn
from starlette.types import ASGIApp

from keybearer.base.clock import Clock, SystemClock
from keybearer.base.logs import get_logger
from keybearer.base.tracing import Tracer
from keybearer.destinations.catalogue import CATALOGUE, Catalogue
from keybearer.domain.admin import SetupDoor
from keybearer.domain.audit_trail import DEFAULT_RETENTION
from keybearer.domain.bootstrap import AdminCredentials, AdminLogin, bootstrap
from keybearer.domain.outbound import OutboundSettings, outbound_of
from keybearer.domain.server_keys import RootKeySource, ServerKeys, unlock
from keybearer.domain.syncs.jobs import JobTerms
from keybearer.server.app import create_app
from keybearer.server.beside import served_beside
from keybearer.server.bounded_protocol import (
    CONNECTIONS_MAX,
    CONNECTIONS_PER_ADDRESS,
    HEAD_SECONDS,
    bounded_protocol,
)
from keybearer.server.context import ContextTerms, ServiceContext, build_context
from keybearer.server.listening import listening
from keybearer.server.metrics_listener import METRICS_OPTION, MetricsListen
from keybearer.server.probes import PROBE_OPTION, ProbeListen, probe_app
from keybearer.server.rate_limits import USUAL_RATE_LIMITS, RateLimit, RateLimits
from keybearer.server.request_tallies import RequestTallies
from keybearer.server.tls import CertificateFiles, keep_certificate_fresh, tls_context
from keybearer.store.data_directory import DataDirectory
from keybearer.store.database import Database
from keybearer.store.engines import Bounds, database_url, sqlite_url

__all__ = ["RunningService", "ServiceOptions", "serve", "server_config"]

_BACKLOG = 1024
_DRAIN_SECONDS = 20
_SETUP_TOKEN_BYTES = 32
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """What a service is started with; paths absolute."""

    data_dir: Path
    host: str
    port: int
    root_key: RootKeySource
    certificate: CertificateFiles | None = None
    database_url: str | None = field(default=None, repr=False)
    database_bounds: Bounds = field(default_factory=Bounds)
    bootstrap: Literal["auto", "api", "none"] = "auto"
    bootstrap_token: bool = True
    admin: AdminLogin | None = None
    audit_retention: timedelta = DEFAULT_RETENTION
    audit_strict: bool = False
    outbound: OutboundSettings = field(default_factory=OutboundSettings)
    rate_limits: tuple[RateLimit, ...] = USUAL_RATE_LIMITS
    connections_max: int = CONNECTIONS_MAX
    connections_per_address: int = CONNECTIONS_PER_ADDRESS
    job_terms: JobTerms = field(default_factory=JobTerms)
    public_url: str | None = None
    metrics: MetricsListen | None = None
    probes: ProbeListen | None = None
    catalogue: Catalogue = CATALOGUE


@dataclass(frozen=True, slots=True)
class RunningService:
    """A service that accepts connections.

    Attributes:
        url: where it listens.
        app: what answers each request; a program that runs the service in a thread may call it directly.
        stop: begins the end, as SIGTERM does; to be called in the service's event loop.
    """

    url: str
    app: ASGIApp
    stop: Callable[[], None]


async def serve(
    options: ServiceOptions,
    announce: Callable[[RunningService], None],
    invite: Callable[[str], None],
    tracer: Tracer | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, which only the main thread of a program receives, or until it is stopped.

    Args:
        options: what the service is started with.
        announce: is given the service once connections are accepted.
        invite: is given the sentence, with its token, by which a person sets up an empty instance.
        tracer: makes a span of each request; borrowed.

    Raises:
        ConfigurationError: an option can't be used; the message names it.
    """
    clock = SystemClock()
    tls = None if options.certificate is None else tls_context(options.certificate)
    with DataDirectory(options.data_dir) as directory:
        door = _door(options)
        async with _opened(options, clock, door) as (database, context, keys), database.following():
            with listening("--listen", options.host, options.port) as listener:
                url = _url(listener, options, secure=tls is not None)
                if options.bootstrap == "auto":
                    await _bootstrap(database, keys, clock, directory, url, options.admin)
                elif door.is_open and await context.setup.is_needed():
                    invite(_invitation(url, door))
                limits = RateLimits(options.rate_limits, clock) if options.rate_limits else None
                tallies = None if options.metrics is None else RequestTallies()
                app = create_app(context, limits, tallies, tracer)
                server = _AnnouncingServer(
                    server_config(app, tls, options.connections_max, options.connections_per_address),
                    lambda stop: announce(RunningService(url, app, stop)),
                    lambda: _wind_down(context),
                )
                async with (
                    _probes(options.probes),
                    _metrics(options.metrics, context, database, tallies, limits),
                ):
                    await _run(server, listener, tls, options.certificate, context)


@contextlib.asynccontextmanager
async def _probes(wanted: ProbeListen | None) -> AsyncIterator[None]:
    if wanted is None:
        yield
        return
    with listening(PROBE_OPTION, *wanted) as listener:
        async with served_beside(probe_app, listener, "probes"):
            yield


@contextlib.asynccontextmanager
async def _metrics(
    wanted: MetricsListen | None,
    context: ServiceContext,
    database: Database,
    tallies: RequestTallies | None,
    limits: RateLimits | None,
) -> AsyncIterator[None]:
    if wanted is None or tallies is None:
        yield
        return
    app = wanted.make(context, database.tallies, tallies, limits)
    with listening(METRICS_OPTION, wanted.host, wanted.port) as listener:
        async with served_beside(app, listener, "metrics"):
            yield


@contextlib.asynccontextmanager
async def _opened(
    options: ServiceOptions, clock: Clock, door: SetupDoor
) -> AsyncIterator[tuple[Database, ServiceContext, ServerKeys]]:
    url = (
        sqlite_url(options.data_dir / "keybearer.db")
        if options.database_url is None
        else database_url(options.database_url)
    )
    outbound = outbound_of(options.outbound, clock, options.catalogue)
    database = Database(url, clock, options.database_bounds)
    try:
        await database.prepare()
        keys = await unlock(database, options.root_key)
        terms = ContextTerms(
            options.audit_retention,
            options.audit_strict,
            options.job_terms,
            options.public_url,
            options.catalogue,
        )
        context = build_context(database, keys, clock, door, terms, outbound, options.root_key)
        await context.key_rotation.start()
        try:
            yield database, context, keys
        finally:
            await context.key_rotation.close()
    finally:
        await outbound.close()
        await database.close()


def _door(options: ServiceOptions) -> SetupDoor:
    if options.bootstrap != "api":
        return SetupDoor()
    return SetupDoor(
        is_open=True, token=secrets.token_urlsafe(_SETUP_TOKEN_BYTES) if options.bootstrap_token else None
    )


def _invitation(url: str, door: SetupDoor) -> str:
    who = (
        "whoever comes first may"
        if door.token is None
        else f'with the header "Authorization: Bearer {door.token}", once and while this process runs,'
    )
    return (
        f"This instance is empty: {who} POST email, password and organization to {url}/api/v1/admin/bootstrap"
    )


async def _bootstrap(
    database: Database,
    keys: ServerKeys,
    clock: Clock,
    directory: DataDirectory,
    url: str,
    chosen: AdminLogin | None,
) -> None:
    def hand_over(credentials: AdminCredentials) -> None:
        if chosen is not None:
            return  # whoever chose them has them; the data directory never sees them
        directory.write_private(
            "admin.json",
            orjson.dumps(
                {
                    "url": url,
                    "organizationId": credentials.organization_id,
                    "identityId": credentials.identity_id,
                    "clientId": credentials.client_id,
                    "clientSecret": credentials.client_secret,
                },
                option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE,
            ),
        )

    if await bootstrap(database, keys, clock, hand_over, chosen=chosen):
        kept = "as chosen" if chosen is not None else str(directory.path / "admin.json")
        _log.info("bootstrapped", credentials=kept)


def _url(listener: socket.socket, options: ServiceOptions, *, secure: bool) -> str:
    port = listener.getsockname()[1]
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"{'https' if secure else 'http'}://{host}:{port}"


def server_config(
    app: ASGIApp,
    tls: ssl.SSLContext | None = None,
    connections_max: int = CONNECTIONS_MAX,
    per_address: int = CONNECTIONS_PER_ADDRESS,
) -> uvicorn.Config:
    """Return how uvicorn serves the application, within a loop that runs already."""
    return uvicorn.Config(
        app,
        http=bounded_protocol(connections_max, per_address),
        loop="none",  # the loop runs already
        lifespan="off",
        log_config=None,
        access_log=False,  # the shell writes its own line
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
        proxy_headers=False,
        ws="none",
        ssl_context_factory=None if tls is None else lambda *_: tls,
    )


def _wind_down(context: ServiceContext) -> None:
    """End what would go on for ever, and begin nothing new."""
    context.events.close()
    context.sync_engine.stop()


async def _run(
    server: uvicorn.Server,
    listener: socket.socket,
    tls: ssl.SSLContext | None,
    certificate: CertificateFiles | None,
    context: ServiceContext,
) -> None:
    async with asyncio.TaskGroup() as group:
        beside = [
            group.create_task(context.events.run(), name="follow-changes"),
            group.create_task(context.audit.keep_written(), name="write-audit-log"),
            group.create_task(context.audit.keep_pruned(), name="prune-audit-log"),
            group.create_task(context.key_rotation.run(), name="rotate-keys"),
            group.create_task(context.connection_rotation.run(), name="rotate-connections"),
            group.create_task(context.approvals.run(), name="end-approval-requests"),
            group.create_task(context.certificate_renewal.run(), name="renew-certificates"),
            group.create_task(context.revocation_lists.run(), name="renew-revocation-lists"),
            group.create_task(context.acme_engine.run(), name="order-certificates"),
        ]
        if tls is not None and certificate is not None:
            watch = keep_certificate_fresh(tls, certificate)
            beside.append(group.create_task(watch, name="certificate-watch"))
        syncs = group.create_task(context.sync_engine.run(), name="run-secret-syncs")
        beside.append(syncs)
        try:
            await server.serve(sockets=[listener])
            # What runs may end, for a while; told to stop is it already.
            context.sync_engine.stop()
            await syncs
        finally:
            for task in beside:
                task.cancel()
    await context.audit.close()


class _AnnouncingServer(uvicorn.Server):
    """Calls back when it accepts connections, and when it ends them."""

    def __init__(
        self,
        config: uvicorn.Config,
        announce: Callable[[Callable[[], None]], None],
        end_streams: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._announce = announce
        self._end_streams = end_streams

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let SIGTERM and SIGINT begin the end, and end with status 0: uvicorn would raise them again.

        In another thread than the main one, signals are the program's own.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        wanted = (signal.SIGTERM, signal.SIGINT)
        for number in wanted:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in wanted:
                loop.remove_signal_handler(number)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then tell. As uvicorn does, but a connection can't stay within its handshake."""
        config = self.config

        def create_protocol() -> asyncio.Protocol:
            return config.http_protocol_class(  # type: ignore[call-arg] # uvicorn's own signature
                config=config, server_state=self.server_state, app_state=self.lifespan.state
            )

        loop = asyncio.get_running_loop()
        self.servers = [
            await loop.create_server(
                create_protocol,
                sock=listener,
                ssl=config.ssl,
                backlog=config.backlog,
                ssl_handshake_timeout=None if config.ssl is None else HEAD_SECONDS,
            )
            for listener in sockets or ()
        ]
        self.started = True
        self._announce(self._stop)

    def _stop(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let requests end; streams, which would go on for ever, first."""
        self._end_streams()
        await super().shutdown(sockets=sockets)
