"""The programs of a node: those built from Go modules, and those of the operating system."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.controlplane.binaries import cached_programs
from tools.controlplane.recipes import Recipe, node_recipe, required_version

__all__ = ["NodePrograms", "containerd_recipe", "coredns_recipe", "node_programs"]

_HERE = Path(__file__).parent
_CONTAINERD = "github.com/containerd/containerd/v2"
_COREDNS = "github.com/coredns/coredns"


@dataclass(frozen=True, slots=True)
class NodePrograms:
    """Paths of programs that exist and may be executed."""

    kubelet: Path
    kube_proxy: Path
    kube_scheduler: Path
    containerd: Path
    ctr: Path
    coredns: Path


def containerd_recipe() -> Recipe:
    """containerd, its shim for runc, and ctr. The shim is looked for beside containerd."""
    return Recipe(
        "containerd",
        _HERE / "containerd",
        version=required_version(_HERE / "containerd", _CONTAINERD),
        packages={
            name: f"{_CONTAINERD}/cmd/{name}" for name in ("containerd", "containerd-shim-runc-v2", "ctr")
        },
        variables={f"{_CONTAINERD}/version.Version": required_version(_HERE / "containerd", _CONTAINERD)},
        # Snapshots of overlayfs and of plain copies remain.
        tags=("no_btrfs", "no_devmapper", "no_tracing", "no_zfs"),
    )


def coredns_recipe() -> Recipe:
    """CoreDNS, with the few plugins of `main.go`."""
    module = _HERE / "coredns"
    return Recipe("coredns", module, required_version(module, _COREDNS), {"coredns": "."}, {})


def node_programs() -> NodePrograms:
    """Paths in the cache, built if need be; BuildError when they can't be."""
    built: dict[str, Path] = {}
    for recipe in (node_recipe(), containerd_recipe(), coredns_recipe()):
        built |= cached_programs(recipe, list(recipe.packages))
    return NodePrograms(
        kubelet=built["kubelet"],
        kube_proxy=built["kube-proxy"],
        kube_scheduler=built["kube-scheduler"],
        containerd=built["containerd"],
        ctr=built["ctr"],
        coredns=built["coredns"],
    )
