"""What rows about secret syncs do with the service and with the remote: connect, sync, and await the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence

from tools.bench.errors import BenchError
from tools.bench.service import Admin
from tools.bench.workload import Source
from tools.local.parameter_store import ParameterStoreServer

__all__ = ["CONNECTIONS", "all_there", "every_sync_succeeded", "open_connections", "place_of", "push_each"]

CONNECTIONS = 5
"""Over which syncs are spread."""
_POLL_SECONDS = 0.05
_SYNCS = "/api/v1/secret-syncs/cloud-parameter-store"


def place_of(number: int) -> str:
    """Return the path at the remote that the sync of that number pushes to."""
    return f"/s{number}/"


async def open_connections(admin: Admin, project_id: str) -> list[str]:
    """Return the ids of new connections to the remote."""
    connections = []
    for number in range(CONNECTIONS):
        body = {
            "name": f"connection-{number}",
            "method": "access-key",
            "projectId": project_id,
            "credentials": {"accessKeyId": f"AKIA{number:016d}", "secretAccessKey": "secret"},
        }
        made = await admin.ask("POST", "/api/v1/app-connections/cloud", body)
        connections.append(made["appConnection"]["id"])
    return connections


async def push_each(
    admin: Admin, sources: Sequence[Source], connections: Sequence[str], *, first: int = 0
) -> None:
    """A sync of each source exists, to a path of its own; their numbers begin with `first`."""
    for number, source in enumerate(sources, first):
        body = {
            "name": f"sync-{number}",
            "projectId": source.project_id,
            "connectionId": connections[number % len(connections)],
            "environment": source.environment,
            "secretPath": source.path,
            "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
            "destinationConfig": {"region": "eu-west-1", "path": place_of(number)},
        }
        await admin.ask("POST", _SYNCS, body)


async def every_sync_succeeded(admin: Admin, project_id: str, within: float) -> None:
    """Wait until the last run of each sync of the project has ended well."""
    async with _deadline(within, "a good end of all syncs"):
        while True:
            answer = await admin.ask("GET", f"/api/v1/secret-syncs?projectId={project_id}")
            if all(sync["syncStatus"] == "succeeded" for sync in answer["secretSyncs"]):
                return
            await asyncio.sleep(_POLL_SECONDS)


async def all_there(
    store: ParameterStoreServer, wanted: Mapping[str, Mapping[str, str]], within: float
) -> None:
    """Wait until the remote holds this, by path, and nothing else."""
    async with _deadline(within, "all values at the remote"):
        while store.parameters != wanted:  # noqa: ASYNC110 - it changes in another thread
            await asyncio.sleep(_POLL_SECONDS)


@contextlib.asynccontextmanager
async def _deadline(seconds: float, awaited: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        msg = f"within {seconds:g} s there was not {awaited}"
        raise BenchError(msg) from error
