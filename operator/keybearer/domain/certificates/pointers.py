"""Where a certificate says that more about it is found: revocation lists, OCSP, and who signed it."""

from __future__ import annotations

from keybearer.domain.certificates.authority_requests import Configuration
from keybearer.pki.certificates import Pointers
from keybearer.store.certificate_authorities import AuthorityCertificate, CertificateAuthority

__all__ = ["PublicPlaces"]

_ROOT = "/api/v1/cert-manager"


class PublicPlaces:
    """Knows the addresses of what is served to everybody; without a public URL there are none of ours."""

    def __init__(self, public_url: str | None = None) -> None:
        self._root = None if public_url is None else public_url.rstrip("/") + _ROOT

    def pointers(self, authority: CertificateAuthority, certificate: AuthorityCertificate) -> Pointers:
        """Return what stands in certificates that the authority signs with that one."""
        configuration = Configuration.of(authority)
        lists = configuration.crl_distribution_point_urls
        if self._root is None:
            return Pointers(crl_urls=lists)
        if not configuration.disable_managed_crl_distribution_point_url:
            lists = (f"{self._root}/crl/{certificate.id}", *lists)
        return Pointers(
            crl_urls=lists,
            issuer_urls=(f"{self._root}/ca/internal/{authority.id}/certificates/{certificate.id}/der",),
            ocsp_urls=(f"{self._root}/ocsp/{certificate.id}",),
        )
