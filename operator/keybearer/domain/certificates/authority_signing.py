"""Certificates of authorities: built, signed by a parent or by themselves, checked when they come from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from keybearer.base.ids import new_uuid
from keybearer.domain.certificates.asked import BACKDATING
from keybearer.domain.certificates.authority_requests import Configuration, NewAuthorityCertificate
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.signing import Signer, sentence_of
from keybearer.domain.errors import InvalidError
from keybearer.pki.certificates import (
    NO_POINTERS,
    Pointers,
    certificate_of,
    parse_certificate,
    parse_certificates,
    text_of_certificates,
)
from keybearer.pki.chains import ordered_chain, verify_chain
from keybearer.pki.errors import PkiError
from keybearer.pki.issuance import Issued, Template, default_key_usages, new_serial_number, self_sign
from keybearer.pki.keys import PrivateKey, PublicKey
from keybearer.pki.names import Subject
from keybearer.pki.signing_requests import build_signing_request
from keybearer.store.certificate_authorities import AuthorityCertificate

__all__ = ["AuthoritySigning", "Child", "imported_certificate"]


@dataclass(frozen=True, slots=True)
class Child:
    """Whose certificate a parent signs; `version` of it counts from 1."""

    authority_id: str
    subject: Subject
    public_key: PublicKey
    version: int


class AuthoritySigning:
    """Signs certificates of authorities; RSA beside the event loop.

    Every method raises InvalidError, in words, for what can't be signed, and LimitReachedError where too many wait.
    """

    def __init__(self, work: KeyWork) -> None:
        self._work = work

    async def root(
        self,
        authority_id: str,
        configuration: Configuration,
        key: PrivateKey,
        wanted: NewAuthorityCertificate,
        version: int,
        now: datetime,
    ) -> AuthorityCertificate:
        """Return a certificate that the authority signs for itself."""
        begin = now - BACKDATING if wanted.not_before is None else wanted.not_before
        template = _template(configuration.subject, key.public_key, wanted, begin, now)
        issued = await self._signed(key, template)
        return _record(authority_id, None, version, issued, "", now)

    async def below(
        self,
        parent: Signer,
        child: Child,
        wanted: NewAuthorityCertificate,
        now: datetime,
        pointers: Pointers = NO_POINTERS,
    ) -> AuthorityCertificate:
        """Return a certificate that a parent signs."""
        # Published clients send a date of their own that may be earlier than the parent.
        begin = max(wanted.not_before or now - BACKDATING, parent.certificate.not_before)
        template = _template(child.subject, child.public_key, wanted, begin, now)
        longest = parent.issuer.certificate.path_length
        if template.path_length is None and longest is not None:
            template = replace(template, path_length=max(longest - 1, 0))
        template = replace(template, pointers=pointers)
        try:
            issued = await self._work.with_key_of(
                parent.issuer.key.algorithm, lambda: parent.issuer.issue(template, child.public_key)
            )
        except PkiError as error:
            raise InvalidError(sentence_of(error)) from error
        return _record(child.authority_id, parent.authority.id, child.version, issued, parent.chain, now)

    async def request(self, configuration: Configuration, key: PrivateKey) -> str:
        """Return a signing request of the authority, PEM, for another to sign."""
        try:
            return await self._work.with_key_of(
                key.algorithm,
                lambda: build_signing_request(
                    key,
                    configuration.subject,
                    key_usages=default_key_usages(key.algorithm, is_ca=True),
                    is_ca=True,
                    path_length=_bounded(configuration.max_path_length),
                ),
            )
        except PkiError as error:
            raise InvalidError(sentence_of(error)) from error

    async def _signed(self, key: PrivateKey, template: Template) -> Issued:
        try:
            return await self._work.with_key_of(key.algorithm, lambda: self_sign(template, key))
        except PkiError as error:
            raise InvalidError(sentence_of(error)) from error


def imported_certificate(
    authority_id: str,
    key: PublicKey,
    certificate: str,
    chain: str,
    former: AuthorityCertificate | None,
    version: int,
    now: datetime,
) -> AuthorityCertificate:
    """Return what another authority made of our request, once it is known to fit.

    Args:
        authority_id: of ours.
        key: its own.
        certificate: PEM.
        chain: those above it, PEM, in any order.
        former: what it signed with until now: revocation lists of both are one, and so is their name.
        version: of the new one.
        now: it must be valid then.

    Raises:
        InvalidError: it isn't for our key, may not sign certificates, isn't valid, or the chain doesn't lead to it.
    """
    try:
        own = parse_certificate(certificate)
        if own.public_key != key:
            raise InvalidError("The certificate isn't for the key of this certificate authority")
        if former is not None and parse_certificate(former.certificate).subject != own.subject:
            raise InvalidError("The certificate has another subject than the one before it")
        others = parse_certificates(chain) if chain.strip() else ()
        path = ordered_chain(own, others)
        if len(path) == 1:
            raise InvalidError(
                "The certificate chain must hold the certificate of the authority that signed this one, "
                "and those above it"
            )
        if not own.may_sign_certificates:
            raise InvalidError(
                "The certificate isn't one of a certificate authority that may sign certificates: isCA and, where it "
                "has key usages, key_cert_sign must stand in it"
            )
        verify_chain(own, path[1:-1], path[-1:], now)
    except PkiError as error:
        raise InvalidError(sentence_of(error)) from error
    return AuthorityCertificate(
        id=new_uuid(),
        authority_id=authority_id,
        parent_id=None,
        version=version,
        certificate=own.pem,
        chain=text_of_certificates(path[1:]),
        serial_number=own.serial,
        fingerprint=own.fingerprint,
        max_path_length=own.path_length,
        not_before=own.not_before,
        not_after=own.not_after,
        created_at=now,
    )


def _template(
    subject: Subject, public_key: PublicKey, wanted: NewAuthorityCertificate, begin: datetime, now: datetime
) -> Template:
    if wanted.not_after <= now:
        raise InvalidError("notAfter is in the past: the certificate would have expired already")
    if wanted.not_after <= begin:
        raise InvalidError("notBefore must be earlier than notAfter")
    return Template(
        subject=subject,
        not_before=begin.replace(microsecond=0),
        not_after=wanted.not_after.replace(microsecond=0),
        serial_number=new_serial_number(),
        key_usages=default_key_usages(public_key.algorithm, is_ca=True),
        is_ca=True,
        path_length=_bounded(wanted.max_path_length),
    )


def _bounded(max_path_length: int | None) -> int | None:
    return None if max_path_length is None or max_path_length < 0 else max_path_length


def _record(
    authority_id: str, parent_id: str | None, version: int, issued: Issued, chain: str, now: datetime
) -> AuthorityCertificate:
    signed = certificate_of(issued.der)
    return AuthorityCertificate(
        id=new_uuid(),
        authority_id=authority_id,
        parent_id=parent_id,
        version=version,
        certificate=issued.pem,
        chain=chain,
        serial_number=issued.serial,
        fingerprint=signed.fingerprint,
        max_path_length=signed.path_length,
        not_before=signed.not_before,
        not_after=signed.not_after,
        created_at=now,
    )
