"""Certificate policies."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.certificate_terms import BoundBy
from keybearer.base.ids import ProjectId
from keybearer.store.columns import select_record
from keybearer.store.tables.certificate_authorities import CertificateAuthorityRow
from keybearer.store.tables.certificate_profiles import CertificatePolicyRow, CertificateProfileRow

__all__ = ["CertificatePolicies", "CertificatePolicy"]


@dataclass(frozen=True, slots=True)
class CertificatePolicy:
    """A policy.

    Attributes:
        rules: in the wire's spelling; what was left out isn't there.
        profiles_bound_by: who has profiles issue by it, a word of `BoundBy`.
    """

    id: str
    project_id: ProjectId
    name: str
    description: str | None
    rules: Mapping[str, JsonValue]
    created_at: datetime
    updated_at: datetime
    profiles_bound_by: str = BoundBy.ADMINS


_POLICIES = select_record(CertificatePolicyRow, CertificatePolicy)


class CertificatePolicies:
    """Repository of certificate policies."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, new: CertificatePolicy) -> None:
        """Store a new policy."""
        await self._connection.execute(insert(CertificatePolicyRow).values(_values(new)))

    async def update(self, changed: CertificatePolicy) -> None:
        """Store the present fields."""
        await self._connection.execute(
            update(CertificatePolicyRow).where(CertificatePolicyRow.id == changed.id).values(_values(changed))
        )

    async def get(self, policy_id: str, *, for_change: bool = False) -> CertificatePolicy | None:
        """Return the policy of that id, or None; for a change it is kept from other writers."""
        statement = _POLICIES.where(CertificatePolicyRow.id == policy_id)
        if for_change:
            statement = statement.with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else CertificatePolicy(*row)

    async def named(self, project_id: ProjectId, name: str) -> CertificatePolicy | None:
        """Return the project's policy of that name, or None."""
        statement = _POLICIES.where(
            CertificatePolicyRow.project_id == project_id, CertificatePolicyRow.name == name
        )
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else CertificatePolicy(*row)

    async def of_project(
        self, project_id: ProjectId, *, search: str | None, offset: int, limit: int
    ) -> tuple[list[CertificatePolicy], int]:
        """Return a page of the project's policies by name, and how many there are in all."""
        wanted = [CertificatePolicyRow.project_id == project_id]
        if search is not None:
            wanted.append(CertificatePolicyRow.name.icontains(search, autoescape=True))
        count = select(func.count()).select_from(CertificatePolicyRow).where(*wanted)
        page = _POLICIES.where(*wanted).order_by(CertificatePolicyRow.name).offset(offset).limit(limit)
        found = [CertificatePolicy(*row) for row in await self._connection.execute(page)]
        return found, (await self._connection.execute(count)).scalar_one()

    async def count_of(self, project_id: ProjectId) -> int:
        """Return how many policies the project has."""
        row = CertificatePolicyRow
        statement = select(func.count()).select_from(row).where(row.project_id == project_id)
        return (await self._connection.execute(statement)).scalar_one()

    async def is_used(self, policy_id: str) -> bool:
        """Return whether a profile uses the policy."""
        row = CertificateProfileRow
        statement = select(row.id).where(row.policy_id == policy_id).limit(1)
        return (await self._connection.execute(statement)).first() is not None

    async def authorities_of(self, policy_id: str) -> list[str]:
        """Return the ids of the authorities that sign by this policy alone, oldest first."""
        row = CertificateAuthorityRow
        statement = select(row.id).where(row.policy_id == policy_id).order_by(row.created_at, row.id)
        return list((await self._connection.execute(statement)).scalars())

    async def set_authorities(self, policy_id: str, authority_ids: Collection[str]) -> None:
        """Have these authorities, and no others, sign by this policy alone."""
        row = CertificateAuthorityRow
        await self._connection.execute(
            update(row).where(row.policy_id == policy_id, row.id.not_in(authority_ids)).values(policy_id=None)
        )
        await self._connection.execute(
            update(row).where(row.id.in_(authority_ids)).values(policy_id=policy_id)
        )

    async def delete(self, policy_id: str) -> None:
        """Remove the policy; none that a profile uses."""
        await self._connection.execute(
            delete(CertificatePolicyRow).where(CertificatePolicyRow.id == policy_id)
        )


def _values(record: CertificatePolicy) -> dict[str, Any]:
    values = {one.name: getattr(record, one.name) for one in fields(record)}
    return {**values, "rules": dict(record.rules)}
