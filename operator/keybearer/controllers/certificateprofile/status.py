"""The status of a CertificateProfile: what was asked for, what came of it, and when it is renewed. No keys, ever."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.custom_resource import Condition, ResourceModel, StatusModel
from keybearer.controllers.effect_budget import LEDGER_MAX, Spent
from keybearer.controllers.resource_fields import Clipped, Instant
from keybearer.controllers.target.status import WorkloadStatuses

__all__ = [
    "AUTHORITIES_MAX",
    "REVOCATIONS_MAX",
    "VIOLATIONS_MAX",
    "AuthorityStatus",
    "CertificateProfileStatus",
    "CertificateRequestStatus",
    "FormerAuthority",
    "LostKeys",
    "Need",
    "PlannedCertificate",
    "ProfileStatus",
    "Revocation",
    "Wave",
]

_REQUESTS_MAX = 200
REVOCATIONS_MAX = 400
AUTHORITIES_MAX = 8
"""Of those in `ca.crt`, and again of those that a trust bundle holds besides."""
VIOLATIONS_MAX = 32
"""Of each certificate that `mode: Plan` shows."""

_Id = Annotated[str, Field(max_length=64)]
_Digest = Annotated[str, Field(max_length=128)]


class Need(StrEnum):
    """Why a certificate is asked for."""

    FIRST = "First"
    SPEC_CHANGED = "SpecChanged"
    RENEWAL = "Renewal"
    AUTHORITY_CHANGED = "AuthorityChanged"
    KEY_LOST = "KeyLost"
    REVOKED = "Revoked"
    ASKED = "Asked"


class ProfileStatus(ResourceModel):
    """The profile as the service has it."""

    id: Annotated[_Id, Field(description="The id in the service.")]
    slug: Annotated[str, Field(max_length=255, description="Its name there.")]
    policy_id: Annotated[_Id | None, Field(description="The policy that certificates obey.")] = None
    ca_id: Annotated[_Id | None, Field(description="The authority that signs.")] = None


class CertificateRequestStatus(ResourceModel):
    """One certificate of the spec: the last request, and the contents of the Secret."""

    name: Annotated[str, Field(max_length=63, description="The certificate of the spec.")]
    secret_name: Annotated[str, Field(max_length=253, description="The Secret that it is kept in.")]
    revision: Annotated[
        int | None, Field(ge=0, description="Counts the requests. It is in the metadata of the request.")
    ] = None
    need: Annotated[Need | None, Field(strict=False, description="Why it was asked for.")] = None
    id: Annotated[_Id | None, Field(description="The id of the request in the service.")] = None
    status: Annotated[
        RequestStatus | None, Field(strict=False, description="How far it is, in the service's words.")
    ] = None
    reason: Annotated[
        str | None,
        Field(max_length=64, description="Cause of a problem, as one word for programs."),
    ] = None
    message: Annotated[str | None, *Clipped(1024), Field(description="What there is to say of it.")] = None
    requested_at: Annotated[Instant | None, Field(description="When it was asked for.")] = None
    failures: Annotated[
        int | None, Field(ge=0, description="How often it failed since it last went well.")
    ] = None
    failed_spec: Annotated[_Digest | None, Field(description="Digest of the last request that failed.")] = (
        None
    )
    failed_revision: Annotated[int | None, Field(ge=0, description="The revision that failed last.")] = None
    next_attempt_time: Annotated[Instant | None, Field(description="When it is asked for again.")] = None
    issues: Annotated[
        tuple[Spent, ...],
        Field(
            strict=False,
            max_length=LEDGER_MAX,
            description="Times of the latest requests: their number per hour is limited.",
        ),
    ] = ()
    held_since: Annotated[
        Instant | None,
        Field(description="Time since which the limit of requests is used up, without an hour of calm."),
    ] = None
    certificate_id: Annotated[_Id | None, Field(description="The id of the certificate in the Secret.")] = (
        None
    )
    certificate_revision: Annotated[
        int | None, Field(ge=0, description="The revision of the certificate in the Secret.")
    ] = None
    serial_number: Annotated[
        str | None, Field(max_length=64, description="The serial number of the certificate in the Secret.")
    ] = None
    not_before: Annotated[Instant | None, Field(description="When it became valid.")] = None
    not_after: Annotated[Instant | None, Field(description="When it ends.")] = None
    renewal_time: Annotated[Instant | None, Field(description="When it is renewed.")] = None
    revoked: Annotated[
        bool | None,
        Field(description="Whether the service says that the certificate in the Secret was revoked."),
    ] = None
    spec: Annotated[_Digest | None, Field(description="Digest of what it was asked to be.")] = None
    authority: Annotated[_Digest | None, Field(description="Digest of the key that signed it.")] = None
    fingerprint: Annotated[
        _Digest | None,
        Field(description="Keyed HMAC of the written Secret, useless for guessing its contents."),
    ] = None
    keystores: Annotated[
        _Digest | None,
        Field(
            description="Keyed HMAC of its keystores, their passwords, and the labels and annotations of its Secret."
        ),
    ] = None
    restart_due: Annotated[
        bool | None, Field(description="Whether workloads must still be restarted for it.")
    ] = None
    revoke_on_delete: Annotated[
        bool | None, Field(description="Whether it is revoked when you remove it from the spec.")
    ] = None

    @property
    def is_open(self) -> bool:
        """Whether the service still has to say how the request ends."""
        return self.id is not None and self.status is not None and not self.status.is_final

    @property
    def is_begun(self) -> bool:
        """Whether a certificate was asked for that isn't stored yet, and is to be all the same.

        Nothing was said against it; or a person asked for it, and the service took no request for it yet.
        """
        is_newer = self.revision is not None and self.revision > (self.certificate_revision or 0)
        is_owed = self.status is None and self.need is Need.ASKED
        return is_newer and (is_owed or (not self.failures and self.status in (None, RequestStatus.ISSUED)))


class AuthorityStatus(ResourceModel):
    """An authority that signed certificates in Secrets."""

    key: Annotated[_Digest, Field(description="Digest of its public key.")]
    not_after: Annotated[Instant | None, Field(description="When it ends.")] = None
    anchors: Annotated[str, Field(max_length=16_384, description="What ca.crt holds for it, as PEM.")]


class FormerAuthority(ResourceModel):
    """An authority without a stored certificate. Others, for example pods, may still present certificates of it."""

    key: Annotated[_Digest, Field(description="Digest of its public key.")]
    until: Annotated[Instant, Field(description="When the last certificate ends that it may have signed.")]
    anchors: Annotated[str, Field(max_length=16_384, description="What a trust bundle holds for it, as PEM.")]


class Wave(ResourceModel):
    """Certificates that follow an authority's new key."""

    authority: Annotated[_Digest, Field(description="Digest of the new key.")]
    started_at: Annotated[Instant, Field(description="When it was noticed.")]
    rolled_at: Annotated[Instant | None, Field(description="When the last certificate was asked for.")] = None


