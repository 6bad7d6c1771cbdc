"""Writes the status of an object of any of our kinds, and remembers at once what was written."""

from __future__ import annotations

from keybearer.base.packed_json import packed_json
from keybearer.controllers.finalizer import FinalizerKeeper
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import ObjectGoneError
from keybearer.kube.errors import ConflictError, NotFoundError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import JsonObject, ObjectKey

__all__ = ["StatusPatch"]


class StatusPatch:
    """One server-side apply per status."""

    def __init__(self, gateway: Gateway, objects: ObjectStore, finalizer: FinalizerKeeper) -> None:
        self._gateway = gateway
        self._objects = objects
        self._finalizer = finalizer

    async def apply(self, seen: ObservedObject, wire: JsonObject) -> None:
        """Make this the whole status.

        Raises:
            ObjectGoneError: the object is gone, or another one of the same name.
            KubeError: the API server refuses or can't be asked.
        """
        key = ObjectKey(seen.key.namespace, seen.key.name)
        written = packed_json(wire)
        self._objects.expect_status(seen.key, written)
        try:
            answer = await self._gateway.apply_status(RESOURCES[seen.key.kind], key, wire, uid=seen.uid)
        except NotFoundError as error:
            raise ObjectGoneError from error
        except ConflictError:
            # With its UID as a precondition, an object that was deleted meanwhile can't come back; but not each
            # conflict says that it was.
            await self._finalizer.require(seen)
            raise
        meta = answer.get("metadata")
        version = meta.get("resourceVersion") if isinstance(meta, dict) else None
        self._objects.put_status(seen.key, seen.uid, written, str(version or seen.resource_version))
