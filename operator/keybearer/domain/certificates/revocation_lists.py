"""What authorities tell everybody of what they revoked: signed lists (RFC 5280 section 5).

A list is signed anew when it is asked for and lacks something, and some time before it ends, asked for or not: so no
list is older than a revocation, and none is handed out that is about to end.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import replace
from datetime import datetime, timedelta

from keybearer.base.certificate_terms import RevocationReason
from keybearer.base.clock import Clock
from keybearer.base.errors import KeybearerError
from keybearer.base.ids import new_uuid
from keybearer.base.logs import get_logger
from keybearer.domain.authorization import Action, Principal
from keybearer.domain.certificates.authority_lookup import internal_authority
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.status_signers import StatusSigner, StatusSigners
from keybearer.domain.errors import NotFoundError
from keybearer.pki.errors import PkiError
from keybearer.pki.revocation_lists import Revocation, build_revocation_list
from keybearer.store.certificate_authorities import RevocationListRecord, RevocationListStanding
from keybearer.store.certificates import RevokedCertificate
from keybearer.store.columns import milliseconds
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = ["LIST_LIFETIME", "RevocationLists"]

LIST_LIFETIME = timedelta(days=7)
_RENEWED_BEFORE = timedelta(days=1)
_BACKDATING = timedelta(minutes=5)
_ROUND = timedelta(minutes=5)
_AT_ONCE = 50
_TRIES = 3
_KEPT_BYTES_MAX = 32 * 1024 * 1024
"""Of lists in memory: whoever asks for a long one again and again has it read from the database once."""
_log = get_logger(__name__)


class RevocationLists:
    """Signs lists, keeps the last one of each authority, and gives it to whoever asks."""

    def __init__(self, database: Database, signers: StatusSigners, work: KeyWork, clock: Clock) -> None:
        self._database = database
        self._signers = signers
        self._work = work
        self._clock = clock
        self._turn = asyncio.Lock()
        self._kept: OrderedDict[str, RevocationListRecord] = OrderedDict()

    async def public(self, certificate_id: str) -> RevocationListRecord:
        """Return the list of the authority that has this certificate; a renewed one has the same list.

        Raises:
            NotFoundError: no authority has such a certificate, or it may not sign lists.
            LimitReachedError: too many keys are at work.
        """
        async with self._database.reading() as unit:
            certificate = await unit.certificate_authorities.certificate(certificate_id)
        if certificate is None:
            raise NotFoundError("Certificate authority certificate not found")
        return await self._current(certificate.authority_id)

    async def of_authority(self, principal: Principal, authority_id: str) -> list[RevocationListRecord]:
        """Return the lists of an authority: one, or none while it has no certificate.

        Raises:
            NotFoundError: there is no such authority.
            ForbiddenError: the principal may not see it.
        """
        async with self._database.reading() as unit:
            authority = await internal_authority(unit, principal, authority_id, Action.READ)
            had = await unit.certificate_authorities.certificates_of(authority.id)
        return [await self._current(authority.id)] if had else []

    async def run(self) -> None:
        """Sign anew what is due, and look for more every few minutes, until cancelled."""
        while True:
            try:
                await self.renew_due()
            except KeybearerError as error:
                _log.warning("revocation_lists_wait", kind=type(error).__name__)
            except Exception as error:  # noqa: BLE001 - what nobody foresaw must not end the rounds for ever
                _log.error("revocation_lists_failed", kind=type(error).__name__)
            await asyncio.sleep(_ROUND.total_seconds())

    async def renew_due(self) -> int:
        """Sign anew the lists that lack something or end soon, and return how many those were.

        Several processes may begin; the list of the first one is kept, and the others take it for theirs.
        """
        async with self._database.reading() as unit:
            due = await unit.certificate_authorities.due_revocation_lists(
                self._clock.now() + _RENEWED_BEFORE, _AT_ONCE
            )
        done = 0
        for authority_id in due:
            try:
                await self._current(authority_id)
            except KeybearerError as error:
                _log.warning(
                    "revocation_list_not_renewed", authority_id=authority_id, kind=type(error).__name__
                )
            else:
                done += 1
        return done

    async def _current(self, authority_id: str) -> RevocationListRecord:
        async with self._database.reading() as unit:
            standing = await unit.certificate_authorities.revocation_list_standing(authority_id)
            if standing is not None and self._is_good(standing):
                kept = self._kept.get(authority_id)
                if kept is not None and kept.number == standing.number:
                    self._kept.move_to_end(authority_id)
                    return kept
                found = await unit.certificate_authorities.revocation_list(authority_id)
                if found is not None:
                    self._keep(found)
                    return found
        # One at a time: others find what it made.
        async with self._turn:
            for last in (False,) * (_TRIES - 1) + (True,):
                made = await self._made(authority_id, is_last=last)
                if made is not None:
                    return made
        raise AssertionError("the last try returned no list")

    async def _made(self, authority_id: str, *, is_last: bool) -> RevocationListRecord | None:
        """Return a list of all that was revoked when it was begun.

        None where more was revoked meanwhile; the last try doesn't mind, for else whoever revokes without pause would
        have nobody get a list.
        """
        now = self._clock.now()
        async with self._database.reading() as unit:
            present = await unit.certificate_authorities.revocation_list(authority_id)
            if present is not None and self._is_good(present):
                return present
            signer = await self._signers.of_authority(unit, authority_id)
            revoked = await _revoked(unit, authority_id, now)
        made = await self._signed(signer, revoked, present, now)
        async with self._database.writing() as unit:
            # Held first: two processes may be about to store an authority's first list.
            if await unit.certificate_authorities.get(authority_id, for_change=True) is None:
                raise NotFoundError("Certificate authority not found")
            latest = await unit.certificate_authorities.revocation_list(authority_id, for_change=True)
            if (None if latest is None else latest.number) != (None if present is None else present.number):
                # Another process was first. Its numbers are greater than ours, whatever its list holds.
                return latest if latest is not None and (is_last or self._is_good(latest)) else None
            is_behind = await _revoked(unit, authority_id, now) != revoked
            if is_behind and not is_last:
                return None
            # Who revokes before there is a row has nothing to mark: the first list is made anew once.
            made = replace(made, is_stale=present is None or is_behind)
            await unit.certificate_authorities.put_revocation_list(made)
        return made

    async def _signed(
        self,
        signer: StatusSigner,
        revoked: list[RevokedCertificate],
        former: RevocationListRecord | None,
        now: datetime,
    ) -> RevocationListRecord:
        # By the clock: after a backup was restored, the next list has a greater number than any before it.
        number = max(0 if former is None else former.number + 1, milliseconds(now))
        begin, end = now - _BACKDATING, now + LIST_LIFETIME
        try:
            der = await self._work.aside(
                lambda: build_revocation_list(
                    signer.issuer, map(_line, revoked), number=number, this_update=begin, next_update=end
                )
            )
        except PkiError as error:
            # The certificate of an authority that somebody else put above us need not allow it.
            raise NotFoundError(f"There is no revocation list: {error}") from error
        return RevocationListRecord(
            authority_id=signer.authority.id,
            id=new_uuid() if former is None else former.id,
            number=number,
            this_update=begin,
            next_update=end,
            is_stale=False,
            der=der,
        )

    def _keep(self, found: RevocationListRecord) -> None:
        self._kept[found.authority_id] = found
        while sum(len(one.der) for one in self._kept.values()) > _KEPT_BYTES_MAX:
            self._kept.popitem(last=False)

    def _is_good(self, found: RevocationListRecord | RevocationListStanding) -> bool:
        return not found.is_stale and found.next_update - self._clock.now() > _RENEWED_BEFORE


def _line(revoked: RevokedCertificate) -> Revocation:
    reason = RevocationReason(revoked.reason or RevocationReason.UNSPECIFIED)
    return Revocation(int(revoked.serial_number, 16), revoked.revoked_at, reason)


async def _revoked(unit: UnitOfWork, authority_id: str, now: datetime) -> list[RevokedCertificate]:
    # RFC 5280 section 3.3: until it stood in a list that was made after its time was over.
    return await unit.certificates.revoked_of(authority_id, now - LIST_LIFETIME)
