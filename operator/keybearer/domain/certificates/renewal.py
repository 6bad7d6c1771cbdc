"""Renewal of certificates whose keys the service made: asked for, or by itself before they end (wire.md section 5.3).

A renewed certificate has a new key and the content of the one before, held against the policy of now.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage
from keybearer.base.clock import Clock
from keybearer.base.errors import KeybearerError
from keybearer.base.logs import get_logger
from keybearer.domain.audit import EventType, audited
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import Action, Principal
from keybearer.domain.certificates.acme_terms import ordered_again
from keybearer.domain.certificates.asked import Asked
from keybearer.domain.certificates.certificates import open_certificate
from keybearer.domain.certificates.deciding import Deciding
from keybearer.domain.certificates.issuance import Issuance, IssuedCertificate
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.orders import Order, Requester, require_renewable
from keybearer.domain.certificates.own_actor import service_actor
from keybearer.domain.certificates.profile_terms import auto_renewal_of
from keybearer.domain.errors import DomainError, InvalidError
from keybearer.pki.certificates import parse_certificate
from keybearer.pki.errors import PkiError
from keybearer.store.audit import AuditActor
from keybearer.store.certificates import Certificate
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = ["Renewal"]

_ROUND = timedelta(minutes=5)
_AT_ONCE = 50
_TRIED_AGAIN = timedelta(hours=1)
"""After a renewal that failed or was cut off; it is also how long one process has a certificate for itself."""
_NOBODY = Requester(None, "auto-renewal")
_log = get_logger(__name__)


class Renewal:
    """Renews certificates."""

    def __init__(
        self,
        database: Database,
        deciding: Deciding,
        issuance: Issuance,
        work: KeyWork,
        audit: AuditTrail,
        clock: Clock,
    ) -> None:
        self._database = database
        self._deciding = deciding
        self._issuance = issuance
        self._work = work
        self._audit = audit
        self._clock = clock

    async def renew(
        self, principal: Principal, certificate_id: str, *, remove_roots_from_chain: bool = False
    ) -> IssuedCertificate:
        """Issue a certificate in place of this one; it may have to wait for approval.

        Raises:
            NotFoundError: there is no such certificate.
            ForbiddenError: the principal may not renew it.
            InvalidError: it was revoked or renewed before, its key is with somebody else, its profile is gone, or
                the policy forbids it by now.
        """
        async with self._database.reading() as unit:
            certificate, _ = await open_certificate(unit, principal, certificate_id, Action.RENEW)
        try:
            async with self._database.reading() as unit:
                order = await self._order(unit, certificate, Requester.of(principal))
            order = await self._with_key(replace(order, remove_roots_from_chain=remove_roots_from_chain))
            return await self._issuance.place(order, principal, EventType.RENEW_CERTIFICATE)
        except InvalidError as refusal:
            self._tell(certificate, principal, refusal)
            raise

    async def run(self) -> None:
        """Renew what is due, and look for more every few minutes, until cancelled."""
        while True:
            try:
                await self.renew_due()
            except KeybearerError as error:
                _log.warning("certificate_renewal_waits", kind=type(error).__name__)
            except Exception as error:  # noqa: BLE001 - what nobody foresaw must not end the rounds for ever
                _log.error("certificate_renewal_failed", kind=type(error).__name__)
            await asyncio.sleep(_ROUND.total_seconds())

    async def renew_due(self) -> int:
        """Renew what is due now, one after the other, and return how many that were."""
        async with self._database.reading() as unit:
            due = await unit.certificates.due_for_renewal(self._clock.now(), _AT_ONCE)
        done = 0
        for certificate_id in due:
            done += await self._renew_by_itself(certificate_id)
        return done

    async def _renew_by_itself(self, certificate_id: str) -> bool:
        certificate = await self._claim(certificate_id)
        if certificate is None:
            return False
        async with self._database.reading() as unit:
            actor = await service_actor(unit, certificate.project_id)
        try:
            async with self._database.reading() as unit:
                order = await self._order(unit, certificate, _NOBODY)
            issued = await self._issuance.place(
                await self._with_key(order), actor, EventType.RENEW_CERTIFICATE
            )
        except (DomainError, PkiError) as refusal:
            # Tried again in an hour: policies and authorities change.
            self._tell(certificate, actor, refusal)
            return False
        if issued.certificate is None:
            await self._leave_to_request(certificate.id)
        _log.info("certificate_renewed", certificate_id=certificate.id, status=issued.request.status)
        return True

    def _tell(
        self, certificate: Certificate, by: Principal | AuditActor, refusal: DomainError | PkiError
    ) -> None:
        """Have both logs tell of a renewal that was refused: by ids, for names are the certificate's."""
        _log.warning(
            "certificate_not_renewed",
            certificate_id=certificate.id,
            project_id=certificate.project_id,
            profile_id=certificate.profile_id,
            reason=_reason_of(refusal),
        )
        self._audit.refused(
            audited(
                by,
                EventType.REFUSE_CERTIFICATE_RENEWAL,
                certificate.project_id,
                certificateId=certificate.id,
                profileId=certificate.profile_id,
                serialNumber=certificate.serial_number,
            )
        )

    async def _claim(self, certificate_id: str) -> Certificate | None:
        """Take a certificate for a while, unless another process did, or it needs no renewal any more."""
        now = self._clock.now()
        async with self._database.writing() as unit:
            found = await unit.certificates.get(certificate_id, for_change=True)
            if found is None or found.renew_at is None or found.renew_at > now or found.is_revoked:
                return None
            over = now >= found.not_after
            claimed = replace(found, renew_at=None if over else now + _TRIED_AGAIN)
            await unit.certificates.update(claimed)
            return None if over else claimed

    async def _leave_to_request(self, certificate_id: str) -> None:
        """Ask for it only once: the request that waits for approval goes on by itself."""
        async with self._database.writing() as unit:
            found = await unit.certificates.get(certificate_id, for_change=True)
            if found is not None:
                await unit.certificates.update(replace(found, renew_at=None))

    async def _order(self, unit: UnitOfWork, certificate: Certificate, requester: Requester) -> Order:
        """Return what is to be issued; the key isn't made yet: the old one stands in its place."""
        require_renewable(certificate)
        if certificate.profile_id is None:
            raise InvalidError("The certificate has no profile any more, so that it can't be renewed")
        if not await unit.certificates.has_private_key(certificate.id):
            raise InvalidError(
                "The key of the certificate was not made by the service: issue a new certificate with a CSR"
            )
        profile = await unit.certificate_profiles.issuing(certificate.profile_id)
        if profile is None:
            raise InvalidError("The certificate has no profile any more, so that it can't be renewed")
        auto = await auto_renewal_of(unit, profile, certificate.application_id)
        is_on = certificate.renew_at is not None or certificate.renew_before_days is not None
        read = parse_certificate(certificate.certificate)
        if read.public_key is None:
            raise InvalidError("The key of the certificate is of a kind that isn't supported any more")
        is_ours = profile.authority is None or profile.authority.is_internal
        again = (
            _asked_again(certificate)
            if is_ours
            else ordered_again(read, KeyAlgorithm(certificate.key_algorithm))
        )
        asked = self._deciding.require_allowed(profile, again)
        return Order(
            profile=profile,
            asked=asked,
            requester=requester,
            key=read.public_key,
            application_id=certificate.application_id,
            auto_renewal=is_on or auto is not None,
            renew_before_days=certificate.renew_before_days or (None if auto is None else auto.days),
            renews=certificate,
        )

    async def _with_key(self, order: Order) -> Order:
        return replace(order, key=await self._work.new_key(order.asked.key_algorithm))


