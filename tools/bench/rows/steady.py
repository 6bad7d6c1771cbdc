"""Nothing changes: what an operator costs that polls every ten seconds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from tools.bench.coldsync import Window, settle, synced
from tools.bench.figures import Bar, Figure, Others, RowResult
from tools.bench.options import Options
from tools.bench.proxy import EVENT_ROUTE
from tools.bench.rows.cold import warm_up
from tools.bench.stage import open_stage

__all__ = ["run"]

_INTERVAL_SECONDS = 10


async def run(options: Options, _earlier: Mapping[str, RowResult]) -> RowResult:
    """Measure one window and scale it to a minute."""
    async with open_stage(options, "steady") as stage:
        await warm_up(stage)
        async with synced(stage, stage.workload("steady", interval=f"{_INTERVAL_SECONDS}s")) as (running, _):
            await settle(running)
            window, cpu, started = Window(stage), running.operator.meter.cpu_seconds(), time.monotonic()
            await asyncio.sleep(options.steady_seconds)
            cpu_spent = running.operator.meter.cpu_seconds() - cpu
            minutes = (time.monotonic() - started) / 60
            requests, writes = window.requests(), window.api().writes
    not_modified = sum(count for route, count in requests.items() if route.status == 304)
    subscriptions = sum(count for route, count in requests.items() if route.path == EVENT_ROUTE)
    per_minute = options.dimensions.sources * 60 / _INTERVAL_SECONDS
    figures = (
        Figure(
            "service requests per minute",
            "count",
            ours=round(requests.total() / minutes, 1),
            bar=Bar(f"{per_minute:g}: one per source and interval", per_minute),
            others=Others("1,791", "4,849"),
        ),
        Figure("of them answered 304", "count", ours=not_modified / minutes),
        Figure(
            "API-server writes per minute",
            "count",
            ours=writes.total() / minutes,
            bar=Bar("0", 0),
            others=Others("596", "4,850"),
        ),
        Figure(
            "operator's CPU per minute",
            "s",
            ours=cpu_spent / minutes,
            bar=Bar("≤ 1 s", 1.0),
            others=Others("5.2 s", "12.9 s"),
        ),
    )
    notes = (
        f"measured over {minutes * 60:.0f} s; {subscriptions} requests were event subscriptions",
        f"requests: {', '.join(f'{count} x {route}' for route, count in sorted(requests.items()))}",
        f"writes: {dict(writes) or 'none'}",
    )
    title = f"Steady state of {options.dimensions.syncs:,} SecretSyncs at a {_INTERVAL_SECONDS} s interval"
    return RowResult("steady", title, figures, notes)
