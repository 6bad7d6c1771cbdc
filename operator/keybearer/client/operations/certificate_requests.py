"""Requests for certificates (interface.md section 4.6, wire.md section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from keybearer.client.certificate_requests import (
    CancelledCertificateRequest,
    CertificateRequestPage,
    CertificateRequestState,
)
from keybearer.client.certificates import CertificateMetadata
from keybearer.client.decoding import decode
from keybearer.client.messages import Request, Response, fill, instant_text, json_body, query_of
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.certificate_bodies import MetadataBody, listed
from keybearer.wire.base import WireModel

__all__ = [
    "CancelCertificateRequest",
    "GetCertificateRequest",
    "ListCertificateRequests",
    "SearchCertificateRequests",
    "SortBy",
    "SortOrder",
]

_ALL = "/api/v1/cert-manager/certificates/certificate-requests"
_ONE = f"{_ALL}/{{}}"

SortBy = Literal["createdAt", "updatedAt", "status", "commonName"]
SortOrder = Literal["asc", "desc"]
_Offset = Annotated[int, Field(ge=0)]
_Limit = Annotated[int, Field(ge=1, le=100)]


class _Sought(WireModel):
    """What isn't given isn't sent."""

    project_id: str | None = None
    offset: _Offset | None = None
    limit: _Limit | None = None
    search: str | None = None
    status: str | None = None
    from_date: str | None = None
    to_date: str | None = None
    profile_ids: list[str] | None = None
    application_id: str | None = None
    sort_by: SortBy | None = None
    sort_order: SortOrder | None = None
    metadata: list[MetadataBody] | None = None


@dataclass(frozen=True, slots=True)
class GetCertificateRequest(Operation[CertificateRequestState]):
    """Return how a request stands, with its certificate once that is issued; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    request_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.request_id))

    def read(self, response: Response) -> CertificateRequestState:
        """Return the state."""
        return decode(response, CertificateRequestState)


@dataclass(frozen=True, slots=True)
class CancelCertificateRequest(Operation[CancelledCertificateRequest]):
    """Give up a request that is under way."""

    request_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", fill(f"{_ONE}/cancel", self.request_id))

    def read(self, response: Response) -> CancelledCertificateRequest:
        """Return what it came to."""
        return decode(response, CancelledCertificateRequest)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCertificateRequests(Operation[CertificateRequestPage]):
    """Find requests: those that meet all of what is given, the newest first.

    Attributes:
        offset, limit: of those found, leave out so many, and return so many, 1 to 100.
        search: stands in the common name or another name.
        status: such as `issued`, `pending_approval`.
        from_date, to_date: when it was made.
        metadata: every one of them stands beside it.
        sort_by: `createdAt`, `updatedAt`, `status` or `commonName`.
        project_id: None for the organization's own for certificates.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str | None = None
    offset: int = 0
    limit: int = 20
    search: str | None = None
    status: str | None = None
    from_date: datetime | None = None
    to_date: datetime | None = None
    profile_ids: Sequence[str] = ()
    application_id: str | None = None
    metadata: Sequence[CertificateMetadata] = ()
    sort_by: SortBy | None = None
    sort_order: SortOrder | None = None

    def request(self) -> Request:
        """Return what to send."""
        sought: dict[str, Any] = {
            "profile_ids": list(self.profile_ids) or None,
            "metadata": listed(self.metadata) or None,
        }
        body = json_body(
            lambda: _Sought(
                project_id=self.project_id,
                offset=self.offset,
                limit=self.limit,
                search=self.search,
                status=self.status,
                from_date=instant_text("from_date", self.from_date),
                to_date=instant_text("to_date", self.to_date),
                application_id=self.application_id,
                sort_by=self.sort_by,
                sort_order=self.sort_order,
                **sought,
            )
        )
        return Request("POST", f"{_ALL}/search", body=body)

    def read(self, response: Response) -> CertificateRequestPage:
        """Return the page."""
        return decode(response, CertificateRequestPage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCertificateRequests(Operation[CertificateRequestPage]):
    """Find requests as older servers let one; `SearchCertificateRequests` also knows metadata.

    Attributes:
        project_slug: None for the organization's own project for certificates.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_slug: str | None = None
    offset: int = 0
    limit: int = 20
    search: str | None = None
    status: str | None = None
    from_date: datetime | None = None
    to_date: datetime | None = None
    profile_ids: Sequence[str] = ()
    sort_by: SortBy | None = None
    sort_order: SortOrder | None = None

    def request(self) -> Request:
        """Return what to send."""
        parameters = {
            "projectSlug": self.project_slug,
            "offset": self.offset,
            "limit": self.limit,
            "search": self.search,
            "status": self.status,
            "fromDate": instant_text("from_date", self.from_date),
            "toDate": instant_text("to_date", self.to_date),
            "profileIds": self.profile_ids,
            "sortBy": self.sort_by,
            "sortOrder": self.sort_order,
        }
        return Request("GET", _ALL, query=query_of(parameters))

    def read(self, response: Response) -> CertificateRequestPage:
        """Return the page."""
        return decode(response, CertificateRequestPage)
