"""`target` of an ExternalSecret as the target of a SecretSync."""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.surroundings import Surroundings, note_type
from keybearer.migrate.switching import EXTERNAL_SECRETS, keep_for_return, note_switch
from keybearer.migrate.target_metadata import put_metadata
from keybearer.migrate.templates import marked, translated

__all__ = ["read_target"]

_UNNAMED: Final = "TODO"
"""The key of templates that build keys themselves: what these are called shows only when they have run."""


def read_target(
    spec: Part, one: ForeignObject, around: Surroundings, notes: Notes
) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """Return the target, and what of the spec beside it follows from it.

    Raises:
        NotCarriedError: nothing is to be written, or something that is neither Secret nor ConfigMap.
    """
    part = spec.part("target") or Part({}, "spec.target", notes)
    target: dict[str, JsonValue] = {}
    beside: dict[str, JsonValue] = {}
    _kind(part, target)
    name = part.text("name")
    if name is not None and name != one.name:
        target["name"] = name
    _policies(part, target, beside, notes)
    if around.settings.adopt:
        target["adopt"] = True
    if part.flag("immutable"):
        target["immutable"] = True
    if around.settings.adopt and (part.text("creationPolicy") or "Owner") == "Owner":
        note_switch(one, EXTERNAL_SECRETS, (str(target.get("kind", "Secret")), name or one.name), notes)
        keep_for_return(target, notes)
    template = part.part("template")
    if template is None:
        put_metadata(target, one.labels, one.annotations, "metadata", notes)
    else:
        _read_template(template, target, one, around, notes)
    return target, beside


def _kind(part: Part, target: dict[str, JsonValue]) -> None:
    manifest = part.part("manifest")
    if manifest is None:
        return
    if (manifest.text("apiVersion"), manifest.text("kind")) != ("v1", "ConfigMap"):
        raise NotCarriedError(
            manifest.path,
            "a SecretSync writes Secrets and ConfigMaps",
            "Write a Secret, and have what needs it read that.",
        )
    target["kind"] = "ConfigMap"


def _policies(part: Part, target: dict[str, JsonValue], beside: dict[str, JsonValue], notes: Notes) -> None:
    where = part.where("creationPolicy")
    match part.text("creationPolicy") or "Owner":
        case "Owner":
            pass
        case "Orphan":
            target["onDelete"] = "Retain"
        case "Merge":
            target |= {"creationPolicy": "Merge", "onDelete": "Retain"}
        case "CreateOrMerge":
            target |= {"creationPolicy": "Merge", "onDelete": "Retain"}
            notes.changed(
                where, "Merge adds to what exists, and creates nothing", "Create the Secret, or say Owner."
            )
        case "None":
            raise NotCarriedError(where, "writes nothing, so there is nothing to carry over")
        case _:
            notes.left_out(where, "is no policy that is known; Owner is taken")
    where = part.where("deletionPolicy")
    match part.text("deletionPolicy") or "Retain":
        case "Retain":
            pass
        case "Merge":
            beside["guard"] = {"maxDeletions": 100}
            notes.changed(
                where,
                "keys go as they go in the source, but never all at once",
                "Release that by the annotation keybearer.dev/request: release-guard.",
            )
        case _:
            notes.left_out(
                where,
                "a source that was emptied never takes the Secret along: the guard holds",
                "Delete the SecretSync, and its Secret goes.",
            )


def _read_template(
    template: Part, target: dict[str, JsonValue], one: ForeignObject, around: Surroundings, notes: Notes
) -> None:
    secret_type = template.text("type")
    if secret_type is not None and target.get("kind") != "ConfigMap":
        note_type(secret_type, template.where("type"), notes)
        target["type"] = secret_type
    template.skip("engineVersion")
    metadata = template.part("metadata")
    if metadata is None:
        put_metadata(target, one.labels, one.annotations, "metadata", notes)
    else:
        labels, annotations = metadata.mapping("labels"), metadata.mapping("annotations")
        texts = (
            _constant(labels, f"{metadata.path}.labels", notes),
            _constant(annotations, f"{metadata.path}.annotations", notes),
        )
        put_metadata(target, *texts, metadata.path, notes)
    data = translated(template.mapping("data"), template.where("data"), notes)
    for source in template.parts("templateFrom"):
        data |= _from_elsewhere(source, one, around, notes)
    if data:
        built: dict[str, JsonValue] = {"data": dict(data)}
        if template.text("mergePolicy") == "Merge":
            built["includeKeys"] = True
        target["template"] = built
    elif template.text("mergePolicy") == "Merge":
        return
    elif "data" in template:
        raise NotCarriedError(template.where("data"), "has no template of a key", "Correct the manifest.")


def _constant(given: dict[str, str], field: str, notes: Notes) -> dict[str, str]:
    """Return labels or annotations that no secret goes into."""
    kept = {}
    for name, text in given.items():
        if "{{" in text:
            notes.left_out(
                f"{field}.{name[:80]}",
                "is a template, and labels and annotations hold no secrets",
                "Write it as a plain text.",
            )
        else:
            kept[name] = text
    return kept


def _from_elsewhere(source: Part, one: ForeignObject, around: Surroundings, notes: Notes) -> dict[str, str]:
    ref = source.part("configMap")
    is_data = (source.text("target") or "Data").lower() == "data"
    if ref is None or not is_data:
        source.forget()
        if ref is not None:
            ref.forget()
        notes.left_out(
            source.path,
            "builds keys, labels or annotations by a template as a whole, or from a Secret",
            "Write each key in target.template.data, in place of the TODO there.",
        )
        literal = source.text("literal") if is_data else None
        return {_UNNAMED: marked(literal or f"in {source.path} of {one.origin}")} if is_data else {}
    config_map = ref.text("name") or ""
    keys = _plain_keys(ref, notes)
    found = around.inventory.find("", "ConfigMap", one.namespace, config_map)
    content = found.body.get("data") if found is not None else None
    if not isinstance(content, dict):
        notes.left_out(
            ref.path,
            f"ConfigMap {config_map[:253]} was not given, so that its templates can't be turned into Jinja2",
            "Give its manifest as well.",
        )
        return {key: marked(f"key {key} of ConfigMap {config_map[:253]}") for key in sorted(keys)}
    texts = {key: text for key, text in content.items() if key in keys and isinstance(text, str)}
    unnamed = {_UNNAMED: marked(f"a key of ConfigMap {config_map[:253]}")} if _UNNAMED in keys else {}
    return {**translated(texts, ref.path, notes), **unnamed}


def _plain_keys(ref: Part, notes: Notes) -> set[str]:
    """Return the keys whose contents are templates of values alone, and one more for those of keys as well."""
    keys: set[str] = set()
    for item in ref.parts("items"):
        key = item.text("key")
        if item.text("templateAs") not in (None, "Values"):
            notes.left_out(item.path, "keys that are templates have no equal", "Write each key out.")
            keys.add(_UNNAMED)
        elif key is not None:
            keys.add(key)
    return keys
