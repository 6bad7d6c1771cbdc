"""The backup of a target that is deleted to be created anew: an object beside it that holds all of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from pydantic import JsonValue

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.controllers.target.desired import MANAGED_LABEL
from keybearer.controllers.target.foreign import ForeignMetadata, foreign_metadata_of
from keybearer.kube.resources import JsonObject, ObjectKey

__all__ = [
    "BACKUP_MARK",
    "TRIAL_MARK",
    "backup_key",
    "backup_of",
    "foreign_of_backup",
    "is_backup",
    "is_trial",
    "original_key",
    "restored",
    "trial_of",
]

BACKUP_MARK = "keybearer.dev/backup-of"
"""JSON: name, UID, labels, annotations (and which of both are of others), ownerReferences and immutability of the
original."""
TRIAL_MARK = "keybearer.dev/trial"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""kubectl's copy of a manifest; with it, the annotation above could be larger than Kubernetes takes."""
_NAME_MAX = 253
_CONTENT = ("apiVersion", "kind", "type", "data", "binaryData")


def backup_key(original: ObjectKey, uid: str) -> ObjectKey:
    """Return where the backup of that very object is."""
    suffix = f".keybearer-backup-{uid[:8]}"
    return ObjectKey(original.namespace, original.name[: _NAME_MAX - len(suffix)].rstrip("-.") + suffix)


def backup_of(original: JsonObject) -> JsonObject:
    """Return the backup: the content, and what else there was in an annotation, so that no selector finds it.

    It goes with the owner of the original.
    """
    meta = mapping_of(original.get("metadata"))
    noted: JsonObject = {
        name: meta[name] for name in ("name", "uid", "labels", "ownerReferences") if name in meta
    }
    noted["immutable"] = original.get("immutable") is True
    annotations = mapping_of(meta.get("annotations"))
    noted["annotations"] = {name: text for name, text in annotations.items() if name != _LAST_APPLIED}
    foreign = foreign_metadata_of({**meta, "annotations": noted["annotations"]})
    if foreign:
        noted["foreign"] = foreign.told()
    return _beside(original, meta.get("ownerReferences"), {BACKUP_MARK: orjson.dumps(noted).decode()})


def trial_of(wanted: Mapping[str, JsonValue]) -> JsonObject:
    """Return an object with the content of a target that is wanted, to see whether it is stored."""
    return _beside(wanted, mapping_of(wanted.get("metadata")).get("ownerReferences"), {TRIAL_MARK: "true"})


def _beside(body: Mapping[str, JsonValue], owners: JsonValue, annotations: JsonObject) -> JsonObject:
    metadata: JsonObject = {"labels": {MANAGED_LABEL: "true"}, "annotations": annotations}
    if owners:
        metadata["ownerReferences"] = owners
    return {name: body[name] for name in _CONTENT if name in body} | {"metadata": metadata}


def is_trial(body: Mapping[str, JsonValue]) -> bool:
    """Tell whether an object is a trial; its name is that of a backup."""
    return TRIAL_MARK in _annotations(body) and ".keybearer-backup-" in text_of(_meta(body).get("name"))


def is_backup(body: Mapping[str, JsonValue]) -> bool:
    """Tell whether an object is a backup: the annotation alone makes none, for anybody may write it."""
    return original_key(body) is not None


def original_key(body: Mapping[str, JsonValue]) -> ObjectKey | None:
    """Return which object this is the backup of; None if it is no backup."""
    noted = _noted(body)
    if not noted:
        return None  # every event of a target asks
    meta = _meta(body)
    original = ObjectKey(text_of(meta.get("namespace")), text_of(noted.get("name")))
    is_named = bool(original.name) and backup_key(original, text_of(noted.get("uid"))).name == meta.get(
        "name"
    )
    return original if is_named else None


def restored(backup: JsonObject) -> JsonObject:
    """Return the original as it was, but for its UID and versions."""
    noted = _noted(backup)
    whole: JsonObject = {name: backup[name] for name in _CONTENT if name in backup}
    whole["metadata"] = {
        name: noted[name] for name in ("labels", "annotations", "ownerReferences") if noted.get(name)
    }
    if noted.get("immutable") is True:
        whole["immutable"] = True
    return whole


def foreign_of_backup(backup: JsonObject) -> ForeignMetadata:
    """Return which labels and annotations of the original are of others; none where an older version made it."""
    return ForeignMetadata.read(_noted(backup).get("foreign"))


def _noted(body: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    text = text_of(_annotations(body).get(BACKUP_MARK))
    if not text:
        return {}
    try:
        return mapping_of(orjson.loads(text))
    except orjson.JSONDecodeError:
        return {}


def _meta(body: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    return mapping_of(body.get("metadata"))


def _annotations(body: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    return mapping_of(_meta(body).get("annotations"))
