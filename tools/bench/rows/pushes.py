"""Pushes to a remote that answers at once: many keys of one sync, and one change in each of many syncs.

The floor is the same number of bare writes to the same remote, as many at a time as the service sends.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from tools.bench.bare_puts import bare_puts
from tools.bench.databases import NAMES, DatabaseKind, service_on
from tools.bench.figures import Bar, Figure, RowResult, quantity
from tools.bench.options import ServiceOptions
from tools.bench.process_meter import ProcessMeter
from tools.bench.pushing import all_there, every_sync_succeeded, open_connections, place_of, push_each
from tools.bench.service import Service
from tools.bench.workload import Dimensions, Source
from tools.local.parameter_store import ParameterStoreServer

__all__ = ["run"]

_WORKERS = 10
"""Runs that a service has at once by default; each writes one key after the other."""
_FLOOR = "bare writes"
_CALLS_BAR = Bar("≤ 1.05 of the remote per changed key", 1.05)
_SHARED, _OF_ALL = "/shared", "VALUE"


@dataclass(frozen=True, slots=True)
class _Measured:
    """What one part took.

    Attributes:
        seconds: until the remote held all and each sync said so.
        calls: of the remote.
        peak_mib: of the service meanwhile.
        cpu_seconds: of the service.
    """

    seconds: float
    calls: int
    peak_mib: float
    cpu_seconds: float


class _Part:
    """One service, and the remote that it pushes to."""

    def __init__(self, service: Service, store: ParameterStoreServer, deadline_seconds: float) -> None:
        self._service = service
        self._store = store
        self._deadline_seconds = deadline_seconds
        self._meter = ProcessMeter(service.pid)
        self.wanted: dict[str, dict[str, str]] = {}

    async def until_done(self) -> None:
        """Wait until the remote holds what it is to hold, and each sync says so."""
        await all_there(self._store, self.wanted, self._deadline_seconds)
        project_id = self._service.sources[0].project_id
        await every_sync_succeeded(self._service.admin, project_id, self._deadline_seconds)

    async def measured(self, begin: Callable[[], Awaitable[None]]) -> _Measured:
        """Begin, and wait until all is done."""
        self._meter.forget_peak()
        self._store.calls.clear()
        cpu_before, before = self._meter.cpu_seconds(), time.monotonic()
        await begin()
        await self.until_done()
        return _Measured(
            time.monotonic() - before,
            sum(self._store.calls.values()),
            self._meter.memory().peak,
            self._meter.cpu_seconds() - cpu_before,
        )


async def run(kind: DatabaseKind, options: ServiceOptions) -> RowResult:
    """Measure both, each beside its floor."""
    directory = options.directory / f"pushes-{kind}"
    with ParameterStoreServer() as store:
        one_by_one = await _floor(store, options.pushed_keys, at_once=1)
        together = await _floor(store, options.syncs, at_once=_WORKERS)
        flags = (f"--app-endpoint=cloud={store.url}", "--sync-start-delay=0")
        dimensions = Dimensions(sources=1, keys=options.pushed_keys)
        async with service_on(kind, directory, dimensions, flags) as service:
            part = _Part(service, store, options.deadline_seconds)
            connections = await open_connections(service.admin, service.sources[0].project_id)
            part.wanted[place_of(0)] = dict(service.sources[0].values)
            many_keys = await part.measured(lambda: push_each(service.admin, service.sources, connections))
            followers = await _followers(service, options.syncs)
            part.wanted |= {place_of(number): {_OF_ALL: "before"} for number in range(1, options.syncs + 1)}
            await push_each(service.admin, followers, connections, first=1)
            await part.until_done()
            part.wanted |= {place_of(number): {_OF_ALL: "after"} for number in range(1, options.syncs + 1)}
            shared = _shared(service)
            many_syncs = await part.measured(lambda: service.admin.change(shared, {_OF_ALL: "after"}))
    return RowResult(
        f"pushes-{kind}",
        f"Pushes on {NAMES[kind]}",
        (
            *_figures(
                f"{options.pushed_keys:,} keys in one sync", options.pushed_keys, many_keys, one_by_one
            ),
            *_figures(f"one change in each of {options.syncs:,} syncs", options.syncs, many_syncs, together),
        ),
        (
            f"CPU of the service for each key of one sync: {_each(many_keys, options.pushed_keys)}",
            f"CPU of the service for each sync with one change: {_each(many_syncs, options.syncs)}",
        ),
    )


async def _floor(store: ParameterStoreServer, count: int, *, at_once: int) -> float:
    seconds = await bare_puts(store.url, "/floor/", count, at_once=at_once)
    store.parameters.clear()
    return seconds


def _shared(service: Service) -> Source:
    first = service.sources[0]
    return Source(first.project_id, first.environment, _SHARED, {_OF_ALL: "before"})


async def _followers(service: Service, number: int) -> Sequence[Source]:
    """Folders exist whose only secret refers to one secret that they share: a change of it is one of each."""
    admin, shared = service.admin, _shared(service)
    reference = f"${{{shared.environment}.{_SHARED.removeprefix('/')}.{_OF_ALL}}}"
    folders = [
        shared,
        *(
            Source(shared.project_id, shared.environment, f"/follower-{one}", {_OF_ALL: reference})
            for one in range(number)
        ),
    ]
    for folder in folders:
        place: Mapping[str, str] = {"projectId": folder.project_id, "environment": folder.environment}
        await admin.ask("POST", "/api/v2/folders", {**place, "path": "/", "name": folder.path[1:]})
        body = {**place, "secretPath": folder.path, "secretValue": folder.values[_OF_ALL]}
        await admin.ask("POST", f"/api/v4/secrets/{_OF_ALL}", body)
    return folders[1:]


def _figures(what: str, keys: int, found: _Measured, floor: float) -> tuple[Figure, ...]:
    return (
        Figure(f"{what}, until all is there", "s", found.seconds, floor, _FLOOR, peak_mib=found.peak_mib),
        Figure(f"{what}: calls of the remote for each", "per sync", found.calls / keys, bar=_CALLS_BAR),
    )


def _each(found: _Measured, number: int) -> str:
    return quantity(found.cpu_seconds * 1000 / number, "ms")
