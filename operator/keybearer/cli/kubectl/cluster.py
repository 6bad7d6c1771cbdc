"""Which cluster and namespace a command works in, said as to kubectl."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from keybearer.cli.cluster import Kubeconfig, kubeconfig_of, missing_object, unknown_kinds
from keybearer.cli.failures import misused
from keybearer.cli.kubectl.targets import KINDS, Target
from keybearer.cli.loading import bare, collector_at_rest, without

if TYPE_CHECKING:
    from keybearer.kube.connection import Connection
    from keybearer.kube.gateway import Gateway
    from keybearer.kube.resources import JsonObject

__all__ = [
    "AllNamespaces",
    "Cluster",
    "Context",
    "Kubeconfig",
    "Namespace",
    "Place",
    "Words",
    "bodies_of",
    "run",
]

Context = Annotated[str | None, typer.Option(help="A context of the kubeconfig.")]
Namespace = Annotated[
    str | None, typer.Option("--namespace", "-n", help="The namespace. Default: the context's.")
]
AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="All namespaces.")]
Words = Annotated[
    list[str] | None,
    typer.Argument(help="KIND, KIND NAME... or KIND/NAME...", metavar="[KIND[/NAME]]...", show_default=False),
]

MANAGER = "kubectl-keybearer"
"""Field manager of what a person writes by this plugin: never the operator's."""

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Place:
    """Where, as the flags say it."""

    kubeconfig: str | None
    context: str | None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """An open connection.

    Attributes:
        connection: to the API server.
        gateway: over it, as `MANAGER` where something is written.
        namespace: that the command works in.
    """

    connection: Connection
    gateway: Gateway
    namespace: str


def run(place: Place, work: Callable[[Cluster], Coroutine[None, None, _Result]]) -> _Result:
    """Return what comes of the work with a connection, which is closed afterwards.

    Raises:
        ConfigurationError: the kubeconfig can't be used.
    """
    # What draws tracebacks in colours is loaded with the logs where it may be, and never used here.
    with collector_at_rest(), without("rich"):
        import asyncio

        from keybearer.base.logs import configure_logging

        configure_logging(log_format="text", level="error")

    async def working() -> _Result:
        async with _open(place) as cluster:
            return await work(cluster)

    return asyncio.run(working())


@asynccontextmanager
async def _open(place: Place) -> AsyncIterator[Cluster]:
    with collector_at_rest(), bare("kubernetes", "kubernetes.aio"):
        from keybearer.kube.connection import Connection
        from keybearer.kube.gateway import Gateway

    kubeconfig = kubeconfig_of(place.kubeconfig)
    async with await Connection.open(kubeconfig=kubeconfig, context=place.context) as connection:
        gateway = Gateway(connection, may_write=lambda: None)
        yield Cluster(connection, gateway, place.namespace or connection.namespace)


async def bodies_of(cluster: Cluster, targets: Sequence[Target], *, everywhere: bool) -> list[JsonObject]:
    """Return the objects that are meant.

    Args:
        cluster: where.
        targets: which.
        everywhere: in all namespaces, not only in the command's.

    Raises:
        CommandError: one that was named doesn't exist, or none of the kinds is known to the cluster.
        KubeError: the API server refuses or can't be asked.
    """
    from keybearer.controllers.kinds import RESOURCES
    from keybearer.kube.errors import NotFoundError
    from keybearer.kube.resources import ObjectKey

    found: list[JsonObject] = []
    unknown: set[str] = set()
    for target in targets:
        resource = RESOURCES[target.kind]
        if target.name is not None:
            if everywhere:
                raise misused("an object is named in one namespace: leave out -A")
            key = ObjectKey(cluster.namespace, target.name)
            body = await cluster.gateway.get(resource, key)
            if body is None:
                raise await missing_object(cluster.gateway, resource, key)
            found.append(body)
            continue
        try:
            listed = cluster.gateway.list(resource, None if everywhere else cluster.namespace)
            # Lists leave out what each of their objects is.
            found += [{**body, "kind": target.kind} async for body in listed]
        except NotFoundError:
            unknown.add(target.kind)
    if unknown and unknown == {target.kind for target in targets}:
        raise unknown_kinds([kind for kind in KINDS if kind in unknown])
    return found
