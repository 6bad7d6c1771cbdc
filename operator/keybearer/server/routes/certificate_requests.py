"""Certificate requests (interface.md sections 2.5 and 4.6, wire.md section 5.2)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol
from uuid import UUID

from fastapi import Request
from starlette.responses import Response

from keybearer.domain.certificates.requests import RequestQuestion
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.certificate_rendering import request_detail_json, request_json
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routing import new_router
from keybearer.store.certificate_request_search import RequestFilter, RequestSort
from keybearer.wire.certificates.requests import (
    CancelledCertificateRequest,
    CertificateRequestDetail,
    CertificateRequestList,
    CertificateRequestsQuery,
    RequestSortField,
    SearchCertificateRequests,
    SortOrder,
)

__all__ = ["router"]

router = new_router("Certificate requests", AuthenticatedRoute)
_ALL = "/api/v1/cert-manager/certificates/certificate-requests"
_ONE = f"{_ALL}/{{request_id}}"
_COLUMNS = {
    RequestSortField.CREATED_AT: "created_at",
    RequestSortField.UPDATED_AT: "updated_at",
    RequestSortField.STATUS: "status",
    RequestSortField.COMMON_NAME: "common_name",
}


class _Asks(Protocol):
    """What the search and the older list have in common."""

    @property
    def offset(self) -> int: ...
    @property
    def limit(self) -> int: ...
    @property
    def search(self) -> str | None: ...
    @property
    def status(self) -> str | None: ...
    @property
    def from_date(self) -> datetime | None: ...
    @property
    def to_date(self) -> datetime | None: ...
    @property
    def profile_ids(self) -> list[UUID] | None: ...
    @property
    def sort_by(self) -> RequestSortField: ...
    @property
    def sort_order(self) -> SortOrder: ...
    @property
    def project_id(self) -> str | None: ...


@router.post(f"{_ALL}/search", response_model=CertificateRequestList, summary="Search certificate requests")
async def search(request: Request, body: SearchCertificateRequests) -> Response:
    question = _question(
        body,
        application_id=None if body.application_id is None else str(body.application_id),
        metadata=((pair.key, pair.value) for pair in body.metadata or ()),
    )
    return await _listed(request, question)


@router.get(
    _ALL,
    response_model=CertificateRequestList,
    openapi_extra=parameters_of(CertificateRequestsQuery),
    summary="List certificate requests",
)
async def list_all(request: Request) -> Response:
    query = query_of(request, CertificateRequestsQuery)
    return await _listed(request, _question(query, project_slug=query.project_slug))


@router.get(_ONE, response_model=CertificateRequestDetail, summary="Get a certificate request")
async def get(request: Request, request_id: UUID) -> Response:
    detail = await context_of(request).certificate_requests.get(principal_of(request), str(request_id))
    return json_response(request_detail_json(detail))


@router.post(
    f"{_ONE}/cancel", response_model=CancelledCertificateRequest, summary="Cancel a certificate request"
)
async def cancel(request: Request, request_id: UUID) -> Response:
    ended = await context_of(request).certificate_requests.cancel(principal_of(request), str(request_id))
    return json_response({"status": ended.status.value, "cancelled": ended.cancelled})


async def _listed(request: Request, question: RequestQuestion) -> Response:
    page = await context_of(request).certificate_requests.search(principal_of(request), question)
    return json_response(
        {
            "certificateRequests": [request_json(view, page.now) for view in page.requests],
            "totalCount": page.total,
        }
    )


def _question(
    asks: _Asks,
    *,
    project_slug: str | None = None,
    application_id: str | None = None,
    metadata: Iterable[tuple[str, str]] = (),
) -> RequestQuestion:
    return RequestQuestion(
        wanted=RequestFilter(
            search=asks.search,
            status=asks.status,
            from_date=asks.from_date,
            to_date=asks.to_date,
            profile_ids=None if asks.profile_ids is None else tuple(map(str, asks.profile_ids)),
            application_id=application_id,
            metadata=tuple(metadata),
        ),
        sort=RequestSort(_COLUMNS[asks.sort_by], asks.sort_order is SortOrder.DESCENDING),
        offset=asks.offset,
        limit=asks.limit,
        project_id=asks.project_id,
        project_slug=project_slug,
    )
