"""Issuers whose keys are open, as many as are used most."""

from __future__ import annotations

from collections import OrderedDict

from keybearer.pki.certificates import parse_certificate, parse_certificates
from keybearer.pki.issuance import Issuer
from keybearer.pki.keys import load_private_key
from keybearer.store.certificate_authorities import AuthorityCertificate

__all__ = ["OpenedIssuers"]

_MAX = 256


class OpenedIssuers:
    """Keeps issuers by the id of their certificate; whoever was asked for longest ago goes first."""

    def __init__(self) -> None:
        self._issuers: OrderedDict[str, Issuer] = OrderedDict()

    def __contains__(self, certificate_id: str) -> bool:
        return certificate_id in self._issuers

    def get(self, certificate_id: str) -> Issuer | None:
        """Return the issuer, where it is open."""
        issuer = self._issuers.get(certificate_id)
        if issuer is not None:
            self._issuers.move_to_end(certificate_id)
        return issuer

    def open(self, certificate: AuthorityCertificate, key: bytes) -> Issuer:
        """Return the issuer of that certificate with its private key, which is PKCS #8 as DER, and keep it.

        Raises:
            PkiError: the certificate is none that may sign, or the key isn't its own.
        """
        above = parse_certificates(certificate.chain) if certificate.chain else ()
        issuer = Issuer(parse_certificate(certificate.certificate), load_private_key(key), above)
        self._issuers[certificate.id] = issuer
        if len(self._issuers) > _MAX:
            self._issuers.popitem(last=False)
        return issuer
