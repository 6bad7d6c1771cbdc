"""Builds the page (`make dashboard`), or holds the committed page against its source (`--check`)."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.dashboard.bundle import PAGE, BuildError, build, differences

__all__: list[str] = []


def _main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        found = differences()
        for one in found:
            print(f"dashboard: {one}", file=sys.stderr)
        if found:
            print("dashboard: run make dashboard, and commit what it writes", file=sys.stderr)
        return 1 if found else 0
    if arguments:
        print("usage: python -m tools.dashboard [--check]", file=sys.stderr)
        return 2
    try:
        build(PAGE, Path("build") / "dashboard")
    except BuildError as error:
        print(f"dashboard: {error}", file=sys.stderr)
        return 1
    print(f"built {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
