"""Certificate requests (interface.md sections 2.5 and 4.6, wire.md section 5.2)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator, Field, WithJsonSchema

from keybearer.base.certificate_terms import CertificateStatus, RequestStatus
from keybearer.wire.base import GivenInstant, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.certificates.attributes import BasicConstraints
from keybearer.wire.certificates.fields import (
    Limit,
    Offset,
    OptionalConfidential,
    OptionalProject,
    QueryLimit,
    QueryOffset,
)
from keybearer.wire.certificates.issuing import CertificateMetadata
from keybearer.wire.limits import CERTIFICATE_PAGE_DEFAULT, METADATA_MAX_ITEMS

__all__ = [
    "CancelledCertificateRequest",
    "CertificateOfRequest",
    "CertificateRequest",
    "CertificateRequestDetail",
    "CertificateRequestList",
    "CertificateRequestsQuery",
    "RequestSortField",
    "SearchCertificateRequests",
    "SortOrder",
]

_SEARCH_MAX = 255
_PROFILES_MAX = 100


class RequestSortField(StrEnum):
    """What requests are sorted by."""

    CREATED_AT = "createdAt"
    UPDATED_AT = "updatedAt"
    STATUS = "status"
    COMMON_NAME = "commonName"


class SortOrder(StrEnum):
    """In which direction."""

    ASCENDING = "asc"
    DESCENDING = "desc"


_Search = Annotated[str | None, Field(max_length=_SEARCH_MAX)]


class SearchCertificateRequests(BodyModel):
    """POST …/certificates/certificate-requests/search; all that is given must hold."""

    offset: Offset = 0
    limit: Annotated[Limit, Zero.COUNTS] = CERTIFICATE_PAGE_DEFAULT
    search: _Search = None
    status: RequestStatus | None = None
    from_date: GivenInstant | None = None
    to_date: GivenInstant | None = None
    profile_ids: Annotated[list[UUID], Field(max_length=_PROFILES_MAX)] | None = None
    application_id: UUID | None = None
    sort_by: RequestSortField = RequestSortField.CREATED_AT
    sort_order: SortOrder = SortOrder.DESCENDING
    metadata: Annotated[list[CertificateMetadata], Field(max_length=METADATA_MAX_ITEMS)] | None = None
    project_id: OptionalProject = None


def _parted(given: object) -> object:
    return [part.strip() for part in given.split(",") if part.strip()] if isinstance(given, str) else given


class CertificateRequestsQuery(WireModel):
    """Query of GET …/certificates/certificate-requests, the older list."""

    project_slug: str | None = None
    project_id: OptionalProject = None
    offset: QueryOffset = 0
    limit: QueryLimit = CERTIFICATE_PAGE_DEFAULT
    search: _Search = None
    status: RequestStatus | None = None
    from_date: GivenInstant | None = None
    to_date: GivenInstant | None = None
    profile_ids: Annotated[
        list[UUID] | None,
        Field(max_length=_PROFILES_MAX),
        BeforeValidator(_parted),
        WithJsonSchema({"type": "string"}),
    ] = None
    sort_by: RequestSortField = RequestSortField.CREATED_AT
    sort_order: SortOrder = SortOrder.DESCENDING


class CertificateOfRequest(WireModel):
    """The certificate that came of a request."""

    id: str
    serial_number: str
    status: CertificateStatus


class CertificateRequest(WireModel):
    """A request in a list (interface.md section 2.5); what it doesn't have is left out."""

    id: str
    status: RequestStatus
    common_name: str | None = None
    alt_names: str | None = None
    profile_id: str | None = None
    profile_name: str | None = None
    ca_id: str | None = None
    certificate_id: str | None = None
    approval_request_id: str | None = None
    error_message: str | None = None
    pending_message: str | None = None
    created_at: WireInstant
    updated_at: WireInstant
    certificate: CertificateOfRequest | None = None


class CertificateRequestList(WireModel):
    """`{certificateRequests, totalCount}`."""

    certificate_requests: list[CertificateRequest]
    total_count: int


class CertificateRequestDetail(WireModel):
    """GET …/certificate-requests/{id}: flat (wire.md section 5.2). The key only for who may read it."""

    status: RequestStatus
    certificate: str | None
    certificate_id: str | None
    private_key: OptionalConfidential
    serial_number: str | None
    certificate_chain: str | None
    issuing_ca_certificate: str | None
    error_message: str | None
    common_name: str | None
    organization: str | None
    organizational_unit: str | None
    country: str | None
    state: str | None
    locality: str | None
    basic_constraints: BasicConstraints | None
    created_at: WireInstant
    updated_at: WireInstant


class CancelledCertificateRequest(WireModel):
    """Answer of cancel: whether it was this call that ended the request."""

    status: RequestStatus
    cancelled: bool
