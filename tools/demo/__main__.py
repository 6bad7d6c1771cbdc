"""`make demo`: starts a control plane, the service and the operator, applies examples/, and watches what happens.

With DEMO_EXIT=1 in the environment it ends after the last step, with status 0 only if everything was observed;
otherwise everything stays up until Ctrl-C, for trying things out.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import tempfile
from pathlib import Path

from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.errors import ControlPlaneError
from tools.demo.cluster import Cluster
from tools.demo.console import DemoError, Stage
from tools.demo.tour import Tour

__all__ = ["main"]


def main() -> int:
    """Run the demo; the exit status is 0 when all of it was observed."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--kubeconfig", help="use this cluster instead of a local control plane")
    arguments = parser.parse_args()
    stays = os.environ.get("DEMO_EXIT") != "1"  # noqa: TID251 - the demo is no part of the package
    stage = Stage()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="keybearer-demo-")))
            cluster = _cluster(stack, stage, arguments.kubeconfig)
            tour = stack.enter_context(Tour(stage, cluster, folder))
            tour.run()
            stage.console.print("\n[bold green]Everything was observed.[/]")
            if stays:
                tour.stay()
    except (DemoError, ControlPlaneError) as error:
        stage.console.print(f"[bold red]The demo did not see what it should:[/] {error}", soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        stage.console.print("\nStopped.")
    return 0


def _cluster(stack: contextlib.ExitStack, stage: Stage, kubeconfig: str | None) -> Cluster:
    if kubeconfig is not None:
        if not Path(kubeconfig).is_file():
            raise DemoError(f"there is no kubeconfig {kubeconfig}; name one that exists with KUBECONFIG=...")
        return Cluster(kubeconfig)
    with stage.step("Start a Kubernetes control plane: etcd, kube-apiserver, two controllers") as observed:
        control_plane = stack.enter_context(ControlPlane())
        observed(f"the API server answers at {control_plane.server_url}")
    return Cluster(str(control_plane.admin_kubeconfig), control_plane)


if __name__ == "__main__":
    sys.exit(main())
