"""Issuing certificates (interface.md section 4.5, wire.md section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from keybearer.client.certificate_requests import CertificateIssuance
from keybearer.client.certificates import CertificateAttributes, CertificateMetadata
from keybearer.client.decoding import decode
from keybearer.client.errors import InvalidArgument
from keybearer.client.messages import Request, Response, instant_text, json_body
from keybearer.client.operation import Operation
from keybearer.client.operations.certificate_bodies import (
    AltNameBody,
    ConstraintsBody,
    MetadataBody,
    given_of,
    listed,
    without_none,
)
from keybearer.wire.base import WireModel

__all__ = ["IssueCertificate"]

_PATH = "/api/v1/cert-manager/certificates"
_TEXTS = ("common_name", "organization", "organizational_unit", "country", "state", "locality")


class _Attributes(WireModel):
    common_name: str | None = None
    organization: str | None = None
    organizational_unit: str | None = None
    country: str | None = None
    state: str | None = None
    locality: str | None = None
    domain_components: list[str] | None = None
    key_usages: list[str] | None = None
    extended_key_usages: list[str] | None = None
    alt_names: list[AltNameBody] | None = None
    signature_algorithm: str | None = None
    key_algorithm: str | None = None
    ttl: str | None = None
    not_before: str | None = None
    not_after: str | None = None
    basic_constraints: ConstraintsBody | None = None


class _Issued(WireModel):
    profile_id: str
    application_id: str | None = None
    csr: str | None = None
    attributes: _Attributes | None = None
    remove_roots_from_chain: bool | None = None
    metadata: list[MetadataBody] | None = None


@dataclass(frozen=True, slots=True)
class IssueCertificate(Operation[CertificateIssuance]):
    """Ask for a certificate. It may come at once, or after an approval: see `status`.

    Attributes:
        profile_id: what may be asked for, and who signs.
        csr: PEM of a signing request, whose key stays with whoever made that; without it the service makes one.
        application_id: one that the profile is attached to.
        remove_roots_from_chain: leave the last certificate of the chain out.
        metadata: by which the request can be found again.
    """

    profile_id: str
    csr: str | None = field(default=None, repr=False, kw_only=True)
    attributes: CertificateAttributes | None = field(default=None, kw_only=True)
    application_id: str | None = field(default=None, kw_only=True)
    remove_roots_from_chain: bool = field(default=False, kw_only=True)
    metadata: Sequence[CertificateMetadata] = field(default=(), kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        given: dict[str, Any] = {
            "application_id": self.application_id,
            "csr": self.csr,
            "attributes": None if self.attributes is None else _said(self.attributes),
            "remove_roots_from_chain": self.remove_roots_from_chain or None,
            "metadata": listed(self.metadata) or None,
        }
        sent = without_none(given.items())
        body = json_body(lambda: _Issued(profile_id=self.profile_id, **sent), nulls=True)
        return Request("POST", _PATH, body=body)

    def read(self, response: Response) -> CertificateIssuance:
        """Return the request's id, and the certificate if it came at once."""
        return decode(response, CertificateIssuance)


def _said(attributes: CertificateAttributes) -> dict[str, Any]:
    said = given_of(attributes)
    # Null takes away what the profile gives, absence takes it (wire.md section 5.1).
    emptied = {name: None for name in _TEXTS if said.get(name) == ""}
    terms = {
        "ttl": _ttl(attributes.ttl),
        "not_before": instant_text("attributes.not_before", attributes.not_before),
        "not_after": instant_text("attributes.not_after", attributes.not_after),
    }
    return {**said, **emptied, **without_none(terms.items())}


def _ttl(given: str | timedelta | None) -> str | None:
    if not isinstance(given, timedelta):
        return given
    seconds = given / timedelta(seconds=1)
    if seconds < 1 or not seconds.is_integer():
        raise InvalidArgument("attributes.ttl: give whole seconds, at least one")
    # No minutes: parts of published servers take `m` for months (wire.md section 5.5).
    for letter, length in (("d", 86_400), ("h", 3_600)):
        if seconds % length == 0:
            return f"{seconds // length:.0f}{letter}"
    return f"{seconds:.0f}s"
