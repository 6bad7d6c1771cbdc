"""Sealing credentials of auth methods and app connections anew with the latest key of their line: so many at a time.

Nothing needs to be noted of how far that came: what the latest key didn't seal is still to be done. Whoever seals
holds the latest key for sharing, and the end waits for those who hold a former one; so none is deleted that
something was sealed with a moment ago.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, literal, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from keybearer.store.app_connections import CONNECTION_CREDENTIALS, RETIRING_CREDENTIALS
from keybearer.store.auth_methods import BIND_PASSWORD, CREDENTIALS, REVIEWER_TOKEN
from keybearer.store.keys import Keys
from keybearer.store.root_keys import key_name_column
from keybearer.store.sealing.envelope import Ciphertext, SealingKey, associate, key_name_of
from keybearer.store.tables.app_connections import AppConnectionRow
from keybearer.store.tables.auth_methods import KubernetesAuthRow, LdapAuthRow

__all__ = ["CredentialResealing", "CredentialRotation"]

_Column = InstrumentedAttribute[bytes] | InstrumentedAttribute[bytes | None]
_Table = type[KubernetesAuthRow | LdapAuthRow | AppConnectionRow]
# Table, its key, what is sealed, and what for; an envelope is bound to `id`, whatever the key is.
_SEALED: tuple[tuple[_Table, InstrumentedAttribute[str], _Column, str], ...] = (
    (KubernetesAuthRow, KubernetesAuthRow.identity_id, KubernetesAuthRow.reviewer_token, REVIEWER_TOKEN),
    (LdapAuthRow, LdapAuthRow.identity_id, LdapAuthRow.bind_password, BIND_PASSWORD),
    (AppConnectionRow, AppConnectionRow.id, AppConnectionRow.credentials, CONNECTION_CREDENTIALS),
    (AppConnectionRow, AppConnectionRow.id, AppConnectionRow.retiring, RETIRING_CREDENTIALS),
)


@dataclass(frozen=True, slots=True)
class CredentialRotation:
    """Credentials are being sealed anew; `remaining` of them still are to be."""

    started_at: datetime
    remaining: int


class CredentialResealing:
    """Repository of the rotation of the key that seals credentials."""

    def __init__(self, connection: AsyncConnection, keys: Keys) -> None:
        self._connection = connection
        self._keys = keys

    async def begin(self) -> None:
        """Make the next key; what is written from now on is sealed with it."""
        await self._keys.create_in_line(CREDENTIALS)

    async def under_way(self) -> CredentialRotation | None:
        """Return how far the rotation came; None where there is none."""
        keys = await self._keys.line(CREDENTIALS)
        if len(keys) <= 1:
            return None
        remaining = 0
        for _, _, column, _ in _SEALED:
            statement = select(func.count()).where(_is_old(column, keys[0].name))
            remaining += (await self._connection.execute(statement)).scalar_one()
        return CredentialRotation(keys[0].created_at, remaining)

    async def advance(self, limit: int) -> int:
        """Seal so many credentials anew at most, and return how many that were.

        What somebody else changes at this moment is left to them, or to the next time.
        """
        key = await self._keys.active_in_line(CREDENTIALS)
        done = 0
        for table, row_key, column, purpose in _SEALED:
            statement = select(row_key, table.id, column).where(_is_old(column, key.name))
            statement = statement.limit(limit - done).with_for_update(skip_locked=True)
            rows: Iterable[Any] = await self._connection.execute(statement)
            for found, record_id, envelope in rows:
                sealed = await self._sealed_anew(key, purpose, record_id, Ciphertext(envelope))
                await self._connection.execute(update(table).where(row_key == found).values({column: sealed}))
                done += 1
        return done

    async def finish(self) -> bool:
        """Delete the former keys, unless something is sealed with them still; return whether they are gone."""
        latest, *former = await self._keys.line(CREDENTIALS)
        await self._keys.hold([record.id for record in former])
        for _, _, column, _ in _SEALED:
            left = select(literal(1)).where(_is_old(column, latest.name)).limit(1)
            if (await self._connection.execute(left)).first() is not None:
                return False
        await self._keys.delete_of_line([record.id for record in former])
        return True

    async def _sealed_anew(
        self, key: SealingKey, purpose: str, record_id: str, envelope: Ciphertext
    ) -> Ciphertext:
        former = await self._keys.opened_in_line(CREDENTIALS, key_name_of(envelope))
        associated = associate(purpose, record_id)
        return key.seal(former.open(envelope, associated), associated)


def _is_old(column: _Column, name: bytes) -> ColumnElement[bool]:
    old: ColumnElement[bool] = column.is_not(None) & (key_name_column(column) != literal(bytes(name)))
    return old
