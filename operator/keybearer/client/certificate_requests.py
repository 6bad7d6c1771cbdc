"""What the client returns of requests for certificates (interface.md section 2.5, wire.md sections 5.1 and 5.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

from keybearer.client.certificates import BasicConstraints, IssuedCertificate
from keybearer.client.lenient import Text, from_wire

__all__ = [
    "CancelledCertificateRequest",
    "CertificateIssuance",
    "CertificateRequest",
    "CertificateRequestPage",
    "CertificateRequestState",
    "RequestedCertificate",
]


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateIssuance:
    """What became of a request when it was made.

    Attributes:
        certificate: None unless the status is `issued`.
        status: `pending_approval`, `pending`, `pending_validation`, `issued`, `failed` or `rejected`; None where the
            service leaves it out.
    """

    certificate_request_id: str
    certificate: IssuedCertificate | None = None
    status: str | None = None
    message: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedCertificate:
    """The certificate of a request; `status` is `active`, `expired` or `revoked`."""

    id: str
    serial_number: Text = ""
    status: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateRequest:
    """A request as lists show it.

    Attributes:
        status: as of `CertificateIssuance`.
        alt_names: parted by commas.
        error_message: why it failed or was rejected.
        pending_message: what it waits for.
    """

    id: str
    status: str
    common_name: Text = ""
    alt_names: Text = ""
    profile_id: str | None = None
    profile_name: Text = ""
    ca_id: str | None = None
    certificate_id: str | None = None
    approval_request_id: str | None = None
    error_message: str | None = None
    pending_message: str | None = None
    certificate: RequestedCertificate | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateRequestPage:
    """Some of the requests that a search finds, and how many it finds in all."""

    certificate_requests: tuple[CertificateRequest, ...]
    total_count: int


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateRequestState:
    """A request by itself, with its certificate once that is issued.

    Attributes:
        certificate_chain: None from servers that leave it to `certificates.get_bundle`.
        private_key: None also for who may not read it.
    """

    status: str
    certificate: str | None = None
    certificate_chain: str | None = None
    issuing_ca_certificate: str | None = None
    certificate_id: str | None = None
    private_key: str | None = field(default=None, repr=False)
    serial_number: str | None = None
    error_message: str | None = None
    common_name: Text = ""
    organization: Text = ""
    organizational_unit: Text = ""
    country: Text = ""
    state: Text = ""
    locality: Text = ""
    basic_constraints: BasicConstraints | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CancelledCertificateRequest:
    """What cancelling a request came to: the status it now has, and whether cancelling made it so."""

    status: str
    cancelled: bool
