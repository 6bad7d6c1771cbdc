"""`python -m tools.controlplane build` and `... run`: for the Makefile, demo, benchmarks and people."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tools.controlplane.binaries import control_plane_binaries, next_api_server
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.errors import ControlPlaneError
from tools.controlplane.stopping import StopRequested, stop_on_signals

__all__ = ["main"]

_CHECK_SECONDS = 0.5


def main() -> int:
    """Exit status: 0, or 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m tools.controlplane", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    build = actions.add_parser("build", help="build every program that the cache lacks")
    build.add_argument(
        "--next", action="store_true", help="and the API server of the next minor version, for the deep tests"
    )
    run = actions.add_parser("run", help="run a control plane until SIGINT or SIGTERM")
    run.add_argument("--logs", type=Path, metavar="DIR", help="write the servers' logs there and keep them")
    arguments = parser.parse_args()
    try:
        if arguments.action == "build":
            control_plane_binaries()
            if arguments.next:
                next_api_server()
        else:
            _run(arguments.logs)
    except ControlPlaneError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _run(logs: Path | None) -> None:
    """Prints one JSON line when ready. Ends in good order on a signal, with an error if a server ends."""
    stop_on_signals()
    try:
        with ControlPlane(log_directory=logs) as control_plane:
            ready = {"server": control_plane.server_url, "kubeconfig": str(control_plane.admin_kubeconfig)}
            sys.stdout.write(json.dumps(ready) + "\n")
            sys.stdout.flush()
            while True:
                control_plane.check()
                time.sleep(_CHECK_SECONDS)
    except StopRequested:
        return


if __name__ == "__main__":
    sys.exit(main())