class LostKeys(ResourceModel):
    """What of the hourly budget for lost keys is used; it isn't touched where a revoked certificate is replaced."""

    since: Annotated[Instant, Field(description="When the hour began.")]
    minted: Annotated[int, Field(ge=0, description="Certificates that were issued since.")]


class Revocation(ResourceModel):
    """A certificate that the operator must revoke."""

    certificate_id: Annotated[_Id, Field(description="Its id in the service.")]
    since: Annotated[Instant, Field(description="When it was taken out of its Secret.")]


class PlannedCertificate(ResourceModel):
    """The action that `mode: Plan` proposes for a certificate."""

    name: Annotated[str, Field(max_length=63, description="The certificate of the spec.")]
    action: Annotated[
        str, Field(max_length=64, description="The action: Issue, Restore, Keep, Wait or Refuse.")
    ]
    need: Annotated[Need | None, Field(strict=False, description="Why it would be asked for.")] = None
    violations: Annotated[
        tuple[Annotated[str, *Clipped(512)], ...],
        Field(strict=False, max_length=VIOLATIONS_MAX, description="Rules of the policy that it breaks."),
    ] = ()


class CertificateProfileStatus(StatusModel):
    """The operator's last actions and observations."""

    conditions: Annotated[
        tuple[Condition, ...],
        Field(
            strict=False,
            max_length=16,
            description="Ready, Reconciling and Stalled (kstatus), BudgetUsed and ClockInSync.",
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
        ),
    ] = ()
    profile: Annotated[ProfileStatus | None, Field(description="The profile in the service.")] = None
    issued: Annotated[
        str | None, Field(max_length=16, description="How many of all are issued and valid, as 3/4.")
    ] = None
    next_renewal_time: Annotated[Instant | None, Field(description="When the next one is renewed.")] = None
    certificate_requests: Annotated[
        tuple[CertificateRequestStatus, ...],
        Field(
            strict=False,
            max_length=_REQUESTS_MAX,
            description="Each certificate of the spec.",
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        ),
    ] = ()
    workloads: WorkloadStatuses = ()
    authorities: Annotated[
        tuple[AuthorityStatus, ...],
        Field(
            strict=False,
            max_length=AUTHORITIES_MAX,
            description="Authorities that ca.crt holds, the present one first.",
        ),
    ] = ()
    former_authorities: Annotated[
        tuple[FormerAuthority, ...],
        Field(
            strict=False,
            max_length=AUTHORITIES_MAX,
            description=(
                "More authorities in the trust bundle, until the certificates that they signed have ended."
            ),
        ),
    ] = ()
    wave: Annotated[Wave | None, Field(description="The change of the authority that is in progress.")] = None
    lost_keys: Annotated[LostKeys | None, Field(description="The used part of the mint budget.")] = None
    revocations: Annotated[
        tuple[Revocation, ...],
        Field(
            strict=False,
            max_length=REVOCATIONS_MAX,
            description="Certificates that the operator must revoke.",
        ),
    ] = ()
    plan: Annotated[
        tuple[PlannedCertificate, ...],
        Field(strict=False, max_length=_REQUESTS_MAX, description="What mode Plan would do."),
    ] = ()
