"""The Prometheus Operator as far as tests need it: its published CRDs."""

from __future__ import annotations

from pathlib import Path

from support.go_modules import module_sources
from tools.controlplane.controlplane import ControlPlane
from tools.local.operator_cluster import wait_established

__all__ = ["install_monitoring_crds"]

_CRDS = ("servicemonitors.monitoring.coreos.com", "prometheusrules.monitoring.coreos.com")
_LOCK = Path(__file__).parents[1] / "monitoring"
_NAME = "github.com/prometheus-operator/prometheus-operator"


def install_monitoring_crds(plane: ControlPlane) -> None:
    """The cluster serves ServiceMonitors and PrometheusRules, as the operator's release describes them."""
    directory = module_sources(_LOCK, _NAME) / "example" / "prometheus-operator-crd"
    files = [
        f"--filename={directory / f'{group}_{plural}.yaml'}"
        for plural, _, group in (name.partition(".") for name in _CRDS)
    ]
    plane.kubectl("apply", "--server-side", *files)
    wait_established(plane, *_CRDS)
