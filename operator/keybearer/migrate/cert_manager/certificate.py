"""Certificate of cert-manager as a certificate of a CertificateProfile."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from pydantic import JsonValue

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage
from keybearer.migrate.cert_manager.acme_certificate import acme_attributes
from keybearer.migrate.cert_manager.issuer import GROUP, Signer, judge_issuer
from keybearer.migrate.cert_manager.names import read_names, read_subject
from keybearer.migrate.certificates import name_of_certificate, profile_draft, renew_before_of, ttl_of
from keybearer.migrate.durations import parse_go_duration
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.surroundings import Conversion, Surroundings
from keybearer.migrate.switching import CERT_MANAGER, note_switch
from keybearer.migrate.target_metadata import put_metadata

__all__ = ["convert_certificate"]

_LIFETIME = "2160h"
"""90 days: cert-manager's, where nothing is said."""

_KEY_USAGES: Mapping[str, KeyUsage] = {
    "signing": KeyUsage.DIGITAL_SIGNATURE,
    "digital signature": KeyUsage.DIGITAL_SIGNATURE,
    "content commitment": KeyUsage.NON_REPUDIATION,
    "key encipherment": KeyUsage.KEY_ENCIPHERMENT,
    "key agreement": KeyUsage.KEY_AGREEMENT,
    "data encipherment": KeyUsage.DATA_ENCIPHERMENT,
    "cert sign": KeyUsage.KEY_CERT_SIGN,
    "crl sign": KeyUsage.CRL_SIGN,
    "encipher only": KeyUsage.ENCIPHER_ONLY,
    "decipher only": KeyUsage.DECIPHER_ONLY,
}
_EXTENDED_KEY_USAGES: Mapping[str, ExtendedKeyUsage] = {
    "any": ExtendedKeyUsage.ANY_PURPOSE,
    "server auth": ExtendedKeyUsage.SERVER_AUTH,
    "client auth": ExtendedKeyUsage.CLIENT_AUTH,
    "code signing": ExtendedKeyUsage.CODE_SIGNING,
    "email protection": ExtendedKeyUsage.EMAIL_PROTECTION,
    "s/mime": ExtendedKeyUsage.EMAIL_PROTECTION,
    "timestamping": ExtendedKeyUsage.TIME_STAMPING,
    "ocsp signing": ExtendedKeyUsage.OCSP_SIGNING,
}
_ALGORITHMS: Mapping[tuple[str, int], str] = {
    ("RSA", 2048): "RSA_2048",
    ("RSA", 3072): "RSA_3072",
    ("RSA", 4096): "RSA_4096",
    ("ECDSA", 256): "EC_prime256v1",
    ("ECDSA", 384): "EC_secp384r1",
    ("ECDSA", 521): "EC_secp521r1",
}
_SIZES = {"RSA": 2048, "ECDSA": 256}
_LEGACY_PROFILES = (None, "", "LegacyRC2", "LegacyDES")


