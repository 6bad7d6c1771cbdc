"""Child processes that are waited for by condition, stopped with a deadline and never outlive us.

Each leads a process group of its own: Ctrl-C in a terminal reaches only us, and we stop the children in the
order they need.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from tools.controlplane.errors import ControlPlaneError, DeadlineExceededError, ProcessExitedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Child", "Launch", "Process", "kill_group", "spawn", "tether"]

_POLL_SECONDS = 0.05
_TAIL_BYTES = 64 * 1024
_TETHER = Path(__file__).with_name("tether.py")

# The kernel's parent-death signal is sent when the *thread* that forked ends, not the process (prctl(2)).
# A child started from a worker thread of asyncio.to_thread would die with that thread, so all children are
# started from one thread that lives as long as the interpreter.
_spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawner")


class Child(Protocol):
    """A running program, as `subprocess.Popen` has it."""

    pid: int

    @property
    def returncode(self) -> int | None:
        """Its exit status, where it was seen to have ended."""

    def poll(self) -> int | None:
        """Its exit status, or None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, or the negative number of the signal that ended it."""

    def send_signal(self, sig: int) -> None:
        """It was sent one, unless it has ended."""

    def kill(self) -> None:
        """It was sent SIGKILL, unless it has ended."""


class Launch(Protocol):
    """What starts a program, as `spawn` does."""

    def __call__(
        self,
        command: Sequence[str | Path],
        *,
        output: IO[bytes] | int,
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        """A running child with both output streams in the file."""


def spawn(
    command: Sequence[str | Path],
    *,
    output: IO[bytes] | int,
    errors: IO[bytes] | int = subprocess.STDOUT,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    user: int | None = None,
    parting: signal.Signals = signal.SIGKILL,
    inherited: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """A running child, in its own process group, without input.

    On Linux the kernel signals it (not its children) when this process ends, however it ends. Elsewhere only
    the caller's own clean-up ends it. May be called from any thread.

    Args:
        command: The first item is the path of a program; `PATH` is not searched.
        output: An open file, whose handle the caller may close at once, or `subprocess.PIPE`.
        errors: Likewise for standard error, which goes where the output goes by default.
        environment: All variables of the child; ours when None.
        directory: Its working directory; ours when None.
        user: Who it runs as, for whom we are root; we when None. Linux only.
        parting: The signal it gets when this process ends: one that ends it at once.
        inherited: Further open files that it has under the same numbers.
    """
    return _spawner.submit(
        subprocess.Popen,
        [*tether(user=user, parting=parting), *map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        env=environment,
        cwd=directory,
        start_new_session=True,
        pass_fds=inherited,
    ).result()


def tether(*, user: int | None = None, parting: signal.Signals = signal.SIGKILL) -> list[str]:
    """What comes before a command, by its path, so that the kernel signals it when the thread that starts it ends.

    Nothing where the kernel is not Linux.

    Args:
        user: Who it runs as, for whom we are root; we when None.
        parting: The signal.
    """
    if sys.platform != "linux":
        return []
    who = "-" if user is None else str(user)
    return [sys.executable, "-I", "-S", str(_TETHER), str(os.getpid()), str(int(parting)), who]


class Process:
    """A server program with a log file, started and stopped any number of times.

    Args:
        name: How messages call it.
        command: Path of the program and its arguments.
        log_file: Receives both output streams; further starts append.
        environment: All variables of the child; ours when None.
        user: Who it runs as, as for `spawn`.
        parting: The signal it gets when we end without stopping it, as for `spawn`.
        launch: What starts it; `spawn` with these two when None.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        log_file: Path,
        *,
        environment: Mapping[str, str] | None = None,
        user: int | None = None,
        parting: signal.Signals = signal.SIGKILL,
        launch: Launch | None = None,
    ) -> None:
        self.name = name
        self._command = command
        self._log_file = log_file
        self._environment = environment
        self._launch = launch or partial(spawn, user=user, parting=parting)
        self._child: Child | None = None
        self._log_start = 0

    @property
    def pid(self) -> int:
        """Process id of the running child; ControlPlaneError when it doesn't run."""
        if self._child is None or not self.running:
            raise ControlPlaneError(f"{self.name} is not running")
        return self._child.pid

    @property
    def running(self) -> bool:
        """Whether the child was started and has not ended."""
        return self._child is not None and self._child.poll() is None

    def start(self) -> None:
        """The child runs, though it may not be ready. ControlPlaneError when it already ran."""
        if self.running:
            raise ControlPlaneError(f"{self.name} is already running")
        with self._log_file.open("ab") as log:
            self._log_start = log.tell()
            self._child = self._launch(self._command, output=log, environment=self._environment)

    def check(self) -> None:
        """The child runs; ProcessExitedError with the end of its log when it has ended."""
        if self.running:
            return
        status = "was never started" if self._child is None else f"ended with status {self._child.returncode}"
        raise ProcessExitedError(f"{self.name} {status}; its log ends with:\n{self.log_tail()}")

    def wait_until(self, condition: Callable[[], bool], *, awaited: str, within: timedelta) -> None:
        """The condition has become true.

        Raises:
            ProcessExitedError: At once when the child ends before.
            DeadlineExceededError: After `within`; `awaited` completes "etcd did not ...".
        """
        deadline = time.monotonic() + within.total_seconds()
        while True:
            self.check()
            if condition():
                return
            if time.monotonic() > deadline:
                raise DeadlineExceededError(
                    f"{self.name} did not {awaited} within {within.total_seconds():g} s; "
                    f"its log ends with:\n{self.log_tail()}"
                )
            time.sleep(_POLL_SECONDS)

    def terminate(self, *, grace: timedelta, by: signal.Signals = signal.SIGTERM) -> None:
        """The child has ended: by SIGTERM, after `grace` by SIGKILL. Does nothing when it doesn't run."""
        if self._child is None:
            return
        self._child.send_signal(by)
        try:
            self._child.wait(grace.total_seconds())
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """The child has ended, by SIGKILL. Does nothing when it doesn't run."""
        if self._child is None:
            return
        self._child.kill()
        self._child.wait()

    def log_since_start(self) -> str:
        """What the latest start wrote, at most its last 64 KiB."""
        return self._read_log(self._log_start)

    def log_tail(self, lines: int = 40) -> str:
        """The last lines of the log, over all starts."""
        return "\n".join(self._read_log(0).splitlines()[-lines:])

    def _read_log(self, start: int) -> str:
        with contextlib.suppress(FileNotFoundError), self._log_file.open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(start, size - _TAIL_BYTES))
            return log.read().decode(errors="replace")
        return ""


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """The child and every process of its group are killed."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
