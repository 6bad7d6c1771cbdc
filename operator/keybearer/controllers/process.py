"""One operator process, from connection to drain: the parts are put together here, and end here in order."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import aiohttp
from prometheus_client import CollectorRegistry

from keybearer.base.clock import Clock, SystemClock
from keybearer.base.errors import KeybearerError
from keybearer.base.logs import get_logger
from keybearer.base.tracing import Tracer
from keybearer.controllers.assembly import Assembly, Circumstances, assemble
from keybearer.controllers.background import Background, first_of
from keybearer.controllers.catalogue import CatalogueOf, own_catalogue
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.fingerprint_key import load_fingerprinter
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.probes import ProbeState, serve_probes
from keybearer.controllers.settings import OperatorSettings
from keybearer.controllers.shell import new_registry, watch
from keybearer.controllers.telemetry import OperatorMetrics
from keybearer.kube.connection import Connection
from keybearer.kube.errors import KubeError, LeaseLostError, NotFoundError
from keybearer.kube.gateway import Gateway
from keybearer.kube.lease import LeaseKeeper
from keybearer.kube.lease_state import LeaseClaim
from keybearer.kube.resources import ObjectKey

__all__ = ["run_operator"]

_log = get_logger(__name__)

_CLUSTER_PAUSE_SECONDS = 2.0
_KOPF_CONNECTIONS = 32
_CLOSE_SECONDS = 10.0


@dataclass(slots=True)
class _Process:
    settings: OperatorSettings
    clock: Clock
    rng: random.Random
    connection: Connection
    metrics: OperatorMetrics
    probes: ProbeState
    stop: asyncio.Event
    tracer: Tracer | None = None
    catalogue: CatalogueOf = own_catalogue


async def run_operator(
    settings: OperatorSettings, tracer: Tracer | None = None, catalogue: CatalogueOf = own_catalogue
) -> None:
    """Run until SIGTERM or SIGINT, then drain and return.

    Args:
        settings: of this process.
        tracer: makes spans of what it does; borrowed.
        catalogue: where SecretSyncs and AppConnections may lead.

    Raises:
        ConfigurationError: a setting can't be used, or the cluster can't be reached with it.
        LeaseLostError: another replica leads now; whoever started us starts us again, as a standby.
        KubeError: the API server refuses what we can't do without.
    """
    stop = asyncio.Event()
    _listen_for_signals(stop)
    metrics, probes = OperatorMetrics(CollectorRegistry()), ProbeState()
    metrics.calls.tracer = tracer
    rng = random.Random()  # noqa: S311 - jitter, not cryptography
    async with (
        await Connection.open(kubeconfig=settings.kubeconfig) as connection,
        serve_probes(settings.metrics_listen, metrics.registry, probes) as address,
    ):
        _log.info("operator_started", server=connection.server, metrics=address)
        process = _Process(settings, SystemClock(), rng, connection, metrics, probes, stop, tracer, catalogue)
        await _lead(process)
    _log.info("operator_stopped")


async def _lead(process: _Process) -> None:
    """Become the leader, then work as long as that lasts."""
    settings = process.settings
    namespace = settings.lease_namespace or process.connection.namespace
    if not settings.leader_election:
        await _work(process, namespace, lambda: None, None)
        return
    of_lease = Gateway(process.connection, may_write=lambda: None)
    of_lease.watch_writes(process.metrics.calls.api_write)
    keeper = LeaseKeeper(
        of_lease,
        LeaseClaim(
            ObjectKey(namespace, settings.lease_name),
            identity=f"{socket.gethostname()}_{process.rng.getrandbits(32):08x}",
        ),
        clock=process.clock,
        rng=process.rng,
    )
    process.probes.unready = lambda: None  # a standby is ready to take over
    if await first_of(keeper.acquire(), process.stop.wait()) == 1:
        return
    await _work(process, namespace, keeper.check, keeper)


async def _work(
    process: _Process, namespace: str, may_write: Callable[[], None], keeper: LeaseKeeper | None
) -> None:
    settings = process.settings
    gateway = Gateway(process.connection, may_write=may_write)
    async with Background() as leading:
        if keeper is not None:
            leading.start("hold the Lease", keeper.hold())
            # Asked when it is scraped: whoever was suspended must not say that it leads while another does.
            process.metrics.leader.set_function(lambda: float(keeper.is_held))
        else:
            process.metrics.leader.set(1)
        key = ObjectKey(namespace, f"{settings.lease_name}-fingerprint-key")
        found: list[Fingerprinter] = []
        if await first_of(_await_cluster(process, gateway, key, found), process.stop.wait()) == 1:
            return
        parts = assemble(
            Circumstances(
                settings=settings,
                namespace=namespace,
                clock=process.clock,
                rng=process.rng,
                connection=process.connection,
                gateway=gateway,
                fingerprinter=found[0],
                metrics=process.metrics,
                tracer=process.tracer,
                catalogue=process.catalogue,
            )
        )
        process.probes.collect = parts.collect
        async with (
            process.connection.open_session(
                limit=_KOPF_CONNECTIONS, on_watched_again=parts.object_resync.ask
            ) as session,
            Background() as working,
        ):
            await parts.start(working)
            await _watch_and_drain(process, parts, leading, working, session)


async def _watch_and_drain(
    process: _Process,
    parts: Assembly,
    leading: Background,
    working: Background,
    session: aiohttp.ClientSession,
) -> None:
    """Watch until asked to stop; then let reconciles under way finish before watches and sessions end."""
    ready, quit_watching = asyncio.Event(), asyncio.Event()
    settings = process.settings
    # Started last: on its way out it cancels every task that began after it.
    watching = asyncio.create_task(
        watch(
            new_registry(parts.intake, session, process.connection.server),
            settings.namespaces,
            ready=ready,
            stop=quit_watching,
            take_signals=partial(_listen_for_signals, process.stop),
        ),
        name="the watches",
    )
    process.probes.unready = lambda: "the watches have not begun yet"
    try:
        ends = (lambda: _ended(watching), leading.ended, working.ended, process.stop.wait)
        if await first_of(*(wait() for wait in ends), ready.wait()) == len(ends):
            process.probes.unready = lambda: parts.targets.trouble
            await first_of(*(wait() for wait in ends))
        _log.info("draining", running=parts.queue.running)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(settings.drain_seconds):
                await parts.queue.drain()
    finally:
        # Before the watches end, which would wait five seconds for tasks of ours that began after them.
        await working.cancel()
        quit_watching.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await asyncio.gather(watching, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await parts.close()


async def _ended(watching: asyncio.Task[None]) -> None:
    """Wait for the end of the watches, which should not come before ours.

    Raises:
        KeybearerError: they ended in order, which nobody asked for.
        Exception: what they ended with.
    """
    await asyncio.wait([watching])
    watching.result()
    msg = "the watches have ended by themselves; the lines before this one say why"
    raise KeybearerError(msg)


async def _await_cluster(
    process: _Process, gateway: Gateway, key: ObjectKey, found: list[Fingerprinter]
) -> None:
    """Return when our kinds are served to us, and add the fingerprinter to `found`.

    The operator may be installed before its CRDs and its rights, and an API server that has just started knows
    neither for a moment.

    Raises:
        LeaseLostError: another replica leads.
    """
    namespace = process.settings.namespaces[0] if process.settings.namespaces else None
    while True:
        try:
            for resource in RESOURCES.values():
                async for _ in gateway.list(resource, namespace, metadata_only=True, page_size=1):
                    break
            found.append(await load_fingerprinter(gateway, key))
        except LeaseLostError:
            raise
        except KubeError as error:
            advice = f"; apply crds/, and namespace {key.namespace} must exist"
            trouble = f"{error}{advice if isinstance(error, NotFoundError) else ''}"
            process.probes.unready = partial(str, trouble)
            _log.warning("cluster_not_ready", trouble=trouble)
            await asyncio.sleep(_CLUSTER_PAUSE_SECONDS)
        else:
            return


def _listen_for_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
