"""Puts the objects of a workload into the cluster, and takes them out again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import orjson

from tools.bench.errors import NotInTimeError
from tools.bench.kube import KubeApi, in_parallel, secret_path, secretsync_path
from tools.bench.workload import IDENTITY_SECRET, Sync, Workload

__all__ = ["create_namespaces", "create_secretsyncs", "populate", "remove"]

_REMOVAL_SECONDS = 120.0
_POLL_SECONDS = 0.2


async def create_namespaces(api: KubeApi, workload: Workload) -> None:
    """The namespaces exist."""

    async def create(name: str) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await api.send("POST", "/api/v1/namespaces", namespace)

    await in_parallel(workload.namespaces, create)


async def create_secretsyncs(api: KubeApi, workload: Workload) -> None:
    """The SecretSyncs exist; their namespaces did."""

    async def create(sync: Sync) -> None:
        await api.send("POST", secretsync_path(sync.namespace), workload.manifest(sync))

    await in_parallel(workload.syncs(), create)


async def populate(api: KubeApi, workload: Workload, identity: Mapping[str, str]) -> None:
    """Namespaces, an identity Secret in each, and all SecretSyncs exist, in this order."""
    await create_namespaces(api, workload)

    async def create_identity(namespace: str) -> None:
        manifest = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": IDENTITY_SECRET, "namespace": namespace},
            "stringData": dict(identity),
        }
        await api.send("POST", secret_path(namespace), manifest)

    await in_parallel(workload.namespaces, create_identity)
    await create_secretsyncs(api, workload)


async def remove(api: KubeApi, workload: Workload) -> None:
    """No SecretSync and no Secret is left in the namespaces; nobody may be working on them.

    Secrets are deleted here too, because the garbage collector takes its time.

    Raises:
        NotInTimeError: objects stay, for example because a finalizer holds them.
    """

    async def clear(namespace: str) -> None:
        background = {"propagationPolicy": "Background"}
        for path in (secretsync_path(namespace), secret_path(namespace)):
            await api.send("DELETE", path, query=background)

    await in_parallel(workload.namespaces, clear)
    left: list[str] = []
    try:
        async with asyncio.timeout(_REMOVAL_SECONDS):
            for namespace in workload.namespaces:
                while left := await _first_few(api, namespace):
                    await asyncio.sleep(_POLL_SECONDS)
                    await clear(namespace)  # what another party had just written again
    except TimeoutError as error:
        raise NotInTimeError(f"all objects of {workload.label} gone", _REMOVAL_SECONDS, left) from error


async def _first_few(api: KubeApi, namespace: str) -> list[str]:
    names: list[str] = []
    for path in (secretsync_path(namespace), secret_path(namespace)):
        found = orjson.loads(await api.send("GET", path, query={"limit": "5"}))
        names += [f"{path}/{item['metadata']['name']}" for item in found["items"]]
    return names
