"""The finalizer: only on an object whose end leaves something that garbage collection can't take."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from pydantic import JsonValue

from keybearer.base.clock import Clock, parse_instant
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import ObjectGoneError
from keybearer.kube.errors import ConflictError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import ObjectKey

__all__ = ["DEFAULT_DEADLINE", "FINALIZER", "FinalizerKeeper"]

FINALIZER = "keybearer.dev/cleanup"
DEFAULT_DEADLINE = timedelta(minutes=10)
_ATTEMPTS = 3


class FinalizerKeeper:
    """Sets and removes the finalizer of objects of our kinds, and knows when cleaning up is given up."""

    def __init__(self, clock: Clock, gateway: Gateway) -> None:
        self._clock = clock
        self._gateway = gateway

    def time_left(self, seen: ObservedObject, deadline: timedelta = DEFAULT_DEADLINE) -> timedelta | None:
        """Return the time until cleaning up is given up; None where it has passed, or none is running."""
        if seen.deletion_timestamp is None:
            return None
        left = parse_instant(seen.deletion_timestamp) + deadline - self._clock.now()
        return left if left > timedelta() else None

    async def require(self, seen: ObservedObject) -> Mapping[str, JsonValue]:
        """Return the metadata of the object as the API server holds it.

        Raises:
            ObjectGoneError: it is gone, or another one of the same name.
            KubeError: the API server can't be asked.
        """
        key = ObjectKey(seen.key.namespace, seen.key.name)
        current = await self._gateway.get(RESOURCES[seen.key.kind], key, metadata_only=True)
        meta = current.get("metadata") if current is not None else None
        if not isinstance(meta, Mapping) or meta.get("uid") != seen.uid:
            raise ObjectGoneError
        return meta

    async def set(self, seen: ObservedObject, *, present: bool) -> None:
        """Make the finalizer present, or absent.

        Raises:
            ObjectGoneError: the object was deleted meanwhile.
            KubeError: the API server refuses or can't be asked.
        """
        if (FINALIZER in seen.finalizers) is present:
            return
        for _ in range(_ATTEMPTS - 1):
            try:
                await self._try_to_set(seen, present=present)
            except ConflictError:
                continue  # somebody else wrote it since we looked
            return
        await self._try_to_set(seen, present=present)

    async def _try_to_set(self, seen: ObservedObject, *, present: bool) -> None:
        key = ObjectKey(seen.key.namespace, seen.key.name)
        meta = await self.require(seen)
        listed = meta.get("finalizers")
        others = [name for name in listed if name != FINALIZER] if isinstance(listed, list) else []
        wanted: list[JsonValue] = [*others, FINALIZER] if present else others
        # The version guards finalizers that others set since we looked.
        await self._gateway.merge_patch(
            RESOURCES[seen.key.kind],
            key,
            {"metadata": {"finalizers": wanted}},
            uid=seen.uid,
            resource_version=str(meta.get("resourceVersion", "")),
        )
