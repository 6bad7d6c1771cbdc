"""cert-manager as far as tests need it: its published CRDs, and its controller where a variable names the program."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.go_modules import module_sources
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.process import Process
from tools.local.operator_cluster import wait_established
from tools.local.waiting import GRACE

__all__ = [
    "CERT_MANAGER_CRDS",
    "cert_manager_controller",
    "cert_manager_running",
    "install_cert_manager_crds",
    "remove_cert_manager_crds",
]

CERT_MANAGER_CRDS = ("certificaterequests.cert-manager.io", "certificates.cert-manager.io")
_MODULE = Path(__file__).parents[1] / "certmanager"
_NAME = "github.com/cert-manager/cert-manager"
_GROUP = "cert-manager.io"


def cert_manager_controller() -> Path | None:
    """The program of cert-manager's controller that the user names in `CERT_MANAGER_CONTROLLER`."""
    named = os.environ.get("CERT_MANAGER_CONTROLLER")  # noqa: TID251 - an option of the tests that use it
    return Path(named) if named else None


def install_cert_manager_crds(plane: ControlPlane) -> None:
    """The cluster serves cert-manager's kinds, as its release describes them."""
    plane.kubectl("apply", "--server-side", f"--filename={_sources() / 'deploy' / 'crds'}")
    wait_established(plane, *CERT_MANAGER_CRDS)


@contextmanager
def cert_manager_running(program: Path, plane: ControlPlane, directory: Path) -> Iterator[Process]:
    """Yield cert-manager's controller, which approves every request by itself: there is no webhook to object."""
    command: list[str | Path] = [
        program,
        f"--kubeconfig={plane.admin_kubeconfig}",
        "--leader-elect=false",
        "--metrics-listen-address=127.0.0.1:0",
        "--internal-healthz-listen-address=127.0.0.1:0",
    ]
    process = Process("cert-manager-controller", command, directory / "cert-manager-controller.log")
    process.start()
    try:
        yield process
        process.check()
    finally:
        process.terminate(grace=GRACE)


def remove_cert_manager_crds(plane: ControlPlane) -> None:
    """The cluster serves them no more, and has forgotten all their objects."""
    # An API server that first reads the storage of a kind in order to empty it may wait for that storage for ever.
    named = plane.kubectl("get", "crds", "--output=name").split()
    kinds = [one for name in named if (one := name.partition("/")[2]).endswith(_GROUP)]
    plane.kubectl("get", ",".join(kinds), "--all-namespaces")
    plane.kubectl("delete", "--wait=true", f"--filename={_sources() / 'deploy' / 'crds'}")


def _sources() -> Path:
    return module_sources(_MODULE, _NAME)
