"""What a run ran on, for whoever compares two runs."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

__all__ = ["describe_machine"]

_ROOT = Path(__file__).parents[1]


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


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
