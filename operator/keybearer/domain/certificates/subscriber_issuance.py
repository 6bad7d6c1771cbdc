"""Certificates of PKI subscribers: issued with a key of the service, signed for a CSR, read (wire.md section 6)."""

from __future__ import annotations

from dataclasses import dataclass, field

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage
from keybearer.base.clock import Clock
from keybearer.base.validity import USUAL_DATING
from keybearer.domain.audit import EventType
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import Action, Principal
from keybearer.domain.certificates.asked import Asked, validity_of
from keybearer.domain.certificates.certificates import Bundle
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.orders import Ties, recorded
from keybearer.domain.certificates.private_keys import readable_key, shown_key
from keybearer.domain.certificates.signing import Signer, Signing, sentence_of
from keybearer.domain.certificates.subscribers import (
    names_of_subscriber,
    open_subscriber,
    subscriber_event,
)
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.pki.errors import PkiError
from keybearer.pki.keys import PrivateKey, PublicKey
from keybearer.pki.names import Subject as Name
from keybearer.pki.names import alternative_name
from keybearer.pki.signing_requests import parse_signing_request
from keybearer.store.attempts import repeated
from keybearer.store.certificates import Certificate, CertificateFilter
from keybearer.store.database import Database
from keybearer.store.pki_subscribers import PkiSubscriber
from keybearer.store.unit import UnitOfWork
from keybearer.wire.certificates.lifetimes import parse_ttl
from keybearer.wire.certificates.subscribers import SubscriberStatus

__all__ = ["SubscriberCertificate", "SubscriberIssuance"]

_KEY_ALGORITHM = KeyAlgorithm.RSA_2048


@dataclass(frozen=True, slots=True)
class SubscriberCertificate:
    """A certificate that was just issued, PEM; the key where the service made it."""

    certificate: Certificate
    issuing: str
    private_key: str | None = field(default=None, repr=False)


