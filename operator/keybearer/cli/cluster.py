"""How commands reach a cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.errors import ConfigurationError
from keybearer.cli.failures import CommandError, not_found

if TYPE_CHECKING:
    from keybearer.kube.gateway import Gateway
    from keybearer.kube.resources import ObjectKey, Resource

__all__ = ["Kubeconfig", "kubeconfig_of", "missing_object", "unknown_kinds"]

Kubeconfig = Annotated[
    str | None,
    typer.Option(envvar="KUBECONFIG", help="Kubeconfig. Default: ~/.kube/config, or the pod's account."),
]


async def missing_object(gateway: Gateway, resource: Resource, key: ObjectKey) -> CommandError:
    """Return the error of an object that doesn't exist, or of a kind that the cluster doesn't know.

    Raises:
        KubeError: the API server can't be asked.
    """
    from keybearer.kube.errors import ForbiddenError, NotFoundError

    try:
        listed = gateway.list(resource, key.namespace, metadata_only=True, page_size=1)
        async with aclosing(listed):
            await anext(listed, None)
    except NotFoundError:
        return unknown_kinds([resource.kind])
    except ForbiddenError:
        pass  # without the right to list, nothing says whether the kind is known
    return not_found(f"there is no {resource.kind} {key}", f"List them: kubectl get {resource.plural} -A")


def unknown_kinds(kinds: Sequence[str]) -> CommandError:
    """Return the error of kinds that the cluster doesn't know."""
    return not_found(
        f"the cluster doesn't know {' and '.join(kinds)}",
        "Install the chart, or make the kinds known: keybearer crds | kubectl apply --server-side -f -",
    )


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
