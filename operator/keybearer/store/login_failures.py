"""How often logins failed: one counter for each account and source of addresses."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from sqlalchemy import bindparam, delete, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.store.columns import record_columns, select_record
from keybearer.store.records import LoginFailures
from keybearer.store.tables.users import LoginFailureRow

__all__ = ["FailedLogins"]

_FAILURES = select_record(LoginFailureRow, LoginFailures).where(LoginFailureRow.digest == bindparam("digest"))
# One statement, which both databases know: between two, another login could remove the row.
_CLAIM = text(
    "INSERT INTO login_failures (digest, account, failures, slow_failures, expires_at) "
    "VALUES (:digest, :account, 0, 0, 0) "
    "ON CONFLICT (digest) DO UPDATE SET failures = login_failures.failures "
    "RETURNING digest, account, failures, last_failure_at, slow_failures, slow_since, locked_until, expires_at"
).columns(*record_columns(LoginFailureRow, LoginFailures))


class FailedLogins:
    """Repository of counters."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def find(self, digest: bytes) -> LoginFailures | None:
        """Return the counter of that digest, or None."""
        row = (await self._connection.execute(_FAILURES, {"digest": digest})).one_or_none()
        return None if row is None else LoginFailures(*row)

    async def claim(self, digest: bytes, account: bytes) -> LoginFailures:
        """Return the same, made if there was none, and keep it from other writers: logins take turns at it."""
        given = {"digest": digest, "account": account}
        return LoginFailures(*(await self._connection.execute(_CLAIM, given)).one())

    async def record(self, failures: LoginFailures) -> None:
        """Store the counter."""
        await self._connection.execute(
            update(LoginFailureRow).where(LoginFailureRow.digest == failures.digest).values(asdict(failures))
        )

    async def forget(self, digest: bytes) -> None:
        """Remove the counter."""
        await self._connection.execute(delete(LoginFailureRow).where(LoginFailureRow.digest == digest))

    async def forget_account(self, account: bytes, now: datetime) -> int:
        """Remove the counters of the account, and return how many were locked."""
        locked = select(func.count()).where(
            LoginFailureRow.account == account, LoginFailureRow.locked_until > now
        )
        count = (await self._connection.execute(locked)).scalar_one()
        await self._connection.execute(delete(LoginFailureRow).where(LoginFailureRow.account == account))
        return count

    async def prune(self, now: datetime) -> None:
        """Remove the counters that no longer say anything."""
        # Not those that another login holds: two that wait for each other's row would never end.
        expired = (
            select(LoginFailureRow.digest)
            .where(LoginFailureRow.expires_at < now)
            .with_for_update(skip_locked=True)
        )
        await self._connection.execute(delete(LoginFailureRow).where(LoginFailureRow.digest.in_(expired)))
