"""Which custom resource logs in to the service by the Secret that a target is."""

from __future__ import annotations

import contextlib

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.objects import ObjectStore, TargetKey, named_identity
from keybearer.controllers.target.decisions import IdentityUse
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.work import WorkKey
from keybearer.kube.errors import NotFoundError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import SECRETS

__all__ = ["IdentityUses"]

_KEY_OF_EACH_LOGIN = frozenset({"clientId", "identityId", "accessToken"})
"""Each set of credentials has one of these: what holds none is no identity that works."""


class IdentityUses:
    """Tells who names a Secret in `spec.identityRef`; of many, this owner itself, or else one of them.

    The watches say it. They deliver their first listings object by object, and work begins meanwhile. So before a
    Secret is taken over that looks like an identity, a list of its namespace must have shown nobody new, once.
    """

    def __init__(self, objects: ObjectStore, gateway: Gateway) -> None:
        self._objects = objects
        self._gateway = gateway
        self._complete: set[str] = set()

    async def of(
        self, target: TargetKey, present: PresentTarget | None, owner_uid: str, *, adopts: bool
    ) -> IdentityUse | None:
        """Return who logs in by the Secret; None where nobody does, or the target is no Secret.

        Args:
            target: the Secret.
            present: as it is; None where it doesn't exist.
            owner_uid: UID of the custom resource whose target it is.
            adopts: what others wrote may be taken over.

        Raises:
            KubeError: the API server can't be asked about those that no watch has shown.
        """
        if target.kind != SECRETS.kind:
            return None
        users = self._objects.logging_in_by(target)
        owner = self._objects.find(owner_uid)
        if owner is not None and owner in users:
            return IdentityUse(owner, is_own=True)
        user = min(users, key=lambda one: (one.name, one.kind), default=None)
        if user is None and adopts and present is not None and present.owner_uid != owner_uid:
            looks_like_one = not _KEY_OF_EACH_LOGIN.isdisjoint(present.data)
            user = await self._unseen_user(target) if looks_like_one else None
        return None if user is None else IdentityUse(user, is_own=False)

    async def _unseen_user(self, target: TargetKey) -> WorkKey | None:
        if target.namespace in self._complete:
            return None
        is_complete = True
        for kind, resource in RESOURCES.items():
            # Nobody can log in by a kind whose CRD is gone.
            with contextlib.suppress(NotFoundError):
                async for item in self._gateway.list(resource, target.namespace):
                    meta = mapping_of(item.get("metadata"))
                    if self._objects.find(text_of(meta.get("uid"))) is not None:
                        continue
                    if named_identity(item) == target.name:
                        return WorkKey(kind, target.namespace, text_of(meta.get("name")))
                    is_complete = False
        if is_complete:
            self._complete.add(target.namespace)
        return None