class SubscriberIssuance:
    """Issues certificates of subscribers.

    Every method raises NotFoundError for a subscriber or project that isn't there, ForbiddenError where the principal
    may not, and InvalidError for a subscriber that is disabled or whose authority can't issue.
    """

    def __init__(
        self, database: Database, signing: Signing, work: KeyWork, audit: AuditTrail, clock: Clock
    ) -> None:
        self._database = database
        self._signing = signing
        self._work = work
        self._audit = audit
        self._clock = clock

    async def issue(self, principal: Principal, project_id: str, name: str) -> SubscriberCertificate:
        """Issue a certificate with a key that the service makes and keeps."""
        subscriber, signer = await self._ready(principal, project_id, name)
        key = await self._work.new_key(_KEY_ALGORITHM)
        return await self._signed(principal, subscriber, signer, _asked(subscriber, key.algorithm), key)

    async def sign(self, principal: Principal, project_id: str, name: str, csr: str) -> SubscriberCertificate:
        """Sign the key of a request, which may name nobody but the subscriber.

        Raises:
            InvalidError: the request can't be read, or names somebody else.
        """
        subscriber, signer = await self._ready(principal, project_id, name)
        try:
            request = parse_signing_request(csr)
            asked_names = {alternative_name(one.type, one.value) for one in request.alternative_names}
        except PkiError as error:
            raise InvalidError(sentence_of(error)) from error
        common_name = request.subject.common_name
        if common_name is not None and common_name != subscriber.common_name:
            raise InvalidError(
                f"The common name of the CSR isn't that of the subscriber, {subscriber.common_name}"
            )
        strange = asked_names - set(names_of_subscriber(subscriber))
        if strange or request.other_names:
            listed = ", ".join(sorted([one.value for one in strange] + list(request.other_names)))
            raise InvalidError(f"The CSR holds names that the subscriber doesn't: {listed}")
        asked = _asked(subscriber, request.public_key.algorithm)
        return await self._signed(principal, subscriber, signer, asked, request.public_key)

    async def order(self, principal: Principal, project_id: str, name: str) -> None:
        """Order a certificate from an authority elsewhere.

        Raises:
            InvalidError: always: authorities of ours issue at once, and others are asked by way of profiles.
        """
        await self._ready(principal, project_id, name)
        raise InvalidError(
            "The certificate authority of this subscriber issues at once: use issue-certificate instead of an order"
        )

    async def latest(self, principal: Principal, project_id: str, name: str) -> Bundle:
        """Return the newest certificate that is neither revoked nor over, with its key for who may read keys.

        Raises:
            NotFoundError: there is none.
        """
        async with self._database.reading() as unit:
            subscriber, access = await open_subscriber(unit, principal, project_id, name, Action.READ)
            found = await unit.certificates.latest_active(
                CertificateFilter(subscriber_id=subscriber.id), self._clock.now(), subscriber.project_id
            )
            if found is None:
                raise NotFoundError(f"PKI subscriber {name} has no active certificate")
            kept = await readable_key(unit, access, found)
        return Bundle(found, await shown_key(self._audit, principal, found, kept))

    async def _ready(self, principal: Principal, project_id: str, name: str) -> tuple[PkiSubscriber, Signer]:
        async with self._database.reading() as unit:
            subscriber, _ = await open_subscriber(unit, principal, project_id, name, Action.ISSUE)
            if subscriber.status != SubscriberStatus.ACTIVE:
                raise InvalidError(f"PKI subscriber {name} is disabled")
            return subscriber, await self._signer(unit, subscriber)

    async def _signer(self, unit: UnitOfWork, subscriber: PkiSubscriber) -> Signer:
        authority = (
            None
            if subscriber.authority_id is None
            else await unit.certificate_authorities.get(subscriber.authority_id)
        )
        if authority is None:
            raise InvalidError(f"PKI subscriber {subscriber.name} has no certificate authority any more")
        if not authority.is_internal:
            raise InvalidError(
                f"Certificate authority {authority.name} is an external one: certificates of it are issued by way "
                "of certificate profiles"
            )
        certificate = (
            None
            if authority.certificate_id is None
            else await unit.certificate_authorities.certificate(authority.certificate_id)
        )
        key = await unit.certificate_authorities.private_key(authority)
        return self._signing.signer(authority, certificate, key, policy_id=None)

    async def _signed(
        self,
        principal: Principal,
        subscriber: PkiSubscriber,
        signer: Signer,
        asked: Asked,
        key: PrivateKey | PublicKey,
    ) -> SubscriberCertificate:
        now = self._clock.now()
        public_key = key.public_key if isinstance(key, PrivateKey) else key
        try:
            signed = await self._signing.sign_with(
                signer, asked, validity_of(asked, now, USUAL_DATING), public_key, now
            )
        except PkiError as error:
            raise InvalidError(sentence_of(error)) from error
        ties = Ties(subscriber_id=subscriber.id, authority_id=signer.authority.id)
        certificate = recorded(asked, signed, subscriber.project_id, now, ties)
        private_key = key if isinstance(key, PrivateKey) else None

        async def store() -> None:
            async with self._database.writing() as unit:
                present = await unit.pki_subscribers.named(subscriber.project_id, subscriber.name)
                if present != subscriber:
                    raise InvalidError(f"PKI subscriber {subscriber.name} was changed meanwhile; try again")
                await unit.certificates.add(certificate, None if private_key is None else private_key.der())
                await unit.audit(
                    subscriber_event(
                        principal,
                        EventType.ISSUE_CERTIFICATE,
                        subscriber,
                        certificateId=certificate.id,
                        serialNumber=certificate.serial_number,
                    )
                )

        await repeated(store)
        return SubscriberCertificate(
            certificate, signed.issuing, None if private_key is None else private_key.pem()
        )


def _asked(subscriber: PkiSubscriber, algorithm: KeyAlgorithm) -> Asked:
    return Asked(
        subject=Name.of(subscriber.common_name),
        alternative_names=names_of_subscriber(subscriber),
        key_algorithm=algorithm,
        key_usages=frozenset(map(KeyUsage, subscriber.key_usages)),
        extended_key_usages=tuple(map(ExtendedKeyUsage, subscriber.extended_key_usages)),
        lifetime=parse_ttl(subscriber.ttl),
    )
