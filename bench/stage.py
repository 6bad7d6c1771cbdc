"""Everything around the operator, fresh for each row: control plane, service, proxy, audit log."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shutil
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import orjson

from bench.api_counters import AuditLog, audit_flags, audit_policy
from bench.errors import BenchError
from bench.floor import FloorResult
from bench.kube import KubeApi, connect, secret_path, secretsync_path
from bench.operator_process import OperatorFlags
from bench.options import Options
from bench.population import create_namespaces, create_secretsyncs, remove
from bench.proxy import CountingProxy, counting_proxy
from bench.service import Service, running_service
from bench.workload import Key, Source, Workload
from support.controlplane.commands import ApiServerOptions
from support.controlplane.controlplane import ControlPlane

__all__ = ["Cluster", "Stage", "open_cluster", "open_stage"]

_ROOT = Path(__file__).parents[1]
_NAMESPACE = "keybearer-system"
_ACCOUNT = "keybearer"
_AUDIT_LOG = "audit.log"


class Cluster:
    """A control plane with the CRDs and the operator's service account.

    Attributes:
        api: as administrator.
        operator_kubeconfig: as the operator's service account, with a token.
        audit: what that service account asked of the API server.
        plane: for the process id of the API server.
    """

    def __init__(self, plane: ControlPlane, api: KubeApi, operator_kubeconfig: Path, audit: AuditLog) -> None:
        self.plane = plane
        self.api = api
        self.operator_kubeconfig = operator_kubeconfig
        self.audit = audit
        self._numbers = itertools.count(1)

    def fresh_label(self, word: str) -> str:
        """Return a label for a workload that no other workload of this cluster has."""
        return f"{word}{next(self._numbers)}"

    async def floor(self, workload: Workload, at_once: int) -> tuple[FloorResult, Mapping[str, int]]:
        """Return what the two writes of each sync cost bare, and how large one object of each kind then is.

        The objects are made before the clock starts and removed after it stopped.
        """
        await create_namespaces(self.api, workload)
        await create_secretsyncs(self.api, workload)
        targets: list[tuple[str, str, str]] = []
        for namespace in workload.namespaces:
            listed = orjson.loads(await self.api.send("GET", secretsync_path(namespace)))
            metadata = (item["metadata"] for item in listed["items"])
            targets += [(namespace, meta["name"], meta["uid"]) for meta in metadata]
        try:
            result = await self._run_floor(targets, at_once, workload.dimensions.keys)
            return result, await self.sizes(targets[0][:2])
        finally:
            await remove(self.api, workload)

    async def sizes(self, key: Key) -> Mapping[str, int]:
        """Return how many bytes a Secret and the SecretSync of the same name have as JSON."""
        paths = {"Secret": secret_path(*key), "SecretSync": secretsync_path(*key)}
        return {kind: len(await self.api.send("GET", path)) for kind, path in paths.items()}

    async def _run_floor(self, targets: list[tuple[str, str, str]], at_once: int, keys: int) -> FloorResult:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "bench.floor", str(self.operator_kubeconfig), str(at_once), str(keys)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.defpath, "PYTHONPATH": f"{_ROOT}:{_ROOT / 'tests'}"},
        )
        printed, complaints = await process.communicate(orjson.dumps(targets))
        if process.returncode != 0:
            msg = f"the floor ended with status {process.returncode}:\n{complaints.decode()[-2000:]}"
            raise BenchError(msg)
        return FloorResult(**orjson.loads(printed))


class Stage:
    """A cluster, a service and the proxy between the operator and the service."""

    def __init__(
        self, options: Options, cluster: Cluster, service: Service, proxy: CountingProxy, directory: Path
    ) -> None:
        self.options = options
        self.cluster = cluster
        self.service = service
        self.proxy = proxy
        self.directory = directory
        self._sources = list(service.sources)
        self._logs = itertools.count(1)

    @property
    def identity(self) -> dict[str, str]:
        """What identity Secrets hold."""
        viewer = self.service.viewer
        return {"url": self.proxy.url, "clientId": viewer.client_id, "clientSecret": viewer.client_secret}

    def operator_flags(self, interpreter: tuple[str, ...] = ()) -> OperatorFlags:
        """Return how an operator is started here, under arguments of Python where some are given."""
        return OperatorFlags(self.cluster.operator_kubeconfig, self.proxy.url, _NAMESPACE, interpreter)

    def next_log(self) -> Path:
        """Return a file for the log of the next operator."""
        return self.directory / f"operator-{next(self._logs)}.log"

    def workload(self, word: str, *, syncs: int | None = None, interval: str = "5m") -> Workload:
        """Return a workload over this stage's sources, in namespaces of its own."""
        dimensions = self.options.dimensions
        if syncs is not None:
            dimensions = replace(dimensions, syncs=syncs)
        return Workload(self.cluster.fresh_label(word), dimensions, tuple(self._sources), interval)

    async def change(self, source: int, values: Mapping[str, str]) -> None:
        """The source has these values, past the proxy; workloads made later know them."""
        await self.service.admin.change(self._sources[source], values)
        self._sources[source] = self.changed(source, values)

    def changed(self, source: int, values: Mapping[str, str]) -> Source:
        """Return the source as it would be with these values over its present ones."""
        present = self._sources[source]
        return replace(present, values={**present.values, **values})


@contextlib.asynccontextmanager
async def open_cluster(directory: Path) -> AsyncIterator[Cluster]:
    """Run a control plane while the block runs; its logs stay in the directory."""
    plane = ControlPlane(_audited(directory), log_directory=directory)
    try:
        await asyncio.to_thread(plane.start)
        kubeconfig = await asyncio.to_thread(_install, plane)
        async with connect(plane.admin_kubeconfig) as api:
            yield Cluster(plane, api, kubeconfig, AuditLog(directory / _AUDIT_LOG))
    finally:
        await asyncio.to_thread(plane.stop)


def _audited(directory: Path) -> ApiServerOptions:
    """The directory exists and holds the policy, and nothing of an earlier run."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    policy = directory / "audit-policy.yaml"
    policy.write_text(audit_policy(f"system:serviceaccount:{_NAMESPACE}:{_ACCOUNT}"))
    return ApiServerOptions(extra_flags=audit_flags(policy, directory / _AUDIT_LOG))


def _install(plane: ControlPlane) -> Path:
    """The CRDs are established, the service account exists; return its kubeconfig."""
    crds = str(_ROOT / "crds")
    plane.kubectl("apply", "--server-side", "-f", crds)
    plane.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", crds)
    plane.kubectl("create", "namespace", _NAMESPACE)
    plane.kubectl("create", "serviceaccount", _ACCOUNT, "-n", _NAMESPACE)
    # One rule for everything: RBAC is checked as always, but this file need not follow the chart's rules.
    plane.kubectl(
        *("create", "clusterrolebinding", "keybearer-bench", "--clusterrole=cluster-admin"),
        f"--serviceaccount={_NAMESPACE}:{_ACCOUNT}",
    )
    return plane.service_account_kubeconfig(_NAMESPACE, _ACCOUNT)


@contextlib.asynccontextmanager
async def open_stage(options: Options, row: str) -> AsyncIterator[Stage]:
    """Run a cluster, a service and a proxy while the block runs, all new."""
    directory = options.directory / row
    async with (
        open_cluster(directory) as cluster,
        running_service(directory, options.dimensions) as service,
        counting_proxy(service.url, latency_seconds=options.latency_seconds) as proxy,
    ):
        yield Stage(options, cluster, service, proxy, directory)
