"""Certificates by id (wire.md section 5.3)."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from keybearer.base.certificate_terms import (
    CertificateStatus,
    ExtendedKeyUsage,
    KeyUsage,
    RevocationReason,
)
from keybearer.wire.base import WHOLE, Flag, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel
from keybearer.wire.certificates.attributes import BasicConstraints
from keybearer.wire.certificates.fields import (
    OptionalConfidential,
    OptionalProject,
    QueryLimit,
    QueryOffset,
    RemoveRoots,
)
from keybearer.wire.limits import CERTIFICATE_CHAIN_MAX, CERTIFICATE_PAGE_DEFAULT
from keybearer.wire.strict import NonEmpty

__all__ = [
    "Certificate",
    "CertificateAnswer",
    "CertificateBundle",
    "CertificateConfig",
    "CertificateConfigAnswer",
    "CertificateList",
    "CertificatePem",
    "CertificatesQuery",
    "ImportCertificate",
    "ImportedCertificate",
    "RenewCertificate",
    "RenewedCertificate",
    "RevokeCertificate",
    "RevokedCertificate",
]

_Pem = Annotated[str, Field(min_length=1, max_length=CERTIFICATE_CHAIN_MAX)]


class Certificate(WireModel):
    """A certificate without its text."""

    id: str
    project_id: str
    profile_id: str | None
    application_id: str | None
    ca_id: str | None
    ca_cert_id: str | None
    status: CertificateStatus
    serial_number: str
    common_name: str
    alt_names: str
    not_before: WireInstant
    not_after: WireInstant
    key_usages: list[KeyUsage]
    extended_key_usages: list[ExtendedKeyUsage]
    key_algorithm: str
    signature_algorithm: str
    subject_organization: str | None
    subject_organizational_unit: str | None
    subject_country: str | None
    subject_state: str | None
    subject_locality: str | None
    subject_domain_components: str | None
    basic_constraints: BasicConstraints | None
    revoked_at: WireInstant | None
    revocation_reason: RevocationReason | None
    friendly_name: str
    created_at: WireInstant
    updated_at: WireInstant


class CertificateAnswer(WireModel):
    """`{certificate}`."""

    certificate: Certificate


class CertificateList(WireModel):
    """`{certificates, totalCount}`."""

    certificates: list[Certificate]
    total_count: int


class CertificatesQuery(WireModel):
    """Query of lists of certificates."""

    project_id: OptionalProject = None
    offset: QueryOffset = 0
    limit: QueryLimit = CERTIFICATE_PAGE_DEFAULT
    status: CertificateStatus | None = None
    search: Annotated[str | None, Field(max_length=255)] = None


class CertificatePem(WireModel):
    """GET …/{id}/certificate."""

    certificate: str
    certificate_chain: str | None
    serial_number: str


class CertificateBundle(WireModel):
    """GET …/{id}/bundle; null where there is none."""

    certificate: str
    certificate_chain: str | None
    private_key: OptionalConfidential
    serial_number: str


class RenewCertificate(BodyModel):
    """POST …/{id}/renew."""

    remove_roots_from_chain: RemoveRoots = False


class RenewedCertificate(WireModel):
    """Answer of renew: flat; certificate fields are null while the request waits."""

    certificate: str | None
    issuing_ca_certificate: str | None
    certificate_chain: str | None
    private_key: OptionalConfidential = None
    serial_number: str | None
    certificate_id: str | None
    certificate_request_id: str


class CertificateConfig(BodyModel):
    """PATCH …/{id}/config: one of the two; `enableAutoRenewal: false` ends it."""

    renew_before_days: Annotated[int, Field(ge=1, le=30), WHOLE] | None = None
    enable_auto_renewal: Flag | None = None

    @model_validator(mode="after")
    def _judge(self) -> Self:
        if self.renew_before_days is None and self.enable_auto_renewal is None:
            msg = "Either renewBeforeDays or enableAutoRenewal is required"
            raise ValueError(msg)
        if self.renew_before_days is not None and self.enable_auto_renewal is False:
            msg = "renewBeforeDays can't be set while auto-renewal is turned off"
            raise ValueError(msg)
        return self


class CertificateConfigAnswer(WireModel):
    """Answer of PATCH …/{id}/config."""

    message: str
    renew_before_days: int | None = None


class RevokeCertificate(BodyModel):
    """POST …/{id}/revoke."""

    revocation_reason: RevocationReason = RevocationReason.UNSPECIFIED


class RevokedCertificate(WireModel):
    """Answer of revoke."""

    message: str = "Successfully revoked certificate"
    serial_number: str
    revoked_at: WireInstant


class ImportCertificate(BodyModel):
    """POST …/import-certificate: a certificate of somebody else, PEM, with its key if that is to be kept."""

    project_id: OptionalProject = None
    project_slug: str | None = None
    certificate_pem: _Pem
    private_key_pem: Annotated[_Pem | None, Field(repr=False)] = None
    chain_pem: _Pem | None = None
    friendly_name: Annotated[NonEmpty, Field(max_length=255)] | None = None


class ImportedCertificate(WireModel):
    """Answer of import-certificate."""

    certificate: str
    certificate_chain: str | None
    private_key: OptionalConfidential
    serial_number: str
    certificate_id: str
