"""Pages of certificate requests, found by what they say and what stands beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.certificate_terms import CertificateStatus
from keybearer.base.ids import ProjectId
from keybearer.store.certificate_requests import CertificateRequest, metadata_digest
from keybearer.store.columns import record_columns
from keybearer.store.tables.certificate_approvals import ApprovalRequestRow
from keybearer.store.tables.certificate_profiles import ApplicationProfileRow, CertificateProfileRow
from keybearer.store.tables.certificates import CertificateRequestRow, CertificateRow, RequestMetadataRow

__all__ = ["CertificateRequestSearch", "CertificateRequestView", "RequestFilter", "RequestSort"]


@dataclass(frozen=True, slots=True)
class CertificateRequestView:
    """A request with what it refers to; None where there is none, or none any more."""

    request: CertificateRequest
    profile_slug: str | None
    approval_id: str | None
    serial_number: str | None
    not_after: datetime | None
    is_revoked: bool | None

    def certificate_status(self, now: datetime) -> CertificateStatus | None:
        """Return what became of the certificate."""
        if self.not_after is None:
            return None
        if self.is_revoked:
            return CertificateStatus.REVOKED
        return CertificateStatus.ACTIVE if now <= self.not_after else CertificateStatus.EXPIRED


@dataclass(frozen=True, slots=True)
class RequestFilter:
    """Which requests; None and nothing say nothing. All that is given must hold.

    Attributes:
        search: part of the common name or of an alternative name.
        application_id: requests of profiles that are attached to it at present.
        metadata: pairs that all must stand beside the request.
    """

    search: str | None = None
    status: str | None = None
    from_date: datetime | None = None
    to_date: datetime | None = None
    profile_ids: tuple[str, ...] | None = None
    application_id: str | None = None
    metadata: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RequestSort:
    """By what a page is sorted: `created_at`, `updated_at`, `status` or `common_name`."""

    by: str = "created_at"
    is_descending: bool = True


_VIEWS: Select[*tuple[Any, ...]] = (
    select(
        CertificateProfileRow.slug,
        ApprovalRequestRow.id,
        CertificateRow.serial_number,
        CertificateRow.not_after,
        CertificateRow.is_revoked,
        *record_columns(CertificateRequestRow, CertificateRequest),
    )
    .select_from(CertificateRequestRow)
    .outerjoin(CertificateProfileRow, CertificateProfileRow.id == CertificateRequestRow.profile_id)
    .outerjoin(ApprovalRequestRow, ApprovalRequestRow.request_id == CertificateRequestRow.id)
    .outerjoin(CertificateRow, CertificateRow.id == CertificateRequestRow.certificate_id)
)
_BESIDE = 5
"""How many columns of a view are not the request's own."""
_SORTS: Mapping[str, Any] = {
    "created_at": CertificateRequestRow.created_at,
    "updated_at": CertificateRequestRow.updated_at,
    "status": CertificateRequestRow.status,
    "common_name": CertificateRequestRow.common_name,
}


class CertificateRequestSearch:
    """Repository of certificate requests with what they refer to."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def page(
        self, project_id: ProjectId, wanted: RequestFilter, sort: RequestSort, *, offset: int, limit: int
    ) -> tuple[list[CertificateRequestView], int]:
        """Return a page of the project's requests, and how many there are in all."""
        conditions = [CertificateRequestRow.project_id == project_id, *_conditions(wanted)]
        count = select(func.count()).select_from(CertificateRequestRow).where(*conditions)
        column = _SORTS[sort.by]
        order = (
            column.desc().nulls_last() if sort.is_descending else column.asc().nulls_last(),
            CertificateRequestRow.id,
        )
        page = _VIEWS.where(*conditions).order_by(*order).offset(offset).limit(limit)
        found = [_read(row) for row in await self._connection.execute(page)]
        return found, (await self._connection.execute(count)).scalar_one()


def _conditions(wanted: RequestFilter) -> list[ColumnElement[bool]]:
    row = CertificateRequestRow
    conditions: list[ColumnElement[bool]] = []
    if wanted.search is not None:
        conditions.append(
            or_(
                *(
                    column.icontains(wanted.search, autoescape=True)
                    for column in (row.common_name, row.alt_names)
                )
            )
        )
    if wanted.status is not None:
        conditions.append(row.status == wanted.status)
    if wanted.from_date is not None:
        conditions.append(row.created_at >= wanted.from_date)
    if wanted.to_date is not None:
        conditions.append(row.created_at <= wanted.to_date)
    if wanted.profile_ids is not None:
        conditions.append(row.profile_id.in_(wanted.profile_ids))
    if wanted.application_id is not None:
        attached = select(ApplicationProfileRow.profile_id).where(
            ApplicationProfileRow.application_id == wanted.application_id
        )
        conditions.append(row.profile_id.in_(attached))
    conditions += [_has(key, value) for key, value in wanted.metadata]
    return conditions


def _has(key: str, value: str) -> ColumnElement[bool]:
    row = RequestMetadataRow
    return exists(
        select(literal(1)).where(
            and_(row.request_id == CertificateRequestRow.id, row.digest == metadata_digest(key, value))
        )
    )


def _read(row: Sequence[Any]) -> CertificateRequestView:
    return CertificateRequestView(CertificateRequest(*row[_BESIDE:]), *row[:_BESIDE])
