"""What Kubernetes and cert-manager call the usages of a certificate, in the service's words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage

__all__ = ["Usages", "read_usages"]

# The list of certificates.k8s.io/v1 (types.go, KeyUsage), which cert-manager shares.
_KEY: Final[Mapping[str, KeyUsage]] = {
    "signing": KeyUsage.DIGITAL_SIGNATURE,
    "digital signature": KeyUsage.DIGITAL_SIGNATURE,
    "content commitment": KeyUsage.NON_REPUDIATION,
    "key encipherment": KeyUsage.KEY_ENCIPHERMENT,
    "key agreement": KeyUsage.KEY_AGREEMENT,
    "data encipherment": KeyUsage.DATA_ENCIPHERMENT,
    "cert sign": KeyUsage.KEY_CERT_SIGN,
    "crl sign": KeyUsage.CRL_SIGN,
    "encipher only": KeyUsage.ENCIPHER_ONLY,
    "decipher only": KeyUsage.DECIPHER_ONLY,
}
_EXTENDED: Final[Mapping[str, ExtendedKeyUsage]] = {
    "any": ExtendedKeyUsage.ANY_PURPOSE,
    "server auth": ExtendedKeyUsage.SERVER_AUTH,
    "client auth": ExtendedKeyUsage.CLIENT_AUTH,
    "code signing": ExtendedKeyUsage.CODE_SIGNING,
    "email protection": ExtendedKeyUsage.EMAIL_PROTECTION,
    "s/mime": ExtendedKeyUsage.EMAIL_PROTECTION,
    "timestamping": ExtendedKeyUsage.TIME_STAMPING,
    "ocsp signing": ExtendedKeyUsage.OCSP_SIGNING,
}


@dataclass(frozen=True, slots=True)
class Usages:
    """Key usages and extended key usages; `unknown` are words that the service has nothing for."""

    key: frozenset[KeyUsage] = frozenset()
    extended: frozenset[ExtendedKeyUsage] = frozenset()
    unknown: tuple[str, ...] = ()


def read_usages(words: Iterable[str]) -> Usages:
    """Return what the words mean to the service."""
    given = tuple(dict.fromkeys(words))
    return Usages(
        key=frozenset(_KEY[word] for word in given if word in _KEY),
        extended=frozenset(_EXTENDED[word] for word in given if word in _EXTENDED),
        unknown=tuple(word for word in given if word not in _KEY and word not in _EXTENDED),
    )
