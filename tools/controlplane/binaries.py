"""Finds the programs of the control plane, and others that are built from Go modules; builds the missing ones.

A build takes some eight minutes of CPU and happens once per user and version.
"""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.controlplane.cache import exclusive
from tools.controlplane.environment import go_environment, kubebuilder_assets
from tools.controlplane.errors import BuildError
from tools.controlplane.process import kill_group, spawn
from tools.controlplane.progress import Build, BuildProgress, announcement, report
from tools.controlplane.recipes import Recipe, control_plane_recipe, next_api_server_recipe
from tools.controlplane.toolchain import go_command

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Binaries", "cached_programs", "control_plane_binaries", "next_api_server"]

_FAILURE_LINES = 30


@dataclass(frozen=True, slots=True)
class Binaries:
    """Paths of programs that exist and may be executed."""

    etcd: Path
    kube_apiserver: Path
    kube_controller_manager: Path
    kubectl: Path


def control_plane_binaries() -> Binaries:
    """The programs of `KUBEBUILDER_ASSETS` if it is set, else those of the cache, built if need be.

    `KUBEBUILDER_ASSETS` must hold etcd, kube-apiserver and kubectl of Kubernetes 1.35 or newer (the first
    with `PodCertificateRequest` in certificates.k8s.io/v1beta1). kube-controller-manager, which envtest's
    archives lack, is taken from the cache when it is not there.

    Raises:
        BuildError: A program is missing from `KUBEBUILDER_ASSETS` or can't be built.
    """
    found: dict[str, Path] = {}
    assets = kubebuilder_assets()
    if assets is not None:
        found = {
            name: assets / name for name in control_plane_recipe().packages if _executable(assets / name)
        }
        missing = {"etcd", "kube-apiserver", "kubectl"} - found.keys()
        if missing:
            raise BuildError(
                f"KUBEBUILDER_ASSETS={assets} lacks {', '.join(sorted(missing))}: unset or fill it"
            )
    recipe = control_plane_recipe()
    found |= cached_programs(recipe, [name for name in recipe.packages if name not in found])
    return Binaries(
        etcd=found["etcd"],
        kube_apiserver=found["kube-apiserver"],
        kube_controller_manager=found["kube-controller-manager"],
        kubectl=found["kubectl"],
    )


def next_api_server() -> Path:
    """kube-apiserver of the next minor version in the cache, built if need be.

    Raises:
        BuildError: It can't be built.
    """
    return cached_programs(next_api_server_recipe(), ["kube-apiserver"])["kube-apiserver"]


def cached_programs(recipe: Recipe, names: list[str]) -> dict[str, Path]:
    """Paths of these programs in the cache, by name; built if need be.

    Raises:
        BuildError: One can't be built.
    """
    directory = recipe.directory
    if not all(_executable(directory / name) for name in names):
        with exclusive(directory):
            missing = [name for name in names if not _executable(directory / name)]
            if missing:
                minutes = recipe.minutes if len(missing) == len(recipe.packages) else ""
                report(announcement(missing, str(directory), minutes))
            for number, name in enumerate(missing, start=1):
                _build(recipe, Build(name, number, len(missing), recipe.seconds_at_most.get(name)))
    return {name: directory / name for name in names}


def _build(recipe: Recipe, build: Build) -> None:
    """The program is in the recipe's directory, whole. The caller holds the lock, so the passing names are ours."""
    name, directory = build.name, recipe.directory
    go = go_command(recipe.module)
    unfinished, log_file = directory / f".{name}.unfinished", directory / f"{name}.log"
    report(f"building {name} {recipe.version} ({build.number} of {build.count}) with {go}")
    started = time.monotonic()
    with log_file.open("wb") as log:
        child = spawn(
            [go, "build", *recipe.flags, "-o", unfinished, recipe.packages[name]],
            output=log,
            environment=go_environment(),
            directory=recipe.module,
        )
    try:
        with BuildProgress(build) as progress:
            while _still_runs(child, progress.interval_seconds):
                progress.update(time.monotonic() - started)
    except BaseException:
        kill_group(child)
        raise
    if child.returncode != 0:
        tail = "\n".join(log_file.read_text(errors="replace").splitlines()[-_FAILURE_LINES:])
        raise BuildError(f"go build of {name} ended with status {child.returncode}:\n{tail}")
    unfinished.replace(directory / name)
    log_file.unlink()
    report(f"built {name} in {time.monotonic() - started:.0f} s")


def _still_runs(child: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it has not ended after so many seconds."""
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
