"""`make release`: builds wheel, image, chart, CRDs and what describes them into `dist/`."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from tools.chart.rendering import HelmError
from tools.controlplane.errors import BuildError
from tools.release.build import build
from tools.release.environment import read_settings
from tools.release.errors import ReleaseError

__all__ = ["main"]

_ROOT = Path(__file__).parents[2]


def main() -> int:
    """Exit status: 0, or 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument(
        "--output", type=Path, default=_ROOT / "dist", help="the directory; ./dist by default"
    )
    arguments = parser.parse_args()
    # What was begun is taken back when we are asked to end, as with Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        build(_ROOT, arguments.output.absolute(), read_settings())
    except (ReleaseError, BuildError, HelmError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
