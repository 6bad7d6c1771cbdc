"""`keybearer await-cleanup`: what is being deleted is gone, so that the operator can go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.json_reading import mapping_of
from keybearer.cli.cluster import Kubeconfig, kubeconfig_of
from keybearer.cli.failures import CommandError, ExitStatus

if TYPE_CHECKING:
    from keybearer.kube.gateway import Gateway
    from keybearer.kube.resources import JsonObject, ObjectKey, Resource

__all__ = ["await_cleanup"]

_LOOK_EVERY_SECONDS = 1.0
_NAMED = 5
"""How many objects a sentence names."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A custom resource of ours, as its metadata tells."""

    resource: Resource
    key: ObjectKey
    uid: str
    is_being_deleted: bool
    has_finalizer: bool

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.key}"


def await_cleanup(
    namespace: Annotated[
        list[str] | None, typer.Option(help="Look only into this namespace; repeatable. Default: all.")
    ] = None,
    delete_all: Annotated[
        bool, typer.Option("--delete-all", help="Delete all custom resources of ours there first.")
    ] = False,
    timeout: Annotated[float, typer.Option(help="Seconds to wait.", min=1, max=3600)] = 300,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Wait until no custom resource of ours is being deleted.

    Only the operator removes their finalizers, after it has cleaned up. Run this before you remove the operator.
    """
    import asyncio

    from keybearer.base.logs import configure_logging

    configure_logging(log_format="text", level="error")
    told = asyncio.run(_finish(namespace or [], kubeconfig_of(kubeconfig), timeout, delete_all=delete_all))
    typer.echo(told)


async def _finish(
    namespaces: Sequence[str], kubeconfig: str | None, timeout_seconds: float, *, delete_all: bool
) -> str:
    """Return a sentence once nothing is waited for.

    Raises:
        CommandError: time is up; the text names what is left.
        KubeError: the API server refuses.
    """
    import asyncio

    from keybearer.kube.connection import Connection
    from keybearer.kube.errors import KubeError
    from keybearer.kube.gateway import Gateway

    left: list[_Found] = []
    trouble: KubeError | None = None
    async with await Connection.open(kubeconfig=kubeconfig) as connection:
        gateway = Gateway(connection, may_write=lambda: None)
        try:
            async with asyncio.timeout(timeout_seconds):
                while True:
                    try:
                        found = await _look(gateway, namespaces)
                        if delete_all:
                            await _delete(gateway, found)
                        left, trouble = _waited_for(found, delete_all=delete_all), None
                        if not left:
                            return _told_of(found)
                    except KubeError as error:
                        if not error.is_retryable:
                            raise
                        trouble = error
                    await asyncio.sleep(_LOOK_EVERY_SECONDS)
        except TimeoutError:
            raise _time_is_up(left, trouble, timeout_seconds) from None


async def _look(gateway: Gateway, namespaces: Sequence[str]) -> list[_Found]:
    """Return the custom resources there are; none of a kind whose CRD is absent."""
    from keybearer.kube.errors import NotFoundError
    from keybearer.kube.resources import APP_CONNECTIONS, CERTIFICATE_PROFILES, SECRET_SYNCS

    found: list[_Found] = []
    for resource in (SECRET_SYNCS, CERTIFICATE_PROFILES, APP_CONNECTIONS):
        for namespace in namespaces or (None,):
            try:
                bodies = gateway.list(resource, namespace, metadata_only=True)
                found.extend([_read(resource, body) async for body in bodies])
            except NotFoundError:
                break
    return found


def _read(resource: Resource, body: JsonObject) -> _Found:
    from keybearer.kube.resources import ObjectKey

    meta = mapping_of(body.get("metadata"))
    return _Found(
        resource,
        ObjectKey.of(body),
        str(meta.get("uid", "")),
        is_being_deleted=bool(meta.get("deletionTimestamp")),
        has_finalizer=bool(meta.get("finalizers")),
    )


async def _delete(gateway: Gateway, found: Sequence[_Found]) -> None:
    from keybearer.kube.errors import ConflictError

    for one in found:
        if not one.is_being_deleted:
            try:
                await gateway.delete(one.resource, one.key, uid=one.uid)
            except ConflictError:
                continue  # another one has its name by now; the next look finds it


def _waited_for(found: Sequence[_Found], *, delete_all: bool) -> list[_Found]:
    return [one for one in found if delete_all or one.is_being_deleted]


def _told_of(found: Sequence[_Found]) -> str:
    """Say that nothing is waited for, and which objects will need the operator once more."""
    marked = [one for one in found if one.has_finalizer]
    if not marked:
        return "nothing is being deleted"
    return f"nothing is being deleted; what stays needs an operator once more to go: {_names(marked)}"


def _time_is_up(left: Sequence[_Found], trouble: Exception | None, seconds: float) -> CommandError:
    if trouble is not None:
        return CommandError(f"after {seconds:g} s: {trouble}", ExitStatus.UNAVAILABLE)
    return CommandError(
        f"after {seconds:g} s, still being deleted: {_names(left)}",
        next_step="Their conditions say why. Does the operator run, and does the service answer it?",
    )


def _names(objects: Sequence[_Found]) -> str:
    more = f" and {len(objects) - _NAMED} more" if len(objects) > _NAMED else ""
    return ", ".join(map(str, objects[:_NAMED])) + more
