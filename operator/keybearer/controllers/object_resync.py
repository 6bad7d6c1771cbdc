"""Finds custom resources whose creation, change or end no watch reported; a complete list says what there is."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from datetime import timedelta

from keybearer.base.backoff import Backoff, jittered
from keybearer.base.logs import get_logger
from keybearer.controllers.intake import EventIntake
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.objects import ObjectStore
from keybearer.controllers.settings import OperatorSettings
from keybearer.kube.errors import KubeError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import Resource

__all__ = ["ObjectResync"]

_log = get_logger(__name__)

_NAMED = 10
"""Objects that a log line names."""

_SETTLING_SECONDS = 2.0
"""After a watch began anew: several begin together, and what happened meanwhile comes first."""
_SPACING = timedelta(seconds=10)
"""From one resync to the next, as watches of many namespaces begin anew often; after failures it grows."""
_GRACE_SECONDS = 5.0
"""How long an event of what a list shows may be under way before the object itself is read."""


class ObjectResync:
    """Compares our kinds with lists of metadata: now and then, and after a watch began anew."""

    def __init__(
        self,
        gateway: Gateway,
        objects: ObjectStore,
        intake: EventIntake,
        settings: OperatorSettings,
        rng: random.Random,
    ) -> None:
        self._gateway = gateway
        self._objects = objects
        self._intake = intake
        self._namespaces: tuple[str | None, ...] = settings.namespaces or (None,)
        self._interval = settings.resync_interval
        self._spacing = Backoff(min(_SPACING, self._interval), self._interval)
        self._rng = rng
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """Have the next one soon."""
        self._asked.set()

    async def run(self) -> None:
        """Resync until cancelled."""
        failures = 0
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(jittered(self._interval, self._rng).total_seconds()):
                    await self._asked.wait()
                    await asyncio.sleep(_SETTLING_SECONDS)
            self._asked.clear()
            failures = 0 if await self.resync() else failures + 1
            if failures:
                self.ask()
            await asyncio.sleep(self._spacing.delay(max(failures, 1), self._rng).total_seconds())

    async def resync(self) -> bool:
        """Put in order what is held of all kinds; return whether all of it could be listed and read."""
        is_whole = True
        for resource in RESOURCES.values():
            for namespace in self._namespaces:
                try:
                    await self._compare(resource, namespace)
                except KubeError as error:
                    is_whole = False
                    _log.warning("object_resync_failed", kind=resource.kind, error=str(error))
        return is_whole

    async def _compare(self, resource: Resource, namespace: str | None) -> None:
        before = self._objects.before_list(resource.kind, namespace)
        listed = await self._gateway.identities(resource, namespace)
        compared = self._objects.compare(before, listed)
        if compared.is_restored:
            # Watches that go on from a version to come are silent: what they showed of targets is of another cluster.
            _log.warning("cluster_restored", kind=resource.kind)
            self._intake.forget_targets()
        found: list[str] = []
        if compared.missing:
            await asyncio.sleep(_GRACE_SECONDS)
        for key in compared.missing:
            if not self._objects.lacks(resource.kind, key, listed.objects[key]):
                continue  # its event came
            body = await self._gateway.get(resource, key)
            if body is not None:
                found.append(str(key))
                self._intake.custom_resource(resource.kind, None, body)
        self._objects.note_list(before, listed)
        if compared.ended or found:
            _log.warning(
                "unreported_objects_found",
                kind=resource.kind,
                ended=compared.ended,
                found=len(found),
                names=found[:_NAMED],
            )
