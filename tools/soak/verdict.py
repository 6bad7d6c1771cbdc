"""Holds what is in the cluster at the end to what is in the sources; pure, but for the gathering."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import orjson

from tools.bench.errors import BenchError
from tools.bench.kube import SECRETSYNCS, KubeApi, ObjectMeta
from tools.bench.workload import Key, encoded
from tools.local.secrets_service import ServiceAdmin, SourceProject
from tools.soak.population import IDENTITY, Population
from tools.soak.watcher import list_all

__all__ = ["Check", "Found", "gather", "judge", "read_sources"]

_NAMED = 10


class _Condition(TypedDict):
    type: str
    status: str
    reason: NotRequired[str]


class _Status(TypedDict, total=False):
    observedGeneration: int
    conditions: list[_Condition]


class _Sync(TypedDict):
    metadata: ObjectMeta
    status: NotRequired[_Status]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must hold.

    Attributes:
        name: what, as a sentence.
        faults: what speaks against it, with names only; none means that it holds.
    """

    name: str
    faults: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.faults

    def __str__(self) -> str:
        if self.holds:
            return self.name
        more = f", and {len(self.faults) - _NAMED} more" if len(self.faults) > _NAMED else ""
        return f"{self.name}: NO: {'; '.join(self.faults[:_NAMED])}{more}"


@dataclass(frozen=True, slots=True)
class Found:
    """What is in the namespaces of the soak, as the API server lists it.

    Attributes:
        secrets: `data` by namespace and name; identities left out.
        syncs: by namespace and name.
    """

    secrets: Mapping[Key, Mapping[str, str]]
    syncs: Mapping[Key, _Sync]


async def gather(api: KubeApi, namespaces: Sequence[str]) -> Found:
    """Return what is there now."""
    secrets, _ = await list_all(api, "/api/v1/secrets")
    syncs: list[_Sync] = orjson.loads(await api.send("GET", SECRETSYNCS))["items"]
    wanted = set(namespaces)
    return Found(
        {
            key: one.get("data") or {}
            for one in secrets
            if (key := _key(one["metadata"]))[0] in wanted and key[1] != IDENTITY
        },
        {key: one for one in syncs if (key := _key(one["metadata"]))[0] in wanted},
    )


async def read_sources(
    admin: ServiceAdmin, project: SourceProject, paths: Sequence[str]
) -> list[dict[str, str]]:
    """Return what each folder holds, as the service says it, in Base64 as a Secret has it.

    Raises:
        BenchError: the answer is none.
    """
    return [await asyncio.to_thread(_read_source, admin, project.id, path) for path in paths]


def _read_source(admin: ServiceAdmin, project_id: str, path: str) -> dict[str, str]:
    query = f"projectId={project_id}&environment=dev&secretPath={path}&viewSecretValue=true"
    answer = admin.send("GET", f"/api/v4/secrets?{query}")
    listed = answer.get("secrets")
    if not isinstance(listed, list):
        msg = f"the service's list of {path} holds no secrets"
        raise BenchError(msg)
    return encoded({str(one["secretKey"]): str(one["secretValue"]) for one in listed})


def judge(found: Found, population: Population, sources: Sequence[Mapping[str, str]]) -> list[Check]:
    """Return the checks of the end.

    Args:
        found: what there is.
        population: who should have what.
        sources: what each source holds, by number, in Base64.
    """
    return [
        Check(
            "every Secret equals its source, byte for byte", tuple(_differences(found, population, sources))
        ),
        Check(
            "no Secret is left of SecretSyncs that went or write elsewhere",
            tuple(
                f"{_named(key)} is left over"
                for key in sorted(found.secrets.keys() - population.members.keys())
            ),
        ),
        Check("every SecretSync is Ready in its present generation", tuple(_unready(found, population))),
        Check(
            "no SecretSync is left that was deleted",
            tuple(
                f"{_named(key)} is left over" for key in sorted(found.syncs.keys() - population.names.keys())
            ),
        ),
    ]


def _differences(found: Found, population: Population, sources: Sequence[Mapping[str, str]]) -> list[str]:
    faults = []
    for key, member in population.members.items():
        data = found.secrets.get(key)
        if data is None:
            faults.append(f"{_named(key)} is missing")
        elif data != sources[member.source]:
            faults.append(f"{_named(key)} is not what source {member.source} holds")
    return faults


def _unready(found: Found, population: Population) -> list[str]:
    faults = []
    for key in population.names:
        sync = found.syncs.get(key)
        if sync is None:
            faults.append(f"{_named(key)} is missing")
            continue
        status = sync.get("status", {})
        ready = next((one for one in status.get("conditions", ()) if one["type"] == "Ready"), None)
        if ready is None:
            faults.append(f"{_named(key)} has no condition Ready")
        elif ready["status"] != "True":
            faults.append(f"{_named(key)} is not Ready: {ready.get('reason')}")
        elif status.get("observedGeneration") != sync["metadata"].get("generation"):
            faults.append(f"{_named(key)} is Ready in an earlier generation")
    return faults


def _key(metadata: ObjectMeta) -> Key:
    return metadata.get("namespace", ""), metadata["name"]


def _named(key: Key) -> str:
    return "/".join(key)
