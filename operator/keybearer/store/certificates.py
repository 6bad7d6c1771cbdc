"""Certificates; the keys that the service holds of them leave and enter sealed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.certificate_terms import CertificateStatus
from keybearer.base.ids import ProjectId
from keybearer.store.columns import select_record
from keybearer.store.many_rows import ManyRows
from keybearer.store.project_seals import CERTIFICATE_KEY, ProjectSeals
from keybearer.store.revisions import Changes
from keybearer.store.tables.certificates import CertificateRow

__all__ = ["CERTIFICATE_ROWS", "Certificate", "CertificateFilter", "Certificates", "RevokedCertificate"]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate, without its key.

    Attributes:
        authority_certificate_id: of the certificate of its authority that signed it.
        serial_number: lower-case hex.
        fingerprint: SHA-256 of the certificate, hex; `public_key_fingerprint` of its public key.
        alt_names: the values, joined by commas.
        subject: organization and the like, in the wire's spelling.
        chain: those above it, nearest first, PEM.
        renew_at: when it is to be renewed without being asked; None where it isn't.
        renewed_from_id: of the one it replaced; `renewed_by_id` of the one that replaced it. Either may be gone.
    """

    id: str
    project_id: ProjectId
    profile_id: str | None
    application_id: str | None
    subscriber_id: str | None
    authority_id: str | None
    authority_certificate_id: str | None
    serial_number: str
    fingerprint: str
    public_key_fingerprint: str
    common_name: str
    alt_names: str
    friendly_name: str
    subject: Mapping[str, JsonValue]
    key_usages: tuple[str, ...]
    extended_key_usages: tuple[str, ...]
    key_algorithm: str
    signature_algorithm: str
    is_ca: bool
    path_length: int | None
    not_before: datetime
    not_after: datetime
    certificate: str
    chain: str
    is_revoked: bool
    revoked_at: datetime | None
    revocation_reason: str | None
    renew_before_days: int | None
    renew_at: datetime | None
    renewed_from_id: str | None
    renewed_by_id: str | None
    created_at: datetime
    updated_at: datetime

    def status(self, now: datetime) -> CertificateStatus:
        """Return what became of it: revoked even after its time is over."""
        if self.is_revoked:
            return CertificateStatus.REVOKED
        return CertificateStatus.ACTIVE if now <= self.not_after else CertificateStatus.EXPIRED


@dataclass(frozen=True, slots=True)
class RevokedCertificate:
    """A line of a revocation list."""

    serial_number: str
    revoked_at: datetime
    reason: str | None


@dataclass(frozen=True, slots=True)
class CertificateFilter:
    """Which certificates; None says nothing. `search` looks into names and serial numbers."""

    profile_id: str | None = None
    application_id: str | None = None
    subscriber_id: str | None = None
    authority_id: str | None = None
    status: CertificateStatus | None = None
    search: str | None = None


CERTIFICATE_ROWS = ManyRows(CertificateRow, Certificate, "private_key")
_CERTIFICATES = select_record(CertificateRow, Certificate)