def convert_certificate(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert a Certificate."""
    spec = one.read(notes)
    if spec.flag("isCA"):
        raise NotCarriedError(
            "spec.isCA",
            "authorities are made in the service, and their keys stay there",
            "keybearer authorities create NAME, with --parent for one below another.",
        )
    ref = spec.part("issuerRef")
    name, kind = (ref.text("name"), ref.text("kind") or "Issuer") if ref is not None else (None, "")
    group = (ref.text("group") or GROUP) if ref is not None else ""
    if ref is None or name is None:
        raise NotCarriedError("spec.issuerRef", "names no issuer", "Correct the manifest.")
    if (group, kind) == ("keybearer.dev", "CertificateProfile"):
        raise NotCarriedError(
            ref.path, "is signed by Keybearer already", "It may stay as it is (docs/signers.md)."
        )
    signer = judge_issuer(one, ref.path, (group, kind, name), around, notes)
    certificate: dict[str, JsonValue] = {"name": name_of_certificate(one.name)}
    secret = spec.text("secretName")
    if secret is not None and secret != certificate["name"]:
        certificate["secretName"] = secret
    if secret is not None and around.settings.adopt:
        note_switch(one, CERT_MANAGER, ("Secret", secret), notes)
    if around.settings.adopt:
        certificate["adopt"] = True
    certificate["attributes"] = attributes = (
        acme_attributes(spec, notes) if signer is Signer.ACME else _attributes(spec, notes)
    )
    certificate["privateKey"] = _private_key(spec, notes, signs_itself=signer is Signer.ITSELF)
    certificate |= _renewal(spec, attributes.get("ttl"), notes)
    template = _secret_template(spec, notes)
    if template:
        certificate["secretTemplate"] = template
    keystores = _keystores(spec, notes)
    if keystores:
        certificate["keystores"] = keystores
    _judge_rest(spec)
    draft = profile_draft(
        one,
        (kind, name, group),
        certificate,
        around,
        notes,
        ref.path,
        has_commands=signer in (Signer.ACME, Signer.KEPT),
        is_named_alone=signer is Signer.ACME,
    )
    spec.report_rest()
    return Conversion((draft,))


def _attributes(spec: Part, notes: Notes) -> dict[str, JsonValue]:
    attributes = {**read_subject(spec, notes)}
    names = read_names(spec, notes)
    if names:
        attributes["altNames"] = names
    key_usages: list[JsonValue] = []
    extended: list[JsonValue] = []
    for usage in spec.texts("usages"):
        if usage in _KEY_USAGES:
            key_usages.append(_KEY_USAGES[usage].value)
        elif usage in _EXTENDED_KEY_USAGES:
            extended.append(_EXTENDED_KEY_USAGES[usage].value)
        else:
            notes.left_out(spec.where("usages"), f"{usage[:40]} is a usage that Keybearer doesn't know")
    if key_usages:
        attributes["keyUsages"] = list(dict.fromkeys(map(str, key_usages)))
    if extended:
        attributes["extendedKeyUsages"] = list(dict.fromkeys(map(str, extended)))
    lifetime = ttl_of(spec.text("duration") or _LIFETIME, spec.where("duration"), notes)
    if lifetime is not None:
        attributes["ttl"] = lifetime
    return attributes


def _private_key(spec: Part, notes: Notes, *, signs_itself: bool) -> JsonValue:
    given = spec.part("privateKey") or Part({}, "spec.privateKey", notes)
    kind = given.text("algorithm") or "RSA"
    size = given.number("size") or _SIZES.get(kind, 0)
    algorithm = _ALGORITHMS.get((kind, size))
    if algorithm is None:
        algorithm = "RSA_4096" if kind == "RSA" else "EC_prime256v1"
        notes.changed(
            given.where("algorithm"),
            f"Keybearer makes no such key ({kind[:20]}, {size}); {algorithm} is taken",
        )
    key: dict[str, JsonValue] = {"algorithm": algorithm}
    if given.text("rotationPolicy") == "Never":
        key["rotationPolicy"] = "Never"
    if (given.text("encoding") or "PKCS8") != "PKCS8":
        notes.changed(given.where("encoding"), "keys are written as PKCS#8", "Programs of today read both.")
    if signs_itself:
        key.pop("rotationPolicy", None)
        key["generatedBy"] = "Service"
        notes.changed(
            given.where("rotationPolicy"),
            "of a certificate that signs itself, the service makes the key, a new one each time",
        )
    return key


def _renewal(spec: Part, ttl: JsonValue, notes: Notes) -> dict[str, JsonValue]:
    before, percentage = spec.text("renewBefore"), spec.number("renewBeforePercentage")
    where = spec.where("renewBefore" if percentage is None else "renewBeforePercentage")
    duration = parse_go_duration(before) if before is not None else None
    if before is not None and not duration:
        notes.left_out(
            spec.where("renewBefore"), "is no duration that Keybearer takes", "Write it as in 360h."
        )
    if percentage is not None:
        lifetime = parse_go_duration(spec.text("duration") or _LIFETIME)
        if lifetime and 0 < percentage < 100:
            duration = timedelta(seconds=lifetime.total_seconds() * percentage // 100)
        else:
            notes.left_out(
                spec.where("renewBeforePercentage"), "is no part of the lifetime", "Write renewBefore."
            )
    renewal = spec.part("renewal")
    if renewal is not None:
        if renewal.text("policy") == "Disabled":
            notes.left_out(
                renewal.where("policy"),
                "certificates are renewed",
                "Give attributes.notAfter: a fixed end is not renewed.",
            )
        renewal.leave_out("windows", "renewals keep no times of the day", "They are spread by themselves.")
    return {"renewBefore": renew_before_of(duration, ttl, where, notes)} if duration else {}


def _secret_template(spec: Part, notes: Notes) -> dict[str, JsonValue]:
    template = spec.part("secretTemplate")
    found: dict[str, JsonValue] = {}
    if template is not None:
        texts = (template.mapping("labels"), template.mapping("annotations"))
        put_metadata(found, *texts, template.path, notes)
    return found


def _keystores(spec: Part, notes: Notes) -> dict[str, JsonValue]:
    given = spec.part("keystores")
    if given is None:
        return {}
    found: dict[str, JsonValue] = {}
    for name in ("pkcs12", "jks"):
        store = given.part(name)
        if store is None:
            continue
        ref = store.part("passwordSecretRef")
        password: JsonValue = {"name": ref.text("name"), "key": ref.text("key")} if ref is not None else None
        store.skip("password", "profile", "alias")
        if store.flag("create") is False:
            continue
        if password is None:
            notes.left_out(
                store.path,
                "its password stands in the manifest, and is not copied",
                "Put a new one into a Secret, and name that in keystores." + name + ".passwordRef.",
            )
            continue
        keystore: dict[str, JsonValue] = {"passwordRef": password}
        alias = store.text("alias")
        if name == "jks" and alias is not None:
            keystore["alias"] = alias
        if name == "pkcs12" and store.text("profile") in _LEGACY_PROFILES:
            keystore["legacy"] = True
        found[name] = keystore
    return found


def _judge_rest(spec: Part) -> None:
    spec.skip("revisionHistoryLimit", "encodeUsagesInRequest")
    spec.leave_out(
        "additionalOutputFormats",
        "the Secret holds tls.crt, tls.key and ca.crt, and keystores",
        "Let the workload read these.",
    )
    spec.leave_out("nameConstraints", "belong to authorities", "Policies say which names may be asked for.")
    spec.leave_out("signatureAlgorithm", "is the authority's to say", "Give it in the profile's defaults.")
