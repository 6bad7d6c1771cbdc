"""Certificate profiles, and all that issuance needs to know of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import ColumnElement, Select, bindparam, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import ProjectId
from keybearer.store.certificate_approvals import ApprovalPolicy
from keybearer.store.certificate_authorities import AuthorityCertificate, CertificateAuthority
from keybearer.store.certificate_policies import CertificatePolicy
from keybearer.store.columns import record_columns, select_record
from keybearer.store.project_seals import AUTHORITY_KEY, ProjectSeals
from keybearer.store.tables.certificate_approvals import ApprovalPolicyRow
from keybearer.store.tables.certificate_authorities import AuthorityCertificateRow, CertificateAuthorityRow
from keybearer.store.tables.certificate_profiles import CertificatePolicyRow, CertificateProfileRow

__all__ = ["CertificateProfile", "CertificateProfiles", "IssuingProfile", "ProfileFilter"]


@dataclass(frozen=True, slots=True)
class CertificateProfile:
    """A profile.

    Attributes:
        authority_id: None where certificates sign themselves.
        issuer_type: a word of `IssuerType`; `enrollment_type` one of `EnrollmentType`.
        external_configs: in the wire's spelling, as `defaults` are; what was left out isn't there.
    """

    id: str
    project_id: ProjectId
    policy_id: str
    authority_id: str | None
    slug: str
    description: str | None
    issuer_type: str
    enrollment_type: str
    external_configs: Mapping[str, JsonValue] | None
    defaults: Mapping[str, JsonValue] | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class IssuingProfile:
    """A profile with all that issuance looks at, read at once.

    Attributes:
        authority: None where certificates sign themselves.
        authority_certificate: what it signs with; None where it has none, or isn't ours.
        authority_key: None where it isn't ours.
        approval: whose agreement is needed; None where nobody's is.
    """

    profile: CertificateProfile
    policy: CertificatePolicy
    authority: CertificateAuthority | None
    authority_certificate: AuthorityCertificate | None
    authority_key: bytes | None = field(repr=False)
    approval: ApprovalPolicy | None


@dataclass(frozen=True, slots=True)
class ProfileFilter:
    """Which profiles of a project; None says nothing."""

    search: str | None = None
    enrollment_type: str | None = None
    issuer_type: str | None = None
    authority_id: str | None = None


_PROFILES = select_record(CertificateProfileRow, CertificateProfile)
_PARTS: tuple[tuple[Any, Any], ...] = (
    (CertificateProfileRow, CertificateProfile),
    (CertificatePolicyRow, CertificatePolicy),
    (CertificateAuthorityRow, CertificateAuthority),
    (AuthorityCertificateRow, AuthorityCertificate),
    (ApprovalPolicyRow, ApprovalPolicy),
)
_ISSUING: Select[*tuple[Any, ...]] = (
    select(
        CertificateAuthorityRow.private_key,
        *(column for row, record in _PARTS for column in record_columns(row, record)),
    )
    .select_from(CertificateProfileRow)
    .join(CertificatePolicyRow, CertificatePolicyRow.id == CertificateProfileRow.policy_id)
    .outerjoin(CertificateAuthorityRow, CertificateAuthorityRow.id == CertificateProfileRow.authority_id)
    .outerjoin(AuthorityCertificateRow, AuthorityCertificateRow.id == CertificateAuthorityRow.certificate_id)
    .outerjoin(ApprovalPolicyRow, ApprovalPolicyRow.profile_id == CertificateProfileRow.id)
    # Always the same statement: one made for each question would be looked through for each.
    .where(CertificateProfileRow.id == bindparam("profile"))
)


class CertificateProfiles:
    """Repository of certificate profiles."""

    def __init__(self, connection: AsyncConnection, seals: ProjectSeals) -> None:
        self._connection = connection
        self._seals = seals

    async def add(self, new: CertificateProfile) -> None:
        """Store a new profile."""
        await self._connection.execute(insert(CertificateProfileRow).values(_values(new)))

    async def update(self, changed: CertificateProfile) -> None:
        """Store the present fields."""
        await self._connection.execute(
            update(CertificateProfileRow)
            .where(CertificateProfileRow.id == changed.id)
            .values(_values(changed))
        )

    async def get(self, profile_id: str, *, for_change: bool = False) -> CertificateProfile | None:
        """Return the profile of that id, or None; for a change it is kept from other writers."""
        statement = _PROFILES.where(CertificateProfileRow.id == profile_id)
        if for_change:
            statement = statement.with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else CertificateProfile(*row)

    async def by_ids(self, profile_ids: Sequence[str]) -> dict[str, CertificateProfile]:
        """Return those of the profiles that exist, by id."""
        statement = _PROFILES.where(CertificateProfileRow.id.in_(profile_ids))
        found = [CertificateProfile(*row) for row in await self._connection.execute(statement)]
        return {one.id: one for one in found}

    async def issuing(self, profile_id: str) -> IssuingProfile | None:
        """Return the profile with all that issuance looks at, or None.

        Raises:
            UnsealError: the authority's key doesn't open; the database is damaged.
        """
        row = (await self._connection.execute(_ISSUING, {"profile": profile_id})).one_or_none()
        if row is None:
            return None
        sealed, *columns = row
        profile, policy, authority, certificate, approval = _read_parts(columns)
        return IssuingProfile(
            profile,
            policy,
            authority,
            certificate,
            None
            if sealed is None
            else await self._seals.open(AUTHORITY_KEY, authority.project_id, authority.id, sealed),
            approval,
        )

    async def with_slug(self, project_id: ProjectId, slug: str) -> CertificateProfile | None:
        """Return the project's profile of that slug, or None."""
        statement = _PROFILES.where(
            CertificateProfileRow.project_id == project_id, CertificateProfileRow.slug == slug
        )
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else CertificateProfile(*row)

    async def of_project(
        self, project_id: ProjectId, wanted: ProfileFilter, *, offset: int, limit: int
    ) -> tuple[list[CertificateProfile], int]:
        """Return a page of the project's profiles by slug, and how many there are in all."""
        conditions = _conditions(project_id, wanted)
        count = select(func.count()).select_from(CertificateProfileRow).where(*conditions)
        page = _PROFILES.where(*conditions).order_by(CertificateProfileRow.slug).offset(offset).limit(limit)
        found = [CertificateProfile(*row) for row in await self._connection.execute(page)]
        return found, (await self._connection.execute(count)).scalar_one()

    async def count_of(self, project_id: ProjectId) -> int:
        """Return how many profiles the project has."""
        row = CertificateProfileRow
        statement = select(func.count()).select_from(row).where(row.project_id == project_id)
        return (await self._connection.execute(statement)).scalar_one()

    async def delete(self, profile_id: str) -> None:
        """Remove the profile; certificates and requests of it live on without one."""
        await self._connection.execute(
            delete(CertificateProfileRow).where(CertificateProfileRow.id == profile_id)
        )


def _conditions(project_id: ProjectId, wanted: ProfileFilter) -> list[ColumnElement[bool]]:
    row = CertificateProfileRow
    conditions = [row.project_id == project_id]
    if wanted.search is not None:
        conditions.append(row.slug.icontains(wanted.search, autoescape=True))
    for column, value in (
        (row.enrollment_type, wanted.enrollment_type),
        (row.issuer_type, wanted.issuer_type),
        (row.authority_id, wanted.authority_id),
    ):
        if value is not None:
            conditions.append(column == value)
    return conditions


def _read_parts(columns: Sequence[Any]) -> list[Any]:
    """Return the records of one line, one after the other; None for one that the join didn't find."""
    parts: list[Any] = []
    start = 0
    for _, record in _PARTS:
        end = start + len(fields(record))
        mine = columns[start:end]
        parts.append(None if mine[0] is None else record(*mine))
        start = end
    return parts


def _values(record: CertificateProfile) -> dict[str, Any]:
    values = {one.name: getattr(record, one.name) for one in fields(record)}
    for name in ("external_configs", "defaults"):
        values[name] = None if values[name] is None else dict(values[name])
    return values
