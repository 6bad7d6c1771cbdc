"""Ingresses that ask cert-manager by annotation: each entry of `tls` is a Certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from keybearer.migrate.cert_manager.certificate import convert_certificate
from keybearer.migrate.cert_manager.issuer import GROUP
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.manifests import Draft
from keybearer.migrate.surroundings import Conversion, Surroundings

__all__ = ["asks_for_certificates", "convert_ingress"]

_PREFIX = f"{GROUP}/"
_ISSUERS: Mapping[str, str] = {f"{_PREFIX}issuer": "Issuer", f"{_PREFIX}cluster-issuer": "ClusterIssuer"}
_TEXTS: Mapping[str, str] = {
    "common-name": "commonName",
    "duration": "duration",
    "renew-before": "renewBefore",
}
_LISTS: Mapping[str, str] = {
    "usages": "usages",
    "alt-names": "dnsNames",
    "ip-sans": "ipAddresses",
    "uri-sans": "uris",
    "email-sans": "emailAddresses",
}
_SUBJECT: Mapping[str, str] = {
    "subject-organizations": "organizations",
    "subject-organizationalunits": "organizationalUnits",
    "subject-countries": "countries",
    "subject-provinces": "provinces",
    "subject-localities": "localities",
}
_KEY: Mapping[str, str] = {
    "private-key-algorithm": "algorithm",
    "private-key-encoding": "encoding",
    "private-key-rotation-policy": "rotationPolicy",
    "private-key-size": "size",
}
_SILENT = ("issuer-kind", "issuer-group", "revision-history-limit")


def asks_for_certificates(one: ForeignObject) -> bool:
    """Tell whether an object is an Ingress that names an issuer."""
    return one.kind == "Ingress" and not _ISSUERS.keys().isdisjoint(one.annotations)


def convert_ingress(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert what an Ingress asks for; the Ingress itself stays as it is.

    Raises:
        NotCarriedError: it names no Secret, or nothing of it can be carried.
    """
    asked = {
        name.removeprefix(_PREFIX): text for name, text in one.annotations.items() if name.startswith(_PREFIX)
    }
    common = _common(asked, notes)
    drafts: list[Draft] = []
    for entry in one.read(Notes()).parts("tls"):
        secret = entry.text("secretName")
        hosts: list[JsonValue] = [*entry.texts("hosts")]
        if secret is None:
            notes.left_out(
                entry.path, "names no Secret", "Name one, so that a certificate can be kept in it."
            )
            continue
        further = common.get("dnsNames")
        names = [*hosts, *(further if isinstance(further, list) else [])]
        spec: dict[str, JsonValue] = {
            **common,
            "secretName": secret,
            "dnsNames": list(dict.fromkeys(map(str, names))),
        }
        certificate = replace(one, origin=replace(one.origin, name=secret), spec=spec)
        drafts += _converted(certificate, entry, around, notes)
    if not drafts:
        raise NotCarriedError("spec.tls", "asks for nothing that could be carried", "See the other findings.")
    notes.step(
        "metadata.annotations",
        "must no longer ask cert-manager, or both write the Secret",
        "Take the annotations of cert-manager.io away from the Ingress.",
    )
    return Conversion(tuple(drafts))


def _converted(
    certificate: ForeignObject, entry: Part, around: Surroundings, notes: Notes
) -> tuple[Draft, ...]:
    own = Notes()
    drafts: tuple[Draft, ...] = ()
    try:
        drafts = convert_certificate(certificate, around, own).drafts
    except NotCarriedError as error:
        own.add(error.finding)
    for finding in own.findings:
        # The Certificate stands nowhere: what is said of it is said of the entry.
        notes.add(replace(finding, field=entry.path if finding.field else ""))
    return drafts


def _common(asked: Mapping[str, str], notes: Notes) -> dict[str, JsonValue]:
    """Return what all certificates of an Ingress have alike."""
    name, kind = next(
        (asked[key], kind)
        for key, kind in (("issuer", "Issuer"), ("cluster-issuer", "ClusterIssuer"))
        if key in asked
    )
    kind, group = asked.get("issuer-kind", kind), asked.get("issuer-group", GROUP)
    common: dict[str, JsonValue] = {"issuerRef": {"name": name, "kind": kind, "group": group}}
    common |= {_TEXTS[key]: text for key, text in asked.items() if key in _TEXTS}
    common |= {_LISTS[key]: _list(text) for key, text in asked.items() if key in _LISTS}
    subject: dict[str, JsonValue] = {
        _SUBJECT[key]: _list(text) for key, text in asked.items() if key in _SUBJECT
    }
    key: dict[str, JsonValue] = {_KEY[name]: text for name, text in asked.items() if name in _KEY}
    size = key.get("size")
    if isinstance(size, str) and size.isascii() and size.isdigit():
        key["size"] = int(size[:6])
    percentage = asked.get("renew-before-percentage", "")
    if percentage.isascii() and percentage.isdigit():
        common["renewBeforePercentage"] = int(percentage[:3])
    common |= {"subject": subject} if subject else {}
    common |= {"privateKey": key} if key else {}
    known = {
        "issuer",
        "cluster-issuer",
        "renew-before-percentage",
        *_SILENT,
        *_TEXTS,
        *_LISTS,
        *_SUBJECT,
        *_KEY,
    }
    for name in sorted(asked.keys() - known):
        notes.left_out(f"metadata.annotations.{_PREFIX}{name[:80]}", "Keybearer has no equal of it")
    return common


def _list(text: str) -> list[JsonValue]:
    return [part.strip() for part in text.split(",") if part.strip()]
