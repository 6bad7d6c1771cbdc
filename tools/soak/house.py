"""All programs of a soak: control plane, service, proxy with faults, and two operators on one Lease."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import orjson

from tools.bench.api_counters import audit_flags, audit_policy
from tools.bench.kube import KubeApi, connect, in_parallel, secret_path
from tools.bench.proxy import forwarding_session, serving
from tools.chart.rendering import NAMESPACE, render
from tools.controlplane.commands import ApiServerOptions
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi as BlockingKubeApi
from tools.local.operator_cluster import install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin, SourceProject
from tools.local.waiting import PATIENCE_SECONDS
from tools.soak.fault_proxy import FaultyProxy
from tools.soak.options import SoakOptions
from tools.soak.population import IDENTITY

__all__ = ["House", "open_house"]

_LOOK_SECONDS = 0.5
_TAIL_BYTES = 64 * 1024
_TOKEN_SECONDS = 300
"""Of the operator's identity: its tokens end while the soak runs."""


@dataclass(slots=True)
class House:
    """What runs.

    Attributes:
        api: to the API server, as administrator.
        project: holds the sources.
        audit_log: what the operators asked of the API server.
        in_hand: names of programs that somebody is just ending or starting.
        ended_alone: programs that ended by themselves, and why as far as their log says it; they were started again.
    """

    options: SoakOptions
    plane: ControlPlane
    service: RestartableService
    admin: ServiceAdmin
    project: SourceProject
    proxy: FaultyProxy
    api: KubeApi
    operators: dict[str, OperatorProcess]
    audit_log: Path
    namespaces: tuple[str, ...]
    in_hand: set[str] = field(default_factory=set)
    ended_alone: list[tuple[str, str]] = field(default_factory=list)

    async def leader(self) -> str:
        """Return the name of the operator that leads; where none comes to lead in time, of any."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while True:
                    for name, operator in self.operators.items():
                        if await asyncio.to_thread(leads, operator):
                            return name
                    await asyncio.sleep(_LOOK_SECONDS)
        return next(iter(self.operators))

    @contextlib.contextmanager
    def holding(self, name: str) -> Iterator[None]:
        """Nobody else starts the program while the block runs."""
        self.in_hand.add(name)
        try:
            yield
        finally:
            self.in_hand.discard(name)

    async def keep_running(self) -> None:
        """Start again whatever has ended by itself, as a kubelet does; until cancelled."""
        while True:
            for name, operator in self.operators.items():
                if name not in self.in_hand and not operator.running:
                    self.ended_alone.append((name, _why_it_ended(operator)))
                    await asyncio.to_thread(operator.start, wait=False)
            if "service" not in self.in_hand and not self.service.running:
                self.ended_alone.append(("service", "its log is in the directory of the run"))
                await asyncio.to_thread(self.service.start)
            await asyncio.sleep(_LOOK_SECONDS)

    def kill_operators(self) -> None:
        """No operator runs."""
        for operator in self.operators.values():
            operator.kill()

    def log_files(self) -> list[Path]:
        """Return the logs of the operators and the service."""
        return [self.service.log_file, *(operator.log_file for operator in self.operators.values())]


def _why_it_ended(operator: OperatorProcess) -> str:
    end = operator.log(max(operator.log_size() - _TAIL_BYTES, 0)).splitlines()
    for line in reversed(end):
        if '"operator_failed"' in line:
            with contextlib.suppress(ValueError):
                return str(orjson.loads(line).get("error"))
    return "its log doesn't say why"


def leads(operator: OperatorProcess) -> bool:
    """Tell whether an operator leads; one that doesn't answer doesn't."""
    with contextlib.suppress(httpx.TransportError, httpx.HTTPStatusError):
        return operator.leads
    return False


@contextlib.asynccontextmanager
async def open_house(options: SoakOptions, directory: Path, rng: random.Random) -> AsyncIterator[House]:
    """Run everything but the operators, which the caller starts; nothing is left running afterwards.

    Args:
        options: how much of everything.
        directory: empty; gets logs and data.
        rng: chooses the requests that meet a fault.
    """
    audit_log = directory / "audit.log"
    async with contextlib.AsyncExitStack() as stack:
        service = RestartableService(directory)
        await asyncio.to_thread(service.start)
        stack.push_async_callback(asyncio.to_thread, service.stop)
        admin = await asyncio.to_thread(ServiceAdmin, service)
        stack.enter_context(admin)
        plane = ControlPlane(_audited(directory, audit_log), log_directory=directory)
        stack.push_async_callback(asyncio.to_thread, plane.stop)
        await asyncio.to_thread(plane.start)
        session = await stack.enter_async_context(forwarding_session())
        proxy = await stack.enter_async_context(serving(FaultyProxy(service.url, session, rng)))
        api = await stack.enter_async_context(connect(plane.admin_kubeconfig))
        operators = await asyncio.to_thread(_install, plane, directory, proxy.url)
        for operator in operators.values():
            stack.push_async_callback(asyncio.to_thread, operator.kill)
        project = await asyncio.to_thread(admin.new_project, "soak-project")
        house = House(
            options=options,
            plane=plane,
            service=service,
            admin=admin,
            project=project,
            proxy=proxy,
            api=api,
            operators=operators,
            audit_log=audit_log,
            namespaces=tuple(f"soak-{number}" for number in range(options.namespaces)),
        )
        await _open_namespaces(house)
        yield house


def _audited(directory: Path, log: Path) -> ApiServerOptions:
    account = next(
        one.name for one in render() if one.kind == "ServiceAccount" and one.name.endswith("operator")
    )
    policy = directory / "audit-policy.yaml"
    policy.write_text(audit_policy(f"system:serviceaccount:{NAMESPACE}:{account}"))
    return ApiServerOptions(extra_flags=audit_flags(policy, log))


def _install(plane: ControlPlane, directory: Path, service_url: str) -> dict[str, OperatorProcess]:
    with BlockingKubeApi(plane.admin_kubeconfig) as api:
        cluster = install_operator(plane, api, {})
    flags = [f"--service-url={service_url}", *cluster.lease_flags()]
    return {
        name: OperatorProcess(cluster.kubeconfig, directory, flags, name)
        for name in ("operator-1", "operator-2")
    }


async def _open_namespaces(house: House) -> None:
    """Each namespace has its identity Secret; all use one identity, which may read the project."""
    login = await asyncio.to_thread(
        lambda: house.admin.new_login(house.project.id, accessTokenTTL=_TOKEN_SECONDS)
    )
    for ledger in range(house.options.sources):
        await asyncio.to_thread(house.project.folder, f"/source-{ledger}")

    async def open_one(name: str) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await house.api.send("POST", "/api/v1/namespaces", namespace)
        identity = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": IDENTITY, "namespace": name},
            "stringData": login.as_secret(),
        }
        await house.api.send("POST", secret_path(name), orjson.dumps(identity))

    await in_parallel(house.namespaces, open_one)
