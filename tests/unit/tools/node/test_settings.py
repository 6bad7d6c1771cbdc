"""Files that the programs of a node read: well-formed, and within the node's own directory."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from tools.node.machine import MachinePrograms
from tools.node.network import Addresses
from tools.node.settings import CLUSTER_DNS, NodeFiles, write_settings


def test_all_that_programs_write_is_below_the_nodes_directory(tmp_path: Path) -> None:
    files = _written(tmp_path)
    containerd = tomllib.loads(files.containerd.read_text())
    (network,) = [json.loads(path.read_text()) for path in files.network.iterdir()]
    kubelet = json.loads(files.kubelet.read_text())
    places = [
        containerd["root"],
        containerd["state"],
        network["plugins"][0]["ipam"]["dataDir"],
        kubelet["podLogsDir"],
    ]
    assert kubelet["containerRuntimeEndpoint"] == f"unix://{containerd['grpc']['address']}"
    assert str(files.runtime_socket).endswith(containerd["grpc"]["address"])
    assert all(Path(place).is_relative_to(tmp_path) for place in places), places


def test_a_node_gives_its_pods_addresses_of_its_own_part_of_the_network(tmp_path: Path) -> None:
    (network,) = [json.loads(path.read_text()) for path in _written(tmp_path).network.iterdir()]
    assert network["plugins"][0]["ipam"]["ranges"] == [[{"subnet": "10.117.2.0/24"}]]


def test_pods_are_told_of_the_clusters_dns_alone(tmp_path: Path) -> None:
    kubelet = json.loads(_written(tmp_path).kubelet.read_text())
    assert (kubelet["clusterDNS"], kubelet["resolvConf"]) == ([CLUSTER_DNS], "")


def test_containerd_starts_containers_as_it_was_told(tmp_path: Path) -> None:
    plugins = tomllib.loads(_written(tmp_path).containerd.read_text())["plugins"]
    runtime = plugins["io.containerd.cri.v1.runtime"]
    assert runtime["containerd"]["runtimes"]["runc"]["options"]["BinaryName"] == "/usr/sbin/runc"
    assert runtime["cni"]["bin_dirs"] == ["/usr/lib/cni"]
    images = plugins["io.containerd.cri.v1.images"]
    assert (images["snapshotter"], images["pinned_images"]) == ("native", {"sandbox": "example.invalid/s:1"})


def _written(directory: Path) -> NodeFiles:
    files = NodeFiles(directory, directory / "ca", directory / "kubelet", directory / "proxy")
    programs = MachinePrograms(
        busybox=Path("/bin/busybox"),
        cni=Path("/usr/lib/cni"),
        ip=Path("/sbin/ip"),
        nsenter=Path("/usr/bin/nsenter"),
        runc=Path("/usr/sbin/runc"),
        unshare=Path("/usr/bin/unshare"),
    )
    write_settings(
        files,
        2,
        Addresses(117),
        programs,
        cgroup="keybearer-tests-2",
        snapshotter="native",
        sandbox_image="example.invalid/s:1",
    )
    return files
