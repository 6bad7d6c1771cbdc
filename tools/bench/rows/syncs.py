"""Many secret syncs to a remote beside the service: until all arrived, and then with one key changed in each.

The remote is a parameter store in memory that takes a few milliseconds for a call, as a near one would.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence

from tools.bench.databases import NAMES, DatabaseKind, service_on
from tools.bench.errors import BenchError
from tools.bench.figures import Bar, Figure, RowResult
from tools.bench.options import ServiceOptions
from tools.bench.process_meter import ProcessMeter
from tools.bench.service import Admin, values_of
from tools.bench.workload import Dimensions, Source
from tools.local.parameter_store import ParameterStoreServer

__all__ = ["run"]

_KEYS = 5
_CONNECTIONS = 5
_LATENCY_SECONDS = 0.005
_AT_ONCE = 8
"""Changes that are under way at the same time."""
_POLL_SECONDS = 0.05
_SYNCS = "/api/v1/secret-syncs/cloud-parameter-store"
_CALLS_BAR = Bar("≤ 1.05 of the remote per changed key", 1.05)


async def run(kind: DatabaseKind, options: ServiceOptions) -> RowResult:
    """Measure the first runs, and those after one change each."""
    directory = options.directory / f"syncs-{kind}"
    dimensions = Dimensions(sources=options.syncs, keys=_KEYS)
    with ParameterStoreServer(_LATENCY_SECONDS) as store:
        flags = (f"--app-endpoint=cloud={store.url}", "--sync-start-delay=0")
        async with service_on(kind, directory, dimensions, flags) as service:
            before = time.monotonic()
            await _create(service.admin, service.sources)
            values = [dict(source.values) for source in service.sources]
            await _there(store, _by_path(values), options.deadline_seconds)
            first_seconds = time.monotonic() - before
            await _all_succeeded(service.admin, service.sources[0].project_id, options.deadline_seconds)
            store.calls.clear()
            for number, there in enumerate(values):
                there.update(values_of(number, 1, revision=1))
            before = time.monotonic()
            await _change(service.admin, service.sources, values)
            written_seconds = time.monotonic() - before
            await _there(store, _by_path(values), options.deadline_seconds)
            changed_seconds = time.monotonic() - before
            await _all_succeeded(service.admin, service.sources[0].project_id, options.deadline_seconds)
            calls = sum(store.calls.values())
            memory = ProcessMeter(service.pid).memory()
    number = options.syncs
    figures = (
        Figure(f"{number:,} new syncs of {_KEYS} keys, until all is there", "s", first_seconds),
        Figure("one key changed in each, until all is there", "s", changed_seconds, peak_mib=memory.peak),
        Figure("calls of the remote for each changed key", "per sync", calls / number, bar=_CALLS_BAR),
        Figure("memory afterwards", "MiB", memory.resident),
    )
    note = (
        f"{_CONNECTIONS} connections; a call takes {_LATENCY_SECONDS * 1000:g} ms; "
        f"writing the changes, {_AT_ONCE} at once, took {written_seconds:.1f} s of it"
    )
    return RowResult(f"syncs-{kind}", f"Secret syncs on {NAMES[kind]}", figures, (note,))


async def _create(admin: Admin, sources: Sequence[Source]) -> None:
    """The connections exist, and a sync of each source to a path of its own."""
    project_id = sources[0].project_id
    connections = []
    for number in range(_CONNECTIONS):
        body = {
            "name": f"connection-{number}",
            "method": "access-key",
            "projectId": project_id,
            "credentials": {"accessKeyId": f"AKIA{number:016d}", "secretAccessKey": "secret"},
        }
        made = await admin.ask("POST", "/api/v1/app-connections/cloud", body)
        connections.append(made["appConnection"]["id"])
    for number, source in enumerate(sources):
        body = {
            "name": f"sync-{number}",
            "projectId": project_id,
            "connectionId": connections[number % _CONNECTIONS],
            "environment": source.environment,
            "secretPath": source.path,
            "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
            "destinationConfig": {"region": "eu-west-1", "path": f"/s{number}/"},
        }
        await admin.ask("POST", _SYNCS, body)


def _by_path(values: Sequence[Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    return {f"/s{number}/": there for number, there in enumerate(values)}


async def _change(admin: Admin, sources: Sequence[Source], values: Sequence[Mapping[str, str]]) -> None:
    """The first key of each source has its new value."""
    left = iter(list(zip(sources, values, strict=True)))

    async def work() -> None:
        for source, there in left:
            await admin.change(source, {"KEY_0": there["KEY_0"]})

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_ONCE):
            group.create_task(work())


async def _all_succeeded(admin: Admin, project_id: str, within: float) -> None:
    async with _deadline(within, "a good end of all syncs"):
        while True:
            answer = await admin.ask("GET", f"/api/v1/secret-syncs?projectId={project_id}")
            if all(sync["syncStatus"] == "succeeded" for sync in answer["secretSyncs"]):
                return
            await asyncio.sleep(_POLL_SECONDS)


async def _there(store: ParameterStoreServer, wanted: Mapping[str, Mapping[str, str]], within: float) -> None:
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
