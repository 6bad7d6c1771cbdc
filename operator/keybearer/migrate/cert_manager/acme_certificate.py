"""What a Certificate asks of an authority that speaks ACME: names and a key; the authority decides about the rest."""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from keybearer.migrate.cert_manager.acme import ANOTHER_SIGNER
from keybearer.migrate.cert_manager.names import read_names, read_subject
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes

__all__ = ["acme_attributes"]

_USAGES: Final = frozenset({"signing", "digital signature", "key encipherment", "server auth", "client auth"})
"""Of servers and clients of TLS: what such an authority signs for."""
_FIELDS: Final = {"uri": "uris", "email": "emailAddresses", "upn": "otherNames"}
"""Of names that such an authority doesn't sign for (it does for hosts, RFC 8555, and addresses, RFC 8738)."""


def acme_attributes(spec: Part, notes: Notes) -> dict[str, JsonValue]:
    """Return the attributes of a certificate that an authority elsewhere signs.

    Args:
        spec: of the Certificate.
        notes: of it.

    Raises:
        NotCarriedError: it has a wildcard, or no host or address.
    """
    subject = read_subject(spec, notes)
    common_name = subject.pop("commonName", None)
    for field in ("subject", "literalSubject"):
        if subject and field in spec:
            notes.left_out(spec.where(field), "the authority signs for names alone, without such a subject")
    names: list[JsonValue] = []
    for name in read_names(spec, notes):
        strange = _FIELDS.get(str(name.get("type"))) if isinstance(name, dict) else None
        if strange is None:
            names.append(name)
        else:
            notes.left_out(spec.where(strange), "the authority signs for hosts and addresses only")
    given = {name["value"] for name in names if isinstance(name, dict)}
    if isinstance(common_name, str) and common_name not in given:
        names.insert(0, {"value": common_name})
    hosts = [str(name["value"]) for name in names if isinstance(name, dict)]
    wildcards = [host for host in hosts if host.startswith("*.")]
    if wildcards:
        raise NotCarriedError(
            spec.where("dnsNames"),
            f"{wildcards[0][:253]} can be shown in the DNS only (dns-01), and the service shows names over HTTP",
            ANOTHER_SIGNER,
        )
    if not names:
        raise NotCarriedError(spec.where("dnsNames"), "has no host and no address", "Correct the manifest.")
    usages = [usage for usage in spec.texts("usages") if usage not in _USAGES]
    if usages:
        notes.left_out(spec.where("usages"), f"the authority doesn't sign for the usage {usages[0][:40]}")
    # cert-manager doesn't ask for it either, unless the issuer says enableDurationFeature.
    spec.skip("duration")
    return {"altNames": names}
