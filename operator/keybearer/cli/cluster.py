"""How commands reach a cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from keybearer.base.errors import ConfigurationError

__all__ = ["Kubeconfig", "kubeconfig_of"]

Kubeconfig = Annotated[
    str | None,
    typer.Option(envvar="KUBECONFIG", help="Kubeconfig. Default: ~/.kube/config, or the pod's account."),
]


def kubeconfig_of(given: str | None) -> str | None:
    """Return the kubeconfig to use; None inside a cluster where none is given: there the pod's account counts.

    Args:
        given: by the user; one path, or several of which some may be missing, as to kubectl.

    Raises:
        ConfigurationError: there is no such file.
    """
    if not given and "KUBERNETES_SERVICE_HOST" in os.environ:
        return None
    used = given or str(Path.home() / ".kube" / "config")
    # What begins with ~ is for the loader, which expands it.
    if not any(one.startswith("~") or Path(one).exists() for one in used.split(os.pathsep) if one):
        raise ConfigurationError(
            f"kubeconfig {used} doesn't exist; name one that does by --kubeconfig or KUBECONFIG"
        )
    return used
