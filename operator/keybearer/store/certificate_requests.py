"""Certificate requests, each with what stands beside it and the key that waits for its certificate."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import ProjectId
from keybearer.store.columns import select_record
from keybearer.store.many_rows import DriverRow, ManyRows
from keybearer.store.project_seals import REQUEST_KEY, ProjectSeals
from keybearer.store.revisions import Changes
from keybearer.store.tables.certificates import CertificateRequestRow, RequestMetadataRow

__all__ = [
    "METADATA_ROWS",
    "REQUEST_ROWS",
    "CertificateRequest",
    "CertificateRequests",
    "metadata_digest",
    "metadata_rows",
]


@dataclass(frozen=True, slots=True)
class CertificateRequest:
    """A request, without the key that the service made for it.

    Attributes:
        renews_id: of the certificate that this one is to replace; it may be gone.
        status: a word of `RequestStatus`.
        alt_names: the values, joined by commas.
        asked: what was asked for once defaults were filled in, in the wire's spelling.
        csr: PEM; None where the service made the key.
        requested_by: who asked; it may be gone, `requester_name` stays.
        order_state: what is known of an order at an authority elsewhere.
        due_at: when the service goes on with it by itself; None where it doesn't.
        claimed_by: the process that works on it, until `lease_ends_at`.
    """

    id: str
    project_id: ProjectId
    profile_id: str | None
    application_id: str | None
    authority_id: str | None
    certificate_id: str | None
    renews_id: str | None
    status: str
    common_name: str | None
    alt_names: str | None
    asked: Mapping[str, JsonValue]
    csr: str | None
    remove_roots_from_chain: bool
    requested_by: str | None
    requester_name: str
    error_message: str | None
    pending_message: str | None
    order_state: Mapping[str, JsonValue] | None
    attempt: int
    due_at: datetime | None
    claimed_by: str | None
    lease_ends_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class _MetadataLine:
    request_id: str
    position: int
    key: str
    value: str
    digest: bytes


REQUEST_ROWS = ManyRows(CertificateRequestRow, CertificateRequest, "private_key")
METADATA_ROWS = ManyRows(RequestMetadataRow, _MetadataLine)
_REQUESTS = select_record(CertificateRequestRow, CertificateRequest)


class CertificateRequests:
    """Repository of certificate requests; it notes in `changes` when there may be something to go on with."""

    def __init__(self, connection: AsyncConnection, seals: ProjectSeals, changes: Changes) -> None:
        self._connection = connection
        self._seals = seals
        self._changes = changes

    async def add(
        self,
        new: CertificateRequest,
        metadata: Sequence[tuple[str, str]] = (),
        private_key: bytes | None = None,
    ) -> None:
        """Store a request with what stands beside it, and the key that waits for its certificate."""
        sealed = (
            None
            if private_key is None
            else await self._seals.seal(REQUEST_KEY, new.project_id, new.id, private_key)
        )
        self._note_due(new)
        await self._add_rows([REQUEST_ROWS.row(new, sealed)], [(new, metadata)])

    async def add_all(self, new: Sequence[tuple[CertificateRequest, Sequence[tuple[str, str]]]]) -> None:
        """Store requests that no key waits with, each with what stands beside it."""
        await self._add_rows([REQUEST_ROWS.row(request, None) for request, _ in new], new)

    async def _add_rows(
        self,
        rows: Sequence[DriverRow],
        new: Sequence[tuple[CertificateRequest, Sequence[tuple[str, str]]]],
    ) -> None:
        await REQUEST_ROWS.insert(self._connection, rows)
        lines = [row for request, metadata in new for row in metadata_rows(request.id, metadata)]
        if lines:
            await METADATA_ROWS.insert(self._connection, lines)

    async def update(self, changed: CertificateRequest) -> None:
        """Store the present fields; a key stays as it is, see `drop_private_key`."""
        self._note_due(changed)
        await self._connection.execute(
            update(CertificateRequestRow)
            .where(CertificateRequestRow.id == changed.id)
            .values(_values(changed))
        )

    async def get(self, request_id: str, *, for_change: bool = False) -> CertificateRequest | None:
        """Return the request of that id, or None; for a change it is kept from other writers."""
        statement = _REQUESTS.where(CertificateRequestRow.id == request_id)
        if for_change:
            statement = statement.with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else CertificateRequest(*row)

    async def of_certificate(self, certificate_id: str) -> CertificateRequest | None:
        """Return the request that a certificate came of, or None."""
        statement = _REQUESTS.where(CertificateRequestRow.certificate_id == certificate_id).limit(1)
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else CertificateRequest(*row)

    async def metadata(self, request_id: str) -> list[tuple[str, str]]:
        """Return the pairs that stand beside a request, in their order."""
        row = RequestMetadataRow
        statement = select(row.key, row.value).where(row.request_id == request_id).order_by(row.position)
        return [(key, value) for key, value in await self._connection.execute(statement)]

    async def private_key(self, request: CertificateRequest) -> bytes | None:
        """Return the key that waits for the request's certificate, or None.

        Raises:
            UnsealError: it doesn't open; the database is damaged.
        """
        statement = select(CertificateRequestRow.private_key).where(CertificateRequestRow.id == request.id)
        sealed = (await self._connection.execute(statement)).scalar_one_or_none()
        if sealed is None:
            return None
        return await self._seals.open(REQUEST_KEY, request.project_id, request.id, sealed)

    async def drop_private_key(self, request_id: str) -> None:
        """Forget the key: the certificate has it now, or never will."""
        await self._connection.execute(
            update(CertificateRequestRow)
            .where(CertificateRequestRow.id == request_id)
            .values(private_key=None)
        )

    def _note_due(self, request: CertificateRequest) -> None:
        if request.due_at is not None:
            self._changes.orders = True


def metadata_rows(request_id: str, metadata: Sequence[tuple[str, str]]) -> list[DriverRow]:
    """Return what stands beside a request as drivers take it."""
    return [
        METADATA_ROWS.row(_MetadataLine(request_id, position, key, value, metadata_digest(key, value)))
        for position, (key, value) in enumerate(metadata)
    ]


def metadata_digest(key: str, value: str) -> bytes:
    """Return what a pair beside a request is found by."""
    return hashlib.sha256(f"{len(key)}:{key}{value}".encode()).digest()


def _values(record: CertificateRequest) -> dict[str, Any]:
    values = {one.name: getattr(record, one.name) for one in fields(record)}
    values["asked"] = dict(record.asked)
    values["order_state"] = None if record.order_state is None else dict(record.order_state)
    return values
