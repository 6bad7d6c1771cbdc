"""Slim copies of the custom resources that the watches showed: enough to reconcile 10,000 of them.

A custom resource keeps its spec and status as compact JSON bytes (a parsed model takes ten times that).
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self

import orjson
from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of, text_of
from keybearer.base.packed_json import packed_json
from keybearer.controllers.annotations import IMPORT_BEHAVIOR, REQUEST, REQUESTED_AT
from keybearer.controllers.custom_resource import NEVER_OBSERVED
from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.work import WorkKey
from keybearer.kube.gateway import Identity, Listed
from keybearer.kube.resources import SECRETS, ObjectKey

__all__ = [
    "BeforeList",
    "Compared",
    "IdentityOf",
    "KindReading",
    "ObjectStore",
    "ObservedObject",
    "TargetKey",
    "TargetsOf",
    "is_newer",
    "named_identity",
    "no_targets",
]

_NO_STATUS = (b"null", b"{}", packed_json({"observedGeneration": NEVER_OBSERVED}))
"""Of an object that is new; the last is the default of the CRD."""
_ENDED_MAX = 10_000
"""UIDs of objects that ended, kept to tell their late events from those of an object that takes their name."""

JsonObject = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class TargetKey:
    """A Secret or ConfigMap in a namespace."""

    kind: str
    namespace: str
    name: str


TargetsOf = Callable[[JsonValue, WorkKey], tuple[TargetKey, ...]]
"""Returns what the spec of a custom resource says it writes, judged or not; each kind gives its own."""


def no_targets(spec: JsonValue, owner: WorkKey) -> tuple[TargetKey, ...]:  # noqa: ARG001 - the signature of all kinds
    """Return nothing: for a kind that writes nothing into the cluster."""
    return ()


IdentityOf = Callable[[JsonObject], str]
"""Returns the identity Secret by which an object of this body takes back what it made in the service, judged or not;
nothing where it makes nothing there."""


def named_identity(body: JsonObject) -> str:
    """Return the identity Secret that the spec names: for a kind that always makes something in the service."""
    # A hundred objects name the same one.
    return sys.intern(text_of(mapping_of(mapping_of(body.get("spec")).get("identityRef")).get("name")))


@dataclass(frozen=True, slots=True)
class KindReading:
    """How the bodies of a kind are read as they arrive, before anything of them is judged."""

    targets_of: TargetsOf = no_targets
    identity_of: IdentityOf = named_identity


@dataclass(frozen=True, slots=True)
class ObservedObject:
    """One custom resource, as last seen."""

    key: WorkKey
    uid: str
    resource_version: str
    generation: int
    spec_json: bytes
    status_json: bytes
    finalizers: tuple[str, ...]
    deletion_timestamp: str | None
    request: str | None
    requested_at: str | None
    import_behavior: str | None
    targets: tuple[TargetKey, ...]
    """What its spec says it writes, judged or not: how an event of a target finds its way here.

    Empty where it writes nothing into the cluster.
    """
    trigger_at: float
    """Monotonic seconds: what is read from a source after this instant includes what led to this version."""
    seen_version: str = ""
    """The resourceVersion that a watch or a list showed last; our own writes raise `resource_version` alone."""
    identity: str = ""
    """The identity Secret that is needed to clean up in the service, judged or not; empty where none is."""
    logs_in_by: str = ""
    """The identity Secret that its spec names, judged or not."""

    @classmethod
    def from_body(
        cls,
        kind: str,
        body: JsonObject,
        *,
        trigger_at: float,
        targets_of: TargetsOf,
        identity_of: IdentityOf = named_identity,
    ) -> Self:
        """Keep of a custom resource's body what a reconcile needs.

        Args:
            kind: of the custom resource.
            body: as the watch showed it.
            trigger_at: monotonic seconds.
            targets_of: reads from a spec of this kind what it writes.
            identity_of: reads from a body of this kind by which identity it cleans up in the service.
        """
        meta = body["metadata"]
        if not isinstance(meta, Mapping):
            msg = f"a {kind} without metadata was delivered"
            raise TypeError(msg)
        annotations = meta.get("annotations")
        annotations = annotations if isinstance(annotations, Mapping) else {}
        key = WorkKey(kind, text_of(meta.get("namespace")), text_of(meta.get("name")))
        return cls(
            key=key,
            uid=text_of(meta.get("uid")),
            resource_version=text_of(meta.get("resourceVersion")),
            generation=_whole(meta.get("generation")),
            spec_json=packed_json(body.get("spec")),
            status_json=packed_json(body.get("status")),
            finalizers=tuple(map(text_of, list_of(meta.get("finalizers")))),
            deletion_timestamp=text_of(meta.get("deletionTimestamp")) or None,
            request=text_of(annotations.get(REQUEST)) or None,
            requested_at=text_of(annotations.get(REQUESTED_AT)) or None,
            import_behavior=text_of(annotations.get(IMPORT_BEHAVIOR)) or None,
            targets=targets_of(body.get("spec"), key),
            trigger_at=trigger_at,
            seen_version=text_of(meta.get("resourceVersion")),
            identity=identity_of(body),
            logs_in_by=named_identity(body),
        )

    @property
    def target(self) -> TargetKey:
        """The target of a kind that writes one at most; of no kind where it writes none."""
        return self.targets[0] if self.targets else TargetKey("", self.key.namespace, self.key.name)

    @property
    def identity_secret(self) -> TargetKey:
        """The Secret by which it logs in to the service; one without a name where it names none."""
        return TargetKey(SECRETS.kind, self.key.namespace, self.logs_in_by)

    @property
    def never_reported(self) -> bool:
        """Tell whether no reconcile has ended yet: the object is new to us."""
        return self.status_json in _NO_STATUS

    def known_version(self, uid: str) -> str:
        """Return up to which version an object of this name is known.

        Of this very object, what a watch or list showed: our own writes don't say what others wrote before them.
        """
        return self.seen_version if self.uid == uid else self.resource_version

    def since(self, trigger_at: float) -> ObservedObject:
        """Return it as led to by an earlier trigger."""
        return replace(self, trigger_at=trigger_at)

    def asks_the_same(self, other: ObservedObject) -> bool:
        """Tell whether the other version asks for nothing new (only status or foreign metadata differ)."""
        return (
            self.uid == other.uid
            and self.generation == other.generation
            and self.deletion_timestamp == other.deletion_timestamp
            and self.requested_at == other.requested_at
            and self.request == other.request
        )


@dataclass(frozen=True, slots=True)
class BeforeList:
    """What was known when a list began.

    Attributes:
        kind: of the custom resources.
        namespace: in which one; None for all.
        newest: the highest resourceVersion.
        ended: UIDs of objects that had ended.
    """

    kind: str
    namespace: str | None
    newest: str
    ended: frozenset[str]


@dataclass(frozen=True, slots=True)
class Compared:
    """What a list showed.

    Attributes:
        missing: names of which it has another object than is held, or a newer version.
        ended: how many objects it lacks that were held.
        is_restored: the cluster is that of a backup.
    """

    missing: tuple[ObjectKey, ...]
    ended: int
    is_restored: bool = False


class ObjectStore:
    """The newest version seen of each custom resource of the operator's kinds.

    Events may be late, lost or told twice: `is_news` judges each of them by resourceVersion and UID.

    Attributes:
        on_end: called with the newest version of each object that ended.
        changes: grows with each version kept by `put` and each object that ends; while it stays the same, so do all
            specs and finalizers.
    """

    def __init__(self) -> None:
        self.changes = 0
        self.on_end: Callable[[ObservedObject], None] = lambda _: None
        self._objects: dict[WorkKey, ObservedObject] = {}
        self._by_target: dict[TargetKey, tuple[WorkKey, ...]] = {}
        self._by_identity: dict[TargetKey, dict[WorkKey, None]] = {}
        self._by_uid: dict[str, WorkKey] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._listed: dict[tuple[str, str | None], str] = {}
        self._written: dict[WorkKey, bytes] = {}

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[ObservedObject]:
        return iter(self._objects.values())

    def counts(self) -> Mapping[str, int]:
        """Return how many objects there are of each kind; of each of ours, none as well."""
        return dict.fromkeys(RESOURCES, 0) | Counter(key.kind for key in self._objects)

    def get(self, key: WorkKey) -> ObservedObject | None:
        """Return the newest version seen, or None where the object is gone."""
        return self._objects.get(key)

    def find(self, uid: str) -> WorkKey | None:
        """Return which custom resource has this UID, or None where none that is held does."""
        return self._by_uid.get(uid)

    def writers_of(self, target: TargetKey) -> tuple[WorkKey, ...]:
        """Return the custom resources whose spec names this target."""
        return self._by_target.get(target, ())

    def logging_in_by(self, secret: TargetKey) -> Collection[WorkKey]:
        """Return the custom resources whose spec names this Secret as their identity."""
        return self._by_identity.get(secret, {}).keys()

    def is_news(self, seen: ObservedObject) -> bool:
        """Tell whether a version is newer than what is held for its name, and not of an object that ended."""
        if seen.uid in self._ended:
            return False
        before = self._objects.get(seen.key)
        if before is None and self._listed:
            # What a complete list lacked was gone by then, however late its events come.
            lists = (self._listed.get((seen.key.kind, place), "0") for place in (None, seen.key.namespace))
            return all(is_newer(seen.resource_version, version) for version in lists)
        return before is None or is_newer(seen.resource_version, before.known_version(seen.uid))

    def put(self, seen: ObservedObject) -> None:
        """Keep a version that is news; whatever else had its name has ended."""
        before = self._objects.get(seen.key)
        if before is not None and before.uid != seen.uid:
            self.end(before.key, before.uid)
            before = None
        if before is not None and is_newer(before.resource_version, seen.resource_version):
            # Sent before our own status write: what it asks counts, the status that it shows is behind ours.
            seen = replace(seen, status_json=before.status_json, resource_version=before.resource_version)
        self.changes += 1
        self._objects[seen.key] = seen
        self._by_uid[seen.uid] = seen.key
        if before is None or before.targets != seen.targets or before.logs_in_by != seen.logs_in_by:
            if before is not None:
                self._unlink(before)
            for target in seen.targets:
                self._by_target[target] = (*self._by_target.get(target, ()), seen.key)
            if seen.logs_in_by:
                self._by_identity.setdefault(seen.identity_secret, {})[seen.key] = None

    def before_list(self, kind: str, namespace: str | None) -> BeforeList:
        """Return what a list that begins now is to be compared with: of a kind, in a namespace or in all."""
        known = [one.resource_version for one in self._of(kind, namespace)]
        known.append(self._listed.get((kind, namespace), "0"))
        newest = max(filter(str.isdecimal, known), key=int)
        return BeforeList(kind, namespace, newest, frozenset(self._ended))

    def compare(self, before: BeforeList, listed: Listed) -> Compared:
        """Take over a complete list.

        What it lacks has ended, unless what is held is newer than the list. A list that is older than what was held
        before it shows a cluster that was restored from a backup: then nothing that was known counts. So does an
        object that is older in the list than it is held, though the list is newer than both: restores raise the
        versions of what is written afterwards (`etcdutl snapshot restore --bump-revision`).
        """
        held, ended = list(self._of(before.kind, before.namespace)), 0
        is_restored = is_newer(before.newest, listed.resource_version)
        is_restored |= any(_is_of_before(one, listed) for one in held)
        for one in held:
            there = listed.objects.get(ObjectKey(one.key.namespace, one.key.name))
            is_there = there is not None and there.uid == one.uid
            if is_restored or not (is_there or is_newer(one.resource_version, listed.resource_version)):
                self.end(one.key, one.uid)
                ended += 1
        if is_restored:
            self._ended.clear()
        for there in listed.objects.values():
            if there.uid in before.ended:
                self._ended.pop(there.uid, None)  # it was taken for one that ended, and is there
        # Until what is missing was read, a version from before this list is news.
        self._listed.pop((before.kind, before.namespace), None)
        missing = (key for key, there in listed.objects.items() if self.lacks(before.kind, key, there))
        return Compared(tuple(missing), ended, is_restored)

    def lacks(self, kind: str, key: ObjectKey, there: Identity) -> bool:
        """Tell whether what is held for a name is older than what a list had, or another object."""
        if there.uid in self._ended:
            return False
        held = self._objects.get(WorkKey(kind, key.namespace, key.name))
        return held is None or is_newer(there.resource_version, held.known_version(there.uid))

    def note_list(self, before: BeforeList, listed: Listed) -> None:
        """From now on no name that is not held has a version from before this list."""
        self._listed[before.kind, before.namespace] = listed.resource_version

    def _of(self, kind: str, namespace: str | None) -> Iterator[ObservedObject]:
        for one in self._objects.values():
            if one.key.kind == kind and namespace in (None, one.key.namespace):
                yield one

    def expect_status(self, key: WorkKey, status_json: bytes) -> None:
        """Say which status is about to be written: the watch may show it before the answer, or without one."""
        self._written[key] = status_json

    def is_strange(self, seen: ObservedObject) -> bool:
        """Tell whether a version that is news has a status that we didn't write last.

        Others wrote it, or it is one of ours that was held up on its way, and came after a later one.
        """
        before = self._objects.get(seen.key)
        if before is None or not is_newer(seen.resource_version, before.resource_version):
            return False
        known = (before.status_json, self._written.get(seen.key, before.status_json))
        if seen.status_json in known:
            return False
        shown = orjson.loads(seen.status_json)
        return all(orjson.loads(one) != shown for one in known)

    def put_status(self, key: WorkKey, uid: str, status_json: bytes, resource_version: str) -> None:
        """Take over the status that we wrote ourselves, before the watch brings it."""
        self._written.pop(key, None)
        seen = self._objects.get(key)
        if seen is not None and seen.uid == uid:
            self._objects[key] = replace(seen, status_json=status_json, resource_version=resource_version)

    def end(self, key: WorkKey, uid: str) -> None:
        """Forget that very object, which ended: none of its late events counts. Another one of its name stays."""
        self._ended[uid] = None
        self._ended.move_to_end(uid)
        while len(self._ended) > _ENDED_MAX:
            self._ended.popitem(last=False)
        gone = self._objects.get(key)
        if gone is None or gone.uid != uid:
            return
        self.changes += 1
        del self._objects[key]
        del self._by_uid[uid]
        self._written.pop(key, None)
        self._unlink(gone)
        self.on_end(gone)

    def _unlink(self, before: ObservedObject) -> None:
        for target in before.targets:
            left = tuple(key for key in self._by_target.get(target, ()) if key != before.key)
            if left:
                self._by_target[target] = left
            else:
                self._by_target.pop(target, None)
        users = self._by_identity.get(before.identity_secret, {})
        users.pop(before.key, None)
        if not users:
            self._by_identity.pop(before.identity_secret, None)


def _is_of_before(held: ObservedObject, listed: Listed) -> bool:
    """Tell whether a list shows an object in a state from before the one held, though the list is newer than that."""
    there = listed.objects.get(ObjectKey(held.key.namespace, held.key.name))
    return (
        there is not None
        and there.uid == held.uid
        and is_newer(held.resource_version, there.resource_version)
        and not is_newer(held.resource_version, listed.resource_version)
    )


def is_newer(version: str, known: str) -> bool:
    """Tell whether a resourceVersion comes after a known one.

    Since Kubernetes 1.35 they are numbers that grow (KEP-5504). Where one is no number, any other version counts as
    newer: an older event may then be taken for news, until the next event or list corrects that.
    """
    if version.isdecimal() and known.isdecimal():
        return int(version) > int(known)
    return version != known


def _whole(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0
