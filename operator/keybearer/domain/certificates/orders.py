"""Orders: certificates that were asked for, decided about before anything is signed or stored, and what is stored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from keybearer.base.certificate_terms import AuthorityKind, EnrollmentType, IssuerType, RequestStatus
from keybearer.base.ids import ProjectId, new_uuid
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Principal
from keybearer.domain.certificates.asked import Asked
from keybearer.domain.certificates.signing import Signed, shown_subject
from keybearer.domain.errors import InvalidError
from keybearer.pki.keys import PrivateKey, PublicKey
from keybearer.store.audit import AuditActor, AuditEvent
from keybearer.store.certificate_approvals import ApprovalPolicy, ApprovalRequest
from keybearer.store.certificate_profiles import IssuingProfile
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.certificates import Certificate
from keybearer.store.unit import UnitOfWork
from keybearer.wire.certificates.approvals import ApprovalStatus

__all__ = [
    "Order",
    "Requester",
    "Ties",
    "approval_for",
    "approval_of",
    "certificate_of_order",
    "note_renewal",
    "recorded",
    "renewal_time",
    "request_event",
    "request_of_order",
    "require_api_enrollment",
    "require_renewable",
]

_WAITS_FOR_APPROVAL = "The certificate request waits for approval"
_WAITS_FOR_AUTHORITY = "The certificate was ordered from an external certificate authority"
_RENEWAL_SHARE = 3
"""A certificate renews by itself when a third of its lifetime is left, unless it is said how many days before."""
_RENEWAL_DAYS_MAX = 30


@dataclass(frozen=True, slots=True)
class Requester:
    """Who asks; None where the service does by itself."""

    id: str | None
    name: str

    @classmethod
    def of(cls, principal: Principal) -> Requester:
        """Return who a principal is."""
        return cls(principal.identity_id, principal.name)


@dataclass(frozen=True, slots=True)
class Order:
    """A certificate that was asked for.

    Attributes:
        key: the public one where a signing request was given, else the one that the service made.
        csr: the signing request, PEM.
        auto_renewal: whether it renews by itself; how many days before its end, where that was said.
        renews: the certificate that it is to replace.
    """

    profile: IssuingProfile
    asked: Asked
    requester: Requester
    key: PublicKey | PrivateKey = field(repr=False)
    csr: str | None = None
    application_id: str | None = None
    remove_roots_from_chain: bool = False
    metadata: tuple[tuple[str, str], ...] = ()
    auto_renewal: bool = False
    renew_before_days: int | None = None
    renews: Certificate | None = None

    @property
    def private_key(self) -> PrivateKey | None:
        """The key that the service made."""
        return self.key if isinstance(self.key, PrivateKey) else None

    @property
    def approval(self) -> ApprovalPolicy | None:
        """Whose agreement it needs."""
        return approval_for(self.profile, self.requester)

    @property
    def is_external(self) -> bool:
        """Whether an authority elsewhere is to sign."""
        authority = self.profile.authority
        return authority is not None and authority.kind != AuthorityKind.INTERNAL


@dataclass(frozen=True, slots=True)
class Ties:
    """What a certificate belongs to, when it renews by itself, and which one it takes the place of."""

    profile_id: str | None = None
    application_id: str | None = None
    subscriber_id: str | None = None
    authority_id: str | None = None
    renew_before_days: int | None = None
    renew_at: datetime | None = None
    renewed_from_id: str | None = None


def approval_for(profile: IssuingProfile, requester: Requester) -> ApprovalPolicy | None:
    """Return whose agreement a request of the profile needs, None where it needs none."""
    policy = profile.approval
    if policy is None or not policy.is_enabled or requester.id in policy.bypass_identity_ids:
        return None
    return policy


def require_api_enrollment(profile: IssuingProfile) -> None:
    """Let pass a profile whose certificates are asked for over the API.

    Raises:
        InvalidError: they are asked for in another way.
    """
    kind = profile.profile.enrollment_type
    if kind != EnrollmentType.API:
        raise InvalidError(
            f"Certificate profile {profile.profile.slug} is set to {kind.upper()} enrollment, which this service "
            "doesn't serve: set its enrollmentType to api to issue certificates"
        )


def request_of_order(
    order: Order, status: RequestStatus, now: datetime, certificate_id: str | None = None
) -> CertificateRequest:
    """Return the request of an order that begins in this state."""
    waits = {
        RequestStatus.PENDING_APPROVAL: _WAITS_FOR_APPROVAL,
        RequestStatus.PENDING: _WAITS_FOR_AUTHORITY,
    }
    return CertificateRequest(
        id=new_uuid(),
        project_id=order.profile.profile.project_id,
        profile_id=order.profile.profile.id,
        application_id=order.application_id,
        authority_id=order.profile.profile.authority_id,
        certificate_id=certificate_id,
        renews_id=None if order.renews is None else order.renews.id,
        status=status.value,
        common_name=order.asked.subject.common_name,
        alt_names=order.asked.alt_names,
        asked=order.asked.written(),
        csr=order.csr,
        remove_roots_from_chain=order.remove_roots_from_chain,
        requested_by=order.requester.id,
        requester_name=order.requester.name,
        error_message=None,
        pending_message=waits.get(status),
        order_state=None,
        attempt=0,
        due_at=now if status is RequestStatus.PENDING else None,
        claimed_by=None,
        lease_ends_at=None,
        created_at=now,
        updated_at=now,
    )


def approval_of(policy: ApprovalPolicy, request: CertificateRequest, now: datetime) -> ApprovalRequest:
    """Return what a request waits for, on the policy's terms of now."""
    ttl = policy.request_ttl
    return ApprovalRequest(
        id=new_uuid(),
        project_id=request.project_id,
        request_id=request.id,
        policy_id=policy.id,
        status=ApprovalStatus.PENDING.value,
        required_approvals=policy.required_approvals,
        approver_ids=policy.approver_ids,
        allow_self_approval=policy.allow_self_approval,
        expires_at=None if ttl is None else now + timedelta(seconds=ttl),
        closed_at=None,
        created_at=now,
        updated_at=now,
    )


