"""InfisicalStaticSecret (v1beta1) as SecretSyncs, one for each target."""

from __future__ import annotations

from dataclasses import replace

from pydantic import JsonValue

from keybearer.controllers.secretsync.resource import SECRET_SYNC
from keybearer.migrate.durations import carry_interval
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.infisical.auth import login_of_object
from keybearer.migrate.infisical.targets import name_of_sync, start_target
from keybearer.migrate.manifests import Draft, draft_of
from keybearer.migrate.surroundings import Conversion, Surroundings

__all__ = ["convert_static_secret"]


def convert_static_secret(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert an InfisicalStaticSecret."""
    spec = one.read(notes)
    # Theirs keeps the first of two keys, ours the last.
    sources = [_source(part) for part in spec.parts("sources")][::-1]
    targets = spec.parts("targets")
    if not sources or not targets:
        raise NotCarriedError("spec", "names no source, or no target", "Correct the manifest.")
    read: dict[str, JsonValue] = (
        {"source": sources[0]} if len(sources) == 1 else {"sources": [dict(one) for one in sources]}
    )
    ref = spec.part("infisicalAuthRef")
    # Once: labels and annotations are not copied for each target.
    alike = draft_of(one, SECRET_SYNC, {}, notes)
    drafts: list[Draft] = []
    for part in targets:
        name = part.text("name")
        namespace = part.text("namespace") or one.namespace
        kind = part.text("kind") or "Secret"
        _refuse_bulk(part)
        target = start_target(part, one, around, notes, name=name, namespace=namespace, kind=kind)
        if kind == "ConfigMap":
            target["kind"] = kind
            target.pop("type", None)
        identity = login_of_object(ref, one, around, notes, in_namespace=namespace)
        written: dict[str, JsonValue] = {"identityRef": {"name": identity}, **read, **_interval(spec, notes)}
        written["target"] = target
        sync = name_of_sync(one, name, len(targets))
        drafts.append(replace(alike, namespace=namespace, name=sync, spec=written))
    spec.report_rest()
    return Conversion(tuple(drafts))


def _source(part: Part) -> dict[str, JsonValue]:
    source: dict[str, JsonValue] = {}
    for name in ("projectId", "projectSlug"):
        given = part.text(name)
        if given:
            source[name] = given
    source["environment"] = part.text("environmentSlug")
    path = part.text("secretPath")
    if path and path != "/":
        source["secretPath"] = path
    if part.flag("recursive"):
        source["recursive"] = True
    tags = part.texts("tagSlugs")
    if tags:
        source["tagSlugs"] = [*tags]
    return source


def _interval(spec: Part, notes: Notes) -> dict[str, JsonValue]:
    options = spec.part("syncOptions")
    if options is None:
        return {}
    options.skip("instantUpdates")  # ours are by events wherever the service has them
    interval = carry_interval(options, "refreshInterval", notes)
    return {"refreshInterval": interval} if interval is not None else {}


def _refuse_bulk(target: Part) -> None:
    """Refuse one template that builds all keys: which those are shows only when it has run.

    Raises:
        NotCarriedError: the target has one.
    """
    template = target.part("template")
    data = template.raw("data") if template is not None else None
    if isinstance(data, str):
        raise NotCarriedError(
            f"{target.path}.template.data",
            "one template builds all keys, and which these are shows only when it has run",
            "Write each key in target.template.data.",
        )
