"""Secrets that are none of ours: they must cost no memory, whether they come later or were there first."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from tools.bench.coldsync import settle, synced, with_operator
from tools.bench.figures import Bar, Figure, Others, RowResult
from tools.bench.kube import in_parallel, secret_path
from tools.bench.options import Options
from tools.bench.rows.cold import warm_up
from tools.bench.stage import Stage, open_stage
from tools.bench.workload import Workload

__all__ = ["run"]

_BYTES = 10 * 1024
# Resident memory moves by a few MiB between two looks at the same idle process.
_NOISE_MIB = 5.0


async def run(options: Options, _earlier: Mapping[str, RowResult]) -> RowResult:
    """Measure memory before and after foreign Secrets, of a running operator and of one that starts later."""
    async with open_stage(options, "foreign") as stage:
        await warm_up(stage)
        workload = stage.workload("foreign")
        async with synced(stage, workload) as (running, _):
            await settle(running)
            before = running.operator.meter.memory()
            await _create_foreign(stage, workload, options.foreign_secrets)
            await settle(running)
            after = running.operator.meter.memory()
        among = await _restarted_peak(stage, workload)
        await _delete_foreign(stage, workload)
        alone = await _restarted_peak(stage, workload)
    count = options.foreign_secrets
    bar = Bar("+0", _NOISE_MIB)
    figures = (
        Figure(
            f"memory that {count:,} foreign Secrets of 10 KiB add to a running operator",
            "MiB",
            ours=after.resident - before.resident,
            bar=bar,
            others=Others("+0", "+38 MiB"),
        ),
        Figure(
            "what they add to the peak of an operator that starts among them",
            "MiB",
            ours=among - alone,
            bar=bar,
        ),
    )
    notes = (
        f"at rest: {before.resident:.1f} MiB before, {after.resident:.1f} MiB after",
        f"peak of a start: {among:.1f} MiB among them, {alone:.1f} MiB without them",
        f"up to {_NOISE_MIB:g} MiB count as +0: resident memory of an idle process moves that much",
    )
    return RowResult("foreign", f"{count:,} foreign Secrets", figures, notes)


async def _restarted_peak(stage: Stage, workload: Workload) -> float:
    async with with_operator(stage, workload) as running:
        await running.operator.ready_seconds()
        await settle(running)
        return running.operator.meter.memory().peak


async def _create_foreign(stage: Stage, workload: Workload, count: int) -> None:
    content = base64.b64encode(b"x" * _BYTES).decode()

    async def create(number: int) -> None:
        namespace = workload.namespaces[number % len(workload.namespaces)]
        manifest = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": f"foreign-{number}",
                "namespace": namespace,
                "labels": {"owner": "somebody"},
            },
            "data": {"content": content},
        }
        await stage.cluster.api.send("POST", secret_path(namespace), manifest)

    await in_parallel(range(count), create)


async def _delete_foreign(stage: Stage, workload: Workload) -> None:
    async def clear(namespace: str) -> None:
        await stage.cluster.api.send(
            "DELETE", secret_path(namespace), query={"labelSelector": "owner=somebody"}
        )

    await in_parallel(workload.namespaces, clear)
