"""What is done about a request, as a function of it, its profile, the service's answers and the instant. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from keybearer.base.certificate_terms import CertificateStatus, KeyUsage, RequestStatus
from keybearer.client import BasicConstraints, CertificateAttributes, ProfileDefaults
from keybearer.controllers.issuance.service import Order, PresentProfile, RequestState
from keybearer.controllers.signers.asked import Approval, Asked, Requester
from keybearer.controllers.signers.usages import Usages
from keybearer.controllers.signers.verdict import End, Verdict
from keybearer.kube.resources import (
    CERTIFICATE_SIGNING_REQUESTS,
    POD_CERTIFICATE_REQUESTS,
    ObjectKey,
)

__all__ = [
    "CLUSTER_MARK",
    "REQUEST_MARK",
    "Admit",
    "Await",
    "Fetch",
    "LeaveAlone",
    "ProfileView",
    "Review",
    "build_order",
    "first_step",
    "gone",
    "judge_profile",
    "judge_request",
    "judge_view",
    "known_request",
    "marks_of",
    "needs_profile",
    "not_allowed",
    "not_conformant",
    "refused",
    "refused_by_service",
    "usage_gap",
]

_DEFAULT_LIFETIME: Final = timedelta(days=90)
"""Where neither request nor profile says anything: what cert-manager means by no duration (const.go)."""
CLUSTER_MARK: Final = "keybearer.dev/cluster"
REQUEST_MARK: Final = "keybearer.dev/request"
"""Metadata of a request in the service: the cluster, and the UID of the object in it that asks."""

_HOUR: Final = timedelta(hours=1)
_BACKDATED: Final = timedelta(minutes=1)
"""How far before now a certificate with exact bounds begins; for a pod's the API server allows 5 minutes."""
_DENIED_TO_PODS: Final = frozenset(
    {"InvalidUnverifiedUserAnnotations", "UnsupportedKeyType", "ForeignNamespace"}
)
_SIGNING: Final = frozenset({KeyUsage.KEY_CERT_SIGN, KeyUsage.CRL_SIGN})


@dataclass(frozen=True, slots=True)
class ProfileView:
    """A CertificateProfile, as far as signers care.

    Attributes:
        key: its key.
        service_id: of the profile in the service; None until its own reconcile has found or made it.
        mode: what it does with what it planned.
        issues: False while the mode holds everything back.
        deleting: it is on its way out.
        application_id: for which application certificates are issued.
    """

    key: ObjectKey
    service_id: str | None
    mode: str = "Apply"
    issues: bool = True
    deleting: bool = False
    application_id: str | None = None


@dataclass(frozen=True, slots=True)
class LeaveAlone:
    """There is nothing to do until somebody else acts; the watch tells when."""


@dataclass(frozen=True, slots=True)
class Review:
    """Sign only if the requester may use the profile."""

    requester: Requester


@dataclass(frozen=True, slots=True)
class Admit:
    """Sign: nothing in the cluster stands against it."""


