"""Namespaces for the programs of a node, which end all together, also where this process is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tools.controlplane.errors import ControlPlaneError
from tools.controlplane.process import Process, spawn
from tools.local.waiting import GRACE, PATIENCE, PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["UNSHARED", "Namespaces", "run_command"]

UNSHARED = ("--net", "--mount", "--propagation=private", "--pid", "--fork", "--mount-proc")
"""What unshare is told so that a program gets process, mount and network namespaces of its own."""

_HERE = Path(__file__).parent
_FIRST, _ENTERED = _HERE / "first_process.py", _HERE / "entered.py"


class Namespaces:
    """Process, mount and network namespaces of their own, from `start()` to `stop()`.

    When this process dies, the kernel ends all that runs in them, and with it mounts and interfaces.

    Args:
        name: How messages call them.
        directory: Exists; gets the log.
        unshare: The program.
        places: Exists, and is empty: gets what programs write in places of the machine. None: that goes there.
    """

    def __init__(self, name: str, directory: Path, unshare: Path, *, places: Path | None) -> None:
        self._ready = directory / "ready"
        self._holder = Process(
            name,
            [
                *(unshare, *UNSHARED, "--kill-child=SIGKILL"),
                *(sys.executable, "-I", "-S", _FIRST, self._ready),
                *([] if places is None else [places]),
            ],
            directory / "first-process.log",
        )
        self._first_pid: int | None = None

    def start(self) -> None:
        """They are there; raises as the start of a process."""
        self._holder.start()
        self._holder.wait_until(self._ready.exists, awaited="make its namespaces", within=PATIENCE)
        pid = self._holder.pid
        self._first_pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text())

    @property
    def pid(self) -> int:
        """The number that this machine has for their first process; ControlPlaneError before the start."""
        if self._first_pid is None:
            raise ControlPlaneError("these namespaces were not started")
        return self._first_pid

    @property
    def network(self) -> Path:
        """What leads into their network, for as long as they are there."""
        return Path(f"/proc/{self.pid}/ns/net")

    def stop(self) -> None:
        """Nothing runs in them any more. May be called twice."""
        if self._first_pid is not None:
            # The kernel ends all others of the namespace before it lets the first one go.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._first_pid, signal.SIGKILL)
            self._first_pid = None
        self._holder.terminate(grace=GRACE)

    def launch(
        self,
        command: Sequence[str | Path],
        *,
        output: IO[bytes] | int,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """A running program in them; see `spawn`."""
        entered = [sys.executable, "-I", "-S", _ENTERED, str(self.pid), *command]
        return spawn(entered, output=output, environment=environment)


def run_command(command: Sequence[str | Path], *, given: str = "") -> str:
    """What a short command printed; ControlPlaneError with what it said where its status isn't 0."""
    done = subprocess.run(
        list(map(str, command)),
        input=given,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise ControlPlaneError(
            f"{' '.join(map(str, command))}: status {done.returncode}: {(done.stderr or done.stdout).strip()}"
        )
    return done.stdout
