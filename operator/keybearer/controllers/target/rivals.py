"""What other custom resources have to do with a target: they own it, merged into it, or log in by it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.controllers.objects import ObjectStore, TargetKey
from keybearer.controllers.target.decisions import PlanContext
from keybearer.controllers.target.identity_uses import IdentityUses
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.target.spec import WriteRules
from keybearer.controllers.work import WorkKey
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import CERTIFICATE_PROFILES, SECRET_SYNCS, Resource

__all__ = ["Rivals"]

_DEAD_MAX = 4096
_WITH_TARGETS = (SECRET_SYNCS, CERTIFICATE_PROFILES)


class Rivals:
    """Tells which of the custom resources that a target names are still there, and who logs in by it."""

    def __init__(self, objects: ObjectStore, gateway: Gateway) -> None:
        self._objects = objects
        self._gateway = gateway
        self._identities = IdentityUses(objects, gateway)
        self._dead: OrderedDict[str, None] = OrderedDict()

    async def completed(
        self, context: PlanContext, target: TargetKey, present: PresentTarget | None, rules: WriteRules
    ) -> PlanContext:
        """Return the circumstances of a plan with what others have to do with the target.

        Raises:
            KubeError: the API server can't be asked about those that no watch has shown.
        """
        rivals = await self.of(present, context.owner_uid)
        use = await self._identities.of(target, present, context.owner_uid, adopts=rules.adopt)
        if (rivals, use) == (context.rivals, context.identity_use):
            return context
        return replace(context, rivals=rivals, identity_use=use)

    async def of(self, present: PresentTarget | None, owner_uid: str) -> Mapping[str, WorkKey]:
        """Return, by UID, the other living custom resources that own the target or merged into it.

        Raises:
            KubeError: the API server can't be asked about one that no watch has shown.
        """
        named = present.hands - {owner_uid} if present is not None else frozenset()
        if present is None or not named:
            return {}
        held = {uid: key for uid in named if (key := self._objects.find(uid)) is not None}
        unknown = named - held.keys() - self._dead.keys()
        if unknown:
            # Deleted long ago, or just not listed yet: whoever takes a target over must know which.
            held |= await self._ask(present.key.namespace, unknown)
        return held

    async def _ask(self, namespace: str, uids: frozenset[str]) -> dict[str, WorkKey]:
        found: dict[str, WorkKey] = {}
        for resource in _WITH_TARGETS:
            if uids - found.keys():
                found |= await self._listed(resource, namespace, uids)
        for uid in uids - found.keys():  # a UID never comes back
            self._dead[uid] = None
        while len(self._dead) > _DEAD_MAX:
            self._dead.popitem(last=False)
        return found

    async def _listed(self, resource: Resource, namespace: str, uids: frozenset[str]) -> dict[str, WorkKey]:
        found: dict[str, WorkKey] = {}
        async for item in self._gateway.list(resource, namespace, metadata_only=True):
            meta = mapping_of(item.get("metadata"))
            uid = text_of(meta.get("uid"))
            if uid in uids:
                found[uid] = WorkKey(resource.kind, namespace, text_of(meta.get("name")))
        return found
