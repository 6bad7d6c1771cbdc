"""`make release`: builds wheel, image, chart, CRDs and what describes them into `dist/`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.chart.rendering import HelmError
from tools.controlplane.errors import BuildError
from tools.controlplane.stopping import StopRequested, stop_on_signals
from tools.release.build import build
from tools.release.environment import read_settings
from tools.release.errors import ReleaseError
from tools.release.present import present_release
from tools.release.progress import report

__all__ = ["main"]

_ROOT = Path(__file__).parents[2]


def main() -> int:
    """Exit status: 0, or 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument(
        "--output", type=Path, default=_ROOT / "dist", help="the directory; ./dist by default"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="build nothing; say whether the directory holds a release of the commit that is checked out",
    )
    arguments = parser.parse_args()
    stop_on_signals()
    try:
        if arguments.check:
            found = present_release(arguments.output.absolute(), _ROOT)
            report(f"{found.dist} holds keybearer {found.version} of commit {found.commit.name}")
        else:
            build(_ROOT, arguments.output.absolute(), read_settings())
    except (ReleaseError, BuildError, HelmError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except StopRequested:
        sys.stderr.write("stopped: run make release again\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
