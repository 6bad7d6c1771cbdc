"""Files that the programs of a node read. Each setting without a comment says where something is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.node.machine import MachinePrograms
    from tools.node.network import Addresses

__all__ = ["CLUSTER_DNS", "CLUSTER_DOMAIN", "NodeFiles", "node_name", "write_settings"]

CLUSTER_DNS = "10.96.0.10"
"""Of the Service of the cluster's DNS, in the API server's range of Services."""
CLUSTER_DOMAIN = "cluster.local"
_RUNTIME_SOCKET = Path("/run/containerd/containerd.sock")
"""The kubelet looks there for what it counts of containers, whatever its settings say."""


def node_name(index: int) -> str:
    """How Kubernetes calls the node of this number, counted from 1."""
    return f"node-{index}"


@dataclass(frozen=True, slots=True)
class NodeFiles:
    """Where a node has what it reads and writes.

    Attributes:
        directory: Of the node alone.
        client_ca: PEM; who may ask the kubelet has a certificate of it.
        kubelet_kubeconfig: Of the node's own user.
        proxy_kubeconfig: Of kube-proxy's.
    """

    directory: Path
    client_ca: Path
    kubelet_kubeconfig: Path
    proxy_kubeconfig: Path

    @property
    def places(self) -> Path:
        """What programs of the node find in places of the machine."""
        return self.directory / "places"

    @property
    def runtime_socket(self) -> Path:
        """Where this machine reaches containerd, which its node finds at the usual place."""
        return self.places / _RUNTIME_SOCKET.relative_to("/")

    @property
    def pod_logs(self) -> Path:
        """Where pods' output is, below `<namespace>_<pod>_<uid>/<container>`."""
        return self.directory / "pod-logs"

    @property
    def containerd(self) -> Path:
        """Settings of containerd."""
        return self.directory / "containerd.toml"

    @property
    def kubelet(self) -> Path:
        """Settings of the kubelet."""
        return self.directory / "kubelet.json"

    @property
    def proxy(self) -> Path:
        """Settings of kube-proxy."""
        return self.directory / "kube-proxy.json"

    @property
    def network(self) -> Path:
        """The directory of CNI's settings."""
        return self.directory / "cni"


def write_settings(
    files: NodeFiles,
    index: int,
    addresses: Addresses,
    programs: MachinePrograms,
    *,
    cgroup: str,
    snapshotter: str,
    sandbox_image: str,
) -> None:
    """All of them are there, for the node of that number."""
    files.network.mkdir()
    (files.network / "10-pods.conflist").write_text(json.dumps(_cni(files, addresses.pods(index))))
    files.containerd.write_text(_containerd(files, programs, snapshotter, sandbox_image))
    files.kubelet.write_text(json.dumps(_kubelet(files, cgroup)))
    files.proxy.write_text(json.dumps(_proxy(files, node_name(index))))


def _cni(files: NodeFiles, pods: str) -> dict[str, object]:
    return {
        "cniVersion": "1.0.0",
        "name": "pods",
        "plugins": [
            {
                # A veth pair and a route for each pod: answers to a Service's address never take a short cut past
                # kube-proxy's rules, as they do between the ports of one bridge.
                "type": "ptp",
                "ipMasq": False,
                "ipam": {
                    "type": "host-local",
                    "dataDir": str(files.directory / "addresses"),
                    "ranges": [[{"subnet": pods}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            }
        ],
    }


def _containerd(files: NodeFiles, programs: MachinePrograms, snapshotter: str, sandbox_image: str) -> str:
    directory = files.directory
    return f"""
version = 3
root = "{directory}/containerd"
state = "{directory}/containerd-state"

[grpc]
  address = "{_RUNTIME_SOCKET}"

[plugins."io.containerd.cri.v1.images"]
  snapshotter = "{snapshotter}"

[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "{sandbox_image}"

[plugins."io.containerd.cri.v1.runtime"]
  # Who lacks CAP_SYS_RESOURCE can't lower the score, and runc ends with "can't get final child's PID from pipe".
  restrict_oom_score_adj = true

[plugins."io.containerd.cri.v1.runtime".cni]
  bin_dirs = ["{programs.cni}"]
  conf_dir = "{files.network}"

[plugins."io.containerd.cri.v1.runtime".containerd]
  default_runtime_name = "runc"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
  BinaryName = "{programs.runc}"
  SystemdCgroup = false
"""


def _kubelet(files: NodeFiles, cgroup: str) -> dict[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": "0.0.0.0",  # noqa: S104 - in a network namespace of its own
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(files.client_ca)},
        },
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": f"unix://{_RUNTIME_SOCKET}",
        "podLogsDir": str(files.pod_logs),
        "clusterDNS": [CLUSTER_DNS],
        "clusterDomain": CLUSTER_DOMAIN,
        # The machine's resolver may be on its loopback, which pods can't reach.
        "resolvConf": "",
        # Nodes of one machine are kept apart by cgroups of their own; without systemd.
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{cgroup}",
        "failCgroupV1": False,
        "enforceNodeAllocatable": [],
        # The machine's disk and swap are its own affair: no pod is evicted, and no image removed, because of them.
        "evictionHard": {},
        "imageGCHighThresholdPercent": 100,
        "failSwapOn": False,
        # As by default, though these are still behind gates.
        "featureGates": {
            "ClusterTrustBundle": True,
            "ClusterTrustBundleProjection": True,
            "PodCertificateRequest": True,
        },
    }


def _proxy(files: NodeFiles, node: str) -> dict[str, object]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": str(files.proxy_kubeconfig)},
        "hostnameOverride": node,
        "mode": "nftables",
        # Settings of the whole kernel: they stay as they are.
        "conntrack": {
            "maxPerCore": 0,
            "min": 0,
            "tcpEstablishedTimeout": "0s",
            "tcpCloseWaitTimeout": "0s",
        },
    }
