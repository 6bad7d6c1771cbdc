"""Has the kubelet show a changed target at once in the files of pods that mount it.

A kubelet looks at its pods about once a minute, and after each change of a pod. So a pod that mounts what was written
gets an annotation. Nothing hangs on it: what isn't annotated, the kubelet shows at its own pace. Pods are not
watched: after a write those on nodes are listed by their metadata, and of each the volumes are read once.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from keybearer.base.clock import Clock
from keybearer.base.json_reading import mapping_of, text_of
from keybearer.base.logs import get_logger
from keybearer.controllers.concurrency import Concurrency, leading_tasks
from keybearer.controllers.effect_budget import REFRESHES, EffectBudgets
from keybearer.controllers.objects import ObjectStore, TargetKey
from keybearer.controllers.resilience import TokenBucket, urgent_work
from keybearer.controllers.target.changes import KeyChanges
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.mounts import Mount, mounts_of, shows
from keybearer.controllers.telemetry import Telemetry
from keybearer.kube.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    KubeError,
    LeaseLostError,
    NotFoundError,
)
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import PODS, JsonObject, ObjectKey

__all__ = ["REFRESH_ANNOTATION", "MountRefresher"]

_log = get_logger(__name__)

REFRESH_ANNOTATION = "keybearer.dev/mounts-refreshed-at"
_ON_NODES = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
"""Pods that a kubelet runs, or starts: their volumes are there before the first container."""
_AT_ONCE = 8
"""Pods, and namespaces, that are worked on at the same time."""
_PER_SECOND = 100
"""Pods that are annotated within a second at most: each makes its kubelet look at it."""
_TOGETHER = 20
"""Pods of a namespace that are annotated before others have their turn; where all are refused, no more are tried."""
_READ_ONE_BY_ONE = 20
"""Pods that were not read yet, up to which each is read alone; beyond that, all of the namespace are listed."""
_PAGE_SIZE = 100
"""Pods in a page of a list: each may take 10 KB, and ten times that once it is parsed."""
_PODS_HELD_MAX = 20_000
"""Pods whose volumes are remembered, of the namespaces that changed last; of the last one, all are."""


@dataclass(slots=True)
class _Due:
    """Keys of one target that changed since its pods were looked at, and for whom."""

    owner_uid: str
    keys: set[str] = field(default_factory=set)


class MountRefresher:
    """Annotates pods that mount targets that were written.

    Args:
        clock: names the instant in the annotation, and paces the writes.
        gateway: lists, reads and patches pods.
        objects: finds who is told of a refusal.
        budgets: bound how often the pods of one target are annotated.
        telemetry: counts the pods, and tells people of refusals.
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
        self._pace = TokenBucket(clock, rate=_PER_SECOND, burst=_AT_ONCE)
        self._writes = Concurrency(_AT_ONCE)
        self._reading = asyncio.Lock()
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
        urgent_work.set(False)  # Reconciles write first.
        turns = asyncio.Semaphore(_AT_ONCE)
        async with leading_tasks() as group:
            while True:
                await self._wake.wait()
                self._wake.clear()
                for namespace in self._due.keys() - self._under_way:
                    self._under_way.add(namespace)
                    group.create_task(self._see_to(namespace, turns), name=f"refresh mounts in {namespace}")

    async def _see_to(self, namespace: str, turns: asyncio.Semaphore) -> None:
        try:
            while namespace in self._due:
                async with turns:
                    await self._refresh(namespace, self._due.pop(namespace))
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
            pods = await self._on_nodes(namespace)
            shown = [
                (name, uid)
                for uid, (name, mounts) in pods.items()
                if any(shows(mounts, key, one.keys) for key, one in spent.items())
            ]
            for start in range(0, len(shown), _TOGETHER):
                await self._annotate(namespace, shown[start : start + _TOGETHER])
        except LeaseLostError:
            raise
        except KubeError as error:
            _log.warning("mounts_not_refreshed", namespace=namespace, error=str(error))
            if isinstance(error, ForbiddenError | InvalidError):
                self._tell(spent.values(), str(error))

    async def _annotate(self, namespace: str, pods: Sequence[tuple[str, str]]) -> None:
        """Annotate these pods, given by name and UID.

        Raises:
            KubeError: all of them are refused.
        """
        now = self._clock.now().isoformat(timespec="microseconds")
        patch: JsonObject = {"metadata": {"annotations": {REFRESH_ANNOTATION: now}}}
        refusals: list[KubeError] = []

        async def one(name: str, uid: str) -> None:
            await self._pace.take()
            try:
                await self._gateway.merge_patch(PODS, ObjectKey(namespace, name), patch, uid=uid)
            except LeaseLostError:
                raise
            except (NotFoundError, ConflictError):
                pass  # It is gone: the next one starts with what is there by then.
            except KubeError as error:
                refusals.append(error)
            else:
                self._telemetry.mounts_refreshed()

        await self._writes.run(one(name, uid) for name, uid in pods)
        if refusals and len(refusals) == len(pods):
            raise refusals[-1]
        if refusals:
            _log.warning(
                "pods_not_refreshed", namespace=namespace, pods=len(refusals), error=str(refusals[-1])
            )

    async def _on_nodes(self, namespace: str) -> dict[str, tuple[str, frozenset[Mount]]]:
        """Return, by UID, name and mounts of the pods that a kubelet has.

        Raises:
            KubeError: the API server refuses or can't be asked.
        """
        names: dict[str, str] = {}
        listed = self._gateway.list(
            PODS, namespace, metadata_only=True, page_size=_PAGE_SIZE, field_selector=_ON_NODES
        )
        async for pod in listed:
            meta = mapping_of(pod.get("metadata"))
            if "deletionTimestamp" not in meta:
                names[text_of(meta.get("uid"))] = text_of(meta.get("name"))
        known = self._known.pop(namespace, {})
        # Those of one workload mount the same.
        alike = {mounts: mounts for mounts in known.values()}
        async for pod in self._read(namespace, [names[uid] for uid in names.keys() - known.keys()]):
            mounts = mounts_of(pod)
            known[text_of(mapping_of(pod.get("metadata")).get("uid"))] = alike.setdefault(mounts, mounts)
        kept = {uid: known[uid] for uid in names if uid in known}
        self._known[namespace] = kept
        while len(self._known) > 1 and sum(map(len, self._known.values())) > _PODS_HELD_MAX:
            self._known.popitem(last=False)
        return {uid: (names[uid], mounts) for uid, mounts in kept.items()}

    async def _read(self, namespace: str, names: Sequence[str]) -> AsyncIterator[JsonObject]:
        """Yield these pods as a whole; of many, all others on nodes as well."""
        if len(names) > _READ_ONE_BY_ONE:
            listed = self._gateway.list(PODS, namespace, page_size=_PAGE_SIZE, field_selector=_ON_NODES)
            async with self._reading:  # of one namespace at a time, for what they take
                async for pod in listed:
                    yield pod
            return
        for name in names:
            found = await self._gateway.get(PODS, ObjectKey(namespace, name))
            if found is not None:
                yield found

    def _tell(self, due: Iterable[_Due], why: str) -> None:
        """Tell people of a refusal that stays; pods show the change at the kubelet's own pace."""
        for one in due:
            key = self._objects.find(one.owner_uid)
            seen = None if key is None else self._objects.get(key)
            if seen is not None:
                self._telemetry.mounts_not_refreshed(seen, why)