@dataclass(frozen=True, slots=True)
class Await:
    """The service hasn't decided yet."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Fetch:
    """The certificate is there."""

    certificate_id: str


def first_step(asked: Asked) -> LeaveAlone | Review | Admit | Verdict:
    """Return whether the request may be signed at all, whatever its profile is like.

    What is found out about the profile comes after it: who may not use it learns nothing of it, not even whether it
    exists.
    """
    if asked.approval is Approval.DENIED:
        return Verdict(End.DENIED, "Denied", "the request was denied by who approves; nothing is signed")
    if asked.kind == POD_CERTIFICATE_REQUESTS.kind and asked.object.namespace != asked.profile.namespace:
        return refused(
            asked,
            "ForeignNamespace",
            f"CertificateProfile {asked.profile} signs for pods of its own namespace only; name a profile of "
            f"namespace {asked.object.namespace} in signerName",
        )
    if asked.approval is Approval.AWAITED:
        return LeaveAlone()
    if asked.flaw is not None:
        return refused(asked, asked.flaw.reason, asked.flaw.message)
    if asked.usages.unknown:
        words = ", ".join(repr(word[:64]) for word in asked.usages.unknown[:8])
        return refused(
            asked, "UsagesUnsupported", f"the service issues no certificates for the usages {words}"
        )
    return Review(asked.requester) if asked.requester is not None else Admit()


def not_allowed(asked: Asked, requester: Requester) -> Verdict:
    """Return what is told of a request whose maker may not use the profile."""
    return refused(
        asked,
        "SignNotAllowed",
        f"user {requester.username!r} may not use CertificateProfile {asked.profile}: grant the verb sign on "
        "certificateprofiles.keybearer.dev of that name, and make the request anew",
    )


def judge_profile(asked: Asked, profile: PresentProfile) -> Verdict | None:
    """Return why the service's profile can't serve the request, or None."""
    defaults = profile.defaults
    has_names = defaults is not None and (defaults.common_name or defaults.subject_alt_names)
    if asked.kind == POD_CERTIFICATE_REQUESTS.kind and not has_names:
        return refused(
            asked,
            "NoNames",
            f"a pod's request has no names, and CertificateProfile {asked.profile} has none for it: give the profile "
            "defaults.commonName or defaults.subjectAltNames",
        )
    return None


def marks_of(asked: Asked, cluster_id: str) -> Mapping[str, str]:
    """Return the metadata by which the request is found in the service, whatever became of us meanwhile."""
    return {CLUSTER_MARK: cluster_id, REQUEST_MARK: asked.uid}


def needs_profile(asked: Asked) -> bool:
    """Tell whether the request can't be ordered without knowing what the profile adds to it."""
    return asked.kind == POD_CERTIFICATE_REQUESTS.kind or asked.lifetime is None


def build_order(
    asked: Asked,
    view: ProfileView,
    defaults: ProfileDefaults | None,
    marks: Mapping[str, str],
    now: datetime,
) -> Order:
    """Return what the service is asked for.

    Whole hours are asked for as a duration, which counts from the issuance, so that an approval that takes its time
    shortens nothing. All else needs exact bounds, and so does a pod's certificate: the API server compares its bounds
    with the request to the second.

    Args:
        asked: the request.
        view: the profile.
        defaults: of the service's profile; None where they aren't needed.
        marks: see `marks_of`.
        now: the instant.
    """
    is_pod = asked.kind == POD_CERTIFICATE_REQUESTS.kind
    lifetime = asked.lifetime or _default_lifetime(defaults)
    if is_pod and defaults is not None and defaults.ttl_days:
        # A pod says how long it may be at most, and mostly the API server said it: the profile knows better.
        lifetime = min(lifetime, timedelta(days=defaults.ttl_days))
    is_exact = is_pod or bool(lifetime % _HOUR)
    begin = now.replace(microsecond=0) - _BACKDATED
    attributes = CertificateAttributes(
        ttl=None if is_exact else lifetime,
        not_before=begin if is_exact else None,
        not_after=begin + lifetime if is_exact else None,
        basic_constraints=BasicConstraints(is_ca=True) if asked.is_ca else None,
    )
    return Order(
        profile_id=view.service_id or "",
        application_id=view.application_id,
        csr=asked.csr_pem,
        attributes=attributes,
        metadata=marks,
    )


def known_request(found: Sequence[RequestState]) -> RequestState | None:
    """Return which of the requests with our marks counts: one that was issued, else the newest."""
    issued = (one for one in found if one.status is RequestStatus.ISSUED)
    return next(issued, found[0] if found else None)


