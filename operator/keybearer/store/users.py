"""Users, and how often a login under an email failed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import IdentityId, OrganizationId, ProjectId
from keybearer.store.columns import record_columns, select_record
from keybearer.store.records import Identity, LoginFailures, Membership, User
from keybearer.store.tables.identities import IdentityRow
from keybearer.store.tables.projects import MembershipRow
from keybearer.store.tables.users import LoginFailureRow, UserRow

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
_FAILURES = select_record(LoginFailureRow, LoginFailures)
# One statement, which both databases know: between two, another login could remove the row.
_CLAIM = text(
    "INSERT INTO login_failures (digest, failures, expires_at) VALUES (:digest, 0, 0) "
    "ON CONFLICT (digest) DO UPDATE SET failures = login_failures.failures "
    "RETURNING digest, failures, last_failure_at, locked_until, expires_at"
).columns(*record_columns(LoginFailureRow, LoginFailures))


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

    async def login_failures(self, digest: bytes) -> LoginFailures | None:
        """Return what failed under the email of that digest, or None."""
        row = (
            await self._connection.execute(_FAILURES.where(LoginFailureRow.digest == digest))
        ).one_or_none()
        return None if row is None else LoginFailures(*row)

    async def claim_login_failures(self, digest: bytes) -> LoginFailures:
        """Return the same, made if there was none, and keep it from other writers: logins take turns at it."""
        return LoginFailures(*(await self._connection.execute(_CLAIM, {"digest": digest})).one())

    async def record_login_failures(self, failures: LoginFailures) -> None:
        """Store the counter."""
        await self._connection.execute(
            update(LoginFailureRow).where(LoginFailureRow.digest == failures.digest).values(asdict(failures))
        )

    async def forget_login_failures(self, digest: bytes, now: datetime) -> None:
        """Remove the counter, and all that no longer say anything."""
        await self._connection.execute(delete(LoginFailureRow).where(LoginFailureRow.digest == digest))
        await self.prune_login_failures(now)

    async def prune_login_failures(self, now: datetime) -> None:
        """Remove the counters that no longer say anything."""
        # Not those that another login holds: two that wait for each other's row would never end.
        expired = (
            select(LoginFailureRow.digest)
            .where(LoginFailureRow.expires_at < now)
            .with_for_update(skip_locked=True)
        )
        await self._connection.execute(delete(LoginFailureRow).where(LoginFailureRow.digest.in_(expired)))
