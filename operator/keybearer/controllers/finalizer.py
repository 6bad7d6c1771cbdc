"""The finalizer: only on an object whose end leaves something that garbage collection can't take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from pydantic import JsonValue

from keybearer.base.clock import Clock, parse_instant
from keybearer.base.json_reading import list_of
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import ObjectGoneError
from keybearer.kube.errors import ConflictError, NotFoundError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import ObjectKey

__all__ = ["DEFAULT_DEADLINE", "FINALIZER", "TRUST_FINALIZER", "FinalizerKeeper"]

FINALIZER = "keybearer.dev/cleanup"
TRUST_FINALIZER = "keybearer.dev/trust-bundle"
"""On a profile with a bundle: garbage collection takes no cluster-scoped object with a namespaced owner."""
DEFAULT_DEADLINE = timedelta(minutes=10)
_ATTEMPTS = 3


class FinalizerKeeper:
    """Sets and removes the finalizer of objects of our kinds, and knows when cleaning up is given up."""

    def __init__(self, clock: Clock, gateway: Gateway, name: str = FINALIZER) -> None:
        """Take what it needs; parts that clean up apart from each other each have a `name` of their own."""
        self._clock = clock
        self._gateway = gateway
        self._name = name

    def time_left(self, seen: ObservedObject, deadline: timedelta = DEFAULT_DEADLINE) -> timedelta | None:
        """Return the time until cleaning up is given up; None where it has passed, or none is running.

        The deletion was dated by the API server's clock. Where ours is behind that, an object is held no longer than
        its deadline since this process knows of its deletion.
        """
        if seen.deletion_timestamp is None:
            return None
        left = parse_instant(seen.deletion_timestamp) + deadline - self._clock.now()
        known_for = timedelta(seconds=self._clock.monotonic() - seen.trigger_at)
        left = min(left, deadline - known_for)
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

    async def set(self, seen: ObservedObject, *, present: bool, besides: Sequence[str] = ()) -> None:
        """Make the finalizer present, or absent.

        Args:
            seen: the object.
            present: which of both.
            besides: finalizers of other parts, which are made present in the same write where there is one.

        Raises:
            ObjectGoneError: the object was deleted meanwhile.
            KubeError: the API server refuses or can't be asked.
        """
        if (self._name in seen.finalizers) is present:
            return
        for attempt in range(_ATTEMPTS):
            there, version = await self._found(seen, as_shown=attempt == 0)
            wanted = [name for name in there if name != self._name]
            if present:
                wanted += [self._name, *(name for name in besides if name not in there)]
            if set(wanted) == set(there):
                return  # only not shown to us yet
            try:
                await self._write(seen, wanted, version)
            except NotFoundError as error:
                raise ObjectGoneError from error
            except ConflictError:
                if attempt == _ATTEMPTS - 1:
                    raise
                continue  # somebody else wrote it since we looked
            return

    async def _found(self, seen: ObservedObject, *, as_shown: bool) -> tuple[Sequence[str], str]:
        """Return the finalizers that are there, and the version of the object that has them."""
        if as_shown and seen.never_reported:
            # Without a status of ours both are of one event: what we write ourselves brings a version only.
            return seen.finalizers, seen.resource_version
        meta = await self.require(seen)
        return tuple(map(str, list_of(meta.get("finalizers")))), str(meta.get("resourceVersion", ""))

    async def _write(self, seen: ObservedObject, wanted: list[str], version: str) -> None:
        # The version guards finalizers that others set since we looked.
        await self._gateway.merge_patch(
            RESOURCES[seen.key.kind],
            ObjectKey(seen.key.namespace, seen.key.name),
            {"metadata": {"finalizers": [*wanted]}},
            uid=seen.uid,
            resource_version=version,
        )
