"""Finds custom resources whose creation, change or end no watch reported; a complete list says what there is."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from datetime import timedelta

from keybearer.base.backoff import jittered
from keybearer.base.logs import get_logger
from keybearer.controllers.intake import EventIntake
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.objects import ObjectStore
from keybearer.kube.errors import KubeError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import Resource

__all__ = ["ObjectAudit"]

_log = get_logger(__name__)

_EVERY = timedelta(minutes=5)
_SETTLING_SECONDS = 2.0
"""After a watch began anew: several begin together, and what happened meanwhile comes first."""
_GRACE_SECONDS = 5.0
"""How long an event of what a list shows may be under way before the object itself is read."""


class ObjectAudit:
    """Compares our kinds with lists of metadata: now and then, and after a watch began anew."""

    def __init__(
        self,
        gateway: Gateway,
        objects: ObjectStore,
        intake: EventIntake,
        namespaces: tuple[str, ...],
        rng: random.Random,
    ) -> None:
        self._gateway = gateway
        self._objects = objects
        self._intake = intake
        self._namespaces: tuple[str | None, ...] = namespaces or (None,)
        self._rng = rng
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """Have the next audit soon."""
        self._asked.set()

    async def run(self) -> None:
        """Audit until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(jittered(_EVERY, self._rng).total_seconds()):
                    await self._asked.wait()
                    await asyncio.sleep(_SETTLING_SECONDS)
            self._asked.clear()
            try:
                await self.audit()
            except KubeError as error:
                _log.warning("audit_failed", error=str(error))

    async def audit(self) -> None:
        """Put in order what is held of all kinds.

        Raises:
            KubeError: something can't be listed or read; what was listed before that is in order.
        """
        for resource in RESOURCES.values():
            for namespace in self._namespaces:
                await self._compare(resource, namespace)

    async def _compare(self, resource: Resource, namespace: str | None) -> None:
        before = self._objects.before_list(resource.kind, namespace)
        listed = await self._gateway.identities(resource, namespace)
        compared, found = self._objects.compare(before, listed), 0
        if compared.missing:
            await asyncio.sleep(_GRACE_SECONDS)
        for key in compared.missing:
            if not self._objects.lacks(resource.kind, key, listed.objects[key]):
                continue  # its event came
            body = await self._gateway.get(resource, key)
            if body is not None:
                found += 1
                self._intake.custom_resource(resource.kind, None, body)
        self._objects.note_list(before, listed)
        if compared.ended or found:
            _log.warning("unreported_objects_found", kind=resource.kind, ended=compared.ended, found=found)