def _reason_of(refusal: DomainError | PkiError) -> str:
    """Return why, without the names that a policy, an authority or X.509 refuses."""
    if isinstance(refusal, PkiError) or isinstance(refusal.__cause__, PkiError):
        return "what it holds can't be read or signed any more"
    return refusal.message.removesuffix("; ".join(refusal.details)).removesuffix(": ")


def _asked_again(certificate: Certificate) -> Asked:
    """Return what a certificate holds, to be issued again for as long as it was."""
    read = parse_certificate(certificate.certificate)
    return Asked(
        subject=read.subject,
        alternative_names=read.alternative_names,
        key_algorithm=KeyAlgorithm(certificate.key_algorithm),
        key_usages=frozenset(map(KeyUsage, certificate.key_usages)),
        extended_key_usages=tuple(map(ExtendedKeyUsage, certificate.extended_key_usages)),
        is_ca=certificate.is_ca,
        path_length=certificate.path_length,
        lifetime=_lifetime(certificate),
    )


def _lifetime(certificate: Certificate) -> timedelta:
    """Return how long it lived, from when it was issued on: its beginning is a few minutes earlier."""
    begin = max(
        certificate.not_before, min(certificate.created_at, certificate.not_before + timedelta(minutes=5))
    )
    return certificate.not_after - begin
