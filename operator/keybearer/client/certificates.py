"""What is asked for, and what the client returns, of certificates.

See interface.md section 2.4, wire.md sections 5.1 and 5.3. Certificates and chains are PEM, serial numbers
hexadecimal; no repr shows a private key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from keybearer.client.lenient import Several, Text, from_wire

__all__ = [
    "AltName",
    "BasicConstraints",
    "Certificate",
    "CertificateAttributes",
    "CertificateBundle",
    "CertificateMetadata",
    "CertificatePage",
    "ImportedCertificate",
    "IssuedCertificate",
    "LatestBundle",
    "RenewedCertificate",
    "RevokedCertificate",
]


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AltName:
    """Another name of whom a certificate is for.

    Attributes:
        type: `dns_name`, `ip_address`, `email`, `uri` or `upn`; None leaves the service to guess.
    """

    value: str
    type: str | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class BasicConstraints:
    """Whether a certificate may sign others, and how many may stand between it and the last; None for any number."""

    is_ca: Annotated[bool, Field(alias="isCA")] = False
    path_length: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateMetadata:
    """A key and a value beside a request, by which it can be found."""

    key: str
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateAttributes:
    """What a certificate is to say. None takes what the profile gives; an empty text or sequence takes nothing.

    Attributes:
        country: two capital letters.
        domain_components: outermost last, as in `example`, `com`.
        key_usages: such as `digital_signature`, `key_encipherment`.
        extended_key_usages: such as `server_auth`, `client_auth`.
        key_algorithm: such as `EC_prime256v1`, `RSA_2048`; not beside a CSR, which brings its key.
        ttl: how long it is valid: a duration, or a text such as `90d` or `12h`; not beside instants.
        not_before, not_after: with their time zone.
    """

    common_name: str | None = None
    organization: str | None = None
    organizational_unit: str | None = None
    country: str | None = None
    state: str | None = None
    locality: str | None = None
    domain_components: Sequence[str] | None = None
    key_usages: Sequence[str] | None = None
    extended_key_usages: Sequence[str] | None = None
    alt_names: Sequence[AltName] | None = None
    signature_algorithm: str | None = None
    key_algorithm: str | None = None
    ttl: str | timedelta | None = None
    not_before: datetime | None = None
    not_after: datetime | None = None
    basic_constraints: BasicConstraints | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedCertificate:
    """A certificate with its chain, and its key where the service made that.

    Attributes:
        certificate_chain: of those that vouch for it, the nearest first.
    """

    certificate: str
    serial_number: str
    issuing_ca_certificate: Text = ""
    certificate_chain: Text = ""
    certificate_id: Text = ""
    private_key: str | None = field(default=None, repr=False)


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class RenewedCertificate:
    """What became of a renewal: a certificate, or None everywhere while its request waits."""

    certificate_request_id: Text = ""
    certificate: str | None = None
    issuing_ca_certificate: str | None = None
    certificate_chain: str | None = None
    serial_number: str | None = None
    certificate_id: str | None = None
    private_key: str | None = field(default=None, repr=False)


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCertificate:
    """A certificate of somebody else that the service now knows."""

    certificate_id: str
    serial_number: Text = ""
    certificate: Text = ""
    certificate_chain: str | None = None
    private_key: str | None = field(default=None, repr=False)


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What the service knows of a certificate.

    Attributes:
        status: `active`, `expired` or `revoked`.
        alt_names, subject_domain_components: parted by commas.
        ca_cert_id: which of the authority's certificates signed it.
        not_before, not_after, revoked_at: in ISO 8601.
    """

    id: str
    serial_number: str
    status: str
    project_id: Text = ""
    profile_id: str | None = None
    application_id: str | None = None
    ca_id: str | None = None
    ca_cert_id: str | None = None
    common_name: Text = ""
    alt_names: Text = ""
    friendly_name: Text = ""
    not_before: Text = ""
    not_after: Text = ""
    key_usages: Several[str] = ()
    extended_key_usages: Several[str] = ()
    key_algorithm: Text = ""
    signature_algorithm: Text = ""
    subject_organization: Text = ""
    subject_organizational_unit: Text = ""
    subject_country: Text = ""
    subject_state: Text = ""
    subject_locality: Text = ""
    subject_domain_components: Text = ""
    basic_constraints: BasicConstraints | None = None
    revoked_at: str | None = None
    revocation_reason: str | int | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificatePage:
    """Some of the certificates that there are, and how many there are in all, where the service says."""

    certificates: tuple[Certificate, ...]
    total_count: int | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class LatestBundle:
    """The newest certificate that is active, with its chain and key; None everywhere where there is none."""

    certificate: str | None = None
    certificate_chain: str | None = None
    private_key: str | None = field(default=None, repr=False)
    serial_number: str | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateBundle:
    """A certificate with its chain, and its key where the service made that and the asker may read it."""

    certificate: str
    serial_number: str
    certificate_chain: str | None = None
    private_key: str | None = field(default=None, repr=False)


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedCertificate:
    """A certificate that is revoked; `revoked_at` in ISO 8601."""

    serial_number: str
    revoked_at: str
    message: Text = ""
