"""Issuance: what was asked for is decided about, signed and stored (interface.md section 4.5, wire.md section 5.1).

All that takes time, making keys and signing, is done with no transaction open. A certificate, its request and what
stands beside it are stored in one: a certificate that was answered is there after any crash, and its request is found
by its metadata.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from keybearer.base.certificate_terms import RequestStatus
from keybearer.base.clock import Clock
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.asked import validity_of
from keybearer.domain.certificates.deciding import Deciding, NewCertificate
from keybearer.domain.certificates.filing import Filing, IssuedEntry, missing_of
from keybearer.domain.certificates.kept_answers import KeptAnswers
from keybearer.domain.certificates.orders import (
    Order,
    Requester,
    approval_of,
    certificate_of_order,
    note_renewal,
    request_event,
    request_of_order,
    require_api_enrollment,
)
from keybearer.domain.certificates.profile_terms import (
    AutoRenewal,
    auto_renewal_of,
    dating_of,
    open_profile,
    require_attached,
)
from keybearer.domain.certificates.shared_questions import SharedQuestions
from keybearer.domain.certificates.signing import Signing, without_last
from keybearer.store.attempts import repeated
from keybearer.store.audit import AuditActor
from keybearer.store.certificate_profiles import IssuingProfile
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.certificates import Certificate
from keybearer.store.database import Database
from keybearer.store.failures import RaceError
from keybearer.store.unit import UnitOfWork

__all__ = ["Issuance", "IssuedCertificate"]

_Terms = tuple[IssuingProfile, AutoRenewal | None]


@dataclass(frozen=True, slots=True)
class IssuedCertificate:
    """What came of it: the request, and where it was issued at once the certificate, PEM."""

    request: CertificateRequest
    certificate: Certificate | None = None
    issuing: str | None = None
    private_key: str | None = field(default=None, repr=False)

    @property
    def chain(self) -> str:
        """The chain as it was asked for."""
        chain = "" if self.certificate is None else self.certificate.chain
        return without_last(chain) if self.request.remove_roots_from_chain else chain


class Issuance:
    """Issues certificates."""

    def __init__(self, database: Database, deciding: Deciding, signing: Signing, clock: Clock) -> None:
        self._database = database
        self._deciding = deciding
        self._signing = signing
        self._clock = clock
        self._filing = Filing(database, clock)
        self._questions: SharedQuestions[_Terms] = SharedQuestions()
        self._kept: KeptAnswers[_Terms] = KeptAnswers(database)

    async def issue(self, principal: Principal, new: NewCertificate) -> IssuedCertificate:
        """Issue a certificate, or take up a request that waits for approval or for an authority elsewhere.

        Raises:
            NotFoundError: there is no such profile or application.
            ForbiddenError: the principal may not issue certificates there.
            InvalidError: the policy is violated (each rule is named), the authority isn't active or would be
                outlived, or what is asked for contradicts itself.
            RaceError: the profile was changed while the key was made.
        """
        profile, auto = await self._terms(principal, new)
        require_api_enrollment(profile)
        order = await self._deciding.order(profile, new, Requester.of(principal))
        if order.private_key is not None and order.asked.key_algorithm.is_rsa:
            # Its key may have taken most of a minute: meanwhile the authority was disabled, or approval called for.
            await self._require_unchanged(principal, new, (profile, auto))
        if auto is not None:
            order = replace(order, auto_renewal=True, renew_before_days=auto.days)
        return await self.place(order, principal, EventType.ISSUE_CERTIFICATE)

    async def _terms(self, principal: Principal, new: NewCertificate) -> _Terms:
        """Return the profile, and how what the service makes the key of renews by itself."""
        has_csr = new.csr is not None
        who = (
            principal.organization_id,
            principal.identity_id,
            principal.organization_role,
            principal.permission_revision,
        )
        question = (who, new.profile_id, new.application_id, has_csr)
        kept = self._kept.find(question)
        if kept is not None and self._signing.is_ready(kept[0]):
            return kept

        async def read() -> _Terms:
            generation = self._kept.generation
            terms = await ask()
            # Without the authority's key, which stays with whoever signs alone.
            self._kept.keep(
                question, (replace(terms[0], authority_key=None), terms[1]), generation=generation
            )
            return terms

        async def ask() -> _Terms:
            async with self._database.reading() as unit:
                profile, _ = await open_profile(
                    unit, principal, new.profile_id, Action.ISSUE, Subject.CERTIFICATES
                )
                await require_attached(unit, profile, new.application_id)
                return profile, None if has_csr else await auto_renewal_of(unit, profile, new.application_id)

        return await self._questions.ask(question, read)

    async def _require_unchanged(self, principal: Principal, new: NewCertificate, terms: _Terms) -> None:
        profile, auto = await self._terms(principal, new)
        if (replace(profile, authority_key=None), auto) != (replace(terms[0], authority_key=None), terms[1]):
            raise RaceError("the certificate profile was changed at the same time; try again")

    async def place(self, order: Order, by: Principal | AuditActor, event: EventType) -> IssuedCertificate:
        """Sign and store, or let the request wait.

        Raises:
            InvalidError: the authority isn't active or would be outlived, or what is asked for contradicts itself.
        """
        if order.approval is not None:
            return await self._let_wait(order, RequestStatus.PENDING_APPROVAL, by)
        if order.is_external:
            return await self._let_wait(order, RequestStatus.PENDING, by)
        now = self._clock.now()
        signed = await self._signing.sign(
            order.profile,
            order.asked,
            validity_of(order.asked, now, dating_of(order.profile)),
            order.key,
            now,
        )
        certificate = certificate_of_order(order, signed, now)
        request = request_of_order(order, RequestStatus.ISSUED, now, certificate.id)
        key = order.private_key

        kept = None if key is None else key.der()
        told = request_event(by, event, request, certificate)

        async def store() -> None:
            async with self._database.writing() as unit:
                await _require_there(unit, request)
                await unit.certificates.add(certificate, kept)
                await unit.certificate_requests.add(request, order.metadata)
                await note_renewal(unit, order.renews, certificate)
                await unit.audit(told)

        if order.renews is None:
            await self._filing.store(IssuedEntry(certificate, request, order.metadata, told, kept))
        else:
            await repeated(store)
        return IssuedCertificate(request, certificate, signed.issuing, None if key is None else key.pem())

    async def _let_wait(
        self, order: Order, status: RequestStatus, by: Principal | AuditActor
    ) -> IssuedCertificate:
        now = self._clock.now()
        request = request_of_order(order, status, now)
        key = order.private_key

        async def store() -> None:
            async with self._database.writing() as unit:
                await _require_there(unit, request)
                await unit.certificate_requests.add(
                    request, order.metadata, None if key is None else key.der()
                )
                if status is RequestStatus.PENDING_APPROVAL and order.approval is not None:
                    await unit.certificate_approvals.add(approval_of(order.approval, request, now))
                await unit.audit(request_event(by, EventType.REQUEST_CERTIFICATE, request))

        await repeated(store)
        return IssuedCertificate(request)


async def _require_there(unit: UnitOfWork, request: CertificateRequest) -> None:
    [refusal] = await missing_of(unit, [request])
    if refusal is not None:
        raise refusal
