"""Subject and alternative names of a Certificate."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import JsonValue

from keybearer.migrate.fields import Part
from keybearer.migrate.findings import Notes

__all__ = ["read_names", "read_subject"]

_UPN = "1.3.6.1.4.1.311.20.2.3"
_SUBJECT: Mapping[str, str] = {
    "organizations": "organization",
    "organizationalUnits": "organizationalUnit",
    "countries": "country",
    "provinces": "state",
    "localities": "locality",
}
_ATTRIBUTES: Mapping[str, str] = {
    "CN": "commonName",
    "O": "organization",
    "OU": "organizationalUnit",
    "C": "country",
    "ST": "state",
    "L": "locality",
}
_NAMES: Mapping[str, str] = {
    "dnsNames": "dns_name",
    "ipAddresses": "ip_address",
    "uris": "uri",
    "emailAddresses": "email",
}
_PLAIN_SUBJECT = re.compile(r'[^\\"+;<>#]*')
"""Without what RFC 4514 escapes or joins."""


def read_subject(spec: Part, notes: Notes) -> dict[str, JsonValue]:
    """Return the fields of the subject."""
    attributes: dict[str, JsonValue] = {}
    common_name = spec.text("commonName")
    if common_name:
        attributes["commonName"] = common_name
    subject = spec.part("subject")
    if subject is not None:
        for theirs, ours in _SUBJECT.items():
            given = subject.texts(theirs)
            if given:
                attributes[ours] = given[0]
            if len(given) > 1:
                notes.left_out(subject.where(theirs), "a subject has one of each; the first is taken")
    literal = spec.text("literalSubject")
    if literal:
        attributes |= _literal(literal, spec.where("literalSubject"), notes)
    return attributes


def _literal(text: str, field: str, notes: Notes) -> dict[str, JsonValue]:
    """Return the fields of a subject such as `CN=a,O=b`; one of another form is noted."""
    attributes: dict[str, JsonValue] = {}
    components: list[JsonValue] = []
    pairs = [pair.partition("=") for pair in text.split(",")]
    for name, _, value in pairs:
        known = _ATTRIBUTES.get(name.strip().upper())
        if name.strip().upper() == "DC" and value:
            components.insert(0, value.strip())
        elif known is None or known in attributes or not value:
            break
        else:
            attributes[known] = value.strip()
    else:
        if _PLAIN_SUBJECT.fullmatch(text):
            return attributes | ({"domainComponents": components} if components else {})
    notes.left_out(field, "is a subject of another form than CN=...,O=...", "Give its fields in attributes.")
    return {}


def read_names(spec: Part, notes: Notes) -> list[JsonValue]:
    """Return the alternative names."""
    names: list[JsonValue] = [
        {"value": value} if kind == "dns_name" else {"type": kind, "value": value}
        for field, kind in _NAMES.items()
        for value in spec.texts(field)
    ]
    for other in spec.parts("otherNames"):
        value = other.text("utf8Value")
        if other.text("oid") == _UPN and value is not None:
            names.append({"type": "upn", "value": value})
        else:
            notes.left_out(other.path, "of other names only UPNs are known")
    return names