class Certificates:
    """Repository of certificates."""

    def __init__(self, connection: AsyncConnection, seals: ProjectSeals, changes: Changes) -> None:
        self._connection = connection
        self._seals = seals
        self._changes = changes

    async def add(self, new: Certificate, private_key: bytes | None = None) -> None:
        """Store a certificate, with its key where the service is to keep it."""
        await self.add_all([(new, private_key)])

    async def add_all(self, new: Sequence[tuple[Certificate, bytes | None]]) -> None:
        """Store certificates, each with its key where the service is to keep it."""
        rows = [
            CERTIFICATE_ROWS.row(
                certificate,
                None
                if private_key is None
                else await self._seals.seal(
                    CERTIFICATE_KEY, certificate.project_id, certificate.id, private_key
                ),
            )
            for certificate, private_key in new
        ]
        await CERTIFICATE_ROWS.insert(self._connection, rows)
        # One that is revoked from the beginning was issued before, and is filed for its list.
        self._changes.certificates += sum(not certificate.is_revoked for certificate, _ in new)

    async def update(self, changed: Certificate) -> None:
        """Store the present fields; the key stays."""
        await self._connection.execute(
            update(CertificateRow).where(CertificateRow.id == changed.id).values(_values(changed))
        )

    async def get(self, certificate_id: str, *, for_change: bool = False) -> Certificate | None:
        """Return the certificate of that id, or None; for a change it is kept from other writers."""
        statement = _CERTIFICATES.where(CertificateRow.id == certificate_id)
        if for_change:
            statement = statement.with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else Certificate(*row)

    async def with_serial_number(self, authority_id: str, serial_number: str) -> Certificate | None:
        """Return the authority's certificate of that serial number, or None."""
        statement = _CERTIFICATES.where(
            CertificateRow.serial_number == serial_number, CertificateRow.authority_id == authority_id
        )
        row = (await self._connection.execute(statement.limit(1))).one_or_none()
        return None if row is None else Certificate(*row)

    async def with_fingerprint(self, project_id: ProjectId, fingerprint: str) -> Certificate | None:
        """Return the project's certificate of that fingerprint, or None."""
        statement = _CERTIFICATES.where(
            CertificateRow.fingerprint == fingerprint, CertificateRow.project_id == project_id
        )
        row = (await self._connection.execute(statement.limit(1))).one_or_none()
        return None if row is None else Certificate(*row)

    async def listed(
        self, project_id: ProjectId, wanted: CertificateFilter, now: datetime, *, offset: int, limit: int
    ) -> tuple[list[Certificate], int]:
        """Return a page of the project's certificates, newest first, and how many there are in all."""
        conditions = [CertificateRow.project_id == project_id, *_conditions(wanted, now)]
        count = select(func.count()).select_from(CertificateRow).where(*conditions)
        page = (
            _CERTIFICATES.where(*conditions)
            .order_by(CertificateRow.created_at.desc(), CertificateRow.id)
            .offset(offset)
            .limit(limit)
        )
        found = [Certificate(*row) for row in await self._connection.execute(page)]
        return found, (await self._connection.execute(count)).scalar_one()

    async def latest_active(
        self, wanted: CertificateFilter, now: datetime, project_id: ProjectId
    ) -> Certificate | None:
        """Return the newest certificate of those that is neither revoked nor over, or None."""
        statement = _CERTIFICATES.where(
            CertificateRow.project_id == project_id,
            *_conditions(wanted, now),
            _has_status(CertificateStatus.ACTIVE, now),
        ).order_by(CertificateRow.created_at.desc(), CertificateRow.not_after.desc(), CertificateRow.id)
        row = (await self._connection.execute(statement.limit(1))).one_or_none()
        return None if row is None else Certificate(*row)

    async def private_key(self, certificate: Certificate) -> bytes | None:
        """Return the certificate's key as it was given; None where the service doesn't hold it.

        Raises:
            UnsealError: it doesn't open; the database is damaged.
        """
        statement = select(CertificateRow.private_key).where(CertificateRow.id == certificate.id)
        sealed = (await self._connection.execute(statement)).scalar_one_or_none()
        if sealed is None:
            return None
        return await self._seals.open(CERTIFICATE_KEY, certificate.project_id, certificate.id, sealed)

    async def has_private_key(self, certificate_id: str) -> bool:
        """Return whether the service holds the certificate's key."""
        statement = select(CertificateRow.id).where(
            CertificateRow.id == certificate_id, CertificateRow.private_key.is_not(None)
        )
        return (await self._connection.execute(statement)).first() is not None

    async def revoked_of(self, authority_id: str, still_valid_at: datetime) -> list[RevokedCertificate]:
        """Return what an authority revoked of that which isn't over by then, for its list."""
        row = CertificateRow
        statement = (
            select(row.serial_number, row.revoked_at, row.revocation_reason)
            .where(
                row.authority_id == authority_id,
                row.is_revoked.is_(True),
                row.not_after >= still_valid_at,
            )
            .order_by(row.revoked_at, row.serial_number)
        )
        rows: Iterable[Any] = await self._connection.execute(statement)
        return [RevokedCertificate(*found) for found in rows]

    async def count_valid(self, authority_id: str, now: datetime) -> int:
        """Return how many certificates of an authority are neither over nor revoked."""
        statement = (
            select(func.count())
            .select_from(CertificateRow)
            .where(CertificateRow.authority_id == authority_id, _has_status(CertificateStatus.ACTIVE, now))
        )
        return (await self._connection.execute(statement)).scalar_one()

    async def due_for_renewal(self, now: datetime, limit: int) -> list[str]:
        """Return the ids of certificates that are to be renewed by now; whoever renews one clears `renew_at`."""
        row = CertificateRow
        statement = (
            select(row.id)
            .where(row.renew_at <= now, row.is_revoked.is_(False))
            .order_by(row.renew_at, row.id)
            .limit(limit)
        )
        return list((await self._connection.execute(statement)).scalars())

    async def delete(self, certificate_id: str) -> None:
        """Remove the certificate; its request lives on without one."""
        await self._connection.execute(delete(CertificateRow).where(CertificateRow.id == certificate_id))


def _conditions(wanted: CertificateFilter, now: datetime) -> list[ColumnElement[bool]]:
    row = CertificateRow
    conditions: list[ColumnElement[bool]] = [
        column == value
        for column, value in (
            (row.profile_id, wanted.profile_id),
            (row.application_id, wanted.application_id),
            (row.subscriber_id, wanted.subscriber_id),
            (row.authority_id, wanted.authority_id),
        )
        if value is not None
    ]
    if wanted.status is not None:
        conditions.append(_has_status(wanted.status, now))
    if wanted.search is not None:
        conditions.append(
            or_(
                *(
                    column.icontains(wanted.search, autoescape=True)
                    for column in (row.common_name, row.alt_names, row.friendly_name, row.serial_number)
                )
            )
        )
    return conditions


def _has_status(status: CertificateStatus, now: datetime) -> ColumnElement[bool]:
    row = CertificateRow
    if status is CertificateStatus.REVOKED:
        return row.is_revoked.is_(True)
    is_over = row.not_after < now if status is CertificateStatus.EXPIRED else row.not_after >= now
    return and_(row.is_revoked.is_(False), is_over)


def _values(record: Certificate) -> dict[str, Any]:
    values = {one.name: getattr(record, one.name) for one in fields(record)}
    return {**values, "subject": dict(record.subject)}
