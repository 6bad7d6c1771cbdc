"""Certificates are stored with others that were signed at the same moment: one transaction, one wait for the disk.

Whoever comes while a transaction is under way waits for the next one, with all who came meanwhile; who comes alone
waits for nobody. Each is answered after the commit that holds its certificate. Where another change met one
of them, each is stored by itself, so that none suffers from another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.domain.errors import DomainError, NotFoundError
from keybearer.store.attempts import note_commit, repeated
from keybearer.store.audit import AuditEvent, AuditRecord
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.certificates import Certificate
from keybearer.store.database import Database
from keybearer.store.failures import RaceError, UnavailableError, UnstorableTextError
from keybearer.store.issued_certificates import IssuedRows, store_issued
from keybearer.store.unit import UnitOfWork

__all__ = ["Filing", "IssuedEntry", "missing_of"]

_log = get_logger(__name__)
_AT_ONCE = 32
"""Other writers have their turn after so many; while these are stored, those before them ask again and are signed."""


@dataclass(frozen=True, slots=True)
class IssuedEntry:
    """A certificate with the request it came of, and what the audit log says of it."""

    certificate: Certificate
    request: CertificateRequest
    metadata: tuple[tuple[str, str], ...]
    event: AuditEvent
    private_key: bytes | None = field(default=None, repr=False)


_Waiting = tuple[IssuedEntry, "asyncio.Future[None]"]


class Filing:
    """Stores what was issued."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._waiting: list[_Waiting] = []
        self._storing: asyncio.Task[None] | None = None

    async def store(self, entry: IssuedEntry) -> None:
        """Return when the certificate is stored.

        Raises:
            NotFoundError: its profile or application was deleted meanwhile.
            BusyError, RaceError, UnavailableError: as `Database.writing`, or the service ends.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, done))
        if self._storing is None:
            self._storing = asyncio.create_task(self._store_waiting(), name="store-certificates")
        await done
        # The task that stored it may be of another's request, so that this one's attempt doesn't know yet.
        note_commit()

    async def _store_waiting(self) -> None:
        try:
            while self._waiting:
                taken, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
                try:
                    await self._store_taken(taken)
                except BaseException:
                    self._waiting = [*taken, *self._waiting]
                    raise
        finally:
            self._storing = None
            # Cut off, so that those who were taken may be stored: whoever waits is told, rather than never.
            left, self._waiting = self._waiting, []
            for _, done in left:
                _resolve(done, UnavailableError("the service ends; try again"))

    async def _store_taken(self, taken: Sequence[_Waiting]) -> None:
        entries = [entry for entry, _ in taken]
        directly = self._database.is_sqlite and all(map(_is_plain, entries))
        if len(taken) == 1 and not directly:
            await self._store_each(taken)
            return
        try:
            refusals = await (self._write_directly(entries) if directly else self._write(entries))
        except (RaceError, UnstorableTextError):
            _log.debug("certificates_stored_one_by_one", number=len(taken))
            await self._store_each(taken)
        except Exception as error:  # noqa: BLE001 - it is for those who wait
            for _, done in taken:
                _resolve(done, error)
        else:
            for (_, done), refusal in zip(taken, refusals, strict=True):
                _resolve(done, refusal)

    async def _store_each(self, taken: Sequence[_Waiting]) -> None:
        for entry, done in taken:
            try:
                [refusal] = await repeated(partial(self._write, [entry]))
            except Exception as error:  # noqa: BLE001 - it is for who waits
                _resolve(done, error)
            else:
                _resolve(done, refusal)

    async def _write(self, entries: Sequence[IssuedEntry]) -> list[DomainError | None]:
        """Store what can be stored, and return why the others can't."""
        now = self._clock.now()
        async with self._database.writing() as unit:
            refusals = await missing_of(unit, [entry.request for entry in entries])
            stored = [entry for entry, refusal in zip(entries, refusals, strict=True) if refusal is None]
            if stored:
                await unit.certificates.add_all([(entry.certificate, entry.private_key) for entry in stored])
                await unit.certificate_requests.add_all([(entry.request, entry.metadata) for entry in stored])
                await unit.audit_log.add([AuditRecord.of(entry.event, now) for entry in stored])
            return refusals

    async def _write_directly(self, entries: Sequence[IssuedEntry]) -> list[DomainError | None]:
        """Store all of them; what one of them refers to and is gone is a race that was lost."""
        now = self._clock.now()
        rows = [IssuedRows.of(entry.certificate, entry.request, entry.metadata) for entry in entries]
        lines = [AuditRecord.of(entry.event, now) for entry in entries]
        await self._database.write_directly(lambda cursor: store_issued(cursor, rows), lines)
        self._database.tallies.certificates += len(rows)
        return [None] * len(entries)


def _is_plain(entry: IssuedEntry) -> bool:
    """Whether nothing must be sealed or looked up to store it."""
    return entry.private_key is None and entry.event.actor.organization_id is not None


async def missing_of(unit: UnitOfWork, requests: Sequence[CertificateRequest]) -> list[DomainError | None]:
    """Return for each request what it refers to and was deleted meanwhile; None where all is there."""
    profiles = await unit.certificate_profiles.by_ids(
        list({request.profile_id for request in requests if request.profile_id is not None})
    )
    applications = {
        application_id: await unit.certificate_applications.get(application_id)
        for application_id in {request.application_id for request in requests}
        if application_id is not None
    }
    refusals: list[DomainError | None] = []
    for request in requests:
        if request.profile_id not in profiles:
            refusals.append(NotFoundError("Certificate profile not found"))
        elif request.application_id is not None and applications[request.application_id] is None:
            refusals.append(NotFoundError("Application not found"))
        else:
            refusals.append(None)
    return refusals


def _resolve(done: asyncio.Future[None], error: Exception | None) -> None:
    if done.done():
        return  # whoever waited has gone
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
