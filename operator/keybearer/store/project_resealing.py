"""Sealing keys and passphrases in rows of a project anew with its latest data key: so many at a time.

Nothing needs to be noted of how far that came: what the latest key didn't seal is still to be done.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, literal, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from keybearer.base.ids import ProjectId
from keybearer.store.keys import Keys
from keybearer.store.project_seals import (
    ACME_ACCOUNT_KEY,
    ACME_BINDING_SECRET,
    AUTHORITY_KEY,
    CERTIFICATE_KEY,
    ENROLLMENT_SECRET,
    REQUEST_KEY,
    seal_identity,
)
from keybearer.store.root_keys import key_name_column
from keybearer.store.sealing.envelope import Ciphertext, KeyName, SealingKey, key_name_of
from keybearer.store.tables.certificate_authorities import AcmeAccountRow, CertificateAuthorityRow
from keybearer.store.tables.certificate_profiles import EnrollmentRow
from keybearer.store.tables.certificates import CertificateRequestRow, CertificateRow

__all__ = ["ProjectKeyResealing"]

_Column = InstrumentedAttribute[bytes] | InstrumentedAttribute[bytes | None]
_Table = type[
    CertificateAuthorityRow | AcmeAccountRow | EnrollmentRow | CertificateRequestRow | CertificateRow
]
# Table, what is sealed of it, and what for; an envelope is bound to the project and to `id`.
_SEALED: tuple[tuple[_Table, _Column, str], ...] = (
    (CertificateAuthorityRow, CertificateAuthorityRow.private_key, AUTHORITY_KEY),
    (AcmeAccountRow, AcmeAccountRow.private_key, ACME_ACCOUNT_KEY),
    (AcmeAccountRow, AcmeAccountRow.eab_secret, ACME_BINDING_SECRET),
    (EnrollmentRow, EnrollmentRow.secret, ENROLLMENT_SECRET),
    (CertificateRequestRow, CertificateRequestRow.private_key, REQUEST_KEY),
    (CertificateRow, CertificateRow.private_key, CERTIFICATE_KEY),
)


class ProjectKeyResealing:
    """Repository of the part of a rotation that is about keys in rows of the project."""

    def __init__(self, connection: AsyncConnection, keys: Keys) -> None:
        self._connection = connection
        self._keys = keys

    async def advance(self, project_id: ProjectId, key: SealingKey, limit: int) -> int:
        """Seal so many anew at most, and return how many that were.

        What somebody else changes at this moment is left to them, or to the next time.
        """
        done = 0
        for table, column, purpose in _SEALED:
            statement = (
                select(table.id, column)
                .where(table.project_id == project_id, _is_old(column, key.name))
                .limit(limit - done)
                .with_for_update(skip_locked=True)
            )
            rows: Iterable[Any] = (await self._connection.execute(statement)).all()
            former = await self._keys.opened({key_name_of(envelope) for _, envelope in rows})
            for record_id, envelope in rows:
                identity = seal_identity(purpose, project_id, record_id)
                plain = former[key_name_of(envelope)].open(Ciphertext(envelope), identity)
                await self._connection.execute(
                    update(table).where(table.id == record_id).values({column: key.seal(plain, identity)})
                )
                done += 1
        return done

    async def is_left(self, project_id: ProjectId, name: KeyName) -> bool:
        """Return whether a key in a row of the project is sealed with another data key than this one."""
        for table, column, _ in _SEALED:
            statement = select(literal(1)).where(table.project_id == project_id, _is_old(column, name))
            if (await self._connection.execute(statement.limit(1))).first() is not None:
                return True
        return False


def _is_old(column: _Column, name: KeyName) -> ColumnElement[bool]:
    old: ColumnElement[bool] = column.is_not(None) & (key_name_column(column) != literal(bytes(name)))
    return old
