"""Helm: built from the Go module in this folder, and run without anything of the user's own."""

from __future__ import annotations

from pathlib import Path

from tools.controlplane.binaries import cached_programs
from tools.controlplane.recipes import Recipe, required_version

__all__ = ["helm_binary", "helm_recipe"]

_MODULE = Path(__file__).parent


def helm_binary() -> Path:
    """Path of Helm in the cache, built if need be; BuildError when it can't be."""
    return cached_programs(helm_recipe(), ["helm"])["helm"]


def helm_recipe() -> Recipe:
    """Helm, which renders charts for the Kubernetes version of its client library."""
    version = required_version(_MODULE, "helm.sh/helm/v3")
    # client-go v0.X belongs to Kubernetes v1.X. The variables are those of Helm's Makefile; unset, charts are
    # rendered for Kubernetes 1.20.
    minor = required_version(_MODULE, "k8s.io/client-go").split(".")[1]
    variables = {"helm.sh/helm/v3/internal/version.version": version}
    for package in ("helm.sh/helm/v3/pkg/lint/rules", "helm.sh/helm/v3/pkg/chartutil"):
        variables |= {f"{package}.k8sVersionMajor": "1", f"{package}.k8sVersionMinor": minor}
    return Recipe("helm", _MODULE, version, {"helm": "helm.sh/helm/v3/cmd/helm"}, variables)
