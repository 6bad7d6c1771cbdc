"""What a process costs, read from /proc (Linux): processor time, resident memory, open files.

A process stands for itself and its descendants: the operator's template child would otherwise be free.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Memory", "ProcessMeter", "Ticks", "parse_stat_ticks", "parse_status_kib"]

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_MIB = 1024 * 1024
_SAMPLE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Ticks:
    """Processor time in clock ticks: of the process, and of the children it has waited for."""

    own: int
    reaped: int


def parse_stat_ticks(stat: str) -> Ticks:
    """Return utime + stime and cutime + cstime of /proc/PID/stat (fields 14 to 17, proc_pid_stat(5)).

    The second field is the program's name in parentheses and may itself hold blanks and parentheses.
    """
    fields = stat[stat.rindex(")") + 2 :].split()
    user, system, reaped_user, reaped_system = map(int, fields[11:15])
    return Ticks(own=user + system, reaped=reaped_user + reaped_system)


def parse_status_kib(status: str, name: str) -> int:
    """Return a field of /proc/PID/status in KiB, such as VmHWM; 0 when it is absent (a zombie has none)."""
    for line in status.splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident memory in MiB.

    Attributes:
        resident: of the whole tree; pages that its processes share count once for each.
        descendants: the part of `resident` that is not the process itself.
        peak: the largest `resident` of all samples, or the kernel's own high-water mark of the process.
    """

    resident: float
    descendants: float
    peak: float


class ProcessMeter:
    """Measures one running process from outside; `sampled()` must run for `peak` to see descendants.

    Args:
        pid: its process id.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._peak_bytes = 0

    def cpu_seconds(self) -> float:
        """Return processor time since the start of the process, in steps of a clock tick (10 ms)."""
        ticks = parse_stat_ticks(self._read("stat"))
        total = ticks.own + ticks.reaped
        for child in _descendants(self.pid):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                below = parse_stat_ticks(_read(child, "stat"))
                total += below.own + below.reaped
        return total / _TICKS_PER_SECOND

    def memory(self) -> Memory:
        """Return the memory of now, and the peak up to now."""
        own, below = self._sample()
        high_water = parse_status_kib(self._read("status"), "VmHWM") * 1024
        return Memory(
            resident=(own + below) / _MIB,
            descendants=below / _MIB,
            peak=max(high_water, self._peak_bytes) / _MIB,
        )

    def forget_peak(self) -> None:
        """`peak` is of what comes from now on (proc_pid_clear_refs(5))."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")
        self._peak_bytes = 0

    def open_files(self) -> int:
        """Return the number of open file descriptors of the process itself."""
        return sum(1 for _ in Path(f"/proc/{self.pid}/fd").iterdir())

    @contextlib.asynccontextmanager
    async def sampled(self) -> AsyncIterator[None]:
        """While the block runs, the tree is sampled every 100 ms, for the peak."""
        task = asyncio.create_task(self._keep_sampling(), name=f"memory of process {self.pid}")
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _keep_sampling(self) -> None:
        while True:
            try:
                self._sample()
            except (FileNotFoundError, ProcessLookupError):
                return  # it has ended; its owner sees that by other means
            await asyncio.sleep(_SAMPLE_SECONDS)

    def _sample(self) -> tuple[int, int]:
        own = _resident_bytes(self.pid)
        below = 0
        for child in _descendants(self.pid):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                below += _resident_bytes(child)
        self._peak_bytes = max(self._peak_bytes, own + below)
        return own, below

    def _read(self, name: str) -> str:
        return _read(self.pid, name)


def _resident_bytes(pid: int) -> int:
    return int(_read(pid, "statm").split()[1]) * _PAGE_BYTES


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                for child in map(int, (task / "children").read_text().split()):
                    found += [child, *_descendants(child)]
    return found


def _read(pid: int, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_text()
