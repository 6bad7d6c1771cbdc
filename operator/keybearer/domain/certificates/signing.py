"""From what a certificate is to hold to the certificate: the authority's key, the chain, what is kept of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import JsonValue

from keybearer.base.certificate_terms import IssuerType, SignatureAlgorithm, SubjectField
from keybearer.domain.certificates.asked import Asked, Validity
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.opened_issuers import OpenedIssuers
from keybearer.domain.errors import InvalidError
from keybearer.pki.certificates import NO_POINTERS, Pointers
from keybearer.pki.errors import PkiError
from keybearer.pki.issuance import Issuer, Template, new_serial_number, self_sign
from keybearer.pki.keys import PrivateKey, PublicKey, default_signature_algorithm
from keybearer.pki.names import Subject
from keybearer.store.certificate_authorities import AuthorityCertificate, CertificateAuthority
from keybearer.store.certificate_profiles import IssuingProfile

__all__ = ["Signed", "Signer", "Signing", "first_of", "require_may_sign", "shown_subject", "without_last"]

_BEGIN = "-----BEGIN CERTIFICATE-----"


@dataclass(frozen=True, slots=True)
class Signer:
    """An authority of ours with what it signs with; the key as it is kept, opened."""

    authority: CertificateAuthority
    certificate: AuthorityCertificate
    issuer: Issuer

    @property
    def chain(self) -> str:
        """What stands above the certificates that it signs: its own certificate, and those above it. PEM."""
        return self.certificate.certificate + self.certificate.chain


@dataclass(frozen=True, slots=True)
class Signed:
    """A certificate that was just signed, PEM; `issuing` is the certificate of who signed it.

    Attributes:
        chain: those above it, nearest first; the certificate itself where it signed itself.
        authority_certificate_id: of the one that signed it; None where it signed itself.
    """

    certificate: str
    chain: str
    issuing: str
    serial_number: str
    fingerprint: str
    not_before: datetime
    not_after: datetime
    public_key: PublicKey
    signature_algorithm: SignatureAlgorithm
    authority_certificate_id: str | None


class Signing:
    """Signs with the keys of authorities, which it keeps opened while they are used."""

    def __init__(
        self,
        work: KeyWork,
        pointers: Callable[[CertificateAuthority, AuthorityCertificate], Pointers] = lambda *_: NO_POINTERS,
    ) -> None:
        """Take who does what is slow.

        Args:
            work: threads for it.
            pointers: where a certificate that an authority signs with that one of its own says that more is found.
        """
        self._work = work
        self._pointers = pointers
        self._issuers = OpenedIssuers()

    def signer_of(self, profile: IssuingProfile) -> Signer:
        """Return the authority of the profile, ready to sign.

        Raises:
            InvalidError: it may not issue at present, or isn't ours.
        """
        if profile.authority is None:
            raise InvalidError("The certificate profile has no certificate authority")
        return self.signer(
            profile.authority,
            profile.authority_certificate,
            profile.authority_key,
            policy_id=profile.profile.policy_id,
        )

    def is_ready(self, profile: IssuingProfile) -> bool:
        """Return whether the profile can be signed for without its authority's key, which is open here."""
        certificate = profile.authority_certificate
        return certificate is None or certificate.id in self._issuers

    def signer(
        self,
        authority: CertificateAuthority,
        certificate: AuthorityCertificate | None,
        key: bytes | None,
        *,
        policy_id: str | None,
    ) -> Signer:
        """Return an authority, ready to sign what was held against this policy; None: against none.

        Raises:
            InvalidError: it may not issue at present, or not that, or isn't ours.
        """
        require_may_sign(authority, policy_id)
        issuer = None if certificate is None else self._opened(certificate, key)
        if certificate is None or issuer is None:
            raise InvalidError(f"Certificate authority {authority.name} has no certificate to sign with yet")
        return Signer(authority, certificate, issuer)

    def _opened(self, certificate: AuthorityCertificate, key: bytes | None) -> Issuer | None:
        issuer = self._issuers.get(certificate.id)
        if issuer is not None or key is None:
            return issuer
        return self._issuers.open(certificate, key)

    async def sign(
        self,
        profile: IssuingProfile,
        asked: Asked,
        validity: Validity,
        key: PublicKey | PrivateKey,
        now: datetime,
    ) -> Signed:
        """Return a certificate of that content for the key, signed by the profile's authority, or by itself.

        Raises:
            InvalidError: the authority may not issue, the certificate would outlive it, or what is asked for
                contradicts itself.
        """
        try:
            if profile.profile.issuer_type == IssuerType.SELF_SIGNED:
                if not isinstance(key, PrivateKey):
                    raise InvalidError(
                        "A self-signed certificate is made with a key of the service: leave out csr"
                    )
                return await self._sign_itself(asked, validity, key)
            public_key = key.public_key if isinstance(key, PrivateKey) else key
            return await self.sign_with(self.signer_of(profile), asked, validity, public_key, now)
        except PkiError as error:
            raise InvalidError(sentence_of(error)) from error

    async def sign_with(
        self, signer: Signer, asked: Asked, validity: Validity, public_key: PublicKey, now: datetime
    ) -> Signed:
        """Return a certificate of that content for the key.

        Raises:
            PkiError: it would outlive its authority, or what is asked for contradicts itself.
        """
        begin = validity.not_before
        own = signer.certificate.not_before
        if asked.not_before is None and begin < own <= now:
            # Backdated for the clocks of others, but not to before there was an authority.
            validity = replace(validity, not_before=own)
        template = _template(asked, validity, self._pointers(signer.authority, signer.certificate))
        algorithm = signer.issuer.key.algorithm
        issued = await self._work.with_key_of(algorithm, lambda: signer.issuer.issue(template, public_key))
        used = template.signature_algorithm or default_signature_algorithm(algorithm)
        return Signed(
            certificate=issued.pem,
            chain=signer.chain,
            issuing=signer.certificate.certificate,
            serial_number=issued.serial,
            fingerprint=hashlib.sha256(issued.der).hexdigest(),
            not_before=template.not_before,
            not_after=template.not_after,
            public_key=public_key,
            signature_algorithm=used,
            authority_certificate_id=signer.certificate.id,
        )

    async def _sign_itself(self, asked: Asked, validity: Validity, key: PrivateKey) -> Signed:
        template = _template(asked, validity, NO_POINTERS)
        issued = await self._work.with_key_of(key.algorithm, lambda: self_sign(template, key))
        pem = issued.pem
        return Signed(
            certificate=pem,
            chain=pem,
            issuing=pem,
            serial_number=issued.serial,
            fingerprint=hashlib.sha256(issued.der).hexdigest(),
            not_before=template.not_before,
            not_after=template.not_after,
            public_key=key.public_key,
            signature_algorithm=template.signature_algorithm or default_signature_algorithm(key.algorithm),
            authority_certificate_id=None,
        )


