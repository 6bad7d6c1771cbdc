"""PushSecret and ClusterPushSecret as SecretSyncs with a destination.

Theirs push a Secret of the cluster, ours a folder of the service: the Secret's contents must be in one. A folder goes
as a whole, under names that one key schema makes, so that only a push of that shape can be carried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from keybearer.controllers.secretsync.resource import SECRET_SYNC
from keybearer.migrate.contents import Contents, printed_secret
from keybearer.migrate.durations import carry_interval
from keybearer.migrate.external_secrets.connections import connection_name
from keybearer.migrate.external_secrets.destinations import PushedKey, destination_of
from keybearer.migrate.external_secrets.stores import StoreRef, find_store, provider_of
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.key_names import schema_of_regexp
from keybearer.migrate.manifests import Draft, draft_of
from keybearer.migrate.settings import DEFAULT_ENVIRONMENT, Place, project_slug_of, slug_of
from keybearer.migrate.surroundings import Conversion, Surroundings

__all__ = ["convert_cluster_push_secret", "convert_push_secret"]


def convert_push_secret(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert a PushSecret: a SecretSync for each store that it pushes to."""
    return _converted(one, one.read(notes), around, notes)


def convert_cluster_push_secret(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert a ClusterPushSecret: the SecretSync that each of its namespaces needs."""
    spec = one.read(notes)
    inner = spec.part("pushSecretSpec")
    if inner is None:
        raise NotCarriedError("spec.pushSecretSpec", "is missing", "Correct the manifest.")
    spec.skip("refreshTime")
    metadata = spec.part("pushSecretMetadata")
    within = replace(
        one,
        origin=replace(one.origin, name=spec.text("pushSecretName") or one.name),
        labels=metadata.mapping("labels") if metadata is not None else {},
        annotations=metadata.mapping("annotations") if metadata is not None else {},
    )
    spec.leave_out(
        "namespaceSelectors",
        "an object of ours serves its own namespace, and which namespaces have these labels is not told here",
        "Apply the SecretSync in each of them, as by an ApplicationSet or a policy.",
    )
    converted = _converted(within, inner, around, notes)
    spec.report_rest()
    return converted


def _converted(one: ForeignObject, spec: Part, around: Surroundings, notes: Notes) -> Conversion:
    place = _source(spec, one, around, notes)
    keys, further = _pushed(spec, notes)
    named = {ref.name: ref for ref in (*further, *_stores(spec))}
    refs = [ref for ref in named.values() if _for_store(keys, ref)]
    common = _common(one, spec, place, around, notes)
    name = _pushed_secret(spec)
    names = dict.fromkeys(one_key.key for one_key in keys)
    notes.reads(Contents(place, () if "" in names else tuple(names), printed_secret(one.namespace, name)))
    # Once: labels and annotations are not copied for each store.
    alike = draft_of(one, SECRET_SYNC, {}, notes)
    drafts: list[Draft] = []
    for ref in refs:
        store = find_store(around, one, ref)
        if store is None:
            notes.left_out(
                ref.field, f"{ref.kind} {ref.name[:253]} was not given", "Give its manifest as well."
            )
            continue
        provider, fields = provider_of(store, Notes())
        try:
            pushed = destination_of(provider, fields, _for_store(keys, ref))
        except NotCarriedError as error:
            notes.add(error.finding)
            continue
        options: dict[str, JsonValue] = {"initialSyncBehavior": "overwrite-destination", **pushed.options}
        written: dict[str, JsonValue] = {
            **common,
            "destination": pushed.name,
            "connectionRef": {"name": connection_name(ref.name)},
            "destinationConfig": pushed.config,
            "syncOptions": options,
        }
        name = one.name if len(refs) == 1 else f"{one.name}-{slug_of(ref.name)}"
        drafts.append(replace(alike, name=name, spec=written))
    spec.report_rest()
    if not drafts:
        raise NotCarriedError(
            "spec", "is pushed nowhere that Keybearer could push it to", "See the other findings."
        )
    return Conversion(tuple(drafts))


def _pushed_secret(spec: Part) -> str:
    selector = spec.part("selector")
    secret = selector.part("secret") if selector is not None else None
    return (secret.text("name") if secret is not None else None) or ""


def _source(spec: Part, one: ForeignObject, around: Surroundings, notes: Notes) -> Place:
    selector = spec.part("selector")
    secret = selector.part("secret") if selector is not None else None
    if selector is None or secret is None or "selector" in secret:
        raise NotCarriedError(
            "spec.selector",
            "a SecretSync pushes one folder of the service; it generates nothing, and gathers no Secrets by labels",
            "Keep the values in a folder, and write a SecretSync with a destination.",
        )
    name = _pushed_secret(spec)
    place = around.settings.secret(one.namespace, name)
    if place is None:
        place = Place(project_slug_of(name), DEFAULT_ENVIRONMENT)
        notes.assumed(
            secret.path,
            f"Keybearer pushes folders of the service, not Secrets of the cluster; {place} is assumed",
            f"Put the contents of Secret {name[:253]} there, and say where: --map-secret {name[:253]}=PROJECT/"
            "ENVIRONMENT/PATH.",
        )
    else:
        notes.step(
            secret.path,
            f"the contents of Secret {name[:253]} must be in {place} first",
            "Bring them there with keybearer secrets import.",
        )
    return place


def _common(
    one: ForeignObject, spec: Part, place: Place, around: Surroundings, notes: Notes
) -> dict[str, JsonValue]:
    source: dict[str, JsonValue] = {"projectSlug": place.project_slug, "environment": place.environment}
    if place.path != "/":
        source["secretPath"] = place.path
    written: dict[str, JsonValue] = {
        "identityRef": {"name": around.identity(one.namespace, notes)},
        "source": source,
    }
    interval = carry_interval(spec, "refreshInterval", notes)
    if interval is not None:
        written["refreshInterval"] = interval
    if (spec.text("updatePolicy") or "Replace") != "Replace":
        notes.left_out(
            spec.where("updatePolicy"),
            "what the destination has already is overwritten",
            "syncOptions.initialSyncBehavior: import-prioritize-destination brings it into the folder first.",
        )
    if spec.text("deletionPolicy") == "Delete":
        written["destinationDeletionPolicy"] = "RemoveSecrets"
        notes.changed(
            spec.where("deletionPolicy"),
            "secrets go with the SecretSync, but a key that leaves the folder stays at the destination",
            "Take disableSecretDeletion away once the place is this SecretSync's alone.",
        )
    template = spec.part("template")
    if template is not None:
        template.forget()
        notes.left_out(
            template.path,
            "a folder is pushed as it is",
            "Keep the finished values in the folder, under these names.",
        )
    return written


def _stores(spec: Part) -> list[StoreRef]:
    found: list[StoreRef] = []
    for ref in spec.parts("secretStoreRefs"):
        ref.leave_out("labelSelector", "stores are named one by one", "Write a SecretSync for each.")
        name = ref.text("name")
        if name is not None:
            found.append(StoreRef(name, ref.text("kind") or "SecretStore", ref.path))
    return found


def _for_store(keys: Sequence[PushedKey], ref: StoreRef) -> list[PushedKey]:
    return [one for one in keys if one.store in ("", ref.name)]


def _pushed(spec: Part, notes: Notes) -> tuple[Sequence[PushedKey], list[StoreRef]]:
    """Return what is pushed, and the stores that it names by itself."""
    keys: list[PushedKey] = []
    stores: list[StoreRef] = []
    for part in spec.parts("data"):
        match = part.part("match")
        remote = match.part("remoteRef") if match is not None else None
        part.leave_out(
            "metadata", "belongs to its provider", "See what syncOptions and destinationConfig take."
        )
        if part.text("conversionStrategy") not in (None, "None"):
            notes.left_out(part.where("conversionStrategy"), "has no equal")
        if match is None or remote is None:
            continue
        keys.append(
            PushedKey(
                match.text("secretKey") or "",
                remote.text("remoteKey") or "",
                remote.text("property") or "",
                part.path,
            )
        )
    for part in spec.parts("dataTo"):
        ref = part.part("storeRef")
        store = ref.text("name") or "" if ref is not None else ""
        if ref is not None and store:
            stores.append(StoreRef(store, ref.text("kind") or "SecretStore", ref.path))
        schema = _schema(part, notes)
        part.leave_out(
            "metadata", "belongs to its provider", "See what syncOptions and destinationConfig take."
        )
        if part.text("conversionStrategy") not in (None, "None"):
            notes.left_out(part.where("conversionStrategy"), "has no equal")
        keys.append(PushedKey("", part.text("remoteKey") or "", "", part.path, schema, store))
    if not keys:
        raise NotCarriedError("spec", "says nothing of what is pushed", "Correct the manifest.")
    return keys, stores


def _schema(part: Part, notes: Notes) -> str:
    match = part.part("match")
    regexp = match.text("regexp") if match is not None else None
    if regexp not in (None, "", ".*"):
        notes.left_out(
            f"{part.path}.match", "a folder is pushed whole", "Keep what is pushed in a folder of its own."
        )
    rewrites = part.parts("rewrite")
    if not rewrites:
        return "{{secretKey}}"
    schema: str | None = None
    for rewrite in rewrites:
        rule = rewrite.part("regexp")
        source, target = (
            (rule.text("source") or "", rule.text("target") or "") if rule is not None else ("", "")
        )
        transform = rewrite.part("transform")
        if transform is not None:
            transform.skip("template")
        schema = schema_of_regexp(source, target) if len(rewrites) == 1 and rule is not None else None
    if schema is None:
        notes.left_out(
            part.where("rewrite"),
            "a key schema puts a text around names, and no more",
            "Name the keys so in the folder.",
        )
        return "{{secretKey}}"
    return schema
