"""Certificates that exist, read into plain data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.x509.oid import AuthorityInformationAccessOID, SignatureAlgorithmOID

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage, SignatureAlgorithm
from keybearer.pki.errors import MalformedError, UnsupportedAlgorithmError
from keybearer.pki.keys import PublicKey
from keybearer.pki.name_encoding import names_of, subject_of
from keybearer.pki.names import AlternativeName, Subject
from keybearer.pki.pem import blocks_of, written
from keybearer.pki.unreadable import UNREADABLE
from keybearer.pki.usages import extended_key_usages_of, key_usages_of

__all__ = [
    "MAX_CHAIN_LENGTH",
    "NO_POINTERS",
    "Certificate",
    "Pointers",
    "certificate_of",
    "load_certificates",
    "parse_certificate",
    "parse_certificates",
    "serial_text",
    "text_of_certificates",
]

MAX_CHAIN_LENGTH = 16
"""Of one chain as it is sent; real ones have two to four."""

_E = TypeVar("_E", bound=x509.ExtensionType)
_LABEL = "CERTIFICATE"
_MAX_CERTIFICATE_CHARACTERS = 65536
_SIGNATURES = {
    SignatureAlgorithmOID.RSA_WITH_SHA256: SignatureAlgorithm.RSA_SHA256,
    SignatureAlgorithmOID.RSA_WITH_SHA384: SignatureAlgorithm.RSA_SHA384,
    SignatureAlgorithmOID.RSA_WITH_SHA512: SignatureAlgorithm.RSA_SHA512,
    SignatureAlgorithmOID.ECDSA_WITH_SHA256: SignatureAlgorithm.ECDSA_SHA256,
    SignatureAlgorithmOID.ECDSA_WITH_SHA384: SignatureAlgorithm.ECDSA_SHA384,
    SignatureAlgorithmOID.ECDSA_WITH_SHA512: SignatureAlgorithm.ECDSA_SHA512,
    # FIPS 204; NIST's arc for signature algorithms.
    x509.ObjectIdentifier("2.16.840.1.101.3.4.3.17"): SignatureAlgorithm.ML_DSA_44,
    x509.ObjectIdentifier("2.16.840.1.101.3.4.3.18"): SignatureAlgorithm.ML_DSA_65,
    x509.ObjectIdentifier("2.16.840.1.101.3.4.3.19"): SignatureAlgorithm.ML_DSA_87,
}


@dataclass(frozen=True, slots=True)
class Pointers:
    """Where more about a certificate is found: lists of revoked ones, its issuer's certificate, an OCSP responder."""

    crl_urls: tuple[str, ...] = ()
    issuer_urls: tuple[str, ...] = ()
    ocsp_urls: tuple[str, ...] = ()


NO_POINTERS = Pointers()


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a certificate says. Nothing of it was verified.

    Attributes:
        der: the certificate itself.
        serial_number: as a number; `serial` is its text.
        public_key: None where the key is of a kind that we have no word for.
        key_usages: None where there is no such extension: all of them, then.
        extended_key_usages: that we have words for; both empty where there is no such extension.
        other_usages: dotted identifiers of the others.
        other_names: kinds of alternative names that we have no word for.
        signature_algorithm: None where we have no word for it.
        subject_key_identifier, authority_key_identifier: None where absent.
    """

    der: bytes = field(repr=False)
    serial_number: int
    subject: Subject
    issuer: Subject
    not_before: datetime
    not_after: datetime
    public_key: PublicKey | None
    signature_algorithm: SignatureAlgorithm | None
    alternative_names: tuple[AlternativeName, ...] = ()
    other_names: tuple[str, ...] = ()
    key_usages: frozenset[KeyUsage] | None = None
    extended_key_usages: tuple[ExtendedKeyUsage, ...] = ()
    other_usages: tuple[str, ...] = ()
    is_ca: bool = False
    path_length: int | None = None
    subject_key_identifier: bytes | None = None
    authority_key_identifier: bytes | None = None
    pointers: Pointers = NO_POINTERS

    @property
    def pem(self) -> str:
        """The certificate as text, with a line break at its end."""
        return written(_LABEL, self.der)

    @property
    def serial(self) -> str:
        """The serial number as it is shown: lower-case hex."""
        return serial_text(self.serial_number)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate, in lower-case hex."""
        return hashlib.sha256(self.der).hexdigest()

    @property
    def may_sign_certificates(self) -> bool:
        """Whether it is an authority's, and its key usages allow that."""
        return self.is_ca and (self.key_usages is None or KeyUsage.KEY_CERT_SIGN in self.key_usages)

    @property
    def is_self_issued(self) -> bool:
        """Whether it names itself as its issuer, as roots do."""
        return self.subject == self.issuer


