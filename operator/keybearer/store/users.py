"""Users."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from sqlalchemy import insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import IdentityId, OrganizationId, ProjectId
from keybearer.store.columns import record_columns, select_record
from keybearer.store.records import Identity, Membership, User
from keybearer.store.tables.identities import IdentityRow
from keybearer.store.tables.projects import MembershipRow
from keybearer.store.tables.users import UserRow

__all__ = ["Users"]

_USERS = select_record(UserRow, User)
_WITH_IDENTITY = _USERS.add_columns(*record_columns(IdentityRow, Identity)).join(
    IdentityRow, IdentityRow.id == UserRow.identity_id
)
_WITH_MEMBERSHIP = (
    select_record(MembershipRow, Membership)
    .add_columns(*record_columns(UserRow, User))
    .join(UserRow, UserRow.identity_id == MembershipRow.identity_id)
)
_USER_WIDTH = len(record_columns(UserRow, User))
_MEMBERSHIP_WIDTH = len(record_columns(MembershipRow, Membership))


class Users:
    """Repository of users. Each has an identity of kind `user`, which `Identities` keeps."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, user: User) -> None:
        """Store a new user; the identity is there already."""
        await self._connection.execute(insert(UserRow).values(asdict(user)))

    async def get(self, identity_id: IdentityId) -> User | None:
        """Return the user, or None."""
        row = (await self._connection.execute(_USERS.where(UserRow.identity_id == identity_id))).one_or_none()
        return None if row is None else User(*row)

    async def by_email(self, email: str, *, for_change: bool = False) -> User | None:
        """Return the user of that email in lower case, or None; for a change it is kept from other writers."""
        statement = _USERS.where(UserRow.email == email)
        if for_change:
            statement = statement.with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else User(*row)

    async def of_organization(
        self, organization_id: OrganizationId, *, emails: Iterable[str] | None = None
    ) -> list[tuple[User, Identity]]:
        """Return the organization's users by email; only those of these emails where some are given."""
        statement = _WITH_IDENTITY.where(IdentityRow.organization_id == organization_id)
        if emails is not None:
            statement = statement.where(UserRow.email.in_(list(emails)))
        rows = await self._connection.execute(statement.order_by(UserRow.email))
        return [(User(*row[:_USER_WIDTH]), Identity(*row[_USER_WIDTH:])) for row in rows]

    async def members(self, project_id: ProjectId) -> list[tuple[Membership, User]]:
        """Return the project's memberships of users, oldest first."""
        statement = _WITH_MEMBERSHIP.where(MembershipRow.project_id == project_id).order_by(
            MembershipRow.created_at, MembershipRow.id
        )
        return [
            (Membership(*row[:_MEMBERSHIP_WIDTH]), User(*row[_MEMBERSHIP_WIDTH:]))
            for row in await self._connection.execute(statement)
        ]

    async def update(self, user: User) -> None:
        """Store what the user is at present."""
        await self._connection.execute(
            update(UserRow).where(UserRow.identity_id == user.identity_id).values(asdict(user))
        )
