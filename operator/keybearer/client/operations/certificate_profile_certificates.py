"""What was issued from a certificate profile, and what its ACME clients need (wire.md section 5.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.certificate_enrollments import AcmeBinding
from keybearer.client.certificates import CertificatePage, LatestBundle
from keybearer.client.decoding import decode
from keybearer.client.messages import Request, Response, fill, query_of
from keybearer.client.operation import Operation, Repeat

__all__ = ["GetLatestBundleOfProfile", "ListCertificatesOfProfile", "RevealAcmeBinding"]

_ONE = "/api/v1/cert-manager/certificate-profiles/{}"


@dataclass(frozen=True, slots=True)
class _OfProfile:
    profile_id: str

    def path(self, action: str) -> str:
        """Return the path of something of the profile."""
        return fill(f"{_ONE}{action}", self.profile_id)


@dataclass(frozen=True, slots=True)
class ListCertificatesOfProfile(_OfProfile, Operation[CertificatePage]):
    """List the certificates that were issued from a profile.

    Attributes:
        offset, limit: of those found, leave out so many, and return so many, 1 to 100.
        status: `active`, `expired` or `revoked`.
        search: stands in the common name, another name or the serial number.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    offset: int = field(default=0, kw_only=True)
    limit: int = field(default=20, kw_only=True)
    status: str | None = field(default=None, kw_only=True)
    search: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        query = query_of(
            {"offset": self.offset, "limit": self.limit, "status": self.status, "search": self.search}
        )
        return Request("GET", self.path("/certificates"), query=query)

    def read(self, response: Response) -> CertificatePage:
        """Return the page."""
        return decode(response, CertificatePage)


@dataclass(frozen=True, slots=True)
class GetLatestBundleOfProfile(_OfProfile, Operation[LatestBundle]):
    """Return the newest active certificate of a profile, with its chain and key."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path("/certificates/latest-active-bundle"))

    def read(self, response: Response) -> LatestBundle:
        """Return the bundle, empty where there is none."""
        return decode(response, LatestBundle)


@dataclass(frozen=True, slots=True)
class RevealAcmeBinding(_OfProfile, Operation[AcmeBinding]):
    """Return what an ACME client needs to make an account for a profile."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path("/acme/eab-secret/reveal"))

    def read(self, response: Response) -> AcmeBinding:
        """Return the binding."""
        return decode(response, AcmeBinding)
