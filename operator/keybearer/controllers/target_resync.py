"""Finds targets whose deletion no watch reported: a re-list after an expired version brings no DELETED events."""

from __future__ import annotations

import asyncio
import random

from keybearer.base.backoff import jittered
from keybearer.base.logs import get_logger
from keybearer.controllers.objects import ObjectStore, ObservedStore, TargetKey
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.settings import OperatorSettings
from keybearer.controllers.target.desired import MANAGED_LABEL, TARGET_RESOURCES
from keybearer.controllers.work import Lane
from keybearer.kube.errors import KubeError
from keybearer.kube.gateway import Gateway

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
        settings: OperatorSettings,
        rng: random.Random,
    ) -> None:
        self._gateway = gateway
        self._objects = objects
        self._observed = observed
        self._queue = queue
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

    async def resync(self) -> int:
        """Put the writers of vanished targets on the queue; return how many targets had vanished.

        Raises:
            KubeError: the targets can't be listed.
        """
        before = [(target.key, target.uid) for target in self._observed]
        there: set[tuple[TargetKey, str]] = set()
        for kind, resource in TARGET_RESOURCES.items():
            for namespace in self._namespaces:
                async for item in self._gateway.list(
                    resource, namespace, label_selector=f"{MANAGED_LABEL}=true", metadata_only=True
                ):
                    meta = item.get("metadata")
                    if isinstance(meta, dict):
                        key = TargetKey(kind, str(meta.get("namespace", "")), str(meta.get("name", "")))
                        there.add((key, str(meta.get("uid", ""))))
        vanished = 0
        for key, uid in before:
            seen = self._observed.get(key)
            if (key, uid) in there or seen is None or seen.uid != uid:
                continue
            vanished += 1
            self._observed.drop(key)
            for writer in self._objects.writers_of(key):
                self._queue.add(writer, Lane.URGENT)
        if vanished:
            _log.warning("vanished_targets_found", count=vanished)
        return vanished
