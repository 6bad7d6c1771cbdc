"""What only one process at a time decides: it reads, and then acts upon what it read."""

from __future__ import annotations

from enum import IntEnum

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["Lock", "take_lock"]


class Lock(IntEnum):
    """A number of PostgreSQL's advisory locks; the one before the first is that of migrations."""

    ROOT_KEYS = 7_217_358_042
    SYNC_CLAIMS = 7_217_358_043
    AUDIT_REGISTER = 7_217_358_045


async def take_lock(connection: AsyncConnection, lock: Lock) -> None:
    """Wait for others that have it; until the unit ends they wait for this one.

    On SQLite whoever writes is alone anyway.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": lock.value})