def serial_text(serial_number: int) -> str:
    """Return a serial number as it is shown: lower-case hex without separators, whole octets."""
    octets = max(1, (serial_number.bit_length() + 7) // 8)
    return serial_number.to_bytes(octets, "big").hex()


def parse_certificate(pem: str) -> Certificate:
    """Return the one certificate in the text.

    Raises:
        MalformedError: there is none, more than one, or it can't be read.
    """
    return parse_certificates(pem, max_certificates=1)[0]


def parse_certificates(pem: str, *, max_certificates: int = MAX_CHAIN_LENGTH) -> tuple[Certificate, ...]:
    """Return the certificates in the text, in their order; at least one.

    Raises:
        MalformedError: there is none, there are too many, or one can't be read.
    """
    blocks = blocks_of(
        pem,
        _LABEL,
        what="the certificate" if max_certificates == 1 else "the chain of certificates",
        max_characters=_MAX_CERTIFICATE_CHARACTERS * max_certificates,
        max_blocks=max_certificates,
    )
    return tuple(certificate_of(block) for block in blocks)


def text_of_certificates(certificates: Iterable[Certificate]) -> str:
    """Return the certificates as one text, in their order."""
    return "".join(certificate.pem for certificate in certificates)


def load_certificates(certificates: Iterable[Certificate]) -> list[x509.Certificate]:
    """Return them as those of `cryptography`. For the other modules of this package alone."""
    return [x509.load_der_x509_certificate(certificate.der) for certificate in certificates]


def certificate_of(der: bytes) -> Certificate:
    """Return what the certificate says.

    Raises:
        MalformedError: it can't be read.
    """
    try:
        read = x509.load_der_x509_certificate(der)
        if read.serial_number <= 0:
            raise MalformedError("the serial number of the certificate isn't positive")
        return _described(read, der)
    except UnsupportedAlgorithm as error:
        raise MalformedError("the certificate holds a key or an extension that can't be read") from error
    except UNREADABLE as error:
        raise MalformedError("the certificate can't be read: it isn't valid X.509") from error


def _described(read: x509.Certificate, der: bytes) -> Certificate:
    extensions = {one.oid: one.value for one in read.extensions}
    names, other_names = names_of(_found(extensions, x509.SubjectAlternativeName) or ())
    usages = _found(extensions, x509.KeyUsage)
    extended, other_usages = extended_key_usages_of(_found(extensions, x509.ExtendedKeyUsage) or ())
    constraints = _found(extensions, x509.BasicConstraints)
    subject_key = _found(extensions, x509.SubjectKeyIdentifier)
    authority_key = _found(extensions, x509.AuthorityKeyIdentifier)
    return Certificate(
        der=der,
        serial_number=read.serial_number,
        subject=subject_of(read.subject, "the certificate"),
        issuer=subject_of(read.issuer, "the certificate"),
        not_before=read.not_valid_before_utc,
        not_after=read.not_valid_after_utc,
        public_key=_public_key(read),
        signature_algorithm=_SIGNATURES.get(read.signature_algorithm_oid),
        alternative_names=names,
        other_names=other_names,
        key_usages=None if usages is None else key_usages_of(usages),
        extended_key_usages=extended,
        other_usages=other_usages,
        is_ca=constraints is not None and constraints.ca,
        path_length=None if constraints is None else constraints.path_length,
        subject_key_identifier=None if subject_key is None else subject_key.digest,
        authority_key_identifier=None if authority_key is None else authority_key.key_identifier,
        pointers=_pointers(
            _found(extensions, x509.CRLDistributionPoints) or (),
            _found(extensions, x509.AuthorityInformationAccess) or (),
        ),
    )


def _found(extensions: Mapping[x509.ObjectIdentifier, x509.ExtensionType], kind: type[_E]) -> _E | None:
    value = extensions.get(kind.oid)
    return value if isinstance(value, kind) else None


def _public_key(read: x509.Certificate) -> PublicKey | None:
    try:
        return PublicKey(read.public_key())
    except (UnsupportedAlgorithmError, UnsupportedAlgorithm):
        return None


def _pointers(
    points: Iterable[x509.DistributionPoint], accesses: Iterable[x509.AccessDescription]
) -> Pointers:
    listed = list(accesses)
    return Pointers(
        crl_urls=tuple(
            name.value
            for point in points
            for name in point.full_name or ()
            if isinstance(name, x509.UniformResourceIdentifier)
        ),
        issuer_urls=_urls(listed, AuthorityInformationAccessOID.CA_ISSUERS),
        ocsp_urls=_urls(listed, AuthorityInformationAccessOID.OCSP),
    )


def _urls(accesses: Iterable[x509.AccessDescription], method: x509.ObjectIdentifier) -> tuple[str, ...]:
    return tuple(
        access.access_location.value
        for access in accesses
        if access.access_method == method
        and isinstance(access.access_location, x509.UniformResourceIdentifier)
    )
