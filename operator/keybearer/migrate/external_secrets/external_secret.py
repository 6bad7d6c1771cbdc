"""ExternalSecret and ClusterExternalSecret as SecretSyncs."""

from __future__ import annotations

from dataclasses import replace

from pydantic import JsonValue

from keybearer.controllers.secretsync.resource import SECRET_SYNC
from keybearer.migrate.durations import carry_interval
from keybearer.migrate.external_secrets.data import read_sources
from keybearer.migrate.external_secrets.target import read_target
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.manifests import draft_of
from keybearer.migrate.surroundings import Conversion, Surroundings

__all__ = ["convert_cluster_external_secret", "convert_external_secret"]

_EVERY_HOUR = "1h"
"""How often External Secrets looks where nothing else is said."""


def convert_external_secret(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert an ExternalSecret."""
    return _converted(one, one.read(notes), around, notes)


def convert_cluster_external_secret(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert a ClusterExternalSecret: a SecretSync for each namespace that it names."""
    spec = one.read(notes)
    inner = spec.part("externalSecretSpec")
    if inner is None:
        raise NotCarriedError("spec.externalSecretSpec", "is missing", "Correct the manifest.")
    name = spec.text("externalSecretName") or one.name
    metadata = spec.part("externalSecretMetadata")
    labels = metadata.mapping("labels") if metadata is not None else {}
    annotations = metadata.mapping("annotations") if metadata is not None else {}
    namespaces = spec.texts("namespaces")
    spec.skip("refreshTime")
    for selector in ("namespaceSelector", "namespaceSelectors"):
        spec.leave_out(
            selector,
            "an object of ours serves its own namespace, and which namespaces have these labels is not told here",
            "Apply the SecretSync in each of them, as by an ApplicationSet or a policy.",
        )
    origin = replace(one.origin, name=name, namespace=namespaces[0] if namespaces else "")
    within = replace(one, origin=origin, labels=labels, annotations=annotations)
    converted = _converted(within, inner, around, notes)
    spec.report_rest()
    drafts = [
        replace(draft, namespace=namespace) for draft in converted.drafts for namespace in namespaces or [""]
    ]
    return Conversion(tuple(drafts))


def _converted(one: ForeignObject, spec: Part, around: Surroundings, notes: Notes) -> Conversion:
    target, beside = read_target(spec, one, around, notes)
    sources = read_sources(spec, one, around, notes)
    sources.note_contents(one.namespace, _written_secret(one, target), notes)
    written: dict[str, JsonValue] = {
        "identityRef": {"name": _identity(sources.identities, one, around, notes)},
        **sources.spec,
        **_refresh(spec, notes),
        **beside,
        **({"target": target} if target else {}),
    }
    spec.leave_out(
        "syncWindows", "times of the day have no equal", "mode: Suspended stops a SecretSync by hand."
    )
    spec.report_rest()
    return Conversion((draft_of(one, SECRET_SYNC, written, notes),))


def _written_secret(one: ForeignObject, target: dict[str, JsonValue]) -> str | None:
    """Return the Secret that has the values as they are read; None where a template makes others of them."""
    template = target.get("template")
    is_as_read = template is None or (isinstance(template, dict) and template.get("includeKeys") is True)
    if target.get("kind", "Secret") != "Secret" or not is_as_read:
        return None
    return str(target.get("name", one.name))


def _identity(found: dict[str, str], one: ForeignObject, around: Surroundings, notes: Notes) -> str:
    if len(found) > 1:
        notes.assumed(
            "spec",
            "reads from several stores by several logins, and a SecretSync has one identity",
            "Let one identity read all of them, or write several SecretSyncs.",
        )
    if found:
        return next(iter(found))
    return around.identity(one.namespace, notes)


def _refresh(spec: Part, notes: Notes) -> dict[str, JsonValue]:
    policy = spec.text("refreshPolicy") or "Periodic"
    is_zero = (spec.text("refreshInterval") or "").rstrip("hms0.") == "" and "refreshInterval" in spec
    interval = carry_interval(spec, "refreshInterval", notes)
    if policy == "CreatedOnce" or (policy == "Periodic" and is_zero):
        return {"mode": "CreateOnce"}
    if policy == "OnChange":
        notes.changed(
            spec.where("refreshPolicy"),
            "a SecretSync follows its source as well: changes there arrive",
            "Set mode: CreateOnce, or Suspended, where they mustn't.",
        )
        return {"refreshInterval": "0"}
    return {"refreshInterval": interval or _EVERY_HOUR}
