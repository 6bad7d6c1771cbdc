"""`destination` and `rolloutRestartTargets`, which all kinds of Vault Secrets Operator have alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.go_functions import Expression
from keybearer.migrate.go_template import TemplateError, secret
from keybearer.migrate.key_names import search_pattern
from keybearer.migrate.surroundings import Surroundings, note_type
from keybearer.migrate.switching import VAULT, keep_for_return, note_switch
from keybearer.migrate.target_metadata import put_metadata
from keybearer.migrate.templates import translated
from keybearer.migrate.vault.auth import GROUP

__all__ = ["Selection", "read_destination", "read_restarts", "target_name"]

_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")

Selection = dict[str, JsonValue]
"""`keys` of a source."""


def target_name(spec: Part) -> tuple[Part, str]:
    """Return the destination and its name.

    Raises:
        NotCarriedError: it has none.
    """
    destination = spec.part("destination")
    name = destination.text("name") if destination is not None else None
    if destination is None or name is None:
        raise NotCarriedError("spec.destination.name", "is missing", "Correct the manifest.")
    return destination, name


def read_destination(
    spec: Part, one: ForeignObject, around: Surroundings, notes: Notes
) -> tuple[dict[str, JsonValue], Selection]:
    """Return the target of a SecretSync, and which keys are taken.

    Raises:
        NotCarriedError: the destination has no name.
    """
    destination, name = target_name(spec)
    target: dict[str, JsonValue] = {}
    if name != one.name:
        target["name"] = name
    # Without `create` theirs is a Secret that somebody made before, and that stays.
    if not destination.flag("create"):
        target["onDelete"] = "Retain"
    elif around.settings.adopt:
        note_switch(one, VAULT, ("Secret", name), notes)
        keep_for_return(target, notes)
    destination.skip("overwrite")
    if around.settings.adopt:
        target["adopt"] = True
    secret_type = destination.text("type")
    if secret_type is not None:
        note_type(secret_type, destination.where("type"), notes)
        target["type"] = secret_type
    put_metadata(
        target, destination.mapping("labels"), destination.mapping("annotations"), destination.path, notes
    )
    keys: Selection = {}
    transformation = destination.part("transformation")
    excludes_raw = transformation is not None and transformation.flag("excludeRaw")
    if not excludes_raw:
        notes.left_out(
            destination.where("transformation"),
            "the key _raw, all of Vault's answer, is not written",
            "Make sure that nothing reads it.",
        )
    if transformation is not None:
        _read_transformation(transformation, target, keys, one, around, notes)
    restarts = read_restarts(spec, notes)
    if restarts:
        target["rolloutRestart"] = restarts
    return target, keys


def read_restarts(spec: Part, notes: Notes) -> list[JsonValue]:
    """Return the workloads that are restarted after a change."""
    found: list[JsonValue] = []
    for part in spec.parts("rolloutRestartTargets"):
        kind, name = part.text("kind"), part.text("name")
        if kind not in _WORKLOADS:
            notes.left_out(
                part.path, f"{str(kind)[:40]} is none of {', '.join(_WORKLOADS)}", "Restart it by itself."
            )
        else:
            found.append({"kind": kind, "name": name})
    return found


def _read_transformation(
    part: Part,
    target: dict[str, JsonValue],
    keys: Selection,
    one: ForeignObject,
    around: Surroundings,
    notes: Notes,
) -> None:
    includes, excludes = part.texts("includes"), part.texts("excludes")
    templates: dict[str, str] = {}
    for ref in part.parts("transformationRefs"):
        shared = _shared(ref, one, around, notes)
        if shared is None:
            continue
        templates |= _texts(shared.parts_by_name("templates"), _chosen(ref))
        includes += [] if ref.flag("ignoreIncludes") else shared.texts("includes")
        excludes += [] if ref.flag("ignoreExcludes") else shared.texts("excludes")
    templates |= _texts(part.parts_by_name("templates"), None)
    for name, given in (("include", includes), ("exclude", excludes)):
        patterns = _patterns(given, f"{part.path}.{name}s", notes)
        if patterns:
            keys[name] = patterns
    data = translated(templates, part.where("templates"), notes, _field)
    if data:
        # Theirs filters what is written beside the templates, ours what templates see as well.
        if includes or excludes:
            notes.changed(
                part.path,
                "templates see the secrets that includes and excludes leave, not all",
                "Include what they need as well, or write two SecretSyncs.",
            )
        target["template"] = {"data": dict(data), "includeKeys": True}


def _shared(ref: Part, one: ForeignObject, around: Surroundings, notes: Notes) -> Part | None:
    name, namespace = ref.text("name") or "", ref.text("namespace") or one.namespace
    found = around.inventory.find(GROUP, "SecretTransformation", namespace, name)
    if found is None:
        ref.forget()
        notes.left_out(
            ref.path, "names a SecretTransformation that was not given", "Give its manifest as well."
        )
        return None
    return found.read(Notes())


def _chosen(ref: Part) -> Mapping[str, str] | None:
    """Return the templates that are taken, each with the key it is written to; None takes all."""
    chosen = {
        part.text("name") or "": part.text("keyOverride") or part.text("name") or ""
        for part in ref.parts("templateRefs")
    }
    return chosen or None


def _texts(templates: Mapping[str, Part], chosen: Mapping[str, str] | None) -> dict[str, str]:
    texts: dict[str, str] = {}
    for key, part in templates.items():
        text = part.text("text")
        part.skip("name")
        if text is not None and (chosen is None or key in chosen):
            texts[key if chosen is None else chosen[key]] = text
    return texts


def _patterns(given: Sequence[str], field: str, notes: Notes) -> list[JsonValue]:
    patterns: list[JsonValue] = []
    for regexp in given:
        pattern = search_pattern(regexp)
        if pattern is None:
            notes.left_out(field, "has an expression that is too long", "Write several shorter ones.")
        else:
            patterns.append(pattern)
    return patterns


def _field(names: Sequence[str]) -> Expression:
    """Read fields as Vault Secrets Operator has them: `.Secrets.key`, and `get .Secrets "key"`."""
    match names:
        case ["Secrets"]:
            return Expression("secrets")
        case ["Secrets", name]:
            return secret(name)
        case _:
            raise TemplateError("a field other than .Secrets")
