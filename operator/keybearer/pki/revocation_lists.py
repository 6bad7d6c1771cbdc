"""Lists of revoked certificates (RFC 5280 section 5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from keybearer.base.certificate_terms import KeyUsage, RevocationReason, SignatureAlgorithm
from keybearer.pki.errors import PkiError, TemplateError
from keybearer.pki.issuance import Issuer
from keybearer.pki.keys import signature_hash
from keybearer.pki.pem import written

__all__ = ["REASONS", "Revocation", "build_revocation_list", "revocation_list_text"]

REASONS: dict[RevocationReason, x509.ReasonFlags] = {
    RevocationReason.UNSPECIFIED: x509.ReasonFlags.unspecified,
    RevocationReason.KEY_COMPROMISE: x509.ReasonFlags.key_compromise,
    RevocationReason.CA_COMPROMISE: x509.ReasonFlags.ca_compromise,
    RevocationReason.AFFILIATION_CHANGED: x509.ReasonFlags.affiliation_changed,
    RevocationReason.SUPERSEDED: x509.ReasonFlags.superseded,
    RevocationReason.CESSATION_OF_OPERATION: x509.ReasonFlags.cessation_of_operation,
    RevocationReason.CERTIFICATE_HOLD: x509.ReasonFlags.certificate_hold,
    RevocationReason.PRIVILEGE_WITHDRAWN: x509.ReasonFlags.privilege_withdrawn,
    RevocationReason.A_A_COMPROMISE: x509.ReasonFlags.aa_compromise,
}
"""In the words of `cryptography`. For the other modules of this package alone."""


_NUMBERS = 2**159
"""RFC 5280 section 5.2.3 allows 20 octets, of which the first bit is the sign."""


@dataclass(frozen=True, slots=True)
class Revocation:
    """That a certificate was revoked, when and why."""

    serial_number: int
    revoked_at: datetime
    reason: RevocationReason = RevocationReason.UNSPECIFIED


def build_revocation_list(
    issuer: Issuer,
    revocations: Iterable[Revocation],
    *,
    number: int,
    this_update: datetime,
    next_update: datetime,
    signature_algorithm: SignatureAlgorithm | None = None,
) -> bytes:
    """Return the DER of a complete list, signed by the authority.

    It takes about 5 µs for each revocation, so that long lists are not for an event loop.

    Args:
        issuer: who issued and revoked them.
        revocations: of certificates that haven't expired.
        number: greater than that of the list before.
        this_update: when it is made.
        next_update: when there is another one at the latest.
        signature_algorithm: None: what fits the key.

    Raises:
        PkiError: the authority may not sign lists.
        TemplateError: the dates or the number can't stand in a list.
    """
    certificate = issuer.certificate
    if certificate.key_usages is not None and KeyUsage.CRL_SIGN not in certificate.key_usages:
        raise PkiError(
            f"{certificate.subject} may not sign lists: its certificate lacks the key usage crl_sign"
        )
    if not 0 <= number < _NUMBERS:
        raise TemplateError(f"a list of revoked certificates can't have the number {number}")
    if next_update <= this_update:
        raise TemplateError("a list of revoked certificates would end before it begins")
    key = issuer.key
    try:
        # All at once: the builder's own methods copy the list for each entry.
        builder = x509.CertificateRevocationListBuilder(
            issuer_name=issuer.own.subject,
            last_update=_naive(this_update),
            next_update=_naive(next_update),
            extensions=[_extension(issuer.key_identifier), _extension(x509.CRLNumber(number))],
            revoked_certificates=[_entry(one) for one in revocations],
        )
        made = builder.sign(key.key, signature_hash(key.algorithm, signature_algorithm))  # type: ignore[arg-type]
    except ValueError as error:
        raise TemplateError(f"no list of revoked certificates can be made of this: {error}") from error
    return made.public_bytes(serialization.Encoding.DER)


def revocation_list_text(der: bytes) -> str:
    """Return a list as text."""
    return written("X509 CRL", der)


def _entry(revocation: Revocation) -> x509.RevokedCertificate:
    # RFC 5280 section 5.3.1: no reason at all is better than an unspecified one.
    extensions: list[x509.Extension[x509.ExtensionType]] = []
    if revocation.reason is not RevocationReason.UNSPECIFIED:
        extensions.append(_extension(x509.CRLReason(REASONS[revocation.reason])))
    return x509.RevokedCertificateBuilder(
        revocation.serial_number, _naive(revocation.revoked_at), extensions
    ).build()


def _extension(value: x509.ExtensionType) -> x509.Extension[x509.ExtensionType]:
    return x509.Extension(value.oid, critical=False, value=value)


def _naive(instant: datetime) -> datetime:
    return instant.astimezone(UTC).replace(microsecond=0, tzinfo=None)
