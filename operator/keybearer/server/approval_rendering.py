"""Domain to wire: the JSON of approval policies and approval requests."""

from __future__ import annotations

from datetime import datetime

from keybearer.domain.certificates.asked import Asked
from keybearer.store.certificate_approvals import ApprovalPolicy, ApprovalRequestView
from keybearer.wire.base import write_instant

__all__ = ["approval_json", "approval_policy_json"]

Json = dict[str, object]


def approval_policy_json(policy: ApprovalPolicy) -> Json:
    """Return an approval policy."""
    return {
        "id": policy.id,
        "projectId": policy.project_id,
        "profileId": policy.profile_id,
        "name": policy.name,
        "enabled": policy.is_enabled,
        "requiredApprovals": policy.required_approvals,
        "approverIds": policy.approver_ids,
        "bypassIdentityIds": policy.bypass_identity_ids,
        "allowSelfApproval": policy.allow_self_approval,
        "requestTtlSeconds": policy.request_ttl,
        "createdAt": write_instant(policy.created_at),
        "updatedAt": write_instant(policy.updated_at),
    }


def approval_json(view: ApprovalRequestView) -> Json:
    """Return what a certificate request waits, or waited, for."""
    approval, asked = view.approval, Asked.read(view.asked)
    return {
        "id": approval.id,
        "projectId": approval.project_id,
        "status": approval.status,
        "certificateRequestId": approval.request_id,
        "certificateRequestStatus": view.request_status,
        "profileId": view.profile_id,
        "profileName": view.profile_slug,
        "commonName": view.common_name,
        "altNames": view.alt_names,
        "subject": str(asked.subject),
        "keyAlgorithm": asked.key_algorithm.value,
        "keyUsages": sorted(asked.key_usages or ()),
        "extendedKeyUsages": list(asked.extended_key_usages or ()),
        "basicConstraints": {"isCA": asked.is_ca, "pathLength": asked.path_length},
        "ttlSeconds": None if asked.lifetime is None else int(asked.lifetime.total_seconds()),
        "notBefore": _instant(asked.not_before),
        "notAfter": _instant(asked.not_after),
        "requesterId": view.requester_id,
        "requesterName": view.requester_name,
        "requiredApprovals": approval.required_approvals,
        "approverIds": approval.approver_ids,
        "votes": [
            {
                "voterId": vote.voter_id,
                "voterName": vote.voter_name,
                "verdict": vote.verdict,
                "comment": vote.comment,
                "createdAt": write_instant(vote.created_at),
            }
            for vote in view.votes
        ],
        "expiresAt": _instant(approval.expires_at),
        "closedAt": _instant(approval.closed_at),
        "createdAt": write_instant(approval.created_at),
        "updatedAt": write_instant(approval.updated_at),
    }


def _instant(at: datetime | None) -> str | None:
    return None if at is None else write_instant(at)
