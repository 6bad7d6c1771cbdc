"""Objects that manifests refer to: identity Secrets and ConfigMaps with templates, read once and followed.

A metadata-only watch tells when one changes, so what is kept here is never older than the watch, and a corrected
credential is acted on at once. Of each only the data that is used stays, and of all together a bounded number of
bytes. References never cross a namespace.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.base.json_reading import mapping_of
from keybearer.controllers.identity import IDENTITY_KEYS, trim_secret
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.outcome import ObjectGoneError
from keybearer.controllers.work import Lane, Trigger, WorkKey
from keybearer.kube.gateway import Gateway
from keybearer.kube.reference_watch import ReferenceWatch
from keybearer.kube.resources import CONFIG_MAPS, SECRETS, ObjectKey, Resource

__all__ = ["FollowedObjects", "References", "WatchFactory"]

WatchFactory = Callable[[Resource, Callable[[frozenset[WorkKey]], None]], ReferenceWatch[WorkKey]]
"""Makes the watch of one resource, given whom to call back."""


_KEPT_MAX_CHARS = 16 * 1024 * 1024
"""Data kept of one resource; the least recently used object goes first, and is read again when next needed."""

_Data = Mapping[str, JsonValue]
_Trim = Callable[[_Data, frozenset[str] | None], _Data]
"""Returns what is used of an object's data, given the parts that were asked for (None: all)."""


@dataclass(slots=True)
class _Kept:
    followers: set[WorkKey] = field(default_factory=set)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_read: bool = False
    version: str | None = None
    parts: frozenset[str] | None = frozenset()
    """Names in its data that were asked for; None once all were."""
    data: _Data | None = field(default=None, repr=False)
    size: int = 0


class FollowedObjects:
    """Objects of one resource that some custom resource refers to."""

    def __init__(
        self,
        gateway: Gateway,
        resource: Resource,
        trigger: Trigger,
        make_watch: WatchFactory,
        trim: _Trim,
    ) -> None:
        self._gateway = gateway
        self._resource = resource
        self._trigger = trigger
        self._trim = trim
        self._kept: OrderedDict[ObjectKey, _Kept] = OrderedDict()
        self._size = 0
        self._by_follower: dict[WorkKey, frozenset[ObjectKey]] = {}
        self._watch = make_watch(resource, self._changed)

    async def run(self) -> None:
        """Watch until cancelled."""
        await self._watch.run()

    def follow(self, follower: WorkKey, keys: frozenset[ObjectKey]) -> None:
        """Make these what the follower refers to; none ends it."""
        before = self._by_follower.get(follower, frozenset())
        if before == keys:
            return
        self._watch.follow(follower, keys)
        for key in before - keys:
            kept = self._kept[key]
            kept.followers.discard(follower)
            if not kept.followers:
                self._let_go(kept)
                del self._kept[key]
        for key in keys - before:
            self._kept.setdefault(key, _Kept()).followers.add(follower)
        if keys:
            self._by_follower[follower] = keys
        else:
            self._by_follower.pop(follower, None)

    async def get(
        self, follower: WorkKey, key: ObjectKey, parts: frozenset[str] | None = None
    ) -> _Data | None:
        """Return the data of an object that the follower follows, or None where there is no such object.

        Args:
            follower: who asks.
            key: the object.
            parts: the names in its data that are used; None for all.

        Raises:
            ObjectGoneError: the follower was forgotten meanwhile.
            KubeError: it can't be read.
        """
        if key not in self._by_follower.get(follower, ()):
            raise ObjectGoneError
        kept = self._kept[key]
        self._kept.move_to_end(key)
        async with kept.lock:
            if kept.parts is not None and (parts is None or not parts <= kept.parts):
                kept.parts = None if parts is None else kept.parts | parts
                kept.is_read = False
            if not kept.is_read:
                kept.is_read = True  # before the request: a change that comes meanwhile sets it back
                try:
                    body = await self._gateway.get(self._resource, key)
                except BaseException:
                    kept.is_read = False
                    raise
                self._keep(key, kept, body)
            # Each follower tells what it has seen, or the watch's first listing would call it once more.
            self._watch.seen(follower, key, kept.version)
            return kept.data

    def noticed(self, key: ObjectKey, version: str | None, writers: tuple[WorkKey, ...]) -> None:
        """Take in that an object with our label, which the watch leaves out, is at this version (None: gone).

        Who writes it hears of it by other ways.
        """
        kept = self._kept.get(key)
        if kept is None or (kept.is_read and kept.version == version):
            return
        kept.is_read = False
        for follower in kept.followers.difference(writers):
            self._trigger(follower, Lane.URGENT)

    def saw(self, follower: WorkKey, key: ObjectKey, version: str | None) -> None:
        """Note which version of an object the follower has read by itself (None: there is none)."""
        self._watch.seen(follower, key, version)

    def _keep(self, key: ObjectKey, kept: _Kept, body: Mapping[str, JsonValue] | None) -> None:
        kept.version = _version(body)
        self._size -= kept.size
        kept.data = self._trim(mapping_of(body.get("data")), kept.parts) if body is not None else None
        kept.size = sum(len(name) + len(str(value)) for name, value in (kept.data or {}).items())
        if self._kept.get(key) is not kept:
            kept.size = 0  # its last follower has left meanwhile: it goes with those who still wait
            return
        self._size += kept.size
        for other in self._kept.values():
            if self._size <= _KEPT_MAX_CHARS:
                break
            if other is not kept and other.size:
                self._let_go(other)

    def _let_go(self, kept: _Kept) -> None:
        self._size -= kept.size
        kept.data, kept.size, kept.is_read = None, 0, False

    def _changed(self, followers: frozenset[WorkKey]) -> None:
        for follower in followers:
            for key in self._by_follower.get(follower, ()):
                self._kept[key].is_read = False
        for follower in followers:
            self._trigger(follower, Lane.URGENT)


