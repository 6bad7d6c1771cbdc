"""An operator of its own, what stands before it, and the namespaces that it serves."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import orjson
import yaml

from tools.bench.kube import KubeApi, secret_path
from tools.bench.service import Admin
from tools.controlplane.kubeconfig import write_token_kubeconfig
from tools.controlplane.process import Launch
from tools.explore.post import Post
from tools.explore.proxies import KubeProxy, ServiceGate, listening
from tools.local.operator_cluster import OperatorCluster
from tools.local.operator_process import OperatorProcess

__all__ = ["Lane", "Place", "Surroundings", "open_lane"]

IDENTITY = "keybearer-identity"
_FOUND_BY_LIST = '"unreported_objects_found"'
_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all lanes share.

    Attributes:
        directory: gets logs.
        cluster: with the operator's rights.
        api: to it, as administrator.
        admin: of the service, past the gates.
        organization_id: of the service.
        service_url: past the gates.
        session: what the proxies forward with.
        resync_seconds: of the operators.
        program: what runs as the operator; the `keybearer` command where it is empty.
        launch: what starts it.
    """

    directory: Path
    cluster: OperatorCluster
    api: KubeApi
    admin: Admin
    organization_id: str
    service_url: str
    session: aiohttp.ClientSession
    resync_seconds: float
    program: Sequence[str | Path] = ()
    launch: Launch | None = None


@dataclass(slots=True)
class Place:
    """A namespace in which one run after the other takes place.

    Attributes:
        identity_id: of the service; runs give it a role in their projects.
        credentials: its own, as the identity Secret holds them; `url` leads through the gate.
    """

    namespace: str
    gate: ServiceGate
    identity_id: str
    credentials: Mapping[str, str]

    async def furnish(self, api: KubeApi) -> None:
        """The namespace exists, with its identity Secret."""
        await api.send("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        body = {"metadata": {"name": IDENTITY}, "stringData": dict(self.credentials)}
        await api.send("POST", secret_path(self.namespace), body)


class Lane:
    """One operator; runs in its namespaces share it, and die with it where one of them kills it.

    Attributes:
        name: of the lane.
        free: namespaces in which nothing runs.
        ended_alone: what the log said when the operator ended by itself.
        kills: how often it was killed.
    """

    def __init__(
        self, name: str, operator: OperatorProcess, proxy: KubeProxy, places: Sequence[Place]
    ) -> None:
        self.name = name
        self.places = tuple(places)
        self.ended_alone: list[str] = []
        self.kills = 0
        self.free: asyncio.Queue[Place] = asyncio.Queue()
        self._operator = operator
        self._proxy = proxy
        self._killed = asyncio.Event()
        for place in places:
            self.free.put_nowait(place)

    def attach(self, place: Place, post: Post) -> None:
        """From now on the proxies tell the post what happens in the namespace."""
        post.kill = self.kill
        self._proxy.posts[place.namespace] = post
        place.gate.post = post

    def detach(self, place: Place) -> None:
        """Nobody is told any more."""
        self._proxy.posts.pop(place.namespace, None)
        place.gate.post = None

    def mark(self) -> int:
        """Return where the operator's log ends now."""
        return self._operator.log_size()

    def found_by_list(self, mark: int, namespace: str) -> list[str]:
        """Return the names of objects of the namespace that nothing but a list showed the operator since the mark."""
        lines = (line for line in self._operator.log(mark).splitlines() if _FOUND_BY_LIST in line)
        found = (str(name).partition("/") for line in lines for name in orjson.loads(line)["names"])
        return [name for place, _, name in found if place == namespace]

    def kill(self) -> None:
        """The operator gets SIGKILL, and is started again."""
        if self._operator.running:
            os.kill(self._operator.pid, signal.SIGKILL)
            self.kills += 1
        self._killed.set()

    async def keep_running(self) -> None:
        """Start the operator whenever it has ended, until cancelled."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._killed.wait()
            if self._killed.is_set():
                self._killed.clear()
                await asyncio.to_thread(self._operator.kill)
            elif self._operator.running:
                continue
            else:
                self.ended_alone.append(self._operator.log()[-2000:])
            await asyncio.to_thread(self._operator.start, wait=False)


@contextlib.asynccontextmanager
async def open_lane(around: Surroundings, name: str, namespaces: int) -> AsyncIterator[Lane]:
    """Run an operator for so many new namespaces while the block runs."""
    async with contextlib.AsyncExitStack() as stack:
        proxy = KubeProxy(around.cluster.plane.server_url, around.session)
        url = await stack.enter_async_context(listening(proxy))
        token_file = around.cluster.kubeconfig
        kubeconfig = around.directory / f"{name}.kubeconfig"
        write_token_kubeconfig(
            kubeconfig, url, around.cluster.plane.ca_pem, _token_of(token_file), around.cluster.namespace
        )
        places = [await _open_place(around, stack, f"{name}-{number}") for number in range(namespaces)]
        flags = [
            f"--service-url={around.service_url}",
            f"--lease-namespace={around.cluster.namespace}",
            "--no-leader-election",
            f"--resync-interval={around.resync_seconds:g}",
            f"--cluster-id={name}",
            *(f"--namespace={place.namespace}" for place in places),
            *(f"--allow-service-url={place.credentials['url']}" for place in places),
        ]
        operator = OperatorProcess(
            kubeconfig,
            around.directory,
            flags,
            f"operator-{name}",
            program=around.program,
            launch=around.launch,
        )
        stack.push_async_callback(asyncio.to_thread, operator.kill)
        await asyncio.to_thread(operator.start)
        lane = Lane(name, operator, proxy, places)
        keeping = asyncio.create_task(lane.keep_running(), name=f"keep {name} running")
        stack.push_async_callback(_cancelled, keeping)
        yield lane


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


async def _open_place(around: Surroundings, stack: contextlib.AsyncExitStack, namespace: str) -> Place:
    gate = ServiceGate(around.service_url, around.session)
    url = await stack.enter_async_context(listening(gate))
    admin = around.admin
    body = {"name": namespace, "organizationId": around.organization_id, "role": "no-access"}
    identity = (await admin.ask("POST", "/api/v1/identities", body))["identity"]["id"]
    method = f"/api/v1/auth/universal-auth/identities/{identity}"
    client_id = (await admin.ask("POST", method))["identityUniversalAuth"]["clientId"]
    client_secret = (await admin.ask("POST", f"{method}/client-secrets"))["clientSecret"]
    place = Place(
        namespace, gate, identity, {"clientId": client_id, "clientSecret": client_secret, "url": url}
    )
    await place.furnish(around.api)
    return place


def _token_of(kubeconfig: Path) -> str:
    return str(yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"])
