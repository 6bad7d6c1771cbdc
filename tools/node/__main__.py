"""`python -m tools.node`: a cluster whose nodes run pods, on this machine, until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tools.controlplane.errors import ControlPlaneError
from tools.controlplane.stopping import StopRequested, stop_on_signals
from tools.local.waiting import NotInTimeError
from tools.node.cluster import BUSYBOX_IMAGE, NodeCluster
from tools.node.machine import machine_programs, shortcomings
from tools.node.programs import node_programs
from tools.node.records import clear_abandoned

__all__ = ["main"]

_CHECK_SECONDS = 0.5


def main() -> int:
    """Exit status: 0, or 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m tools.node", description=__doc__)
    parser.add_argument("--nodes", type=int, choices=(1, 2, 3), default=1, help="how many; 1 by default")
    parser.add_argument(
        "--load",
        type=Path,
        action="append",
        default=[],
        metavar="ARCHIVE",
        help="images that pods may use without pulling them, as docker or OCI writes them",
    )
    parser.add_argument(
        "--logs", type=Path, metavar="DIR", help="write the programs' logs there and keep them"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--build", action="store_true", help="only build every program that the cache lacks")
    instead.add_argument("--clear", action="store_true", help="only clear what killed runs left")
    instead.add_argument(
        "--check", action="store_true", help="only say why this machine can't have nodes, if so"
    )
    arguments = parser.parse_args()
    try:
        if arguments.build:
            node_programs()
        elif arguments.clear:
            clear_abandoned(machine_programs().ip)
        elif arguments.check:
            found = shortcomings()
            sys.stderr.writelines(f"{one}\n" for one in found)
            return 1 if found else 0
        else:
            _run(arguments.nodes, arguments.load, arguments.logs)
    except (ControlPlaneError, NotInTimeError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _run(nodes: int, archives: list[Path], logs: Path | None) -> None:
    """Prints one JSON line when ready. Ends in good order on a signal, with an error if a program ends."""
    stop_on_signals()
    try:
        with NodeCluster(nodes, log_directory=logs) as cluster:
            for archive in archives:
                cluster.load(archive)
            ready = {
                "server": cluster.plane.server_url,
                "kubeconfig": str(cluster.plane.admin_kubeconfig),
                "machine": cluster.address,
                "image": BUSYBOX_IMAGE,
            }
            sys.stdout.write(json.dumps(ready) + "\n")
            sys.stdout.flush()
            while True:
                cluster.check()
                time.sleep(_CHECK_SECONDS)
    except StopRequested:
        return


if __name__ == "__main__":
    sys.exit(main())
