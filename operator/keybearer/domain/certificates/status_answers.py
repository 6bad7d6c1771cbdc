"""What authorities answer to whoever asks about one certificate (RFC 6960).

An answer without a nonce is the same for everybody: about a certificate that is known it is signed once, and given
again until half of its time is over, or the certificate's standing is another one.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from keybearer.base.certificate_terms import RevocationReason
from keybearer.base.clock import Clock
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.status_signers import StatusSigner, StatusSigners
from keybearer.domain.errors import LimitReachedError
from keybearer.pki.certificates import serial_text
from keybearer.pki.ocsp import OcspFailure, OcspQuestion, Standing, ocsp_answer, ocsp_failure
from keybearer.pki.revocation_lists import Revocation
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = ["ANSWER_LIFETIME", "StatusAnswer", "StatusAnswers"]

ANSWER_LIFETIME = timedelta(hours=1)
_BACKDATING = timedelta(minutes=5)
_KEPT_MAX = 2048
"""About 1.5 MiB of answers of P-256, four of RSA-4096."""
_Key = tuple[str, OcspQuestion, Standing | Revocation]


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """An answer, DER, and when it begins and ends; both None where nobody else may be given it."""

    der: bytes
    this_update: datetime | None = None
    next_update: datetime | None = None


class StatusAnswers:
    """Answers questions. They are free: whoever is shown a certificate may ask about it."""

    def __init__(self, database: Database, signers: StatusSigners, work: KeyWork, clock: Clock) -> None:
        self._database = database
        self._signers = signers
        self._work = work
        self._clock = clock
        self._kept: OrderedDict[_Key, StatusAnswer] = OrderedDict()

    async def answer(self, certificate_id: str, question: OcspQuestion) -> StatusAnswer:
        """Return the answer to a question about a certificate that was signed with this one of an authority.

        Raises:
            NotFoundError: no authority has such a certificate.
        """
        async with self._database.reading() as unit:
            signer = await self._signers.of_certificate(unit, certificate_id)
            if not question.is_about(signer.issuer):
                return StatusAnswer(ocsp_failure(OcspFailure.UNAUTHORIZED))
            standing = await _standing(unit, signer.authority.id, question.serial_number)
        key = (signer.certificate_id, question, standing)
        kept = self._kept.get(key)
        now = self._clock.now()
        if kept is not None and kept.next_update is not None and kept.next_update - now > ANSWER_LIFETIME / 2:
            self._kept.move_to_end(key)
            return kept
        try:
            signed = await self._signed(signer, question, standing, now)
        except LimitReachedError:
            return StatusAnswer(ocsp_failure(OcspFailure.TRY_LATER))
        # Of numbers that nobody was given there is no end: they would drive out what is asked for in earnest.
        if signed.next_update is not None and standing is not Standing.UNKNOWN:
            self._kept[key] = signed
            if len(self._kept) > _KEPT_MAX:
                self._kept.popitem(last=False)
        return signed

    async def _signed(
        self, signer: StatusSigner, question: OcspQuestion, standing: Standing | Revocation, now: datetime
    ) -> StatusAnswer:
        begin, end = now - _BACKDATING, now + ANSWER_LIFETIME
        der = await self._work.with_key_of(
            signer.issuer.key.algorithm,
            lambda: ocsp_answer(signer.issuer, question, standing, this_update=begin, next_update=end),
        )
        return StatusAnswer(der) if question.nonce is not None else StatusAnswer(der, begin, end)


async def _standing(unit: UnitOfWork, authority_id: str, number: int) -> Standing | Revocation:
    if number <= 0:
        return Standing.UNKNOWN
    serial = serial_text(number)
    found = await unit.certificates.with_serial_number(authority_id, serial)
    if found is None:
        is_known = await unit.certificate_authorities.signed_authority(authority_id, serial)
        return Standing.GOOD if is_known else Standing.UNKNOWN
    if not found.is_revoked or found.revoked_at is None:
        return Standing.GOOD
    reason = RevocationReason(found.revocation_reason or RevocationReason.UNSPECIFIED)
    return Revocation(number, found.revoked_at, reason)
