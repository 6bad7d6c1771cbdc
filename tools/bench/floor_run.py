"""Runs the floor beside everything else: makes its objects, starts it, takes the objects away again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import orjson

from tools.bench.errors import BenchError
from tools.bench.floor import STARTED, FloorResult
from tools.bench.kube import secretsync_path
from tools.bench.observer import observing
from tools.bench.population import create_namespaces, create_secretsyncs, remove
from tools.bench.process_meter import ProcessMeter
from tools.bench.stage import Stage
from tools.bench.workload import Key

__all__ = ["PreparedFloor", "prepared_floor"]

_ROOT = Path(__file__).parents[2]


class PreparedFloor:
    """SecretSyncs that wait for their two writes; run once.

    Attributes:
        started: set when the first write is about to be sent.
        finished: set when the last one was answered.
    """

    def __init__(self, stage: Stage, targets: list[tuple[str, str, str]]) -> None:
        self._stage = stage
        self._targets = targets
        self.started = asyncio.Event()
        self.finished = asyncio.Event()

    @property
    def first(self) -> Key:
        """One of the objects."""
        namespace, name, _ = self._targets[0]
        return namespace, name

    async def run(self) -> FloorResult:
        """Return what the writes cost; the program is a process of its own.

        Raises:
            BenchError: it failed.
        """
        options = self._stage.options
        api_server = ProcessMeter(self._stage.cluster.plane.api_server_pid)
        api_server_before = api_server.cpu_seconds()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tools.bench.floor", str(self._stage.cluster.operator_kubeconfig)),
            *(str(options.at_once), str(options.dimensions.keys)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={"PATH": os.defpath, "PYTHONPATH": str(_ROOT)},
        )
        if process.stdin is None or process.stdout is None:
            msg = "the floor has no pipes"
            raise BenchError(msg)
        process.stdin.write(orjson.dumps(self._targets))
        process.stdin.write_eof()
        if (await process.stdout.readline()).decode().strip() == STARTED:
            self.started.set()
        printed = await process.stdout.readline()
        self.finished.set()
        api_server_cpu_seconds = api_server.cpu_seconds() - api_server_before
        status = await process.wait()
        if status != 0:
            msg = f"the floor ended with status {status}; what it says about that stands above"
            raise BenchError(msg)
        return FloorResult(**{**orjson.loads(printed), "api_server_cpu_seconds": api_server_cpu_seconds})


@contextlib.asynccontextmanager
async def prepared_floor(stage: Stage) -> AsyncIterator[PreparedFloor]:
    """While the block runs, the floor's objects exist: as many as of a cold sync, in namespaces of their own."""
    api, workload = stage.cluster.api, stage.workload("floor")
    await create_namespaces(api, workload)
    await create_secretsyncs(api, workload)
    targets: list[tuple[str, str, str]] = []
    for namespace in workload.namespaces:
        listed = orjson.loads(await api.send("GET", secretsync_path(namespace)))
        metadata = (item["metadata"] for item in listed["items"])
        targets += [(namespace, meta["name"], meta["uid"]) for meta in metadata]
    try:
        # What watches the operator's writes watches these as well, at the same cost.
        async with observing(api, workload):
            yield PreparedFloor(stage, targets)
    finally:
        await remove(api, workload)
