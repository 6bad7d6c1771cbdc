"""What is there: a target as the API server holds it. Pure readings of its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of, text_of
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.observed_targets import ObservedTarget
from keybearer.controllers.target.desired import OWNER_LABEL, encoded_data, fingerprint_of_body
from keybearer.controllers.target.spec import OPAQUE
from keybearer.kube.gateway import FIELD_MANAGER

__all__ = [
    "PresentTarget",
    "field_managers",
    "is_own_manager",
    "merge_manager",
    "observe_target",
    "own_metadata",
    "owner_of_another_kind",
]


_MANAGER_PREFIX = f"{FIELD_MANAGER}/"
_OUR_GROUP = "keybearer.dev/"


def merge_manager(owner_uid: str) -> str:
    """Return the field manager under which a custom resource merges.

    One for each object: two that merge into one Secret under the same manager would drop each other's keys,
    since an apply lets go of all that its manager owned and no longer names.
    """
    return f"{_MANAGER_PREFIX}{owner_uid}"


@dataclass(frozen=True)
class PresentTarget:
    """A target that exists. `body` is empty where its fingerprint already says all that is asked.

    Attributes:
        key: which object.
        uid: its UID.
        resource_version: its version.
        owner_uid: UID of the custom resource that its label names; without one, of that which controls it.
        fingerprint: over everything an owner plans, without labels and annotations of others.
        body: its JSON; holds values.
        manager: field manager of the custom resource for which this was read.
    """

    key: TargetKey
    uid: str
    resource_version: str
    owner_uid: str | None
    fingerprint: str
    body: Mapping[str, JsonValue] = field(repr=False)
    manager: str = ""

    @property
    def metadata(self) -> Mapping[str, JsonValue]:
        """Its metadata."""
        return mapping_of(self.body.get("metadata"))

    @cached_property
    def data(self) -> dict[str, str]:
        """Keys and base64 values."""
        return encoded_data(self.key.kind, self.body)

    @property
    def type(self) -> str:
        """The type of a Secret."""
        given = self.body.get("type")
        return given if isinstance(given, str) and given else OPAQUE

    @property
    def immutable(self) -> bool:
        """Tell whether Kubernetes refuses changes of its data."""
        return self.body.get("immutable") is True

    @cached_property
    def merged_keys(self) -> frozenset[str]:
        """Keys that the API server records as merged by that custom resource."""
        return self._managed("f:data") | self._managed("f:binaryData")

    @cached_property
    def merges(self) -> Mapping[str, frozenset[str]]:
        """UIDs of those that merged into it, each with the keys, labels and annotations of its merges."""
        found: dict[str, frozenset[str]] = {}
        for entry in self.field_managers:
            manager = entry.get("manager")
            if isinstance(manager, str) and manager.startswith(_MANAGER_PREFIX):
                names = frozenset[str]().union(*(_names_at(entry, path) for path in _MERGED))
                uid = manager.removeprefix(_MANAGER_PREFIX)
                found[uid] = found.get(uid, frozenset()) | names
        return found

    @cached_property
    def owners(self) -> frozenset[str]:
        """UIDs of all that it names as owners, by our label or an ownerReference."""
        return self._referred if self.owner_uid is None else self._referred | {self.owner_uid}

    def is_controlled_by(self, owner_uid: str) -> bool:
        """Tell whether it is that owner's as a whole, and no other controller's."""
        return self.owner_uid == owner_uid and self.foreign_controller(owner_uid) is None

    def refers_to(self, owner_uid: str) -> bool:
        """Tell whether it goes with that owner: without an ownerReference it was written to be retained."""
        return owner_uid in self._referred

    def owner_of_another_kind(self) -> str | None:
        """Return kind and name of an owner that is no custom resource of ours, whether it controls it or not."""
        return owner_of_another_kind(self.metadata)

    def release_patch(self, owner: str) -> list[JsonValue]:
        """Return the JSON patch (RFC 6902) that removes an ownerReference, and fails if it is another one by then.

        Args:
            owner: kind and name, as `foreign_controller` and `owner_of_another_kind` return them.
        """
        for index, one in enumerate(self._references):
            reference = mapping_of(one)
            if f"{reference.get('kind')} {reference.get('name')}" == owner:
                path = f"/metadata/ownerReferences/{index}"
                uid = text_of(reference.get("uid"))
                return [
                    {"op": "test", "path": f"{path}/uid", "value": uid},
                    {"op": "remove", "path": path},
                ]
        return []

    def references_besides(self, owner_uid: str) -> list[JsonValue]:
        """Return its ownerReferences without that owner's."""
        return [one for one in self._references if mapping_of(one).get("uid") != owner_uid]

    @property
    def _references(self) -> Sequence[JsonValue]:
        return list_of(self.metadata.get("ownerReferences"))

    @cached_property
    def _referred(self) -> frozenset[str]:
        return frozenset(str(one.get("uid")) for one in self._references if isinstance(one, Mapping))

    @property
    def hands(self) -> frozenset[str]:
        """UIDs of the custom resources of ours that own it, as far as it says, or merged into it."""
        named = frozenset[str]() if self.owner_uid is None else frozenset((self.owner_uid,))
        ours = (one for one in self.references_besides("") if _is_of_ours(one))
        return named.union((text_of(mapping_of(one).get("uid")) for one in ours), self.merges)

    def merged_metadata(self, section: str) -> frozenset[str]:
        """Return the labels or annotations that it records as merged by that custom resource."""
        return self._managed("f:metadata", f"f:{section}")

    def _managed(self, *path: str) -> frozenset[str]:
        entries = (entry for entry in self.field_managers if entry.get("manager") == self.manager)
        return frozenset[str]().union(*(_names_at(entry, path) for entry in entries))

    def own_metadata(self, section: str) -> frozenset[str]:
        """Return the labels or annotations that it records as ours."""
        return self._own[section]

    @cached_property
    def _own(self) -> Mapping[str, frozenset[str]]:
        return own_metadata(self.metadata)

    @cached_property
    def field_managers(self) -> Sequence[Mapping[str, JsonValue]]:
        """What the API server records of each field manager."""
        return field_managers(self.metadata)

    @property
    def last_foreign_manager(self) -> str | None:
        """The field manager, other than ours, that changed it last, as far as it records that."""
        theirs = [one for one in self.field_managers if not is_own_manager(one)]
        last = max(theirs, key=lambda one: text_of(one.get("time")), default=None)
        return None if last is None else text_of(last.get("manager")) or None

    def foreign_controller(self, owner_uid: str) -> str | None:
        """Return kind and name of a controller other than this owner."""
        for one in self._references:
            if isinstance(one, Mapping) and one.get("controller") is True and one.get("uid") != owner_uid:
                return f"{one.get('kind')} {one.get('name')}"
        return None


