"""InfisicalSecret (v1alpha1) as SecretSyncs, one for each Secret or ConfigMap that it writes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pydantic import JsonValue

from keybearer.controllers.resource_fields import write_duration
from keybearer.controllers.secretsync.resource import SECRET_SYNC
from keybearer.migrate.durations import INTERVAL_MIN, carry_interval
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.infisical.auth import judge_address, login_of
from keybearer.migrate.infisical.targets import name_of_sync, start_target
from keybearer.migrate.manifests import Draft, draft_of
from keybearer.migrate.surroundings import Conversion, Surroundings

__all__ = ["convert_secret"]


def convert_secret(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert an InfisicalSecret."""
    spec = one.read(notes)
    targets = _targets(spec)
    if not targets:
        raise NotCarriedError(
            "spec.managedKubeSecretReferences", "names nothing to write", "Correct the manifest."
        )
    judge_address(spec, notes)
    namespaces = {namespace or one.namespace for _, _, namespace, _ in targets}
    login = login_of(
        spec, around, notes, in_namespace=min(namespaces) if len(namespaces) == 1 else one.namespace
    )
    if login.scope is None:
        raise NotCarriedError("spec.authentication", "says nothing of what is read", "Give secretsScope.")
    source = _source(login.scope)
    interval = _interval(spec, notes)
    # Once: labels and annotations are not copied for each target.
    alike = draft_of(one, SECRET_SYNC, {}, notes)
    drafts: list[Draft] = []
    for part, name, namespace, kind in targets:
        target = start_target(part, one, around, notes, name=name, namespace=namespace, kind=kind)
        if kind == "ConfigMap":
            target["kind"] = kind
            target.pop("type", None)
        where = namespace or one.namespace
        identity = login.secret if login.secret is not None else around.settings.identity
        if where != one.namespace and len(namespaces) > 1:
            notes.step(
                part.path,
                "references never leave a namespace",
                f"Put the Secret {identity} into {where} as well.",
            )
        written: dict[str, JsonValue] = {
            "identityRef": {"name": identity},
            "source": source,
            **interval,
            "target": target,
        }
        sync = name_of_sync(one, name, len(targets))
        drafts.append(replace(alike, namespace=where, name=sync, spec=written))
    spec.report_rest()
    return Conversion(tuple(drafts))


def _targets(spec: Part) -> list[tuple[Part, str | None, str, str]]:
    """Return how each target is described, its name, its namespace and its kind."""
    secrets = spec.parts("managedKubeSecretReferences")
    single = spec.part("managedSecretReference")
    if single is not None:
        secrets.insert(0, single)
    found = [
        (part, part.text("secretName"), part.text("secretNamespace") or "", "Secret") for part in secrets
    ]
    found += [
        (part, part.text("configMapName"), part.text("configMapNamespace") or "", "ConfigMap")
        for part in spec.parts("managedKubeConfigMapReferences")
    ]
    return found


def _source(scope: Part) -> dict[str, JsonValue]:
    source: dict[str, JsonValue] = {}
    for name in ("projectId", "projectSlug"):
        given = scope.text(name)
        if given:
            source[name] = given
    source["environment"] = scope.text("envSlug")
    path = scope.text("secretsPath")
    if path and path != "/":
        source["secretPath"] = path
    if scope.flag("recursive"):
        source["recursive"] = True
    single = scope.text("secretName")
    if single:
        source["keys"] = {"include": [], "items": [{"key": single}]}
    return source


def _interval(spec: Part, notes: Notes) -> dict[str, JsonValue]:
    spec.skip("instantUpdates")  # ours come by events wherever the service has them
    seconds = spec.number("resyncInterval")
    config = spec.part("syncConfig")
    if config is not None:
        config.skip("instantUpdates")
        given = carry_interval(config, "resyncInterval", notes)
        return {"refreshInterval": given} if given is not None else {}
    if seconds is None:
        return {}  # five minutes, theirs as ours
    interval = timedelta(seconds=min(max(seconds, 0), 365 * 86_400))
    if interval < INTERVAL_MIN:
        notes.changed(spec.where("resyncInterval"), "is raised to 10s, the shortest that is taken")
        interval = INTERVAL_MIN
    return {"refreshInterval": write_duration(interval)}
