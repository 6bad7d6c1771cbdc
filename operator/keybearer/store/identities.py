"""Organizations and identities, those of machines and of users."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import bindparam, delete, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import IdentityId, OrganizationId
from keybearer.store.columns import select_record
from keybearer.store.records import Identity, Organization
from keybearer.store.tables.identities import IdentityRow, OrganizationRow

__all__ = ["Identities"]

_ORGANIZATIONS = select_record(OrganizationRow, Organization)
_IDENTITIES = select_record(IdentityRow, Identity)
_IDENTITY = _IDENTITIES.where(IdentityRow.id == bindparam("identity"))


class Identities:
    """Repository of organizations and identities."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def claim_empty(self) -> bool:
        """Return whether no organization exists yet, and let no other replica make one meanwhile."""
        if self._connection.dialect.name == "postgresql":
            # A first row can't be locked before it is there. SQLite has one writer anyway.
            await self._connection.execute(text("LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE"))
        return await self.is_empty()

    async def is_empty(self) -> bool:
        """Return whether no organization exists yet."""
        return (await self._connection.execute(select(OrganizationRow.id).limit(1))).first() is None

    async def add_organization(self, organization: Organization) -> None:
        """Store a new organization."""
        await self._connection.execute(insert(OrganizationRow).values(asdict(organization)))

    async def organization(self, organization_id: OrganizationId) -> Organization | None:
        """Return the organization, or None."""
        statement = _ORGANIZATIONS.where(OrganizationRow.id == organization_id)
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else Organization(*row)

    async def organization_by_slug(self, slug: str) -> Organization | None:
        """Return the organization, or None."""
        statement = _ORGANIZATIONS.where(OrganizationRow.slug == slug)
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else Organization(*row)

    async def add(self, identity: Identity) -> None:
        """Store a new identity."""
        await self._connection.execute(insert(IdentityRow).values(asdict(identity)))

    async def get(self, identity_id: IdentityId) -> Identity | None:
        """Return the identity, or None."""
        row = (await self._connection.execute(_IDENTITY, {"identity": identity_id})).one_or_none()
        return None if row is None else Identity(*row)

    async def machines(self, organization_id: OrganizationId) -> list[Identity]:
        """Return the machine identities of the organization, oldest first."""
        statement = _IDENTITIES.where(
            IdentityRow.organization_id == organization_id, IdentityRow.kind == "machine"
        ).order_by(IdentityRow.created_at, IdentityRow.id)
        return [Identity(*row) for row in await self._connection.execute(statement)]

    async def lock_organization(self, organization_id: OrganizationId) -> None:
        """Keep other writers of the organization's roles waiting until this unit ends."""
        statement = select(OrganizationRow.id).where(OrganizationRow.id == organization_id)
        await self._connection.execute(statement.with_for_update())

    async def count_role(self, organization_id: OrganizationId, role: str) -> int:
        """Return how many identities of the organization have the role."""
        statement = select(func.count()).where(
            IdentityRow.organization_id == organization_id, IdentityRow.role == role
        )
        return (await self._connection.execute(statement)).scalar_one()

    async def update(self, identity: Identity) -> None:
        """Store the identity's present name and role; its permission revision moves by itself."""
        await self._connection.execute(
            update(IdentityRow)
            .where(IdentityRow.id == identity.id)
            .values(name=identity.name, role=identity.role, updated_at=identity.updated_at)
        )

    async def delete(self, identity_id: IdentityId) -> None:
        """Remove the identity with its credentials, tokens and memberships."""
        await self._connection.execute(delete(IdentityRow).where(IdentityRow.id == identity_id))
