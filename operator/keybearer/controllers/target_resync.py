"""Finds targets whose end or change no watch reported: a list after an expired version brings no DELETED events."""

from __future__ import annotations

import asyncio
import random

from keybearer.base.backoff import jittered
from keybearer.base.json_reading import mapping_of, text_of
from keybearer.base.logs import get_logger
from keybearer.controllers.intake import EventIntake
from keybearer.controllers.objects import ObjectStore, TargetKey, is_newer
from keybearer.controllers.observed_targets import ObservedStore
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.settings import OperatorSettings
from keybearer.controllers.target.desired import MANAGED_LABEL, TARGET_RESOURCES
from keybearer.controllers.work import Lane
from keybearer.kube.errors import KubeError
from keybearer.kube.gateway import Gateway, Identity
from keybearer.kube.resources import ObjectKey

__all__ = ["TargetResync"]

_log = get_logger(__name__)


class TargetResync:
    """Compares, now and then, the targets that exist with those that are remembered; by metadata alone."""

    def __init__(
        self,
        gateway: Gateway,
        objects: ObjectStore,
        observed: ObservedStore,
        queue: WorkQueue,
        intake: EventIntake,
        settings: OperatorSettings,
        rng: random.Random,
    ) -> None:
        self._gateway = gateway
        self._objects = objects
        self._observed = observed
        self._queue = queue
        self._intake = intake
        self._namespaces: tuple[str | None, ...] = settings.namespaces or (None,)
        self._interval = settings.resync_interval
        self._rng = rng

    async def run(self) -> None:
        """Resync until cancelled."""
        while True:
            await asyncio.sleep(jittered(self._interval, self._rng).total_seconds())
            try:
                await self.resync()
            except KubeError as error:
                _log.warning("target_resync_failed", error=str(error))

    async def resync(self) -> None:
        """Put the writers of vanished targets on the queue, and take in changed ones.

        Raises:
            KubeError: the targets can't be listed, or a changed one can't be read.
        """
        before = [(target.key, target.uid) for target in self._observed]
        there = await self._listed()
        vanished = 0
        for key, uid in before:
            seen = self._observed.get(key)
            if seen is None or seen.uid != uid:
                continue
            listed = there.get(key)
            if listed is None or listed.uid != uid:
                vanished += 1
                self._observed.drop(key)
                for writer in self._objects.writers_of(key):
                    self._queue.add(writer, Lane.URGENT)
            elif is_newer(listed.resource_version, seen.resource_version):
                await self._take_in(key)
        if vanished:
            _log.warning("vanished_targets_found", count=vanished)

    async def _listed(self) -> dict[TargetKey, Identity]:
        """Return which targets exist."""
        return {
            TargetKey(kind, key.namespace, key.name): identity
            for kind, resource in TARGET_RESOURCES.items()
            for namespace in self._namespaces
            for key, identity in (
                await self._gateway.identities(resource, namespace, label_selector=f"{MANAGED_LABEL}=true")
            ).objects.items()
        }

    async def _take_in(self, key: TargetKey) -> None:
        """Have the intake look at a target that is newer than the watch has shown by now."""
        body = await self._gateway.get(TARGET_RESOURCES[key.kind], ObjectKey(key.namespace, key.name))
        seen = self._observed.get(key)
        version = "" if body is None else text_of(mapping_of(body.get("metadata")).get("resourceVersion"))
        if body is not None and seen is not None and is_newer(version, seen.resource_version):
            self._intake.target_changed(key.kind, body)
