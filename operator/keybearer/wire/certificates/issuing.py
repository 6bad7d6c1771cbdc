"""Issuance (interface.md sections 2.4 and 4.5, wire.md section 5.1)."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from keybearer.base.certificate_terms import RequestStatus
from keybearer.wire.base import WireModel
from keybearer.wire.bodies import BodyModel
from keybearer.wire.certificates.attributes import CertificateAttributes
from keybearer.wire.certificates.fields import Csr, OptionalConfidential, OptionalProject, RemoveRoots
from keybearer.wire.limits import METADATA_MAX_ITEMS

__all__ = ["CertificateMetadata", "IssueCertificate", "IssuedCertificate", "IssuedCertificateBody"]


class CertificateMetadata(BodyModel):
    """A key and a value beside a request."""

    key: Annotated[str, Field(min_length=1, max_length=255)]
    value: Annotated[str, Field(max_length=1020)] = ""


class IssueCertificate(BodyModel):
    """POST /api/v1/cert-manager/certificates."""

    profile_id: UUID
    application_id: UUID | None = None
    csr: Csr | None = None
    attributes: CertificateAttributes | None = None
    remove_roots_from_chain: RemoveRoots = False
    metadata: Annotated[list[CertificateMetadata], Field(max_length=METADATA_MAX_ITEMS)] | None = None
    project_id: OptionalProject = None


class IssuedCertificateBody(WireModel):
    """A certificate that was just issued, PEM; the private key where the service made it."""

    certificate: str
    issuing_ca_certificate: str
    certificate_chain: str
    serial_number: str
    certificate_id: str
    private_key: OptionalConfidential = None


class IssuedCertificate(WireModel):
    """Answer of issuance (interface.md section 2.4); the certificate is null unless the status is `issued`."""

    certificate: IssuedCertificateBody | None
    certificate_request_id: str
    status: RequestStatus
    message: str | None = None
