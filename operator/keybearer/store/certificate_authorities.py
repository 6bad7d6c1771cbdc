"""Certificate authorities, their certificates and their revocation lists; keys leave and enter sealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.certificate_terms import AuthorityKind, AuthorityStatus
from keybearer.base.ids import ProjectId
from keybearer.store.columns import select_record
from keybearer.store.project_seals import AUTHORITY_KEY, ProjectSeals
from keybearer.store.tables.certificate_authorities import (
    AuthorityCertificateRow,
    CertificateAuthorityRow,
    RevocationListRow,
)
from keybearer.store.tables.certificate_profiles import CertificateProfileRow
from keybearer.store.tables.certificates import PkiSubscriberRow

__all__ = [
    "AuthorityCertificate",
    "CertificateAuthorities",
    "CertificateAuthority",
    "RevocationListRecord",
    "RevocationListStanding",
]


@dataclass(frozen=True, slots=True)
class CertificateAuthority:
    """An authority, without its key.

    Attributes:
        kind: where its key is, a word of `AuthorityKind`.
        status: a word of `AuthorityStatus`.
        configuration: what was asked for, in the wire's spelling.
        certificate_id: of the certificate it signs with at present; None before the first.
        policy_id: the only policy by whose profiles it signs; None if it signs by any, and what no profile asks for.
    """

    id: str
    project_id: ProjectId
    name: str
    kind: str
    status: str
    enable_direct_issuance: bool
    configuration: Mapping[str, JsonValue]
    certificate_id: str | None
    created_at: datetime
    updated_at: datetime
    policy_id: str | None = None

    @property
    def is_internal(self) -> bool:
        """Whether the service holds its key."""
        return self.kind == AuthorityKind.INTERNAL

    @property
    def is_active(self) -> bool:
        """Whether it may issue."""
        return self.status == AuthorityStatus.ACTIVE


@dataclass(frozen=True, slots=True)
class AuthorityCertificate:
    """A certificate of an authority, PEM; `chain` holds those above it, nearest first, without itself.

    Attributes:
        parent_id: the authority of ours that signed it; None for a root, and for one signed elsewhere.
        version: counts from 1 within the authority.
        max_path_length: None without a bound.
    """

    id: str
    authority_id: str
    parent_id: str | None
    version: int
    certificate: str
    chain: str
    serial_number: str
    fingerprint: str
    max_path_length: int | None
    not_before: datetime
    not_after: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RevocationListRecord:
    """A revocation list as it was signed last; `is_stale` where something was revoked since."""

    authority_id: str
    id: str
    number: int
    this_update: datetime
    next_update: datetime
    is_stale: bool
    der: bytes


@dataclass(frozen=True, slots=True)
class RevocationListStanding:
    """Which list an authority has, without the list: that may be megabytes."""

    number: int
    next_update: datetime
    is_stale: bool


_AUTHORITIES = select_record(CertificateAuthorityRow, CertificateAuthority)
_CERTIFICATES = select_record(AuthorityCertificateRow, AuthorityCertificate)
_LISTS = select_record(RevocationListRow, RevocationListRecord)
_STANDINGS = select_record(RevocationListRow, RevocationListStanding)


class CertificateAuthorities:
    """Repository of certificate authorities."""

    def __init__(self, connection: AsyncConnection, seals: ProjectSeals) -> None:
        self._connection = connection
        self._seals = seals

    async def add(self, new: CertificateAuthority, private_key: bytes | None = None) -> None:
        """Store a new authority, with its key where it is ours."""
        sealed = (
            None
            if private_key is None
            else await self._seals.seal(AUTHORITY_KEY, new.project_id, new.id, private_key)
        )
        await self._connection.execute(
            insert(CertificateAuthorityRow).values({**_values(new), "private_key": sealed})
        )

    async def update(self, changed: CertificateAuthority) -> None:
        """Store the present fields; the key stays."""
        await self._connection.execute(
            update(CertificateAuthorityRow)
            .where(CertificateAuthorityRow.id == changed.id)
            .values(_values(changed))
        )

    async def get(self, authority_id: str, *, for_change: bool = False) -> CertificateAuthority | None:
        """Return the authority of that id, or None; for a change it is kept from other writers."""
        statement = _AUTHORITIES.where(CertificateAuthorityRow.id == authority_id)
        if for_change:
            statement = statement.with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else CertificateAuthority(*row)

    async def by_ids(self, authority_ids: Sequence[str]) -> dict[str, CertificateAuthority]:
        """Return those of the authorities that exist, by id."""
        statement = _AUTHORITIES.where(CertificateAuthorityRow.id.in_(authority_ids))
        found = [CertificateAuthority(*row) for row in await self._connection.execute(statement)]
        return {one.id: one for one in found}

    async def named(self, project_id: ProjectId, name: str) -> CertificateAuthority | None:
        """Return the project's authority of that name, or None."""
        statement = _AUTHORITIES.where(
            CertificateAuthorityRow.project_id == project_id, CertificateAuthorityRow.name == name
        )
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else CertificateAuthority(*row)

    async def of_project(
        self, project_id: ProjectId, kind: AuthorityKind | None = None
    ) -> list[CertificateAuthority]:
        """Return the project's authorities by name; of one kind, or of all."""
        statement = _AUTHORITIES.where(CertificateAuthorityRow.project_id == project_id)
        if kind is not None:
            statement = statement.where(CertificateAuthorityRow.kind == kind)
        statement = statement.order_by(CertificateAuthorityRow.name)
        return [CertificateAuthority(*row) for row in await self._connection.execute(statement)]

    async def count_of(self, project_id: ProjectId) -> int:
        """Return how many authorities the project has."""
        row = CertificateAuthorityRow
        statement = select(func.count()).select_from(row).where(row.project_id == project_id)
        return (await self._connection.execute(statement)).scalar_one()

    async def private_key(self, authority: CertificateAuthority) -> bytes | None:
        """Return the authority's key as it was given; None where it isn't ours.

        Raises:
            UnsealError: it doesn't open; the database is damaged.
        """
        statement = select(CertificateAuthorityRow.private_key).where(
            CertificateAuthorityRow.id == authority.id
        )
        sealed = (await self._connection.execute(statement)).scalar_one_or_none()
        if sealed is None:
            return None
        return await self._seals.open(AUTHORITY_KEY, authority.project_id, authority.id, sealed)

    async def is_used(self, authority_id: str) -> bool:
        """Return whether a profile or a subscriber uses the authority."""
        for column in (CertificateProfileRow.authority_id, PkiSubscriberRow.authority_id):
            statement = select(column).where(column == authority_id).limit(1)
            if (await self._connection.execute(statement)).first() is not None:
                return True
        return False

    async def delete(self, authority_id: str) -> None:
        """Remove the authority with its certificates and its list; none that a profile uses."""
        await self._connection.execute(
            delete(CertificateAuthorityRow).where(CertificateAuthorityRow.id == authority_id)
        )

    async def add_certificate(self, new: AuthorityCertificate) -> None:
        """Store a certificate of an authority; `update` says that it is used from now on."""
        values = {one.name: getattr(new, one.name) for one in fields(new)}
        await self._connection.execute(insert(AuthorityCertificateRow).values(values))

    async def certificate(self, certificate_id: str) -> AuthorityCertificate | None:
        """Return the authority's certificate of that id, or None."""
        statement = _CERTIFICATES.where(AuthorityCertificateRow.id == certificate_id)
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else AuthorityCertificate(*row)

    async def certificates(self, certificate_ids: Sequence[str]) -> dict[str, AuthorityCertificate]:
        """Return those of the authorities' certificates that exist, by id."""
        statement = _CERTIFICATES.where(AuthorityCertificateRow.id.in_(certificate_ids))
        found = [AuthorityCertificate(*row) for row in await self._connection.execute(statement)]
        return {one.id: one for one in found}

    async def certificates_of(self, authority_id: str) -> list[AuthorityCertificate]:
        """Return all certificates of an authority, oldest first."""
        statement = _CERTIFICATES.where(AuthorityCertificateRow.authority_id == authority_id)
        statement = statement.order_by(AuthorityCertificateRow.version)
        return [AuthorityCertificate(*row) for row in await self._connection.execute(statement)]

    async def names_below(self, authority_id: str, now: datetime) -> list[str]:
        """Return the names of the authorities that sign with a certificate of this one which isn't over."""
        row, authority = AuthorityCertificateRow, CertificateAuthorityRow
        statement = (
            select(authority.name)
            .join(row, row.id == authority.certificate_id)
            .where(row.parent_id == authority_id, row.not_after >= now)
            .order_by(authority.name)
        )
        return list((await self._connection.execute(statement)).scalars())

    async def signed_authority(self, authority_id: str, serial_number: str) -> bool:
        """Return whether the authority signed a certificate of that number for another one of ours, or for itself."""
        row = AuthorityCertificateRow
        statement = select(row.id).where(
            row.serial_number == serial_number,
            or_(row.parent_id == authority_id, row.authority_id == authority_id),
        )
        return (await self._connection.execute(statement.limit(1))).first() is not None

    async def revocation_list(
        self, authority_id: str, *, for_change: bool = False
    ) -> RevocationListRecord | None:
        """Return the authority's list as it was signed last; None before the first."""
        statement = _LISTS.where(RevocationListRow.authority_id == authority_id)
        if for_change:
            statement = statement.with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else RevocationListRecord(*row)

    async def revocation_list_standing(self, authority_id: str) -> RevocationListStanding | None:
        """Return which list the authority has; None before the first."""
        statement = _STANDINGS.where(RevocationListRow.authority_id == authority_id)
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else RevocationListStanding(*row)

    async def put_revocation_list(self, signed: RevocationListRecord) -> None:
        """Store the list in place of the one before; who waits to outdate that one outdates this."""
        values = {one.name: getattr(signed, one.name) for one in fields(signed)}
        changed = (
            update(RevocationListRow)
            .where(RevocationListRow.authority_id == signed.authority_id)
            .values(values)
            .returning(RevocationListRow.id)
        )
        if (await self._connection.execute(changed)).first() is None:
            await self._connection.execute(insert(RevocationListRow).values(values))

    async def outdate_revocation_list(self, authority_id: str) -> None:
        """Note that something was revoked that the authority's list doesn't hold."""
        await self._connection.execute(
            update(RevocationListRow)
            .where(RevocationListRow.authority_id == authority_id)
            .values(is_stale=True)
        )

    async def due_revocation_lists(self, before: datetime, limit: int) -> list[str]:
        """Return the ids of authorities whose list is outdated, or ends before that instant."""
        row = RevocationListRow
        statement = (
            select(row.authority_id)
            .where(or_(row.is_stale.is_(True), row.next_update < before))
            .order_by(row.next_update, row.authority_id)
            .limit(limit)
        )
        return list((await self._connection.execute(statement)).scalars())


def _values(record: CertificateAuthority) -> dict[str, Any]:
    values = {one.name: getattr(record, one.name) for one in fields(record)}
    return {**values, "configuration": dict(record.configuration)}
