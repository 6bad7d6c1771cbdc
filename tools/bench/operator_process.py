"""The operator under measurement: a real `keybearer operator` process, started, timed and stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import aiohttp

from tools.bench.errors import NotInTimeError
from tools.bench.process_meter import ProcessMeter
from tools.bench.service import command_path
from tools.controlplane.ports import free_port
from tools.controlplane.process import Process

__all__ = ["OperatorFlags", "RunningOperator", "environment_of", "running_operator"]

_STOP = timedelta(seconds=60)
_READY_SECONDS = 60.0
_READY_POLL_SECONDS = 0.02
_WATCHDOG_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class OperatorFlags:
    """How the operator is started.

    Attributes:
        kubeconfig: of its own service account.
        service_url: the proxy's.
        namespace: where it keeps its own objects.
        interpreter: arguments of Python before the command, for profiling; none starts the command itself.
    """

    kubeconfig: Path
    service_url: str
    namespace: str
    interpreter: tuple[str, ...] = ()


class RunningOperator:
    """An operator process.

    Attributes:
        log_file: everything that it prints.
        started_at: `time.monotonic` just before the process was created.
        meter: measures it.
    """

    def __init__(self, process: Process, log_file: Path, health_url: str) -> None:
        self._process = process
        self.log_file = log_file
        self._health_url = health_url
        self._stopping = False
        self.started_at = 0.0
        self.meter = ProcessMeter(0)

    async def start(self) -> None:
        """The process exists."""
        self.started_at = time.monotonic()
        await asyncio.to_thread(self._process.start)
        self.meter = ProcessMeter(self._process.pid)

    def check(self) -> None:
        """Returns while it runs; ProcessExitedError with the end of its log when it has ended."""
        self._process.check()

    def log_tail(self) -> str:
        """Return the last lines that it logged."""
        return self._process.log_tail()

    async def ready_seconds(self) -> float:
        """Return how long after its start `/readyz` first answered 200, in steps of 20 ms.

        Raises:
            NotInTimeError: it did not.
            ProcessExitedError: it ended before.
        """
        timeout = aiohttp.ClientTimeout(total=1)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            while time.monotonic() - self.started_at < _READY_SECONDS:
                self.check()
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    async with session.get(self._health_url) as answer:
                        if answer.status == 200:
                            return time.monotonic() - self.started_at
                await asyncio.sleep(_READY_POLL_SECONDS)
        raise NotInTimeError("the operator ready", _READY_SECONDS, [self._health_url])

    async def stop(self) -> float:
        """It has ended after SIGTERM; return how many seconds that took."""
        self._stopping = True
        started = time.monotonic()
        await asyncio.to_thread(self._process.terminate, grace=_STOP)
        return time.monotonic() - started

    async def fail_when_it_ends(self) -> None:
        """Watch it until `stop`; ProcessExitedError when it ends by itself."""
        while not self._stopping:
            self.check()
            await asyncio.sleep(_WATCHDOG_SECONDS)


@contextlib.asynccontextmanager
async def running_operator(flags: OperatorFlags, log_file: Path) -> AsyncIterator[RunningOperator]:
    """Run an operator while the block runs, ready or not yet; it has ended afterwards.

    An operator that ends by itself ends the block, with an error that holds the end of its log.
    """
    port = free_port()
    process = Process(
        "keybearer operator",
        [*_program(flags), *_arguments(flags, port)],
        log_file,
        environment={**environment_of(log_file), "KUBECONFIG": str(flags.kubeconfig)},
    )
    operator = RunningOperator(process, log_file, f"http://127.0.0.1:{port}/readyz")
    await operator.start()
    try:
        async with operator.meter.sampled(), asyncio.TaskGroup() as group:
            watchdog = group.create_task(operator.fail_when_it_ends(), name="watchdog of the operator")
            yield operator
            watchdog.cancel()
    finally:
        await operator.stop()


def environment_of(log_file: Path) -> dict[str, str]:
    """Return what a measured program sees.

    Nothing of the caller's own environment: Python then reads and writes its byte code as usual.
    """
    return {"PATH": os.defpath, "HOME": str(log_file.parent)}


def _program(flags: OperatorFlags) -> list[str | Path]:
    command = command_path()
    return [sys.executable, *flags.interpreter, command] if flags.interpreter else [command]


def _arguments(flags: OperatorFlags, port: int) -> list[str]:
    return [
        "operator",
        f"--service-url={flags.service_url}",
        "--allow-insecure-http",
        f"--metrics-listen=127.0.0.1:{port}",
        f"--lease-namespace={flags.namespace}",
        # One process: a Lease would add writes that have nothing to do with syncs.
        "--no-leader-election",
        "--log-format=json",
    ]
