"""The cold sync ten times larger: it must take ten times as long, not more."""

from __future__ import annotations

from collections.abc import Mapping

from tools.bench.coldsync import settle, synced, without_subscriptions
from tools.bench.figures import Bar, Figure, Others, RowResult
from tools.bench.options import Options
from tools.bench.rows.cold import TIME, warm_up
from tools.bench.stage import open_stage

__all__ = ["run"]


async def run(options: Options, earlier: Mapping[str, RowResult]) -> RowResult:
    """Measure one large cold sync against the smaller one of the same run."""
    syncs, sources = options.large_syncs, options.dimensions.sources
    factor = syncs / options.dimensions.syncs
    async with open_stage(options, "large") as stage:
        await warm_up(stage)
        async with synced(stage, stage.workload("large", syncs=syncs)) as (running, sync):
            came_to_rest = await settle(running)
            memory, requests = running.operator.meter.memory(), running.window.requests()
            writes = running.window.api().writes_total
    smaller = earlier["cold"].figure(TIME) if "cold" in earlier else None
    figures = (
        Figure(
            f"cold sync of {syncs:,}: operator start to last Secret and status",
            "s",
            ours=sync.seconds,
            floor=smaller.ours if smaller else None,
            floor_name=f"{options.dimensions.syncs:,}",
            bar=Bar(f"≤ {factor:g} x the figure of {options.dimensions.syncs:,}", factor, of_ratio=True),
            others=Others("153 s (with the raised limits)", "124 s"),
        ),
        Figure(
            "operator's memory at its peak",
            "MiB",
            ours=memory.peak,
            bar=Bar("≤ 230 MiB", 230),
            others=Others("553 MiB", "448 MiB"),
        ),
        Figure("operator's memory at rest", "MiB", ours=memory.resident, bar=Bar("≤ 230 MiB", 230)),
        Figure(
            "service requests, event subscriptions apart",
            "count",
            ours=without_subscriptions(requests),
            bar=Bar(f"≤ {sources + 1}", sources + 1),
            others=Others("30,060", "10,003"),
        ),
        Figure("API-server writes per sync", "per sync", ours=writes / syncs, floor=2.0),
        Figure("operator's CPU per sync, start-up included", "ms", ours=sync.cpu_seconds * 1000 / syncs),
    )
    notes = () if came_to_rest else ("the operator did not come to rest within a minute",)
    return RowResult("large", f"Cold sync of {syncs:,} SecretSyncs", figures, notes)
