"""The service as one identity sees it, through the client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from keybearer.base.certificate_terms import CertificateStatus, IssuerType, RequestStatus, RevocationReason
from keybearer.base.clock import parse_instant
from keybearer.client import (
    AsyncKeybearer,
    CertificateMetadata,
    CertificatePolicy,
    CertificateProfile,
    CertificateRequest,
    NotFound,
    ProfileDefaults,
)
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.issuance.service import (
    REQUEST_REFUSED,
    DescribedProfile,
    IssuedCertificate,
    Order,
    OrderAnswer,
    PresentProfile,
    RequestState,
    WhichOne,
)
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.service_session import ServiceSession

__all__ = ["RemoteCertificates"]

_T = TypeVar("_T")

_NO_DEFAULTS = ProfileDefaults()

_PAGE = 100
_LISTED_MAX = 20 * _PAGE
_SETTLED_WORDS = ("already", "revoked")
"""What a refusal to revoke says of a certificate that is revoked (wire.md section 5.3: 400)."""


class RemoteCertificates:
    """Asks for certificates and manages profiles through a session; see `CertificateService`."""

    def __init__(self, session: ServiceSession) -> None:
        self._session = session

    @property
    def clock_ahead(self) -> timedelta | None:
        """By how much the service's clock is ahead of ours; None where it has not answered yet."""
        return self._session.clock_ahead

    async def find_profile(
        self, *, profile_id: str | None, slug: str, project_id: str | None
    ) -> PresentProfile | None:
        """Return the profile of the id, where it is there still, else the one of the slug, or None."""
        what = f"look up profile {slug}"
        if profile_id is not None:
            found = await self._known(lambda client: client.certificate_profiles.get(profile_id), what)
            if found is not None:
                return _present(found)
        found = await self._known(
            lambda client: client.certificate_profiles.get_by_slug(slug, project_id=project_id), what
        )
        return None if found is None else _present(found)

    async def policy_id(self, which: WhichOne, project_id: str | None) -> str | None:
        """Return the id of a policy, or None where there is none."""
        if which.name is None:
            return which.id
        name = which.name
        found = await self._known(
            lambda client: client.certificate_policies.find(name, project_id=project_id),
            f"look up policy {name}",
        )
        return None if found is None else found.id

    async def authority_id(self, which: WhichOne, project_id: str | None) -> str | None:
        """Return the id of an authority, or None where there is none."""
        if which.name is None:
            return which.id
        name = which.name
        found = await self._known(
            lambda client: client.certificate_authorities.find(name, project_id=project_id),
            f"look up authority {name}",
        )
        return None if found is None else found.id

    async def policy(self, policy_id: str) -> CertificatePolicy | None:
        """Return a policy, or None where it can't be seen."""
        return await self._seen(
            lambda client: client.certificate_policies.get(policy_id), f"read policy {policy_id}"
        )

    async def authority_chain(self, ca_id: str) -> str | None:
        """Return an authority's certificate and those above it as PEM; None where they can't be seen."""
        found = await self._seen(
            lambda client: client.certificate_authorities.get_certificate(ca_id),
            f"read the certificate of authority {ca_id}",
        )
        return None if found is None else _joined(found.certificate, found.certificate_chain)

    async def create_profile(self, described: DescribedProfile) -> PresentProfile:
        """Create a profile."""
        return _present(
            await self._perform(
                lambda client: client.certificate_profiles.create(
                    described.slug,
                    policy_id=described.policy_id,
                    ca_id=described.ca_id,
                    issuer_type=described.issuer_type.value,
                    description=described.description,
                    defaults=described.defaults,
                    project_id=described.project_id,
                ),
                f"create profile {described.slug}",
                Reason.PROFILE_REFUSED,
                many=True,
            )
        )

    async def update_profile(self, profile_id: str, described: DescribedProfile) -> PresentProfile:
        """Change a profile's slug, description and defaults; those that are described no more are taken away."""
        return _present(
            await self._perform(
                lambda client: client.certificate_profiles.update(
                    profile_id,
                    slug=described.slug,
                    description=described.description,
                    defaults=described.defaults or _NO_DEFAULTS,  # None would let them stay
                ),
                f"change profile {described.slug}",
                Reason.PROFILE_REFUSED,
            )
        )

    async def delete_profile(self, profile_id: str) -> None:
        """Delete a profile; it may be gone already."""
        await self._known(
            lambda client: client.certificate_profiles.delete(profile_id), f"delete profile {profile_id}"
        )

    async def issue(self, order: Order) -> OrderAnswer:
        """Ask for a certificate."""
        try:
            answer = await self._perform(
                lambda client: client.certificates.issue(
                    order.profile_id,
                    csr=order.csr,
                    attributes=order.attributes,
                    application_id=order.application_id,
                    metadata=_metadata(order.metadata),
                ),
                "issue a certificate",
                REQUEST_REFUSED,
                many=True,
            )
        except NotFound as error:
            message = f"the service can't issue a certificate: {error.message}"
            raise StalledError(REQUEST_REFUSED, message) from None
        issued = answer.certificate
        state = RequestState(
            id=answer.certificate_request_id,
            # Older servers leave it out where the certificate came at once.
            status=_status(answer.status or ("issued" if issued is not None else "pending")),
            message=answer.message or None,
            certificate_id=None if issued is None else issued.certificate_id,
        )
        if issued is None:
            return OrderAnswer(state)
        chain = _joined(issued.certificate_chain, issued.issuing_ca_certificate)
        return OrderAnswer(
            state,
            IssuedCertificate(issued.certificate_id, issued.certificate, chain, issued.private_key),
        )

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
        found: list[RequestState] = []
        missing = None if wanted is None else set(wanted)
        while True:
            offset = len(found)
            page = await self._session.perform(
                lambda client: client.certificate_requests.search(
                    project_id=project_id,
                    profile_ids=() if profile_id is None else (profile_id,),
                    metadata=_metadata(metadata),
                    offset=offset,  # noqa: B023 - called before the loop goes on
                    limit=_PAGE,
                ),
                "look for requests of certificates",
            )
            found += map(_state, page.certificate_requests)
            if missing is not None:
                missing -= {one.id for one in page.certificate_requests}
            if missing == set() or not page.certificate_requests or len(found) >= page.total_count:
                return found

    async def ends_of(self, profile_id: str, *, issued_before: datetime) -> Sequence[datetime] | None:
        """Return when those of the profile's valid certificates end that were issued until then.

        None where the identity may not see them, or they are too many to look at.
        """
        ends: list[datetime] = []
        for offset in range(0, _LISTED_MAX, _PAGE):
            page = await self._seen(
                lambda client: client.certificate_profiles.list_certificates(
                    profile_id,
                    offset=offset,  # noqa: B023 - called before the loop goes on
                    limit=_PAGE,
                    status=CertificateStatus.ACTIVE.value,
                ),
                "list the certificates of the profile",
            )
            if page is None:
                return None
            ends += [
                parse_instant(one.not_after)
                for one in page.certificates
                if one.not_after and (not one.created_at or parse_instant(one.created_at) <= issued_before)
            ]
            total = page.total_count
            if len(page.certificates) < _PAGE or (total is not None and offset + _PAGE >= total):
                return ends
        return None

    async def bundle(self, certificate_id: str) -> IssuedCertificate | None:
        """Return a certificate with its chain, and its key where the service has it; None where it is gone."""
        found = await self._known(
            lambda client: client.certificates.get_bundle(certificate_id),
            f"read certificate {certificate_id}",
            many=True,
        )
        if found is None:
            return None
        return IssuedCertificate(
            certificate_id, found.certificate, found.certificate_chain or "", found.private_key
        )

    async def revocation_reason(self, certificate_id: str) -> RevocationReason | None:
        """Return why a certificate was revoked; None where it wasn't, is gone, or nobody says."""
        found = await self._known(
            lambda client: client.certificates.get(certificate_id), f"read certificate {certificate_id}"
        )
        said = None if found is None else found.revocation_reason
        return RevocationReason(said) if said in tuple(RevocationReason) else None

    async def revoke(self, certificate_id: str, reason: RevocationReason) -> None:
        """Revoke a certificate; it may be gone, or revoked already."""
        try:
            await self._known(
                lambda client: client.certificates.revoke(certificate_id, reason=reason.value),
                f"revoke certificate {certificate_id}",
            )
        except StalledError as error:
            if not all(word in error.message.lower() for word in _SETTLED_WORDS):
                raise

    async def cancel(self, request_id: str) -> None:
        """Cancel a request; it may be gone, or have ended already."""
        try:
            await self._known(
                lambda client: client.certificate_requests.cancel(request_id), f"cancel request {request_id}"
            )
        except StalledError as error:
            if error.reason != "ServiceRefused":
                raise

    async def _known(
        self, act: Callable[[AsyncKeybearer], Awaitable[_T]], what: str, *, many: bool = False
    ) -> _T | None:
        try:
            return await self._session.perform(act, what, many=many)
        except NotFound:
            return None

    async def _seen(self, act: Callable[[AsyncKeybearer], Awaitable[_T]], what: str) -> _T | None:
        """Return what is there and may be read; what can't be isn't missed."""
        try:
            return await self._known(act, what)
        except StalledError as error:
            if error.reason != "PermissionDenied":
                raise
            return None

    async def _perform(
        self,
        act: Callable[[AsyncKeybearer], Awaitable[_T]],
        what: str,
        reason: str,
        *,
        many: bool = False,
    ) -> _T:
        try:
            return await self._session.perform(act, what, many=many)
        except StalledError as error:
            if error.reason == "ServiceRefused":
                raise StalledError(reason, error.message) from error
            raise


