"""`python -m tools.chart build` builds the pinned Helm; `... lint` holds the chart against it."""

from __future__ import annotations

import argparse
import sys

from tools.chart.helm import helm_binary
from tools.chart.rendering import CHART, HelmError, helm
from tools.controlplane.errors import BuildError

__all__ = ["main"]


def main() -> int:
    """Exit status: 0, or 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m tools.chart", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("build", help="build Helm where the cache lacks it")
    actions.add_parser("lint", help="lint the chart; a warning is an error")
    arguments = parser.parse_args()
    try:
        if arguments.action == "build":
            helm_binary()
        else:
            sys.stdout.write(helm("lint", "--strict", "--quiet", str(CHART)))
    except (BuildError, HelmError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
