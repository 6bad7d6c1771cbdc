"""The operator starts again and finds everything in sync: it must read each source once and write nothing."""

from __future__ import annotations

from collections.abc import Mapping

from tools.bench.coldsync import settle, synced, with_operator, without_subscriptions
from tools.bench.figures import Bar, Figure, Others, RowResult
from tools.bench.options import Options
from tools.bench.rows.cold import warm_up
from tools.bench.stage import open_stage

__all__ = ["run"]


async def run(options: Options, _earlier: Mapping[str, RowResult]) -> RowResult:
    """Count until the second operator has come to rest."""
    async with open_stage(options, "restart") as stage:
        await warm_up(stage)
        workload = stage.workload("restart")
        async with synced(stage, workload) as (running, _):
            await settle(running)
            drained_seconds = await running.operator.stop()
        async with with_operator(stage, workload) as running:
            ready_seconds = await running.operator.ready_seconds()
            came_to_rest = await settle(running)
            cpu = running.operator.meter.cpu_seconds()
            memory = running.operator.meter.memory()
            requests, api = running.window.requests(), running.window.api()
    reads = options.dimensions.sources + 1
    figures = (
        Figure(
            "service requests, event subscriptions apart",
            "count",
            ours=without_subscriptions(requests),
            bar=Bar(f"≤ {reads}", reads),
            others=Others("30", "1,004"),
        ),
        Figure(
            "API-server writes",
            "count",
            ours=api.writes_total,
            bar=Bar("0", 0),
            others=Others("20", "1,004"),
        ),
        Figure("operator start to ready", "s", ours=ready_seconds),
        Figure("operator's CPU until it rests", "s", ours=cpu),
        Figure("operator's memory at its peak", "MiB", ours=memory.peak),
    )
    notes = [
        f"the first operator ended {drained_seconds:.2f} s after SIGTERM",
        f"requests: {', '.join(f'{count} x {route}' for route, count in sorted(requests.items()))}",
        f"writes: {dict(api.writes) or 'none'}",
    ]
    if not came_to_rest:
        notes.append("it did not come to rest within a minute")
    title = f"Restart with {options.dimensions.syncs:,} SecretSyncs in sync"
    return RowResult("restart", title, figures, tuple(notes))