def certificate_of_order(order: Order, signed: Signed, now: datetime) -> Certificate:
    """Return what is stored of a certificate that was signed for an order."""
    profile = order.profile.profile
    is_self_signed = profile.issuer_type == IssuerType.SELF_SIGNED
    renews = order.auto_renewal and order.private_key is not None
    ties = Ties(
        profile_id=profile.id,
        application_id=order.application_id,
        authority_id=None if is_self_signed else profile.authority_id,
        renew_before_days=order.renew_before_days if renews else None,
        renew_at=renewal_time(signed.not_before, signed.not_after, order.renew_before_days)
        if renews
        else None,
        renewed_from_id=None if order.renews is None else order.renews.id,
    )
    return recorded(order.asked, signed, profile.project_id, now, ties)


def recorded(asked: Asked, signed: Signed, project_id: ProjectId, now: datetime, ties: Ties) -> Certificate:
    """Return what is stored of a certificate, whoever it is for."""
    common_name = asked.subject.common_name or ""
    return Certificate(
        id=new_uuid(),
        project_id=project_id,
        profile_id=ties.profile_id,
        application_id=ties.application_id,
        subscriber_id=ties.subscriber_id,
        authority_id=ties.authority_id,
        authority_certificate_id=signed.authority_certificate_id,
        serial_number=signed.serial_number,
        fingerprint=signed.fingerprint,
        public_key_fingerprint=signed.public_key.fingerprint,
        common_name=common_name,
        alt_names=asked.alt_names or "",
        friendly_name=common_name or (asked.alternative_names[0].value if asked.alternative_names else ""),
        subject=shown_subject(asked.subject),
        key_usages=tuple(sorted(asked.key_usages or ())),
        extended_key_usages=tuple(asked.extended_key_usages or ()),
        key_algorithm=signed.public_key.algorithm.value,
        signature_algorithm=signed.signature_algorithm.value,
        is_ca=asked.is_ca,
        path_length=asked.path_length,
        not_before=signed.not_before,
        not_after=signed.not_after,
        certificate=signed.certificate,
        chain=signed.chain,
        is_revoked=False,
        revoked_at=None,
        revocation_reason=None,
        renew_before_days=ties.renew_before_days,
        renew_at=ties.renew_at,
        renewed_from_id=ties.renewed_from_id,
        renewed_by_id=None,
        created_at=now,
        updated_at=now,
    )


def renewal_time(not_before: datetime, not_after: datetime, days: int | None) -> datetime:
    """Return when a certificate renews by itself: not before half of its life is over."""
    lifetime = not_after - not_before
    share = min(lifetime / _RENEWAL_SHARE, timedelta(days=_RENEWAL_DAYS_MAX))
    before = share if days is None else timedelta(days=days)
    return not_after - min(before, lifetime / 2)


def require_renewable(certificate: Certificate) -> None:
    """Let pass a certificate in whose place another one may be issued.

    Raises:
        InvalidError: it was revoked, or renewed before.
    """
    if certificate.is_revoked:
        raise InvalidError("A revoked certificate can't be renewed: issue a new one")
    if certificate.renewed_by_id is not None:
        raise InvalidError(f"The certificate was renewed before, by certificate {certificate.renewed_by_id}")


async def note_renewal(unit: UnitOfWork, renewed: Certificate | None, by: Certificate) -> None:
    """Note beside the certificate that was renewed which one took its place; it isn't renewed again by itself.

    Raises:
        InvalidError: it was renewed or revoked meanwhile.
    """
    fresh = None if renewed is None else await unit.certificates.get(renewed.id, for_change=True)
    if fresh is not None:
        require_renewable(fresh)
        await unit.certificates.update(
            replace(fresh, renewed_by_id=by.id, renew_at=None, updated_at=by.created_at)
        )


def request_event(
    by: Principal | AuditActor,
    event: EventType,
    request: CertificateRequest,
    certificate: Certificate | None = None,
) -> AuditEvent:
    """Return what the audit log says of something that was done with a request."""
    return audited(
        by,
        event,
        request.project_id,
        certificateRequestId=request.id,
        status=request.status,
        profileId=request.profile_id,
        commonName=request.common_name,
        altNames=request.alt_names,
        certificateId=None if certificate is None else certificate.id,
        serialNumber=None if certificate is None else certificate.serial_number,
        **({} if request.error_message is None else {"errorMessage": request.error_message}),
    )
