"""The controllers of Kubernetes that make pods, for clusters of tests with somebody who runs these."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.controlplane.binaries import control_plane_binaries
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.process import Process
from tools.local.waiting import GRACE

__all__ = ["workload_controllers"]

_CONTROLLERS = (
    "deployment-controller",
    "job-controller",
    "persistentvolumeclaim-protection-controller",
    "replicaset-controller",
    "root-ca-certificate-publisher-controller",
    "statefulset-controller",
)


@contextmanager
def workload_controllers(plane: ControlPlane, directory: Path) -> Iterator[Process]:
    """Yield Kubernetes' own controllers of workloads, which no cluster of tests has otherwise."""
    authority = directory / "root-ca.crt"
    authority.write_bytes(plane.ca_pem)
    process = Process(
        "workload-controllers",
        [
            control_plane_binaries().kube_controller_manager,
            f"--kubeconfig={plane.admin_kubeconfig}",
            f"--controllers={','.join(_CONTROLLERS)}",
            f"--root-ca-file={authority}",
            "--leader-elect=false",
            "--kube-api-qps=400",
            "--kube-api-burst=800",
            "--secure-port=0",
        ],
        directory / "workload-controllers.log",
    )
    process.start()
    try:
        yield process
    finally:
        process.terminate(grace=GRACE)