def judge_request(asked: Asked, found: RequestState) -> Fetch | Await | Verdict:
    """Return what the state of the service's request leads to."""
    what = f"request {found.id} of the service"
    told = f": {found.message}" if found.message else ""
    if found.certificate_status is CertificateStatus.REVOKED:
        return refused(
            asked, "RequestFailed", f"the certificate of {what} was revoked before it was handed over"
        )
    match found.status:
        case RequestStatus.ISSUED if found.certificate_id is not None:
            return Fetch(found.certificate_id)
        case RequestStatus.FAILED | RequestStatus.ISSUED:
            return refused(asked, "RequestFailed", f"{what} failed{told}")
        case RequestStatus.REJECTED:
            return refused(asked, "RequestRejected", f"{what} was rejected{told}")
        case RequestStatus.PENDING_APPROVAL:
            return Await(Verdict(End.PENDING, "PendingApproval", f"{what} waits for approval{told}"))
        case RequestStatus.PENDING_VALIDATION:
            text = f"{what} waits until the authority has seen that the names are yours{told}"
            return Await(Verdict(End.PENDING, "PendingValidation", text))
        case RequestStatus.PENDING:
            return Await(Verdict(End.PENDING, "Pending", f"{what} waits for the authority{told}"))


def refused_by_service(asked: Asked, message: str) -> Verdict:
    """Return what is told of a request that the service didn't take."""
    return refused(asked, "RequestRefused", message)


def not_conformant(asked: Asked, message: str) -> Verdict:
    """Return what is told of a request whose certificate is not handed over."""
    return refused(asked, "NotConformant", message)


def gone(asked: Asked, found: RequestState) -> Verdict:
    """Return what is told of a request whose certificate the service no longer has."""
    return refused(asked, "RequestFailed", f"the certificate of request {found.id} of the service is gone")


def usage_gap(asked: Asked, issued: Usages) -> str | None:
    """Return in which usages a certificate isn't what was asked for, or None.

    Kubernetes approves a request with its usages, so a certificate has all of them and is good for nothing else.
    With cert-manager usages are a wish: more is fine. Pods can't ask for any. Nobody gets to sign certificates who
    didn't ask for it.
    """
    wanted = asked.usages
    missing = [*sorted(wanted.key - issued.key), *sorted(wanted.extended - issued.extended)]
    surplus = issued.key & _SIGNING - wanted.key
    extra: list[str] = []
    if asked.kind == CERTIFICATE_SIGNING_REQUESTS.kind:
        surplus |= issued.key - wanted.key if wanted.key else frozenset()
        extra = [*sorted(issued.extended - wanted.extended), *issued.unknown]
    extra = [*sorted(surplus), *extra]
    parts = [f"lacks {', '.join(missing)}"] if missing else []
    parts += [f"has {', '.join(extra)}, which nobody asked for"] if extra else []
    return " and ".join(parts) or None


def judge_view(asked: Asked, profile: ProfileView | None) -> Verdict | None:
    """Return why the profile can't sign at present, or None.

    Args:
        asked: the request.
        profile: the profile it names; None where there is none.
    """
    if profile is None or profile.deleting:
        state = "doesn't exist" if profile is None else "is being deleted"
        return Verdict(End.PENDING, "ProfileNotFound", f"CertificateProfile {asked.profile} {state}")
    if not profile.issues:
        text = f"CertificateProfile {asked.profile} has mode {profile.mode} and issues nothing"
        return Verdict(End.PENDING, f"Profile{profile.mode}", text)
    if profile.service_id is None:
        text = f"CertificateProfile {asked.profile} isn't there in the service yet; its conditions say why"
        return Verdict(End.PENDING, "ProfileNotReady", text)
    return None


def _default_lifetime(defaults: ProfileDefaults | None) -> timedelta:
    days = defaults.ttl_days if defaults is not None else None
    return timedelta(days=days) if days else _DEFAULT_LIFETIME


def refused(asked: Asked, reason: str, message: str) -> Verdict:
    """Kubernetes knows denials of pods' requests by the signer; elsewhere only who approves denies."""
    is_denial = asked.kind == POD_CERTIFICATE_REQUESTS.kind and reason in _DENIED_TO_PODS
    return Verdict(End.DENIED if is_denial else End.FAILED, reason, message)