def owner_of_another_kind(meta: Mapping[str, JsonValue]) -> str | None:
    """Return kind and name of an owner that is no custom resource of ours, given the metadata of what it owns."""
    for one in list_of(meta.get("ownerReferences")):
        owner = mapping_of(one)
        if owner and not _is_of_ours(one):
            return f"{owner.get('kind')} {owner.get('name')}"
    return None


def _is_of_ours(reference: JsonValue) -> bool:
    return text_of(mapping_of(reference).get("apiVersion")).startswith(_OUR_GROUP)


_MERGED = (
    ("f:data",),
    ("f:binaryData",),
    ("f:metadata", "f:labels"),
    ("f:metadata", "f:annotations"),
)


def _names_at(entry: Mapping[str, JsonValue], path: tuple[str, ...]) -> frozenset[str]:
    fields: JsonValue = entry.get("fieldsV1")
    for step in path:
        fields = mapping_of(fields).get(step)
    return frozenset(name[2:] for name in mapping_of(fields) if name[:2] == "f:")


def field_managers(meta: Mapping[str, JsonValue]) -> Sequence[Mapping[str, JsonValue]]:
    """Return what the API server records of each field manager of an object, given its metadata."""
    return [entry for entry in list_of(meta.get("managedFields")) if isinstance(entry, dict)]


def is_own_manager(entry: Mapping[str, JsonValue]) -> bool:
    """Tell whether an entry of `managedFields` is of this operator, for whichever custom resource."""
    return text_of(entry.get("manager")).partition("/")[0] == FIELD_MANAGER


def own_metadata(meta: Mapping[str, JsonValue]) -> dict[str, frozenset[str]]:
    """Return the labels and annotations that `managedFields` records as ours, in one pass: each event asks."""
    names: dict[str, list[str]] = {"f:labels": [], "f:annotations": []}
    for entry in field_managers(meta):
        if is_own_manager(entry):
            recorded = mapping_of(mapping_of(entry.get("fieldsV1")).get("f:metadata"))
            for section, found in names.items():
                if section in recorded:
                    found += [name[2:] for name in mapping_of(recorded[section])]
    return {section[2:]: frozenset(found) for section, found in names.items()}


def _controller_of_ours(meta: Mapping[str, JsonValue]) -> str | None:
    """Return the UID of the custom resource of ours that controls an object: who takes off our label, leaves that."""
    for one in list_of(meta.get("ownerReferences")):
        reference = mapping_of(one)
        if reference.get("controller") is True and _is_of_ours(one):
            return text_of(reference.get("uid")) or None
    return None


def observe_target(kind: str, body: Mapping[str, JsonValue], fingerprinter: Fingerprinter) -> ObservedTarget:
    """Return what is remembered of a target: identity, version, owner and fingerprint."""
    meta = mapping_of(body.get("metadata"))
    owner = mapping_of(meta.get("labels")).get(OWNER_LABEL) or _controller_of_ours(meta)
    return ObservedTarget(
        key=TargetKey(kind, str(meta.get("namespace", "")), str(meta.get("name", ""))),
        uid=str(meta.get("uid", "")),
        resource_version=str(meta.get("resourceVersion", "")),
        owner_uid=owner if isinstance(owner, str) else None,
        fingerprint=fingerprint_of_body(kind, body, fingerprinter, own_metadata(meta)),
    )
