"""What issuing needs of the service: a small protocol of the operator's own, and what it speaks in.

Reconcilers and signers know the service by this alone; `certificateprofile.remote` joins it to the client.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

from keybearer.base.certificate_terms import CertificateStatus, IssuerType, RequestStatus, RevocationReason
from keybearer.client import CertificateAttributes, CertificatePolicy, ProfileDefaults

__all__ = [
    "REQUEST_REFUSED",
    "CertificateService",
    "DescribedProfile",
    "IssuedCertificate",
    "OpenedService",
    "Order",
    "OrderAnswer",
    "PresentProfile",
    "RequestState",
    "WhichOne",
]

REQUEST_REFUSED: Final = "RequestRefused"
"""The reason of the StalledError by which `issue` says that the service takes no such request."""


@dataclass(frozen=True, slots=True)
class WhichOne:
    """Something of the service, by its name or its id: exactly one of both."""

    name: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class DescribedProfile:
    """A profile as a manifest describes it.

    Attributes:
        description: with the mark of who manages it.
        defaults: what certificates say where a request doesn't; None for nothing.
    """

    slug: str
    policy_id: str
    ca_id: str | None
    issuer_type: IssuerType
    description: str | None
    defaults: ProfileDefaults | None
    project_id: str | None


@dataclass(frozen=True, slots=True)
class PresentProfile:
    """A profile as the service shows it."""

    id: str
    slug: str
    policy_id: str
    ca_id: str | None
    issuer_type: IssuerType
    description: str | None
    defaults: ProfileDefaults | None


@dataclass(frozen=True, slots=True)
class Order:
    """A certificate that is asked for (interface.md section 4.5).

    Attributes:
        attributes: beside a csr only how long it is valid.
        csr: PEM; None where the service makes the key.
        metadata: by which the request is found again.
    """

    profile_id: str
    application_id: str | None
    csr: str | None
    attributes: CertificateAttributes
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RequestState:
    """A request as the service has it (interface.md section 2.5)."""

    id: str
    status: RequestStatus
    message: str | None = None
    certificate_id: str | None = None
    certificate_status: CertificateStatus | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class IssuedCertificate:
    """What was issued, as PEM, not judged yet.

    Attributes:
        chain: the certificates above it, in whatever order; empty where there are none.
        private_key: where the service made it, and lets us have it.
    """

    certificate_id: str
    certificate: str
    chain: str
    private_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class OrderAnswer:
    """The answer to an order: how far it is, and what was issued if it was at once."""

    request: RequestState
    issued: IssuedCertificate | None = None


@dataclass(frozen=True, slots=True)
class OpenedService:
    """The service as the identity of a profile sees it, and in which project.

    Attributes:
        project_id: of the project that the spec names; None where it names none.
    """

    service: CertificateService
    project_id: str | None


class CertificateService(Protocol):
    """The service as one identity sees it.

    Each of these raises a ReconcileError where the service refuses or can't be asked: StalledError where a person
    must change something, WaitingError where it may come right by itself, so that it isn't known what became of it.
    """

    @property
    def clock_ahead(self) -> timedelta | None:
        """By how much the service's clock is ahead of ours; None where it has not answered yet."""
        ...

    async def find_profile(
        self, *, profile_id: str | None, slug: str, project_id: str | None
    ) -> PresentProfile | None:
        """Return the profile of the id, where it is there still, else the one of the slug, or None."""
        ...

    async def policy_id(self, which: WhichOne, project_id: str | None) -> str | None:
        """Return the id of a policy, or None where there is none."""
        ...

    async def authority_id(self, which: WhichOne, project_id: str | None) -> str | None:
        """Return the id of an authority, or None where there is none."""
        ...

    async def policy(self, policy_id: str) -> CertificatePolicy | None:
        """Return a policy, or None where it can't be seen."""
        ...

    async def authority_chain(self, ca_id: str) -> str | None:
        """Return an authority's certificate and those above it as PEM; None where they can't be seen."""
        ...

    async def create_profile(self, described: DescribedProfile) -> PresentProfile:
        """Create a profile."""
        ...

    async def update_profile(self, profile_id: str, described: DescribedProfile) -> PresentProfile:
        """Change a profile's slug, description and defaults."""
        ...

    async def delete_profile(self, profile_id: str) -> None:
        """Delete a profile; it may be gone already."""
        ...

    async def issue(self, order: Order) -> OrderAnswer:
        """Ask for a certificate; the reason is `REQUEST_REFUSED` where the service takes no such request."""
        ...

    async def requests_of(
        self,
        metadata: Mapping[str, str],
        profile_id: str | None,
        project_id: str | None,
        wanted: Collection[str] | None = None,
    ) -> Sequence[RequestState]:
        """Return the requests that have this metadata, the newest first: all, or until the wanted ids are found.

        They are those of a profile, or of all (None).
        """
        ...

    async def ends_of(self, profile_id: str, *, issued_before: datetime) -> Sequence[datetime] | None:
        """Return when those of the profile's valid certificates end that were issued until then.

        None where the identity may not see them, or they are too many to look at.
        """
        ...

    async def bundle(self, certificate_id: str) -> IssuedCertificate | None:
        """Return a certificate with its chain, and its key where the service has it; None where it is gone."""
        ...

    async def revocation_reason(self, certificate_id: str) -> RevocationReason | None:
        """Return why a certificate was revoked; None where it wasn't, is gone, or nobody says."""
        ...

    async def revoke(self, certificate_id: str, reason: RevocationReason) -> None:
        """Revoke a certificate; it may be gone, or revoked already."""
        ...

    async def cancel(self, request_id: str) -> None:
        """Cancel a request; it may be gone, or have ended already."""
        ...
