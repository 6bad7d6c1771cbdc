"""How a target differs from what it should be: names for people, a patch for the API server. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.target.status import PLAN_NAMES_MAX, PlanStatus

__all__ = [
    "KeyChanges",
    "compare_keys",
    "foreign_metadata",
    "has_planned_metadata",
    "is_as_planned",
    "owner_references",
    "plan_status",
    "replacement_patch",
    "some_of",
]

_NAMED = 10
"""Key names that a message spells out."""


@dataclass(frozen=True, slots=True)
class KeyChanges:
    """Names of keys that differ, sorted."""

    add: tuple[str, ...] = ()
    change: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.add or self.change or self.remove)


def plan_status(changes: KeyChanges) -> PlanStatus:
    """Return the changes as `status.plan` shows them: bounded, and the rest counted."""
    shown = [names[:PLAN_NAMES_MAX] for names in (changes.add, changes.change, changes.remove)]
    total = len(changes.add) + len(changes.change) + len(changes.remove)
    return PlanStatus(
        add=shown[0], change=shown[1], remove=shown[2], omitted=total - sum(len(names) for names in shown)
    )


def compare_keys(
    before: Mapping[str, str], after: Mapping[str, str], ours: set[str] | frozenset[str]
) -> KeyChanges:
    """Return how two sets of keys and values differ; of those before, only ours can be removed."""
    return KeyChanges(
        add=tuple(sorted(after.keys() - before.keys())),
        change=tuple(sorted(name for name in after.keys() & before.keys() if before[name] != after[name])),
        remove=tuple(sorted((before.keys() & ours) - after.keys())),
    )


def some_of(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"


def is_as_planned(desired: DesiredTarget, present: PresentTarget) -> bool:
    """Tell whether an owned target is as planned, whoever wrote what of it."""
    wanted_type = desired.body.get("type")
    wanted = mapping_of(desired.body.get("metadata"))
    return (
        present.data == desired.data
        and wanted_type in (None, present.type)
        and present.immutable == (desired.body.get("immutable") is True)
        and owner_references(wanted, present.metadata) is None
        and has_planned_metadata(desired, present, present.own_metadata)
    )


def has_planned_metadata(
    desired: DesiredTarget, present: PresentTarget, ours: Callable[[str], frozenset[str]]
) -> bool:
    """Tell whether labels and annotations are as planned, and none of ours is left of an earlier plan.

    Args:
        desired: as planned.
        present: what is there.
        ours: says which labels or annotations of it are ours.
    """
    for section in ("labels", "annotations"):
        wanted = mapping_of(mapping_of(desired.body.get("metadata")).get(section))
        there = mapping_of(present.metadata.get(section))
        if any(there.get(name) != value for name, value in wanted.items()):
            return False
        surplus = there.keys() - wanted.keys()
        if surplus and surplus & ours(section):
            return False
    return True


def foreign_metadata(desired: DesiredTarget, present: PresentTarget) -> list[str]:
    """Return the labels and annotations of a merge that are there with another value, written by somebody else."""
    found: list[str] = []
    for section in ("labels", "annotations"):
        wanted = mapping_of(mapping_of(desired.body.get("metadata")).get(section))
        there = mapping_of(present.metadata.get(section))
        ours = present.merged_metadata(section)
        found += sorted(
            name for name in wanted.keys() & there.keys() if there[name] != wanted[name] and name not in ours
        )
    return found


def replacement_patch(
    desired: DesiredTarget, present: PresentTarget, *, always: bool = False
) -> dict[str, JsonValue] | None:
    """Return a merge patch that sets what is planned and removes the rest; None where nothing has to go.

    Labels and annotations of others stay.

    Args:
        desired: as planned.
        present: what is there.
        always: return it in any case.
    """
    patch: dict[str, JsonValue] = {}
    surplus = False
    for section in ("data", "binaryData"):
        wanted = mapping_of(desired.body.get(section))
        gone = mapping_of(present.body.get(section)).keys() - wanted.keys()
        surplus |= bool(gone)
        merged: dict[str, JsonValue] = {**dict.fromkeys(gone), **wanted}
        if merged:
            patch[section] = merged
    wanted_meta, meta = mapping_of(desired.body.get("metadata")), present.metadata
    patched_meta: dict[str, JsonValue] = {}
    for section in ("labels", "annotations"):
        wanted = mapping_of(wanted_meta.get(section))
        gone = mapping_of(meta.get(section)).keys() - wanted.keys()
        if gone:
            gone &= present.own_metadata(section)
        surplus |= bool(gone)
        merged = {**dict.fromkeys(gone), **wanted}
        if merged:
            patched_meta[section] = merged
    owners = owner_references(wanted_meta, meta)
    if owners is not None:
        patched_meta["ownerReferences"] = owners
        surplus |= not wanted_meta.get("ownerReferences")
    if present.immutable is False and desired.body.get("immutable") is True:
        patch["immutable"] = True
    if not surplus and not always:
        return None
    patch["metadata"] = patched_meta
    return patch


def owner_references(
    wanted: Mapping[str, JsonValue], meta: Mapping[str, JsonValue]
) -> list[JsonValue] | None:
    """Return the list to write: ours as planned and foreign ones kept; None where it is right already."""
    ours, now = list_of(wanted.get("ownerReferences")), list_of(meta.get("ownerReferences"))
    kept = [one for one in now if not (isinstance(one, Mapping) and one.get("controller") is True)]
    listed = [*kept, *ours]
    return None if _uids(listed) == _uids(now) else listed


def _uids(references: Sequence[JsonValue]) -> set[tuple[str, bool]]:
    return {
        (str(one.get("uid")), one.get("controller") is True) for one in references if isinstance(one, Mapping)
    }
