"""VaultPKISecret as certificates of a CertificateProfile."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from keybearer.migrate.certificates import name_of_certificate, profile_draft, renew_before_of, ttl_of
from keybearer.migrate.durations import parse_go_duration
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.surroundings import Conversion, Surroundings
from keybearer.migrate.switching import VAULT, note_switch
from keybearer.migrate.vault.destination import read_restarts, target_name

__all__ = ["convert_pki_secret"]

_NAMES: Mapping[str, str] = {"altNames": "dns_name", "ipSans": "ip_address", "uriSans": "uri"}


def convert_pki_secret(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert a VaultPKISecret."""
    spec = one.read(notes)
    destination, secret = target_name(spec)
    mount, role = spec.text("mount") or "pki", spec.text("role") or "default"
    certificate: dict[str, JsonValue] = {"name": name_of_certificate(one.name), "secretName": secret}
    if around.settings.adopt:
        note_switch(one, VAULT, ("Secret", secret), notes)
        certificate["adopt"] = True
    certificate["attributes"] = attributes = _attributes(spec, notes)
    # Vault makes the key; where ours is made, nobody else sees it.
    certificate["privateKey"] = {"algorithm": "RSA_2048"}
    offset = spec.text("expiryOffset")
    if offset is not None:
        duration = parse_go_duration(offset)
        if duration:
            where = spec.where("expiryOffset")
            certificate["renewBefore"] = renew_before_of(duration, attributes.get("ttl"), where, notes)
        else:
            notes.left_out(
                spec.where("expiryOffset"), "is no duration that Keybearer takes", "Write it as 5m or 12h."
            )
    if spec.flag("revoke"):
        certificate["revokeOnDelete"] = True
    restarts = read_restarts(spec, notes)
    if restarts:
        certificate["rolloutRestart"] = restarts
    _judge(spec, destination, notes)
    issuer = ("role", role, f"{mount}/{spec.text('issuerRef') or ''}")
    draft = profile_draft(one, issuer, certificate, around, notes, spec.where("role"))
    spec.report_rest()
    return Conversion((draft,))


def _attributes(spec: Part, notes: Notes) -> dict[str, JsonValue]:
    attributes: dict[str, JsonValue] = {}
    common_name = spec.text("commonName")
    names: list[JsonValue] = []
    if common_name is not None:
        attributes["commonName"] = common_name
        if not spec.flag("excludeCNFromSans"):
            kind = "email" if "@" in common_name else "dns_name"
            names.append({"type": kind, "value": common_name})
    for field, kind in _NAMES.items():
        for value in spec.texts(field):
            name: JsonValue = {
                "type": "email" if kind == "dns_name" and "@" in value else kind,
                "value": value,
            }
            if name not in names:
                names.append(name)
    if names:
        attributes["altNames"] = names
    spec.leave_out("otherSans", "of other names only UPNs are known", "Give altNames of type upn.")
    spec.leave_out("userIDs", "user ids have no place in a subject")
    spec.leave_out("notAfter", "a fixed end is not renewed", "Give attributes.notAfter if that is meant.")
    ttl = spec.text("ttl")
    lifetime = ttl_of(f"{ttl}s" if ttl.isdigit() else ttl, spec.where("ttl"), notes) if ttl else None
    if lifetime is not None:
        attributes["ttl"] = lifetime
    return attributes


def _judge(spec: Part, destination: Part, notes: Notes) -> None:
    spec.skip("vaultAuthRef", "namespace", "clear")  # the Secret goes with the entry
    if (spec.text("format") or "pem") != "pem":
        notes.left_out(
            spec.where("format"), "Secrets hold tls.crt, tls.key and ca.crt as PEM", "See keystores."
        )
    if spec.text("privateKeyFormat") not in (None, "pkcs8"):
        notes.left_out(spec.where("privateKeyFormat"), "keys are PKCS#8")
    destination.skip("create", "overwrite")
    if destination.text("type") != "kubernetes.io/tls":
        notes.changed(
            destination.where("type"),
            "the Secret is of type kubernetes.io/tls with tls.crt, tls.key and ca.crt, not certificate, private_key "
            "and issuing_ca",
            "Let workloads read those keys.",
        )
    for name in ("labels", "annotations"):
        destination.leave_out(name, "Secrets of certificates have none of their own")
    destination.leave_out(
        "transformation", "Secrets of certificates are as they are", "Read tls.crt, tls.key and ca.crt."
    )
