"""What a run ran on, and that it is alone there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from tools.bench.errors import BenchError

__all__ = ["describe_machine", "held_directory"]

_ROOT = Path(__file__).parents[2]


def describe_machine() -> dict[str, str]:
    """Return processor, memory, versions and the commit, each in words."""
    commit = subprocess.run(
        ["git", "-C", str(_ROOT), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "processors": f"{os.cpu_count()} x {_processor()}",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "load before the run": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "Keybearer": f"{version('keybearer')} ({commit.stdout.strip() or 'no commit'})",
    }


@contextlib.contextmanager
def held_directory(directory: Path) -> Iterator[None]:
    """No other run uses the directory, which exists, while the block runs.

    Raises:
        BenchError: another run does. Two at once would also spoil each other's figures.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            msg = f"another run of the benchmarks uses {directory}; wait until it ends"
            raise BenchError(msg) from error
        yield


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
