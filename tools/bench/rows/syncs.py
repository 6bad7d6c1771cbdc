"""Many secret syncs to a remote beside the service: until all arrived, and then with one key changed in each.

The remote is a parameter store in memory that takes a few milliseconds for a call, as a near one would.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from tools.bench.databases import NAMES, DatabaseKind, service_on
from tools.bench.figures import Bar, Figure, RowResult
from tools.bench.options import ServiceOptions
from tools.bench.process_meter import ProcessMeter
from tools.bench.pushing import (
    CONNECTIONS,
    all_there,
    every_sync_succeeded,
    open_connections,
    place_of,
    push_each,
)
from tools.bench.service import Admin, values_of
from tools.bench.workload import Dimensions, Source
from tools.local.parameter_store import ParameterStoreServer

__all__ = ["run"]

_KEYS = 5
_LATENCY_SECONDS = 0.005
_AT_ONCE = 8
"""Changes that are under way at the same time."""
_CALLS_BAR = Bar("≤ 1.05 of the remote per changed key", 1.05)


async def run(kind: DatabaseKind, options: ServiceOptions) -> RowResult:
    """Measure the first runs, and those after one change each."""
    directory = options.directory / f"syncs-{kind}"
    dimensions = Dimensions(sources=options.syncs, keys=_KEYS)
    with ParameterStoreServer(_LATENCY_SECONDS) as store:
        flags = (f"--app-endpoint=cloud={store.url}", "--sync-start-delay=0")
        async with service_on(kind, directory, dimensions, flags) as service:
            before = time.monotonic()
            connections = await open_connections(service.admin, service.sources[0].project_id)
            await push_each(service.admin, service.sources, connections)
            values = [dict(source.values) for source in service.sources]
            await all_there(store, _by_path(values), options.deadline_seconds)
            first_seconds = time.monotonic() - before
            await every_sync_succeeded(service.admin, service.sources[0].project_id, options.deadline_seconds)
            store.calls.clear()
            for number, there in enumerate(values):
                there.update(values_of(number, 1, revision=1))
            before = time.monotonic()
            await _change(service.admin, service.sources, values)
            written_seconds = time.monotonic() - before
            await all_there(store, _by_path(values), options.deadline_seconds)
            changed_seconds = time.monotonic() - before
            await every_sync_succeeded(service.admin, service.sources[0].project_id, options.deadline_seconds)
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
        f"{CONNECTIONS} connections; a call takes {_LATENCY_SECONDS * 1000:g} ms; "
        f"writing the changes, {_AT_ONCE} at once, took {written_seconds:.1f} s of it"
    )
    return RowResult(f"syncs-{kind}", f"Secret syncs on {NAMES[kind]}", figures, (note,))


def _by_path(values: Sequence[Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    return {place_of(number): there for number, there in enumerate(values)}


async def _change(admin: Admin, sources: Sequence[Source], values: Sequence[Mapping[str, str]]) -> None:
    """The first key of each source has its new value."""
    left = iter(list(zip(sources, values, strict=True)))

    async def work() -> None:
        for source, there in left:
            await admin.change(source, {"KEY_0": there["KEY_0"]})

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_ONCE):
            group.create_task(work())
