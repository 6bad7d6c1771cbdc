"""Requests that waited go on: to their certificate, to an authority elsewhere, or to their failure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from keybearer.base.certificate_terms import RequestStatus
from keybearer.base.clock import Clock
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Principal
from keybearer.domain.certificates.asked import Asked, validity_of
from keybearer.domain.certificates.deciding import Deciding
from keybearer.domain.certificates.orders import (
    Order,
    Requester,
    certificate_of_order,
    note_renewal,
    request_event,
    require_renewable,
)
from keybearer.domain.certificates.profile_terms import auto_renewal_of, dating_of
from keybearer.domain.certificates.signing import Signed, Signing, require_may_sign
from keybearer.domain.certificates.transitions import require_move
from keybearer.domain.errors import InvalidError
from keybearer.pki.keys import PrivateKey, PublicKey, load_private_key
from keybearer.pki.signing_requests import parse_signing_request
from keybearer.store.audit import AuditActor
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.failures import RaceError
from keybearer.store.unit import UnitOfWork

__all__ = ["Finishing", "Prepared"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What would become of a request, found out and signed with no transaction open: others write meanwhile.

    Attributes:
        order: None where none can be made of the request any more.
        signed: None where it was refused, and of an authority elsewhere.
        refusal: why there is nothing signed.
    """

    order: Order | None = None
    signed: Signed | None = None
    refusal: str = ""


class Finishing:
    """Ends requests, within the unit of whoever moves them on."""

    def __init__(self, deciding: Deciding, signing: Signing, clock: Clock) -> None:
        self._deciding = deciding
        self._signing = signing
        self._clock = clock

    async def prepared(self, order: Order) -> Prepared:
        """Return what would become of a request, with its certificate; RSA is signed beside the event loop.

        Raises:
            LimitReachedError: too many others wait for their signatures.
        """
        if order.is_external:
            return Prepared(order)
        now = self._clock.now()
        try:
            signed = await self._signing.sign(
                order.profile,
                order.asked,
                validity_of(order.asked, now, dating_of(order.profile)),
                order.key,
                now,
            )
        except InvalidError as refusal:
            return Prepared(order, refusal=refusal.message)
        return Prepared(order, signed)

    async def finish(
        self,
        unit: UnitOfWork,
        request: CertificateRequest,
        by: Principal | AuditActor,
        prepared: Prepared | None,
    ) -> CertificateRequest:
        """Go on with a request that was approved: store what was signed, hand it over to one elsewhere, or fail.

        The policy is asked again: it may have changed while the request waited.

        Raises:
            RaceError: what was prepared is outdated, or nothing was.
        """
        require_move(RequestStatus(request.status), RequestStatus.PENDING)
        now = self._clock.now()
        request = replace(
            request, status=RequestStatus.PENDING.value, pending_message=None, due_at=now, updated_at=now
        )
        try:
            order = await self.resumed(unit, request)
        except InvalidError as refusal:
            return await self.fail(unit, request, refusal.message, by)
        if prepared is None or prepared.order is None or prepared.order.profile != order.profile:
            raise RaceError("the certificate profile was changed at the same time; try again")
        if order.is_external:
            await unit.certificate_requests.update(request)
            return request
        if prepared.signed is None:
            return await self.fail(unit, request, prepared.refusal, by)
        return await self.attach(unit, request, prepared.order, prepared.signed, by)

    async def attach(
        self,
        unit: UnitOfWork,
        request: CertificateRequest,
        order: Order,
        signed: Signed,
        by: Principal | AuditActor,
    ) -> CertificateRequest:
        """Store the certificate of a request that waited."""
        require_move(RequestStatus(request.status), RequestStatus.ISSUED)
        now = self._clock.now()
        certificate = certificate_of_order(order, signed, now)
        key = order.private_key
        await unit.certificates.add(certificate, None if key is None else key.der())
        done = replace(
            request,
            status=RequestStatus.ISSUED.value,
            certificate_id=certificate.id,
            pending_message=None,
            due_at=None,
            claimed_by=None,
            lease_ends_at=None,
            updated_at=now,
        )
        await unit.certificate_requests.update(done)
        await unit.certificate_requests.drop_private_key(done.id)
        await note_renewal(unit, order.renews, certificate)
        await unit.audit(request_event(by, EventType.ISSUE_CERTIFICATE, done, certificate))
        return done

    async def fail(
        self, unit: UnitOfWork, request: CertificateRequest, message: str, by: Principal | AuditActor
    ) -> CertificateRequest:
        """End a request without a certificate."""
        require_move(RequestStatus(request.status), RequestStatus.FAILED)
        failed = replace(
            request,
            status=RequestStatus.FAILED.value,
            error_message=message,
            pending_message=None,
            due_at=None,
            claimed_by=None,
            lease_ends_at=None,
            updated_at=self._clock.now(),
        )
        await unit.certificate_requests.update(failed)
        await unit.certificate_requests.drop_private_key(failed.id)
        await unit.audit(request_event(by, EventType.FAIL_CERTIFICATE_REQUEST, failed))
        return failed

    async def resumed(self, unit: UnitOfWork, request: CertificateRequest) -> Order:
        """Return the order of a request that waited, held against the policy of now.

        Raises:
            InvalidError: the profile is gone, its policy is violated, or its authority isn't active.
        """
        profile = (
            None
            if request.profile_id is None
            else await unit.certificate_profiles.issuing(request.profile_id)
        )
        if profile is None:
            raise InvalidError("The certificate profile was deleted while the request waited")
        if profile.authority is not None:
            require_may_sign(profile.authority, profile.profile.policy_id)
        asked = self._deciding.require_allowed(profile, Asked.read(request.asked))
        key = await self._key_of(unit, request)
        renews = None if request.renews_id is None else await unit.certificates.get(request.renews_id)
        if renews is not None:
            require_renewable(renews)
        auto = (
            None if request.csr is not None else await auto_renewal_of(unit, profile, request.application_id)
        )
        return Order(
            profile=profile,
            asked=asked,
            requester=Requester(request.requested_by, request.requester_name),
            key=key,
            csr=request.csr,
            application_id=request.application_id,
            auto_renewal=auto is not None,
            renew_before_days=None if auto is None else auto.days,
            renews=renews,
        )

    async def _key_of(self, unit: UnitOfWork, request: CertificateRequest) -> PublicKey | PrivateKey:
        if request.csr is not None:
            return parse_signing_request(request.csr).public_key
        kept = await unit.certificate_requests.private_key(request)
        if kept is None:
            raise InvalidError("The key of the certificate request is gone")
        return load_private_key(kept)