def require_may_sign(authority: CertificateAuthority, policy_id: str | None) -> None:
    """Let pass an authority that may issue what was held against this policy; None: against none.

    Raises:
        InvalidError: it is disabled, has no certificate yet, or signs by profiles of another policy alone.
    """
    if not authority.is_active:
        raise InvalidError(
            f"Certificate authority {authority.name} is not active: its status is {authority.status}"
        )
    if authority.policy_id in (None, policy_id):
        return
    which = "a certificate policy" if policy_id is None else "another certificate policy"
    raise InvalidError(
        f"Certificate authority {authority.name} is bound to {which} and signs only by profiles of that one"
    )


def shown_subject(subject: Subject) -> dict[str, JsonValue]:
    """Return what is kept of a subject beside its common name; several values of a field are joined by commas."""
    fields = {
        "organization": SubjectField.ORGANIZATION,
        "organizationalUnit": SubjectField.ORGANIZATIONAL_UNIT,
        "country": SubjectField.COUNTRY,
        "state": SubjectField.STATE,
        "locality": SubjectField.LOCALITY,
        "domainComponents": SubjectField.DOMAIN_COMPONENT,
    }
    return {name: ",".join(values) for name, field in fields.items() if (values := subject.values(field))}


def without_last(chain: str) -> str:
    """Return the chain without its last certificate, be it a root or not (wire.md section 5.1)."""
    return chain[: max(chain.rfind(_BEGIN), 0)]


def first_of(chain: str) -> str | None:
    """Return the first certificate of a chain, None where it is empty."""
    end = chain.find(_BEGIN, 1)
    return (chain if end < 0 else chain[:end]) or None


def _template(asked: Asked, validity: Validity, pointers: Pointers) -> Template:
    return Template(
        subject=asked.subject,
        not_before=validity.not_before.replace(microsecond=0),
        not_after=validity.not_after.replace(microsecond=0),
        serial_number=new_serial_number(),
        alternative_names=asked.alternative_names,
        key_usages=asked.key_usages or frozenset(),
        extended_key_usages=asked.extended_key_usages or (),
        is_ca=asked.is_ca,
        path_length=asked.path_length,
        signature_algorithm=asked.signature_algorithm,
        pointers=pointers,
    )


def sentence_of(error: PkiError) -> str:
    """Return what is wrong, as a sentence of an answer."""
    text = str(error)
    return text[:1].upper() + text[1:]
