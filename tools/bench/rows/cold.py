"""Cold sync: SecretSyncs exist, then the operator starts. The floor is measured in between, in turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tools.bench.api_counters import ApiCounts
from tools.bench.coldsync import ColdSync, settle, synced, without_subscriptions
from tools.bench.figures import Bar, Figure, Others, RowResult, quantity
from tools.bench.floor import FloorResult
from tools.bench.floor_run import prepared_floor
from tools.bench.options import Options
from tools.bench.population import remove
from tools.bench.process_meter import Memory
from tools.bench.samples import median
from tools.bench.stage import Stage, open_stage
from tools.bench.workload import Workload

__all__ = ["TIME", "run", "warm_up"]

TIME = "cold sync: operator start to last Secret and status"
_WARM_UP_SYNCS = 20


@dataclass(frozen=True, slots=True)
class _Round:
    cold: ColdSync
    api: ApiCounts
    requests: int
    subscriptions: int
    routes: str
    memory: Memory
    came_to_rest: bool
    sizes: Mapping[str, int]


async def run(options: Options, _earlier: Mapping[str, RowResult]) -> RowResult:
    """Measure floor and cold sync in turns; each figure is the median of its rounds."""
    async with open_stage(options, "cold") as stage:
        await warm_up(stage)
        first, floor_sizes = await _floor(stage)
        floors, rounds = [first], []
        for _ in range(options.repeats):
            rounds.append(await _round(stage, stage.workload("cold")))
            floors.append((await _floor(stage))[0])
    syncs = options.dimensions.syncs
    return RowResult(
        name="cold",
        title=f"Cold sync of {syncs:,} SecretSyncs of {options.dimensions.keys} keys "
        f"over {options.dimensions.sources} sources",
        figures=tuple(_figures(options, floors, rounds)),
        notes=(
            *_notes(syncs, floors, rounds),
            f"one object as stored, floor: {_sizes(floor_sizes)}; ours: {_sizes(rounds[-1].sizes)}",
        ),
    )


async def warm_up(stage: Stage) -> None:
    """Programs are in the page cache, byte code is compiled, the API server knows the kinds."""
    workload = stage.workload("warm-up", syncs=_WARM_UP_SYNCS)
    async with synced(stage, workload):
        pass
    await remove(stage.cluster.api, workload)


async def _floor(stage: Stage) -> tuple[FloorResult, Mapping[str, int]]:
    async with prepared_floor(stage) as floor:
        return await floor.run(), await stage.cluster.sizes(floor.first)


async def _round(stage: Stage, workload: Workload) -> _Round:
    async with synced(stage, workload) as (running, cold):
        came_to_rest = await settle(running)
        requests = running.window.requests()
        found = _Round(
            cold=cold,
            api=running.window.api(),
            requests=without_subscriptions(requests),
            subscriptions=requests.total() - without_subscriptions(requests),
            routes=", ".join(f"{count} x {route}" for route, count in sorted(requests.items())),
            memory=running.operator.meter.memory(),
            came_to_rest=came_to_rest,
            sizes=await stage.cluster.sizes(next(iter(running.observer.secret_at))),
        )
    await remove(stage.cluster.api, workload)
    return found


def _figures(options: Options, floors: list[FloorResult], rounds: list[_Round]) -> list[Figure]:
    syncs, sources = options.dimensions.syncs, options.dimensions.sources
    floor_seconds = median([floor.seconds for floor in floors])
    return [
        Figure(
            TIME,
            "s",
            ours=median([one.cold.seconds for one in rounds]),
            floor=floor_seconds,
            bar=Bar("≤ 2.5 x the floor", 2.5, of_ratio=True),
            others=Others(
                "103 s (61 s with 10 workers; 13.2 s with 10 workers and ten times its client limit)",
                "15.0 s",
            ),
        ),
        Figure(
            "cold sync: operator ready to last Secret and status",
            "s",
            ours=median([one.cold.seconds - one.cold.ready_seconds for one in rounds]),
            floor=floor_seconds,
        ),
        Figure(
            "service requests, event subscriptions apart",
            "count",
            ours=median([one.requests for one in rounds]),
            bar=Bar("≤ 1 per source, plus login", sources + 1),
            others=Others("3,060", "1,003"),
        ),
        Figure(
            "API-server writes per sync",
            "per sync",
            ours=median([one.api.writes_total / syncs for one in rounds]),
            floor=2.0,
            # Events are aggregated, so a few hundredths of a write per sync are theirs.
            bar=Bar("2 (Secret, status); Events aggregated", 2.05),
            others=Others("4.1", "2.0"),
        ),
        Figure(
            "operator's CPU per sync, start-up included",
            "ms",
            ours=median([one.cold.cpu_seconds for one in rounds]) * 1000 / syncs,
            floor=median([floor.cpu_seconds for floor in floors]) * 1000 / syncs,
            bar=Bar("≤ 3.5 ms", 3.5),
            others=Others("8.7 ms", "3.1 ms"),
        ),
        Figure(
            "operator's memory at rest",
            "MiB",
            ours=median([one.memory.resident for one in rounds]),
            bar=Bar("≤ 120 MiB", 120),
            others=Others("97-144 MiB", "92 MiB"),
        ),
        Figure(
            "operator's memory at its peak",
            "MiB",
            ours=median([one.memory.peak for one in rounds]),
            others=Others("138 MiB", "395 MiB after 3 minutes at a 10 s interval"),
        ),
    ]


def _notes(syncs: int, floors: list[FloorResult], rounds: list[_Round]) -> list[str]:
    last = rounds[-1]
    writes = ", ".join(f"{count} x {resource}" for resource, count in last.api.writes.most_common())
    reads = ", ".join(f"{count} x {kind}" for kind, count in last.api.reads.most_common(6))
    harness = median([one.cold.harness_cpu_seconds for one in rounds]) * 1000 / syncs
    notes = [
        "floor, each time: " + _listed([floor.seconds for floor in floors]),
        "ours, each round: " + _listed([one.cold.seconds for one in rounds]),
        "ready after " + _listed([one.cold.ready_seconds for one in rounds]),
        "first Secret after " + _listed([one.cold.first_seconds for one in rounds]),
        "the operator's CPU, each round: " + _listed([one.cold.cpu_seconds for one in rounds]),
        "the API server's CPU under the floor, each time: "
        + _listed([floor.api_server_cpu_seconds for floor in floors]),
        "the API server's CPU under ours, each round: "
        + _listed([one.cold.api_server_cpu_seconds for one in rounds]),
        f"this harness meanwhile used {harness:.2f} ms of CPU per sync",
        f"writes of the last round: {writes}",
        f"reads of the last round: {reads}",
        f"requests to the service in the last round: {last.routes}",
    ]
    if last.memory.descendants:
        notes.append(f"memory of child processes at rest: {quantity(last.memory.descendants, 'MiB')}")
    refused = sum((one.api.refused for one in rounds), start=type(last.api.refused)())
    if refused:
        notes.append(f"writes that the API server refused, all rounds: {dict(refused)}")
    if not all(one.came_to_rest for one in rounds):
        notes.append("the operator did not come to rest within a minute: memory and counts are of a busy one")
    return notes


def _listed(seconds: list[float]) -> str:
    return ", ".join(quantity(value, "s") for value in seconds)


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {size:,} B" for kind, size in sizes.items())
