"""A value changes in the service: how long until every Secret that depends on it has it.

From the service's answer to the write until the watch shows the Secret's new bytes; once with the service's
event stream, once with a service that offers none, so that only polling is left.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping

from tools.bench.coldsync import Running, Window, settle, synced
from tools.bench.figures import Bar, Figure, Others, RowResult
from tools.bench.options import Options
from tools.bench.population import remove
from tools.bench.rows.cold import warm_up
from tools.bench.samples import Summary, summarize
from tools.bench.service import values_of
from tools.bench.stage import Stage, open_stage

__all__ = ["run"]

_INTERVAL_SECONDS = 10.0
_CHANGED_KEY = "KEY_0"


async def run(options: Options, _earlier: Mapping[str, RowResult]) -> RowResult:
    """Measure changes with events, then without."""
    async with open_stage(options, "propagation") as stage:
        await warm_up(stage)
        by_events, event_notes = await _changes(stage, "events")
        stage.proxy.offers_events = False
        by_polling, polling_notes = await _changes(stage, "polling")
    dependents = options.dimensions.syncs // options.dimensions.sources
    events_bar, polling_bar = Bar("≤ 1 s", 1.0), Bar("≤ interval + 1 s", _INTERVAL_SECONDS + 1)
    figures = (
        Figure("with events: p50", "s", ours=by_events.p50),
        Figure(
            "with events: p99",
            "s",
            ours=by_events.p99,
            bar=events_bar,
            others=Others("100 s (it has no events)", "9.9 s"),
        ),
        Figure("polling: p50", "s", ours=by_polling.p50),
        Figure("polling: p99", "s", ours=by_polling.p99, bar=polling_bar, others=Others("100 s", "13.6 s")),
    )
    title = f"A changed value at {dependents} dependents, {_INTERVAL_SECONDS:g} s interval"
    return RowResult("propagation", title, figures, (event_notes, polling_notes))


async def _changes(stage: Stage, word: str) -> tuple[Summary, str]:
    workload = stage.workload(word, interval=f"{_INTERVAL_SECONDS:g}s")
    samples: list[float] = []
    window: Window | None = None
    pauses = random.Random(1)  # noqa: S311 - spreads the changes over the interval, alike in every run
    async with synced(stage, workload) as (running, _):
        await settle(running, within_seconds=_INTERVAL_SECONDS)
        window = Window(stage)
        for change in range(stage.options.changes):
            await asyncio.sleep(pauses.uniform(0, _INTERVAL_SECONDS))
            samples += await _change(running, change)
        requests, writes = window.requests().total(), window.api().writes_total
        streams = stage.proxy.open_streams
    await remove(stage.cluster.api, workload)
    summary = summarize(samples)
    note = (
        f"{word}: {summary.count} samples of {stage.options.changes} changes, worst {summary.worst:.2f} s; "
        f"meanwhile {requests} service requests, {writes} API-server writes, {streams} open event streams"
    )
    return summary, note


async def _change(running: Running, change: int) -> list[float]:
    stage, observer = running.stage, running.observer
    source = change % len(running.workload.sources)
    # Never the same value twice, whatever ran before on this stage.
    fresh = values_of(source, stage.options.dimensions.keys, revision=time.monotonic_ns())
    changed = {_CHANGED_KEY: fresh[_CHANGED_KEY]}
    dependents = observer.expect(source, stage.changed(source, changed).values)
    await stage.change(source, changed)
    acknowledged = time.monotonic()
    await observer.until(
        lambda: observer.complete,
        f"the new value of source {source} everywhere",
        stage.options.deadline_seconds,
        observer.missing,
    )
    # The watch can be read before the answer to the write is.
    return [max(observer.secret_at[key] - acknowledged, 0.0) for key in dependents]
