"""What happens to certificates later on: revoked, deleted, set to renew, imported (wire.md section 5.3)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from keybearer.base.certificate_terms import CertificateStatus, RevocationReason
from keybearer.base.clock import Clock
from keybearer.base.ids import ProjectId
from keybearer.domain.access import ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.acme_revocation import AcmeRevocation
from keybearer.domain.certificates.certificates import Bundle, ShownCertificate, open_certificate
from keybearer.domain.certificates.lookup import certificate_project
from keybearer.domain.certificates.orders import renewal_time
from keybearer.domain.certificates.records import record_of
from keybearer.domain.certificates.signing import sentence_of
from keybearer.domain.errors import InvalidError
from keybearer.pki.certificates import (
    Certificate as ReadCertificate,
)
from keybearer.pki.certificates import (
    parse_certificate,
    parse_certificates,
    text_of_certificates,
)
from keybearer.pki.chains import ordered_chain
from keybearer.pki.errors import PkiError
from keybearer.pki.keys import PrivateKey, load_private_key
from keybearer.store.audit import AuditEvent
from keybearer.store.certificates import Certificate
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = ["CertificateLifecycle", "RenewalSetting", "RevokedAt", "StrangeCertificate"]


@dataclass(frozen=True, slots=True)
class RevokedAt:
    """A certificate that was revoked, and when."""

    serial_number: str
    revoked_at: datetime


@dataclass(frozen=True, slots=True)
class RenewalSetting:
    """Whether a certificate renews by itself, and how many days before its end where that was said."""

    is_on: bool
    days: int | None


@dataclass(frozen=True, slots=True)
class StrangeCertificate:
    """A certificate of somebody else, PEM."""

    certificate: str
    chain: str | None
    private_key: str | None = field(repr=False)
    friendly_name: str | None = None
    project_id: str | None = None
    project_slug: str | None = None


class CertificateLifecycle:
    """Changes certificates.

    Every method raises NotFoundError for a certificate or project that isn't there, and ForbiddenError where the
    principal may not.
    """

    def __init__(self, database: Database, elsewhere: AcmeRevocation, clock: Clock) -> None:
        self._database = database
        self._elsewhere = elsewhere
        self._clock = clock

    async def revoke(self, principal: Principal, certificate_id: str, reason: RevocationReason) -> RevokedAt:
        """Revoke a certificate; the list of its authority says so from its next version on.

        Raises:
            InvalidError: it was revoked before, or an authority elsewhere won't.
        """
        async with self._database.reading() as unit:
            certificate, _ = await open_certificate(unit, principal, certificate_id, Action.REVOKE)
        if not certificate.is_revoked:
            await self._elsewhere.revoke(certificate, reason)
        async with self._database.writing() as unit:
            certificate, _ = await open_certificate(
                unit, principal, certificate_id, Action.REVOKE, for_change=True
            )
            if certificate.is_revoked:
                raise InvalidError(f"The certificate was revoked before: {certificate.revocation_reason}")
            now = self._clock.now()
            revoked = replace(
                certificate,
                is_revoked=True,
                revoked_at=now,
                revocation_reason=reason.value,
                renew_at=None,
                updated_at=now,
            )
            await unit.certificates.update(revoked)
            if certificate.authority_id is not None:
                await unit.certificate_authorities.outdate_revocation_list(certificate.authority_id)
            await unit.audit(_event(principal, EventType.REVOKE_CERTIFICATE, revoked, reason=reason.value))
            return RevokedAt(revoked.serial_number, now)

    async def delete(self, principal: Principal, certificate_id: str) -> ShownCertificate:
        """Remove a certificate with its key, and return what it was; its request lives on.

        Raises:
            InvalidError: it was revoked and isn't over: its authority's list couldn't name it any more.
        """
        async with self._database.writing() as unit:
            certificate, _ = await open_certificate(
                unit, principal, certificate_id, Action.DELETE, for_change=True
            )
            now = self._clock.now()
            if (
                certificate.is_revoked
                and certificate.authority_id is not None
                and now <= certificate.not_after
            ):
                raise InvalidError(
                    "A revoked certificate can't be deleted before it is over: the revocation list of its "
                    "authority has to name it until then"
                )
            await unit.certificates.delete(certificate.id)
            await unit.audit(_event(principal, EventType.DELETE_CERTIFICATE, certificate))
            return ShownCertificate(certificate, now)

    async def configure(
        self, principal: Principal, certificate_id: str, *, days: int | None, is_on: bool | None
    ) -> RenewalSetting:
        """Have a certificate renew by itself, or not.

        Args:
            principal: who asks.
            certificate_id: which one.
            days: how many days before its end; None leaves what was said before.
            is_on: False ends it; None turns it on, since days were given.

        Raises:
            InvalidError: it is over, revoked or renewed before, its key is with somebody else, it has no profile, or
                it doesn't live that long.
        """
        async with self._database.writing() as unit:
            certificate, _ = await open_certificate(
                unit, principal, certificate_id, Action.EDIT, for_change=True
            )
            now = self._clock.now()
            if is_on is False:
                setting = RenewalSetting(is_on=False, days=None)
                changed = replace(certificate, renew_before_days=None, renew_at=None, updated_at=now)
            else:
                await _require_renewing(unit, certificate, now, days)
                kept = certificate.renew_before_days if days is None else days
                setting = RenewalSetting(is_on=True, days=kept)
                at = renewal_time(certificate.not_before, certificate.not_after, kept)
                changed = replace(certificate, renew_before_days=kept, renew_at=at, updated_at=now)
            await unit.certificates.update(changed)
            await unit.audit(
                _event(
                    principal,
                    EventType.UPDATE_CERTIFICATE,
                    changed,
                    autoRenew=setting.is_on,
                    renewBeforeDays=setting.days,
                )
            )
            return setting

    async def take(self, principal: Principal, strange: StrangeCertificate) -> Bundle:
        """Store a certificate of somebody else, with its key where that is to be kept.

        Raises:
            InvalidError: something of it can't be read, the key is another's, or it is there already.
        """
        async with self._database.reading() as unit:
            await self._project_of(unit, principal, strange)
        # Only now: who may not import isn't told what can be read.
        read, chain, key = _read(strange)
        async with self._database.writing() as unit:
            project_id = await self._project_of(unit, principal, strange)
            if await unit.certificates.with_fingerprint(project_id, read.fingerprint) is not None:
                raise InvalidError("The certificate is there already")
            record = _record(read, project_id, chain, strange.friendly_name, self._clock.now())
            await unit.certificates.add(record, None if key is None else key.der())
            await unit.audit(_event(principal, EventType.IMPORT_CERTIFICATE, record))
        return Bundle(record, None if key is None else key.pem())

    async def _project_of(
        self, unit: UnitOfWork, principal: Principal, strange: StrangeCertificate
    ) -> ProjectId:
        if strange.project_slug is None or strange.project_id is not None:
            access = await certificate_project(
                unit, principal, strange.project_id, Action.CREATE, Subject.CERTIFICATES
            )
        else:
            access = await open_project(unit, principal, ProjectRef(slug=strange.project_slug))
            access.require(Action.CREATE, Subject.CERTIFICATES)
        return access.project.id


async def _require_renewing(
    unit: UnitOfWork, certificate: Certificate, now: datetime, days: int | None
) -> None:
    status = certificate.status(now)
    if status is not CertificateStatus.ACTIVE:
        raise InvalidError(f"The certificate is {status}, so that it can't renew by itself")
    if certificate.renewed_by_id is not None:
        raise InvalidError(f"The certificate was renewed before, by certificate {certificate.renewed_by_id}")
    if certificate.profile_id is None:
        raise InvalidError("The certificate has no profile, so that it can't renew by itself")
    if not await unit.certificates.has_private_key(certificate.id):
        raise InvalidError("The key of the certificate was not made by the service: it can't renew by itself")
    lifetime = certificate.not_after - certificate.not_before
    if days is not None and lifetime.days <= days:
        raise InvalidError(
            f"renewBeforeDays must be less than the certificate's lifetime of {lifetime.days} days"
        )


def _read(strange: StrangeCertificate) -> tuple[ReadCertificate, str, PrivateKey | None]:
    try:
        read = parse_certificate(strange.certificate)
        above = () if strange.chain is None else parse_certificates(strange.chain)
        chain = ordered_chain(read, above)[1:]
        key = None if strange.private_key is None else load_private_key(strange.private_key)
    except PkiError as error:
        raise InvalidError(sentence_of(error)) from error
    if read.public_key is None:
        raise InvalidError("The key of the certificate is of a kind that isn't supported")
    if key is not None and key.public_key != read.public_key:
        raise InvalidError("The private key isn't that of the certificate")
    if any(one != read for one in above) and not chain:
        raise InvalidError("None of the certificates in chainPem signed the certificate")
    return read, text_of_certificates(chain), key


def _record(
    read: ReadCertificate, project_id: ProjectId, chain: str, friendly_name: str | None, now: datetime
) -> Certificate:
    record = record_of(read, project_id, chain, now)
    return replace(record, friendly_name=friendly_name or record.common_name)


def _event(
    principal: Principal, kind: EventType, certificate: Certificate, **details: str | int | bool | None
) -> AuditEvent:
    return audited(
        principal,
        kind,
        certificate.project_id,
        certificateId=certificate.id,
        serialNumber=certificate.serial_number,
        commonName=certificate.common_name,
        **details,
    )
