"""The dashboard before many SecretSyncs: from its start to the first full page, and what a further page takes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import aiohttp
import orjson

from tools.bench.errors import NotInTimeError
from tools.bench.figures import Bar, Figure, RowResult
from tools.bench.operator_process import environment_of
from tools.bench.options import Options
from tools.bench.population import populate
from tools.bench.process_meter import ProcessMeter
from tools.bench.service import command_path
from tools.bench.stage import open_stage
from tools.controlplane.process import Process

__all__ = ["run"]

_STOP = timedelta(seconds=10)
_POLL_SECONDS = 0.02
_PAGES = 20
_PAGE_BAR = Bar("≤ 0.2 s", 0.2)


@dataclass(frozen=True, slots=True)
class _Dashboard:
    address: str
    started_at: float
    meter: ProcessMeter


async def run(options: Options, _earlier: Mapping[str, RowResult]) -> RowResult:
    """Measure one dashboard; no operator runs, so that no object is Ready and each has a row."""
    many = options.large_syncs
    async with open_stage(options, "dashboard") as stage:
        await populate(stage.cluster.api, stage.workload("dashboard", syncs=many), stage.identity)
        kubeconfig = stage.cluster.plane.admin_kubeconfig
        async with _running(kubeconfig, stage.next_log(), options.deadline_seconds) as dashboard:
            async with aiohttp.ClientSession(dashboard.address) as session:
                first, full = await _until_full(session, many, options.deadline_seconds)
                taken = sorted([await _page(session, number) for number in range(1, _PAGES + 1)])
            cpu, memory = dashboard.meter.cpu_seconds(), dashboard.meter.memory()
    begun = dashboard.started_at
    figures = (
        Figure("dashboard start to the first answer", "s", ours=first - begun),
        Figure(f"dashboard start to the first page of all {many:,}", "s", ours=full - begun),
        Figure(f"a further page of {many:,}: median", "s", ours=taken[len(taken) // 2], bar=_PAGE_BAR),
        Figure("dashboard's CPU until then", "s", ours=cpu),
        Figure("dashboard's memory", "MiB", ours=memory.resident, peak_mib=memory.peak),
    )
    return RowResult("dashboard", f"The dashboard with {many:,} SecretSyncs, none of them Ready", figures)


@contextlib.asynccontextmanager
async def _running(kubeconfig: Path, log: Path, within_seconds: float) -> AsyncIterator[_Dashboard]:
    arguments = ["dashboard", "--no-browser", f"--kubeconfig={kubeconfig}"]
    process = Process(
        "keybearer dashboard", [command_path(), *arguments], log, environment=environment_of(log)
    )
    started = time.monotonic()
    await asyncio.to_thread(process.start)
    try:
        address = await _address(process, log, within_seconds)
        yield _Dashboard(address, started, ProcessMeter(process.pid))
    finally:
        await asyncio.to_thread(process.terminate, grace=_STOP)


async def _address(process: Process, log: Path, within_seconds: float) -> str:
    """Return the address that it prints."""
    deadline = time.monotonic() + within_seconds
    while time.monotonic() < deadline:
        process.check()
        text = await asyncio.to_thread(log.read_text)
        printed = [line for line in text.splitlines() if line.startswith("http://127.0.0.1:")]
        if printed:
            return printed[0]
        await asyncio.sleep(_POLL_SECONDS)
    raise NotInTimeError("the address of the dashboard", within_seconds, [str(log)])


async def _until_full(
    session: aiohttp.ClientSession, many: int, within_seconds: float
) -> tuple[float, float]:
    """Return when it first answered, and when an answer counted all objects (`time.monotonic`)."""
    deadline = time.monotonic() + within_seconds
    first = None
    while time.monotonic() < deadline:
        async with session.get("view/attention") as answer:
            total = orjson.loads(await answer.read())["total"]
        now = time.monotonic()
        first = now if first is None else first
        if total == many:
            return first, now
        await asyncio.sleep(_POLL_SECONDS)
    raise NotInTimeError("all objects on the dashboard", within_seconds, ["view/attention"])


async def _page(session: aiohttp.ClientSession, number: int) -> float:
    """Return how many seconds a page takes."""
    started = time.monotonic()
    async with session.get("view/attention", params={"page": str(number)}) as answer:
        await answer.read()
    return time.monotonic() - started
