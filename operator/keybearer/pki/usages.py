"""Usages between our words and those of `cryptography`. For the other modules of this package alone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage
from keybearer.pki.errors import TemplateError

__all__ = ["encoded_extended_key_usages", "encoded_key_usages", "extended_key_usages_of", "key_usages_of"]

_EXTENDED = {
    ExtendedKeyUsage.CLIENT_AUTH: ExtendedKeyUsageOID.CLIENT_AUTH,
    ExtendedKeyUsage.SERVER_AUTH: ExtendedKeyUsageOID.SERVER_AUTH,
    ExtendedKeyUsage.CODE_SIGNING: ExtendedKeyUsageOID.CODE_SIGNING,
    ExtendedKeyUsage.EMAIL_PROTECTION: ExtendedKeyUsageOID.EMAIL_PROTECTION,
    ExtendedKeyUsage.OCSP_SIGNING: ExtendedKeyUsageOID.OCSP_SIGNING,
    ExtendedKeyUsage.TIME_STAMPING: ExtendedKeyUsageOID.TIME_STAMPING,
    ExtendedKeyUsage.ANY_PURPOSE: ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
}
_EXTENDED_WORDS = {identifier: usage for usage, identifier in _EXTENDED.items()}
_OF_AGREEMENT = frozenset({KeyUsage.ENCIPHER_ONLY, KeyUsage.DECIPHER_ONLY})


@lru_cache(maxsize=256)
def encoded_key_usages(usages: frozenset[KeyUsage]) -> x509.KeyUsage:
    """Return the extension.

    Raises:
        TemplateError: a usage says what key_agreement is limited to, without key_agreement.
    """
    if usages & _OF_AGREEMENT and KeyUsage.KEY_AGREEMENT not in usages:
        raise TemplateError("encipher_only and decipher_only need the key usage key_agreement beside them")
    return x509.KeyUsage(
        digital_signature=KeyUsage.DIGITAL_SIGNATURE in usages,
        content_commitment=KeyUsage.NON_REPUDIATION in usages,
        key_encipherment=KeyUsage.KEY_ENCIPHERMENT in usages,
        data_encipherment=KeyUsage.DATA_ENCIPHERMENT in usages,
        key_agreement=KeyUsage.KEY_AGREEMENT in usages,
        key_cert_sign=KeyUsage.KEY_CERT_SIGN in usages,
        crl_sign=KeyUsage.CRL_SIGN in usages,
        encipher_only=KeyUsage.ENCIPHER_ONLY in usages,
        decipher_only=KeyUsage.DECIPHER_ONLY in usages,
    )


def key_usages_of(extension: x509.KeyUsage) -> frozenset[KeyUsage]:
    """Return the usages in our words."""
    agrees = extension.key_agreement
    found = {
        KeyUsage.DIGITAL_SIGNATURE: extension.digital_signature,
        KeyUsage.NON_REPUDIATION: extension.content_commitment,
        KeyUsage.KEY_ENCIPHERMENT: extension.key_encipherment,
        KeyUsage.DATA_ENCIPHERMENT: extension.data_encipherment,
        KeyUsage.KEY_AGREEMENT: agrees,
        KeyUsage.KEY_CERT_SIGN: extension.key_cert_sign,
        KeyUsage.CRL_SIGN: extension.crl_sign,
        # They mean nothing, and can't be read, without the agreement.
        KeyUsage.ENCIPHER_ONLY: agrees and extension.encipher_only,
        KeyUsage.DECIPHER_ONLY: agrees and extension.decipher_only,
    }
    return frozenset(usage for usage, is_set in found.items() if is_set)


@lru_cache(maxsize=256)
def encoded_extended_key_usages(usages: tuple[ExtendedKeyUsage, ...]) -> x509.ExtendedKeyUsage:
    """Return the extension; there is at least one usage."""
    return x509.ExtendedKeyUsage(_EXTENDED[usage] for usage in usages)


def extended_key_usages_of(
    extension: Iterable[x509.ObjectIdentifier],
) -> tuple[tuple[ExtendedKeyUsage, ...], tuple[str, ...]]:
    """Return the usages that we have words for, and the dotted identifiers of the others."""
    known: list[ExtendedKeyUsage] = []
    others: list[str] = []
    for identifier in extension:
        usage = _EXTENDED_WORDS.get(identifier)
        if usage is None:
            others.append(identifier.dotted_string)
        else:
            known.append(usage)
    return tuple(dict.fromkeys(known)), tuple(dict.fromkeys(others))
