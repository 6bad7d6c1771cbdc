"""How commands reach a cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Kubeconfig", "default_kubeconfig"]

Kubeconfig = Annotated[
    str | None,
    typer.Option(envvar="KUBECONFIG", help="Kubeconfig. Default: ~/.kube/config, or the pod's account."),
]


def default_kubeconfig() -> str | None:
    """Return the user's kubeconfig outside a cluster; None inside one, where the pod's account counts."""
    if "KUBERNETES_SERVICE_HOST" in os.environ:
        return None
    return str(Path.home() / ".kube" / "config")
