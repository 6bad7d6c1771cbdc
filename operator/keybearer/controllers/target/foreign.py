"""Labels, annotations and owners of others on a target that is made anew: they go with it, and stay theirs. Pure.

What is created is recorded as all ours (`managedFields`), and what is ours and no longer wanted is removed. So the
record is put right after the creation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of, text_of
from keybearer.controllers.target.changes import owner_references
from keybearer.controllers.target.observed import field_managers, is_own_manager, own_metadata
from keybearer.kube.resources import JsonObject

__all__ = ["ForeignMetadata", "foreign_metadata_of", "with_foreign_metadata"]

_SECTIONS = ("labels", "annotations")


@dataclass(frozen=True, slots=True)
class ForeignMetadata:
    """Labels and annotations that others wrote.

    Attributes:
        names: by section: `labels` and `annotations`.
        managers: what the API server recorded of who wrote them, and of nothing else.
    """

    names: Mapping[str, frozenset[str]] = field(repr=False)
    managers: tuple[JsonObject, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return any(self.names.values())

    def told(self) -> JsonObject:
        """Return it as JSON."""
        told: JsonObject = {section: [*sorted(names)] for section, names in self.names.items() if names}
        return {"names": told, "managers": [*self.managers]}

    @classmethod
    def read(cls, told: JsonValue) -> ForeignMetadata:
        """Return what JSON tells; nothing of what can't be read."""
        names = mapping_of(mapping_of(told).get("names"))
        return cls(
            {section: frozenset(map(text_of, list_of(names.get(section)))) for section in _SECTIONS},
            tuple(dict(mapping_of(one)) for one in list_of(mapping_of(told).get("managers"))),
        )

    def without(self, metadata: Mapping[str, JsonValue]) -> ForeignMetadata:
        """Return it without the labels and annotations of this metadata, which are ours by now."""
        return ForeignMetadata(
            {
                section: names - mapping_of(metadata.get(section)).keys()
                for section, names in self.names.items()
            },
            self.managers,
        )

    def recorded(self, metadata: Mapping[str, JsonValue]) -> list[JsonValue]:
        """Return the `managedFields` of an object that we have just created, with these as what they are.

        Args:
            metadata: of the object, which is recorded as all ours.
        """
        ours = [_without(entry, self.names) for entry in field_managers(metadata)]
        theirs = (_only(entry, self.names) for entry in self.managers)
        return [*ours, *(entry for entry in theirs if entry is not None)]


def foreign_metadata_of(metadata: Mapping[str, JsonValue]) -> ForeignMetadata:
    """Return the labels and annotations of an object that aren't recorded as ours."""
    own = own_metadata(metadata)
    names = {
        section: frozenset(mapping_of(metadata.get(section)).keys() - own[section]) for section in _SECTIONS
    }
    theirs = (_only(entry, names) for entry in field_managers(metadata) if not is_own_manager(entry))
    return ForeignMetadata(names, tuple(entry for entry in theirs if entry is not None))


def with_foreign_metadata(
    body: Mapping[str, JsonValue], old: Mapping[str, JsonValue], foreign: ForeignMetadata
) -> JsonObject:
    """Return the manifest of a target with the labels, annotations and owners that others gave the old one.

    Args:
        body: as planned.
        old: metadata of the one whose place it takes.
        foreign: what of that is to be kept: nothing that the manifest plans.
    """
    planned = mapping_of(body.get("metadata"))
    metadata: JsonObject = dict(planned)
    for section, names in foreign.names.items():
        if names:
            there = mapping_of(old.get(section))
            kept = {name: there[name] for name in sorted(names)}
            metadata[section] = {**kept, **mapping_of(planned.get(section))}
    listed = owner_references(planned, old)
    owners = old.get("ownerReferences") if listed is None else listed
    if owners:
        metadata["ownerReferences"] = owners
    return {**body, "metadata": metadata}


def _without(entry: Mapping[str, JsonValue], names: Mapping[str, frozenset[str]]) -> JsonObject:
    fields = dict(mapping_of(entry.get("fieldsV1")))
    meta = dict(mapping_of(fields.get("f:metadata")))
    for section in _SECTIONS:
        if f"f:{section}" in meta:
            gone = {f"f:{name}" for name in names.get(section, ())}
            there = mapping_of(meta[f"f:{section}"])
            meta[f"f:{section}"] = {name: of for name, of in there.items() if name not in gone}
    return {**entry, "fieldsV1": {**fields, "f:metadata": meta}}


def _only(entry: Mapping[str, JsonValue], names: Mapping[str, frozenset[str]]) -> JsonObject | None:
    """Return of an entry what it says of these labels and annotations; None where that is nothing."""
    meta: JsonObject = {}
    there = mapping_of(mapping_of(entry.get("fieldsV1")).get("f:metadata"))
    for section in _SECTIONS:
        kept = mapping_of(there.get(f"f:{section}")).keys() & {f"f:{name}" for name in names.get(section, ())}
        if kept:
            meta[f"f:{section}"] = {name: {} for name in sorted(kept)}
    return {**entry, "fieldsV1": {"f:metadata": meta}} if meta else None