class References:
    """What custom resources refer to, by kind."""

    def __init__(self, gateway: Gateway, trigger: Trigger, make_watch: WatchFactory) -> None:
        self._secrets = FollowedObjects(gateway, SECRETS, trigger, make_watch, trim_secret)
        self._config_maps = FollowedObjects(gateway, CONFIG_MAPS, trigger, make_watch, _only)

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._secrets.run(), name="watch referenced Secrets")
            group.create_task(self._config_maps.run(), name="watch referenced ConfigMaps")

    def follow(self, follower: WorkKey, *, secrets: frozenset[str], config_maps: frozenset[str]) -> None:
        """Make these names, in the follower's own namespace, what it refers to."""
        namespace = follower.namespace
        self._secrets.follow(follower, frozenset(ObjectKey(namespace, name) for name in secrets))
        self._config_maps.follow(follower, frozenset(ObjectKey(namespace, name) for name in config_maps))

    def noticed(self, target: TargetKey, version: str | None, writers: tuple[WorkKey, ...]) -> None:
        """Take in what became of a Secret or ConfigMap that a custom resource writes, for those who refer to it."""
        followed = self._secrets if target.kind == SECRETS.kind else self._config_maps
        followed.noticed(ObjectKey(target.namespace, target.name), version, writers)

    def saw(self, follower: WorkKey, kind: str, name: str, version: str | None) -> None:
        """Note which version of a Secret or ConfigMap that it follows the follower has read by itself."""
        followed = self._secrets if kind == SECRETS.kind else self._config_maps
        followed.saw(follower, ObjectKey(follower.namespace, name), version)

    def forget(self, follower: WorkKey) -> None:
        """End all that the follower follows."""
        self.follow(follower, secrets=frozenset(), config_maps=frozenset())

    async def secret(
        self, follower: WorkKey, name: str, parts: frozenset[str] = IDENTITY_KEYS
    ) -> _Data | None:
        """Return at least these keys of a Secret that it follows, or None; of what is too long, only the length."""
        return await self._secrets.get(follower, ObjectKey(follower.namespace, name), parts)

    async def config_map(self, follower: WorkKey, name: str, part: str | None = None) -> _Data | None:
        """Return the data, or at least this part of it, of a ConfigMap that it follows, or None."""
        parts = None if part is None else frozenset({part})
        return await self._config_maps.get(follower, ObjectKey(follower.namespace, name), parts)


def _only(data: _Data, parts: frozenset[str] | None) -> _Data:
    return data if parts is None else {name: data[name] for name in parts if name in data}


def _version(body: Mapping[str, JsonValue] | None) -> str | None:
    meta = body.get("metadata") if body is not None else None
    version = meta.get("resourceVersion") if isinstance(meta, Mapping) else None
    return version if isinstance(version, str) else None
