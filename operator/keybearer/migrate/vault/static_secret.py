"""VaultStaticSecret as SecretSyncs: a path of Vault is a folder of the service."""

from __future__ import annotations

from dataclasses import replace

from pydantic import JsonValue

from keybearer.controllers.secretsync.resource import SECRET_SYNC
from keybearer.migrate.contents import Contents, printed_secret
from keybearer.migrate.durations import carry_interval
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import Notes
from keybearer.migrate.folders import folder_of
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.manifests import draft_of
from keybearer.migrate.settings import DEFAULT_ENVIRONMENT, Place, project_slug_of
from keybearer.migrate.surroundings import Conversion, Surroundings
from keybearer.migrate.vault.destination import read_destination

__all__ = ["convert_static_secret"]


def convert_static_secret(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert a VaultStaticSecret."""
    spec = one.read(notes)
    target, keys = read_destination(spec, one, around, notes)
    place = _source(spec, one, around, notes)
    is_as_read = not keys and "template" not in target
    name = str(target.get("name", one.name))
    notes.reads(
        Contents(place, printed_by=printed_secret(one.namespace, name, without="_raw") if is_as_read else "")
    )
    source: dict[str, JsonValue] = {"projectSlug": place.project_slug, "environment": place.environment}
    if place.path != "/":
        source["secretPath"] = place.path
    if keys:
        source["keys"] = keys
    spec.skip("vaultAuthRef", "namespace", "type", "hmacSecretData")  # drift is always repaired
    config = spec.part("syncConfig")
    if config is not None:
        config.skip("instantUpdates")  # ours come by events wherever the service has them
    spec.leave_out("version", "versions of Vault are not imported", "Pin versions by keys.items[].version.")
    interval = carry_interval(spec, "refreshAfter", notes)
    spec.report_rest()
    written: dict[str, JsonValue] = {
        "identityRef": {"name": around.identity(one.namespace, notes, field="spec.vaultAuthRef")},
        "source": source,
        **({"refreshInterval": interval} if interval is not None else {}),
        "target": target,
    }
    return Conversion((draft_of(one, SECRET_SYNC, written, notes),))


def _source(spec: Part, one: ForeignObject, around: Surroundings, notes: Notes) -> Place:
    mount, path = spec.text("mount") or "", spec.text("path") or ""
    place = around.place(one, mount, "mount", spec.where("mount"), notes)
    if place is None:
        place = Place(project_slug_of(mount), DEFAULT_ENVIRONMENT)
        notes.assumed(
            spec.where("mount"),
            f"mount {mount[:128]} of Vault is no place of the service; {place} is assumed",
            "Bring its contents into the service, and say where: "
            f"--map-store {mount[:128]}=PROJECT/ENVIRONMENT/PATH.",
        )
    names = [name for name in path.strip("/").split("/") if name]
    return replace(place, path=folder_of(place.path, names, spec.where("path"), notes))
