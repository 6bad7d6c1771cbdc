"""Has the kubelet show a changed target at once in the files of pods that mount it.

A kubelet looks at its pods about once a minute, and after each change of a pod. So a pod that mounts what was written
gets an annotation. Nothing hangs on it: what isn't annotated, the kubelet shows at its own pace. Pods are not
watched: after a write those that run are listed by their metadata, and of each the volumes are read once.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.controllers.effect_budget import REFRESHES, EffectBudgets
from keybearer.controllers.json_reading import mapping_of, text_of
from keybearer.controllers.objects import ObjectStore, TargetKey
from keybearer.controllers.target.changes import KeyChanges
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.mounts import Mount, mounts_of, shows
from keybearer.controllers.telemetry import Telemetry
from keybearer.kube.errors import ConflictError, ForbiddenError, KubeError, LeaseLostError, NotFoundError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import PODS, JsonObject, ObjectKey

__all__ = ["REFRESH_ANNOTATION", "MountRefresher"]

_log = get_logger(__name__)

REFRESH_ANNOTATION = "keybearer.dev/mounts-refreshed-at"
_RUNNING = "status.phase=Running"
_AT_ONCE = 8
"""Pods, and namespaces, that are worked on at the same time."""
_PER_SECOND = 100
"""Pods that are annotated within a second at most: each makes its kubelet look at it."""
_READ_ONE_BY_ONE = 20
"""Pods that were not read yet, up to which each is read alone; beyond that, all of the namespace are listed."""
_PODS_HELD_MAX = 20_000
"""Pods whose volumes are remembered; those of the namespaces that changed last."""


@dataclass(slots=True)
class _Due:
    """Keys of one target that changed since its pods were looked at, and for whom."""

    owner_uid: str
    keys: set[str] = field(default_factory=set)


class MountRefresher:
    """Annotates pods that mount targets that were written.

    Args:
        clock: names the instant in the annotation, and spreads the writes.
        gateway: lists, reads and patches pods.
        objects: finds who is told of a missing right.
        budgets: bound how often the pods of one target are annotated.
        telemetry: counts the pods, and tells people of a missing right.
    """

    def __init__(
        self,
        clock: Clock,
        gateway: Gateway,
        objects: ObjectStore,
        budgets: EffectBudgets,
        telemetry: Telemetry,
    ) -> None:
        self._clock = clock
        self._gateway = gateway
        self._objects = objects
        self._budgets = budgets
        self._telemetry = telemetry
        self._due: dict[str, dict[TargetKey, _Due]] = {}
        self._under_way: set[str] = set()
        self._wake = asyncio.Event()
        self._known: OrderedDict[str, dict[str, frozenset[Mount]]] = OrderedDict()

    def changed(self, desired: DesiredTarget, changes: KeyChanges, owner_uid: str) -> None:
        """Say that these keys of a target were written; its pods are seen to in the background.

        What no file shows needs nothing: labels, annotations, and an immutable object, which a kubelet reads once.
        """
        keys = {*changes.add, *changes.change, *changes.remove}
        if not keys or desired.body.get("immutable") is True:
            return
        of_namespace = self._due.setdefault(desired.key.namespace, {})
        due = of_namespace.setdefault(desired.key, _Due(owner_uid))
        due.owner_uid = owner_uid
        due.keys |= keys
        self._wake.set()

    async def run(self) -> None:
        """See to pods until cancelled.

        Raises:
            LeaseLostError: another replica leads.
        """
        turns = asyncio.Semaphore(_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            while True:
                await self._wake.wait()
                self._wake.clear()
                for namespace in self._due.keys() - self._under_way:
                    self._under_way.add(namespace)
                    group.create_task(self._see_to(namespace, turns), name=f"refresh mounts in {namespace}")

    async def _see_to(self, namespace: str, turns: asyncio.Semaphore) -> None:
        try:
            async with turns:
                while due := self._due.pop(namespace, None):
                    await self._refresh(namespace, due)
        finally:
            self._under_way.discard(namespace)

    async def _refresh(self, namespace: str, due: Mapping[TargetKey, _Due]) -> None:
        spent = {
            key: one
            for key, one in due.items()
            if self._budgets.take(f"{key.kind} {namespace}/{key.name}", REFRESHES) is None
        }
        if not spent:
            return
        try:
            pods = await self._running(namespace)
        except LeaseLostError:
            raise
        except KubeError as error:
            self._failed(namespace, spent, error)
            return
        shown = [
            (name, uid)
            for uid, (name, mounts) in pods.items()
            if any(shows(mounts, key, one.keys) for key, one in spent.items())
        ]
        for start in range(0, len(shown), _PER_SECOND):
            begun = self._clock.monotonic()
            refused = await self._annotate(namespace, shown[start : start + _PER_SECOND])
            if refused is not None:
                self._failed(namespace, spent, refused)
                return
            if start + _PER_SECOND < len(shown):
                await asyncio.sleep(max(0.0, 1 - (self._clock.monotonic() - begun)))

    async def _annotate(self, namespace: str, pods: list[tuple[str, str]]) -> KubeError | None:
        """Annotate these pods, given by name and UID; return the last refusal but for pods that are gone."""
        now = self._clock.now().isoformat(timespec="microseconds")
        patch: JsonObject = {"metadata": {"annotations": {REFRESH_ANNOTATION: now}}}
        at_once = asyncio.Semaphore(_AT_ONCE)

        async def one(name: str, uid: str) -> KubeError | None:
            async with at_once:
                try:
                    await self._gateway.merge_patch(PODS, ObjectKey(namespace, name), patch, uid=uid)
                except LeaseLostError:
                    raise
                except (NotFoundError, ConflictError):
                    return None  # It is gone: the next one starts with what is there by then.
                except KubeError as error:
                    return error
                self._telemetry.mounts_refreshed()
                return None

        ends = await asyncio.gather(*(one(name, uid) for name, uid in pods))
        return next((error for error in reversed(ends) if error is not None), None)

    async def _running(self, namespace: str) -> dict[str, tuple[str, frozenset[Mount]]]:
        """Return, by UID, name and mounts of the pods that run.

        Raises:
            KubeError: the API server refuses or can't be asked.
        """
        names: dict[str, str] = {}
        async for pod in self._gateway.list(PODS, namespace, metadata_only=True, field_selector=_RUNNING):
            meta = mapping_of(pod.get("metadata"))
            if "deletionTimestamp" not in meta:
                names[text_of(meta.get("uid"))] = text_of(meta.get("name"))
        known = self._known.pop(namespace, {})
        async for pod in self._read(namespace, [names[uid] for uid in names.keys() - known.keys()]):
            known[text_of(mapping_of(pod.get("metadata")).get("uid"))] = mounts_of(pod)
        kept = {uid: known[uid] for uid in names if uid in known}
        self._known[namespace] = kept
        while len(self._known) > 1 and sum(map(len, self._known.values())) > _PODS_HELD_MAX:
            self._known.popitem(last=False)
        return {uid: (names[uid], mounts) for uid, mounts in kept.items()}

    async def _read(self, namespace: str, names: Sequence[str]) -> AsyncIterator[JsonObject]:
        """Yield these pods as a whole; of many, all others that run as well."""
        if len(names) > _READ_ONE_BY_ONE:
            async for pod in self._gateway.list(PODS, namespace, field_selector=_RUNNING):
                yield pod
            return
        for name in names:
            found = await self._gateway.get(PODS, ObjectKey(namespace, name))
            if found is not None:
                yield found

    def _failed(self, namespace: str, due: Mapping[TargetKey, _Due], error: KubeError) -> None:
        """Tell of it: pods show the change at the kubelet's own pace."""
        _log.warning("mounts_not_refreshed", namespace=namespace, error=str(error))
        if not isinstance(error, ForbiddenError):
            return
        for one in due.values():
            key = self._objects.find(one.owner_uid)
            seen = None if key is None else self._objects.get(key)
            if seen is not None:
                self._telemetry.mounts_not_refreshed(seen, str(error))
