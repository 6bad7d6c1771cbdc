"""Certificate signing requests (PKCS#10, RFC 2986): made, and read without trust."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import SignatureAlgorithmOID

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage, SignatureAlgorithm
from keybearer.pki.errors import MalformedError, TemplateError, UnsupportedAlgorithmError
from keybearer.pki.keys import PrivateKey, PublicKey, signature_hash
from keybearer.pki.name_encoding import encoded_names, encoded_subject, names_of, subject_of
from keybearer.pki.names import AlternativeName, Subject
from keybearer.pki.pem import single_block, written
from keybearer.pki.unreadable import UNREADABLE
from keybearer.pki.usages import (
    encoded_extended_key_usages,
    encoded_key_usages,
    extended_key_usages_of,
    key_usages_of,
)

__all__ = [
    "MAX_REQUEST_CHARACTERS",
    "SigningRequest",
    "build_signing_request",
    "parse_signing_request",
]

MAX_REQUEST_CHARACTERS = 65536
"""Of the PEM. Routes allow less (wire.md section 5.1); a request within the cluster may hold 100 long names."""

_LABEL = "CERTIFICATE REQUEST"
_WHAT = "the certificate signing request"
_ECDSA = {
    SignatureAlgorithmOID.ECDSA_WITH_SHA256: ec.ECDSA(hashes.SHA256()),
    SignatureAlgorithmOID.ECDSA_WITH_SHA384: ec.ECDSA(hashes.SHA384()),
    SignatureAlgorithmOID.ECDSA_WITH_SHA512: ec.ECDSA(hashes.SHA512()),
}
_NOT_ITS_OWN = f"the signature of {_WHAT} isn't of the key that it holds"
_WEAK = (hashes.MD5, hashes.SHA1)


@dataclass(frozen=True, slots=True)
class SigningRequest:
    """What a request asks for. Its signature was checked: who made it has the private key.

    Attributes:
        public_key: to be certified.
        subject: as written there; empty where names are alternative ones only.
        alternative_names: as written there, neither checked nor brought into their form; see `alternative_name`.
        other_names: kinds of alternative names that we have no word for; they can't be signed.
        key_usages: None where it asks for none.
        extended_key_usages: that we have words for.
        other_usages: dotted identifiers of extended usages that we have no word for; they can't be signed.
        is_ca: whether it asks for an authority, None where it doesn't say.
        path_length: how many authorities may follow it.
        other_extensions: dotted identifiers of what else it asks for; nothing of that is signed.
        der: the request itself.
    """

    public_key: PublicKey
    subject: Subject
    alternative_names: tuple[AlternativeName, ...] = ()
    other_names: tuple[str, ...] = ()
    key_usages: frozenset[KeyUsage] | None = None
    extended_key_usages: tuple[ExtendedKeyUsage, ...] = ()
    other_usages: tuple[str, ...] = ()
    is_ca: bool | None = None
    path_length: int | None = None
    other_extensions: tuple[str, ...] = ()
    der: bytes = field(repr=False, default=b"")

    @property
    def pem(self) -> str:
        """The request as text."""
        return written(_LABEL, self.der)


def parse_signing_request(pem: str) -> SigningRequest:
    """Return what the request asks for, after its signature was checked.

    Raises:
        MalformedError: it is no such request, or its signature is not of its own key.
        UnsupportedAlgorithmError: its key or signature is of a kind that isn't used here.
    """
    der = single_block(pem, _LABEL, what=_WHAT, max_characters=MAX_REQUEST_CHARACTERS)
    try:
        request = x509.load_der_x509_csr(der)
        public_key = PublicKey(request.public_key())
        _check_signature(request, public_key)
        subject = subject_of(request.subject, _WHAT)
        extensions = request.extensions
    except UnsupportedAlgorithm as error:
        raise UnsupportedAlgorithmError(
            f"{_WHAT} has a key or signature of a kind that isn't supported"
        ) from error
    except UNREADABLE as error:
        raise MalformedError(f"{_WHAT} can't be read: it isn't valid PKCS#10") from error
    return _described(public_key, subject, extensions, der)


def build_signing_request(
    key: PrivateKey,
    subject: Subject,
    *,
    alternative_names: Iterable[AlternativeName] = (),
    key_usages: frozenset[KeyUsage] = frozenset(),
    extended_key_usages: tuple[ExtendedKeyUsage, ...] = (),
    is_ca: bool = False,
    path_length: int | None = None,
    signature_algorithm: SignatureAlgorithm | None = None,
) -> str:
    """Return the text of a request; what is empty isn't asked for.

    Raises:
        TemplateError: a part of the subject or the usages can't be written.
        UnsupportedAlgorithmError: the key makes no such signature.
    """
    names = encoded_names(alternative_names)
    extensions: list[tuple[x509.ExtensionType, bool]] = []
    if names:
        # RFC 5280 section 4.2.1.6: critical where nothing else names the subject.
        extensions.append((x509.SubjectAlternativeName(names), not subject.attributes))
    if key_usages:
        extensions.append((encoded_key_usages(key_usages), True))
    if extended_key_usages:
        extensions.append((encoded_extended_key_usages(extended_key_usages), False))
    if is_ca:
        extensions.append((x509.BasicConstraints(ca=True, path_length=path_length), True))
    builder = x509.CertificateSigningRequestBuilder(encoded_subject(subject))
    try:
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical=critical)
        made = builder.sign(key.key, signature_hash(key.algorithm, signature_algorithm))  # type: ignore[arg-type]
    except ValueError as error:
        raise TemplateError(f"no certificate signing request can be made of this: {error}") from error
    return written(_LABEL, made.public_bytes(serialization.Encoding.DER))


def _check_signature(request: x509.CertificateSigningRequest, public_key: PublicKey) -> None:
    key = public_key.key
    scheme = _ECDSA.get(request.signature_algorithm_oid)
    if scheme is not None and isinstance(key, ec.EllipticCurvePublicKey):
        # The same as below, without a second reading of the key: a sixth of the time.
        try:
            key.verify(request.signature, request.tbs_certrequest_bytes, scheme)
        except InvalidSignature as error:
            raise MalformedError(_NOT_ITS_OWN) from error
        return
    if isinstance(request.signature_hash_algorithm, _WEAK):
        raise UnsupportedAlgorithmError(f"{_WHAT} is signed with MD5 or SHA-1; use SHA-256 or better")
    if not request.is_signature_valid:
        raise MalformedError(_NOT_ITS_OWN)


def _described(
    public_key: PublicKey,
    subject: Subject,
    extensions: Iterable[x509.Extension[x509.ExtensionType]],
    der: bytes,
) -> SigningRequest:
    names: tuple[AlternativeName, ...] = ()
    other_names: tuple[str, ...] = ()
    usages: frozenset[KeyUsage] | None = None
    extended: tuple[ExtendedKeyUsage, ...] = ()
    other_usages: tuple[str, ...] = ()
    is_ca: bool | None = None
    path_length: int | None = None
    others: list[str] = []
    for extension in extensions:
        match extension.value:
            case x509.SubjectAlternativeName() as value:
                names, other_names = names_of(value)
            case x509.KeyUsage() as value:
                usages = key_usages_of(value)
            case x509.ExtendedKeyUsage() as value:
                extended, other_usages = extended_key_usages_of(value)
            case x509.BasicConstraints() as value:
                is_ca, path_length = value.ca, value.path_length
            case _:
                others.append(extension.oid.dotted_string)
    return SigningRequest(
        public_key=public_key,
        subject=subject,
        alternative_names=names,
        other_names=other_names,
        key_usages=usages,
        extended_key_usages=extended,
        other_usages=other_usages,
        is_ca=is_ca,
        path_length=path_length,
        other_extensions=tuple(others),
        der=der,
    )
