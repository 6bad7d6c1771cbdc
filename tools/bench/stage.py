"""Everything around the operator, fresh for each row: control plane, service, proxy, audit log."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import shutil
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import orjson

from tools.bench.api_counters import AuditLog, audit_flags, audit_policy
from tools.bench.errors import NotInTimeError
from tools.bench.kube import SECRETSYNCS, KubeApi, connect, secret_path, secretsync_path
from tools.bench.operator_process import OperatorFlags
from tools.bench.options import Options
from tools.bench.proxy import CountingProxy, counting_proxy
from tools.bench.service import Service, running_service
from tools.bench.workload import Key, Source, Workload
from tools.controlplane.commands import ApiServerOptions
from tools.controlplane.controlplane import ControlPlane

__all__ = ["Cluster", "Stage", "open_cluster", "open_stage"]

_ROOT = Path(__file__).parents[2]
_NAMESPACE = "keybearer-system"
_ACCOUNT = "keybearer"
_AUDIT_LOG = "audit.log"
_RIGHTS = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "keybearer-bench"},
    # Wide, so that this file need not follow the chart's rules; but without certificates.k8s.io, as the chart ships:
    # who has rights there publishes a trust bundle for each profile, which is a write more.
    "rules": [
        {
            "apiGroups": [
                *("", "apiextensions.k8s.io", "apps", "authentication.k8s.io", "authorization.k8s.io"),
                *("coordination.k8s.io", "events.k8s.io", "keybearer.dev"),
            ],
            "resources": ["*"],
            "verbs": ["*"],
        },
        {"nonResourceURLs": ["*"], "verbs": ["get"]},
    ],
}
_CRD_SECONDS = 60.0
_CRD_POLL_SECONDS = 0.1


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

    async def sizes(self, key: Key) -> Mapping[str, int]:
        """Return how many bytes a Secret and the SecretSync of the same name have as JSON."""
        paths = {"Secret": secret_path(*key), "SecretSync": secretsync_path(*key)}
        return {kind: len(await self.api.send("GET", path)) for kind, path in paths.items()}


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
            await _until_served(api)
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


async def _until_served(api: KubeApi) -> None:
    """The API server serves SecretSyncs: an applied CRD takes a moment to take effect."""
    try:
        async with asyncio.timeout(_CRD_SECONDS):
            while True:
                if await api.serves(SECRETSYNCS):
                    return
                await asyncio.sleep(_CRD_POLL_SECONDS)
    except TimeoutError as error:
        raise NotInTimeError("SecretSyncs served", _CRD_SECONDS, [SECRETSYNCS]) from error


def _install(plane: ControlPlane) -> Path:
    """The CRDs are applied, the service account exists; return its kubeconfig."""
    plane.kubectl("apply", "--server-side", "-f", str(_ROOT / "crds"))
    plane.kubectl("create", "namespace", _NAMESPACE)
    plane.kubectl("create", "serviceaccount", _ACCOUNT, "-n", _NAMESPACE)
    plane.kubectl("apply", "--filename=-", input=orjson.dumps(_RIGHTS).decode())  # JSON is YAML
    plane.kubectl(
        *("create", "clusterrolebinding", "keybearer-bench", "--clusterrole=keybearer-bench"),
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