def _metadata(given: Mapping[str, str]) -> list[CertificateMetadata]:
    return [CertificateMetadata(key=key, value=value) for key, value in given.items()]


def _present(found: CertificateProfile) -> PresentProfile:
    return PresentProfile(
        id=found.id,
        slug=found.slug,
        policy_id=found.certificate_policy_id,
        ca_id=found.ca_id,
        issuer_type=IssuerType.SELF_SIGNED
        if found.issuer_type == IssuerType.SELF_SIGNED.value
        else IssuerType.CA,
        description=found.description or None,
        defaults=found.defaults,
    )


def _state(found: CertificateRequest) -> RequestState:
    certificate = found.certificate
    return RequestState(
        id=found.id,
        status=_status(found.status),
        message=found.error_message or found.pending_message,
        certificate_id=found.certificate_id or (None if certificate is None else certificate.id),
        certificate_status=_certificate_status(None if certificate is None else certificate.status),
        created_at=parse_instant(found.created_at) if found.created_at else None,
    )


def _status(word: str) -> RequestStatus:
    try:
        return RequestStatus(word)
    except ValueError:
        # A newer service may know more: whatever it is, it isn't final to us.
        return RequestStatus.PENDING


def _certificate_status(word: str | None) -> CertificateStatus | None:
    return CertificateStatus(word) if word in tuple(CertificateStatus) else None


def _joined(*texts: str | None) -> str:
    return "".join(f"{text.strip()}\n" for text in texts if text)
