"""Certificates of internal authorities: given, renewed, imported, and signed for those of others (wire.md 5.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from keybearer.base.certificate_terms import AuthorityStatus, AuthorityType
from keybearer.base.clock import Clock
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, Principal
from keybearer.domain.certificates.authority_lookup import authority_event, internal_authority
from keybearer.domain.certificates.authority_requests import (
    Configuration,
    NewAuthorityCertificate,
    SignedIntermediate,
)
from keybearer.domain.certificates.authority_signing import AuthoritySigning, Child, imported_certificate
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.opened_authority import OpenedAuthority, opened_authority, parent_of
from keybearer.domain.certificates.pointers import PublicPlaces
from keybearer.domain.certificates.records import record_of
from keybearer.domain.certificates.signing import Signer, Signing, require_may_sign, sentence_of
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.pki.certificates import parse_certificate
from keybearer.pki.errors import PkiError
from keybearer.pki.signing_requests import parse_signing_request
from keybearer.store.certificate_authorities import AuthorityCertificate
from keybearer.store.database import Database

__all__ = ["AuthorityCertificates"]

_NO_CERTIFICATE = "Certificate authority has no certificate yet"


class AuthorityCertificates:
    """Decides about certificates of authorities.

    Every method raises NotFoundError for an authority that isn't there, and ForbiddenError where the principal may
    not. Keys are used with no transaction open.
    """

    def __init__(
        self, database: Database, work: KeyWork, signing: Signing, places: PublicPlaces, clock: Clock
    ) -> None:
        self._database = database
        self._signing = signing
        self._own = AuthoritySigning(work)
        self._places = places
        self._clock = clock

    async def certify(
        self, principal: Principal, authority_id: str, wanted: NewAuthorityCertificate
    ) -> AuthorityCertificate:
        """Give an authority a certificate: a root one by itself, an intermediate one by its parent.

        Raises:
            NotFoundError: the project has no such parent.
            InvalidError: an intermediate names no parent, or the parent may not sign such a certificate.
        """
        async with self._database.reading() as unit:
            opened = await opened_authority(unit, principal, authority_id)
            parent = await parent_of(unit, opened, wanted.parent_id)
        certificate = await self._certified(opened, parent, wanted)
        return await self._store(
            principal, opened, certificate, EventType.CERTIFY_CERTIFICATE_AUTHORITY, parent
        )

    async def renew(
        self, principal: Principal, authority_id: str, not_after: datetime
    ) -> AuthorityCertificate:
        """Give an authority another certificate for the same key, by whom it had the present one.

        Raises:
            InvalidError: it has none yet, or one that somebody else signed.
        """
        async with self._database.reading() as unit:
            opened = await opened_authority(unit, principal, authority_id)
            present = opened.present
            if present is None:
                raise InvalidError(_NO_CERTIFICATE)
            if opened.configuration.type is AuthorityType.INTERMEDIATE and present.parent_id is None:
                raise InvalidError(
                    "The certificate of this authority was signed elsewhere: have it renewed there, and import it"
                )
            parent = await parent_of(unit, opened, present.parent_id)
        wanted = NewAuthorityCertificate(not_after, max_path_length=present.max_path_length)
        certificate = await self._certified(opened, parent, wanted)
        return await self._store(
            principal, opened, certificate, EventType.RENEW_CERTIFICATE_AUTHORITY, parent
        )

    async def request(self, principal: Principal, authority_id: str) -> str:
        """Return a signing request of an intermediate authority, PEM.

        Raises:
            InvalidError: it is a root.
        """
        async with self._database.reading() as unit:
            opened = await opened_authority(unit, principal, authority_id, Action.READ)
        _require_intermediate(opened.configuration)
        return await self._own.request(opened.configuration, opened.key)

    async def import_certificate(
        self, principal: Principal, authority_id: str, certificate: str, chain: str
    ) -> AuthorityCertificate:
        """Take what another authority made of the signing request.

        Raises:
            InvalidError: it is a root, or the certificate doesn't fit, see `imported_certificate`.
        """
        async with self._database.reading() as unit:
            opened = await opened_authority(unit, principal, authority_id)
        _require_intermediate(opened.configuration)
        imported = imported_certificate(
            opened.authority.id,
            opened.key.public_key,
            certificate,
            chain,
            opened.present,
            opened.next_version,
            self._clock.now(),
        )
        return await self._store(principal, opened, imported, EventType.IMPORT_AUTHORITY_CERTIFICATE, None)

    async def sign_intermediate(
        self, principal: Principal, authority_id: str, csr: str, wanted: NewAuthorityCertificate
    ) -> SignedIntermediate:
        """Put an authority of somebody else below this one; it may be revoked as other certificates are.

        Raises:
            InvalidError: the authority isn't active, or nothing can be signed that the request asks for.
        """
        async with self._database.reading() as unit:
            opened = await opened_authority(unit, principal, authority_id)
        require_may_sign(opened.authority, None)
        signer = self._signer(opened)
        now = self._clock.now()
        try:
            asked = parse_signing_request(csr)
        except PkiError as error:
            raise InvalidError(sentence_of(error)) from error
        made = await self._own.below(
            signer,
            Child(opened.authority.id, asked.subject, asked.public_key, 1),
            wanted,
            now,
            self._places.pointers(opened.authority, signer.certificate),
        )
        signed = replace(
            record_of(parse_certificate(made.certificate), opened.authority.project_id, made.chain, now),
            id=made.id,
            authority_id=opened.authority.id,
            authority_certificate_id=signer.certificate.id,
        )
        async with self._database.writing() as unit:
            await unit.certificates.add(signed)
            await unit.audit(
                authority_event(
                    principal,
                    EventType.SIGN_INTERMEDIATE,
                    opened.authority,
                    certificateId=signed.id,
                    serialNumber=signed.serial_number,
                    dn=str(asked.subject),
                )
            )
        return SignedIntermediate(
            made.certificate, made.chain, signer.certificate.certificate, made.serial_number
        )

    async def certificate(
        self, principal: Principal, authority_id: str, certificate_id: str | None = None
    ) -> AuthorityCertificate:
        """Return a certificate of an authority, the present one unless another is named.

        Raises:
            NotFoundError: it has no such certificate.
        """
        async with self._database.reading() as unit:
            authority = await internal_authority(unit, principal, authority_id, Action.READ)
            wanted = certificate_id or authority.certificate_id
            found = None if wanted is None else await unit.certificate_authorities.certificate(wanted)
        if found is None or found.authority_id != authority.id:
            raise NotFoundError(
                _NO_CERTIFICATE if certificate_id is None else "Certificate authority certificate not found"
            )
        return found

    async def certificates(self, principal: Principal, authority_id: str) -> Sequence[AuthorityCertificate]:
        """Return all certificates of an authority, oldest first."""
        async with self._database.reading() as unit:
            authority = await internal_authority(unit, principal, authority_id, Action.READ)
            return await unit.certificate_authorities.certificates_of(authority.id)

    async def public_certificate(self, authority_id: str, certificate_id: str) -> bytes:
        """Return a certificate of an authority to anybody, DER: certificates that it signed say where it is.

        Raises:
            NotFoundError: there is none of these ids.
        """
        async with self._database.reading() as unit:
            found = await unit.certificate_authorities.certificate(certificate_id)
        if found is None or found.authority_id != authority_id:
            raise NotFoundError("Certificate authority certificate not found")
        return parse_certificate(found.certificate).der

    async def _certified(
        self, opened: OpenedAuthority, parent: OpenedAuthority | None, wanted: NewAuthorityCertificate
    ) -> AuthorityCertificate:
        if wanted.max_path_length is None:
            wanted = replace(wanted, max_path_length=opened.configuration.max_path_length)
        authority_id, now = opened.authority.id, self._clock.now()
        if parent is None:
            return await self._own.root(
                authority_id, opened.configuration, opened.key, wanted, opened.next_version, now
            )
        signer = self._signer(parent)
        return await self._own.below(
            signer,
            Child(authority_id, opened.configuration.subject, opened.key.public_key, opened.next_version),
            wanted,
            now,
            self._places.pointers(parent.authority, signer.certificate),
        )

    def _signer(self, opened: OpenedAuthority) -> Signer:
        return self._signing.signer(opened.authority, opened.present, opened.key.der(), policy_id=None)

    async def _store(
        self,
        principal: Principal,
        opened: OpenedAuthority,
        certificate: AuthorityCertificate,
        kind: EventType,
        parent: OpenedAuthority | None,
    ) -> AuthorityCertificate:
        """Store a certificate that is used from now on; who meets another one begins anew."""
        async with self._database.writing() as unit:
            authority = await internal_authority(
                unit, principal, opened.authority.id, Action.EDIT, for_change=True
            )
            await unit.certificate_authorities.add_certificate(certificate)
            is_first = authority.status == AuthorityStatus.PENDING_CERTIFICATE
            changed = replace(
                authority,
                status=opened.configuration.once_certified if is_first else authority.status,
                certificate_id=certificate.id,
                updated_at=self._clock.now(),
            )
            await unit.certificate_authorities.update(changed)
            await unit.audit(
                authority_event(
                    principal,
                    kind,
                    changed,
                    certificateId=certificate.id,
                    serialNumber=certificate.serial_number,
                    parentCaId=None if parent is None else parent.authority.id,
                )
            )
        return certificate


def _require_intermediate(configuration: Configuration) -> None:
    if configuration.type is AuthorityType.ROOT:
        raise InvalidError("A root certificate authority signs its own certificate: nobody else does")
