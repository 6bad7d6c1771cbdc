"""The online certificate status protocol (RFC 6960): questions read without trust, answers signed."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from urllib.parse import unquote

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509 import ocsp

from keybearer.pki.errors import MalformedError
from keybearer.pki.issuance import Issuer
from keybearer.pki.keys import signature_hash
from keybearer.pki.revocation_lists import REASONS, Revocation
from keybearer.pki.unreadable import UNREADABLE

__all__ = [
    "MAX_QUESTION_BYTES",
    "OcspFailure",
    "OcspQuestion",
    "Standing",
    "ocsp_answer",
    "ocsp_failure",
    "parse_ocsp_path",
    "parse_ocsp_question",
]

MAX_QUESTION_BYTES = 2048
"""A question about one certificate has about 80 bytes, more with a nonce and with a signature that nobody needs."""
_MAX_NONCE = 128
"""RFC 9654 section 2.1."""


class OcspFailure(Enum):
    """Why there is no answer (RFC 6960 section 4.2.1)."""

    MALFORMED = ocsp.OCSPResponseStatus.MALFORMED_REQUEST
    INTERNAL = ocsp.OCSPResponseStatus.INTERNAL_ERROR
    TRY_LATER = ocsp.OCSPResponseStatus.TRY_LATER
    UNAUTHORIZED = ocsp.OCSPResponseStatus.UNAUTHORIZED
    """The question is about certificates of another issuer."""


class Standing(Enum):
    """What is known of a certificate that isn't revoked."""

    GOOD = "good"
    UNKNOWN = "unknown"
    """It wasn't issued here."""


@dataclass(frozen=True, slots=True)
class OcspQuestion:
    """A question about one certificate.

    Attributes:
        serial_number: of the certificate.
        issuer_name_hash, issuer_key_hash: of who issued it.
        hash_name: the algorithm of both hashes.
        nonce: to be repeated in the answer; None where there is none.
    """

    serial_number: int
    issuer_name_hash: bytes
    issuer_key_hash: bytes
    hash_name: str
    nonce: bytes | None

    def is_about(self, issuer: Issuer) -> bool:
        """Return whether the question is about a certificate of that issuer."""
        # The name of an issuer that isn't a root is not the one that its own certificate has as issuer.
        name_hash = hashlib.new(self.hash_name, issuer.own.subject.public_bytes()).digest()
        if self.issuer_name_hash != name_hash:
            return False
        builder = ocsp.OCSPRequestBuilder().add_certificate(issuer.own, issuer.own, _HASHES[self.hash_name])
        return self.issuer_key_hash == builder.build().issuer_key_hash


_HASHES: dict[str, hashes.HashAlgorithm] = {
    # Clients name issuers by SHA-1 to this day (RFC 5019 demands it); nothing is proved by it.
    "sha1": hashes.SHA1(),  # noqa: S303
    "sha224": hashes.SHA224(),
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
}


def parse_ocsp_question(der: bytes) -> OcspQuestion:
    """Return what is asked.

    Raises:
        MalformedError: it is no question about exactly one certificate, or has a nonce of more than 128 bytes.
    """
    if len(der) > MAX_QUESTION_BYTES:
        raise MalformedError(f"an OCSP request has at most {MAX_QUESTION_BYTES} bytes")
    try:
        request = ocsp.load_der_ocsp_request(der)
        question = OcspQuestion(
            serial_number=request.serial_number,
            issuer_name_hash=request.issuer_name_hash,
            issuer_key_hash=request.issuer_key_hash,
            hash_name=request.hash_algorithm.name,
            nonce=_nonce(request),
        )
    except (*UNREADABLE, UnsupportedAlgorithm) as error:
        raise MalformedError("that is no OCSP request about one certificate") from error
    if question.serial_number < 0:
        # Nobody could be answered: answers hold no such number either.
        raise MalformedError("the OCSP request is about a negative serial number")
    if question.hash_name not in _HASHES:
        raise MalformedError("the OCSP request names its issuer by a hash that isn't supported")
    return question


def parse_ocsp_path(path: str) -> OcspQuestion:
    """Return what is asked by GET: the question as base64, in the rest of the path (RFC 6960 appendix A.1).

    Raises:
        MalformedError: as `parse_ocsp_question`.
    """
    if len(path) > 2 * MAX_QUESTION_BYTES:
        raise MalformedError(f"an OCSP request has at most {MAX_QUESTION_BYTES} bytes")
    # Some clients don't percent-encode, some leave out the padding.
    packed = unquote(path).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        der = base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise MalformedError("the path of an OCSP request is base64") from error
    return parse_ocsp_question(der)


def ocsp_answer(
    issuer: Issuer,
    question: OcspQuestion,
    standing: Standing | Revocation,
    *,
    this_update: datetime,
    next_update: datetime,
) -> bytes:
    """Return the DER of the answer, signed by the authority itself.

    Args:
        issuer: whose certificate the question is about; see `OcspQuestion.is_about`.
        question: as it was read.
        standing: of the certificate.
        this_update: as of when that is known.
        next_update: until when the answer may be kept.
    """
    revocation = standing if isinstance(standing, Revocation) else None
    builder = (
        ocsp.OCSPResponseBuilder()
        .add_response_by_hash(
            question.issuer_name_hash,
            question.issuer_key_hash,
            question.serial_number,
            _HASHES[question.hash_name],
            _status(standing),
            this_update.astimezone(UTC),
            next_update.astimezone(UTC),
            None if revocation is None else revocation.revoked_at.astimezone(UTC),
            None if revocation is None else REASONS[revocation.reason],
        )
        .responder_id(ocsp.OCSPResponderEncoding.HASH, issuer.own)
    )
    if question.nonce is not None:
        builder = builder.add_extension(x509.OCSPNonce(question.nonce), critical=False)
    made = builder.sign(issuer.key.key, signature_hash(issuer.key.algorithm, None))
    return made.public_bytes(serialization.Encoding.DER)


def ocsp_failure(failure: OcspFailure) -> bytes:
    """Return the DER of an answer that says why there is none; it isn't signed."""
    return ocsp.OCSPResponseBuilder.build_unsuccessful(failure.value).public_bytes(serialization.Encoding.DER)


def _status(standing: Standing | Revocation) -> ocsp.OCSPCertStatus:
    if isinstance(standing, Revocation):
        return ocsp.OCSPCertStatus.REVOKED
    return ocsp.OCSPCertStatus.GOOD if standing is Standing.GOOD else ocsp.OCSPCertStatus.UNKNOWN


def _nonce(request: ocsp.OCSPRequest) -> bytes | None:
    try:
        nonce = request.extensions.get_extension_for_class(x509.OCSPNonce).value.nonce
    except x509.ExtensionNotFound:
        return None
    if not 0 < len(nonce) <= _MAX_NONCE:
        raise MalformedError(f"the nonce of an OCSP request has 1 to {_MAX_NONCE} bytes")
    return nonce
