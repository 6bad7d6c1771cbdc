"""Approval of certificate requests: an addition to the published interface (docs/interface.md)."""

from __future__ import annotations

from uuid import UUID

from fastapi import Request
from starlette.responses import Response

from keybearer.domain.certificates.approval import ApprovalFilter
from keybearer.domain.certificates.approval_policies import ApprovalPolicyChange, NewApprovalPolicy
from keybearer.server.answers import json_response
from keybearer.server.approval_rendering import approval_json, approval_policy_json
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routing import new_router
from keybearer.store.certificate_approvals import ApprovalPolicy
from keybearer.wire.certificates.approvals import (
    ApprovalPolicyAnswer,
    ApprovalPolicyList,
    ApprovalPolicyQuery,
    ApprovalRequestAnswer,
    ApprovalRequestList,
    ApprovalRequestQuery,
    CreateApprovalPolicy,
    UpdateApprovalPolicy,
    Verdict,
    VoteOnRequest,
)
from keybearer.wire.certificates.lifetimes import parse_ttl

__all__ = ["router"]

router = new_router("Approval of certificates", AuthenticatedRoute)
_POLICIES = "/api/v1/cert-manager/approval-policies"
_POLICY = f"{_POLICIES}/{{policy_id}}"
_REQUESTS = "/api/v1/cert-manager/approval-requests"
_REQUEST = f"{_REQUESTS}/{{approval_id}}"


@router.post(_POLICIES, response_model=ApprovalPolicyAnswer, summary="Create an approval policy")
async def create_policy(request: Request, body: CreateApprovalPolicy) -> Response:
    new = NewApprovalPolicy(
        profile_id=str(body.profile_id),
        name=body.name,
        is_enabled=body.enabled,
        required_approvals=body.required_approvals,
        approver_ids=tuple(map(str, body.approver_ids)),
        bypass_identity_ids=tuple(map(str, body.bypass_identity_ids)),
        allow_self_approval=body.allow_self_approval,
        request_ttl=_seconds(body.request_ttl),
    )
    return _policy(await context_of(request).approval_policies.create(principal_of(request), new))


@router.get(
    _POLICIES,
    response_model=ApprovalPolicyList,
    openapi_extra=parameters_of(ApprovalPolicyQuery),
    summary="List approval policies",
)
async def list_policies(request: Request) -> Response:
    query = query_of(request, ApprovalPolicyQuery)
    profile_id = None if query.profile_id is None else str(query.profile_id)
    found = await context_of(request).approval_policies.list(
        principal_of(request), query.project_id, profile_id
    )
    return json_response({"approvalPolicies": [approval_policy_json(one) for one in found]})


@router.get(_POLICY, response_model=ApprovalPolicyAnswer, summary="Get an approval policy")
async def get_policy(request: Request, policy_id: UUID) -> Response:
    return _policy(await context_of(request).approval_policies.get(principal_of(request), str(policy_id)))


@router.patch(_POLICY, response_model=ApprovalPolicyAnswer, summary="Change an approval policy")
async def update_policy(request: Request, policy_id: UUID, body: UpdateApprovalPolicy) -> Response:
    change = ApprovalPolicyChange(
        name=body.name,
        is_enabled=body.enabled,
        required_approvals=body.required_approvals,
        approver_ids=None if body.approver_ids is None else tuple(map(str, body.approver_ids)),
        bypass_identity_ids=None
        if body.bypass_identity_ids is None
        else tuple(map(str, body.bypass_identity_ids)),
        allow_self_approval=body.allow_self_approval,
        request_ttl=(_seconds(body.request_ttl),) if "request_ttl" in body.model_fields_set else None,
    )
    policies = context_of(request).approval_policies
    return _policy(await policies.update(principal_of(request), str(policy_id), change))


@router.delete(_POLICY, response_model=ApprovalPolicyAnswer, summary="Delete an approval policy")
async def delete_policy(request: Request, policy_id: UUID) -> Response:
    return _policy(await context_of(request).approval_policies.delete(principal_of(request), str(policy_id)))


@router.get(
    _REQUESTS,
    response_model=ApprovalRequestList,
    openapi_extra=parameters_of(ApprovalRequestQuery),
    summary="List approval requests",
)
async def list_requests(request: Request) -> Response:
    query = query_of(request, ApprovalRequestQuery)
    wanted = ApprovalFilter(
        query.project_id, query.status, None if query.profile_id is None else str(query.profile_id)
    )
    found, total = await context_of(request).approvals.list(
        principal_of(request), wanted, offset=query.offset, limit=query.limit
    )
    return json_response({"approvalRequests": [approval_json(view) for view in found], "totalCount": total})


@router.get(_REQUEST, response_model=ApprovalRequestAnswer, summary="Get an approval request")
async def get_request(request: Request, approval_id: UUID) -> Response:
    view = await context_of(request).approvals.get(principal_of(request), str(approval_id))
    return json_response({"approvalRequest": approval_json(view)})


@router.post(
    f"{_REQUEST}/approve", response_model=ApprovalRequestAnswer, summary="Approve a certificate request"
)
async def approve(request: Request, approval_id: UUID, body: VoteOnRequest | None = None) -> Response:
    return await _vote(request, approval_id, Verdict.APPROVE, body)


@router.post(
    f"{_REQUEST}/reject", response_model=ApprovalRequestAnswer, summary="Reject a certificate request"
)
async def reject(request: Request, approval_id: UUID, body: VoteOnRequest | None = None) -> Response:
    return await _vote(request, approval_id, Verdict.REJECT, body)


async def _vote(
    request: Request, approval_id: UUID, verdict: Verdict, body: VoteOnRequest | None
) -> Response:
    comment = None if body is None else body.comment
    view = await context_of(request).approvals.vote(principal_of(request), str(approval_id), verdict, comment)
    return json_response({"approvalRequest": approval_json(view)})


def _policy(policy: ApprovalPolicy) -> Response:
    return json_response({"approvalPolicy": approval_policy_json(policy)})


def _seconds(ttl: str | None) -> int | None:
    return None if ttl is None else max(1, int(parse_ttl(ttl).total_seconds()))
