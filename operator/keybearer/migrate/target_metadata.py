"""Labels and annotations of targets, as a SecretSync takes them."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue, ValidationError

from keybearer.controllers.target.spec import Target
from keybearer.migrate.carried_metadata import carried_metadata
from keybearer.migrate.findings import Notes

__all__ = ["put_metadata"]


def put_metadata(
    target: dict[str, JsonValue],
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    field: str,
    notes: Notes,
) -> None:
    """Put labels and annotations into a target, and note those that it doesn't take.

    Args:
        target: gains `labels` and `annotations` where any are left.
        labels: as the other operator writes them to the Secret.
        annotations: likewise.
        field: where they stand in the manifest that was read.
        notes: of the object.
    """
    for name, given in (("labels", labels), ("annotations", annotations)):
        kept: dict[str, JsonValue] = {}
        for key, value in carried_metadata(given, f"{field}.{name}", notes).items():
            if _is_taken(name, key, value):
                kept[key] = value
            else:
                notes.left_out(
                    f"{field}.{name}.{key[:80]}",
                    "is reserved for Kubernetes, or has a form that Kubernetes doesn't take",
                    "Leave it out, or set it by hand.",
                )
        if kept:
            target[name] = kept


def _is_taken(name: str, key: str, value: str) -> bool:
    try:
        Target.model_validate({name: {key: value}})
    except ValidationError:
        return False
    return True
