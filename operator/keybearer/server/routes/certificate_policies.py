"""Certificate policies (wire.md section 5.5)."""

from __future__ import annotations

from uuid import UUID

from fastapi import Request
from pydantic import JsonValue
from starlette.responses import Response

from keybearer.domain.certificates.policy_binding import BindingChange
from keybearer.domain.certificates.policy_service import NewPolicy, PolicyChange
from keybearer.domain.unchanged import UNCHANGED
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.certificate_setup_rendering import binding_json, policy_json
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routing import new_router
from keybearer.store.certificate_policies import CertificatePolicy
from keybearer.wire.certificates.policies import (
    CertificatePolicyAnswer,
    CertificatePolicyList,
    CertificatePolicyQuery,
    ChangePolicyBinding,
    CreateCertificatePolicy,
    PolicyBindingAnswer,
    PolicyRules,
    UpdateCertificatePolicy,
)

__all__ = ["router"]

router = new_router("Certificate policies", AuthenticatedRoute)
_ALL = "/api/v1/cert-manager/certificate-policies"
_ONE = f"{_ALL}/{{policy_id}}"
_RULES = frozenset(PolicyRules.model_fields)


@router.post(_ALL, response_model=CertificatePolicyAnswer, summary="Create a certificate policy")
async def create_policy(request: Request, body: CreateCertificatePolicy) -> Response:
    rules = {name: rule for name, rule in _rules_of(body).items() if rule is not None}
    new = NewPolicy(body.project_id, body.name, body.description, rules)
    return _answer(await context_of(request).certificate_policies.create(principal_of(request), new))


@router.get(
    _ALL,
    response_model=CertificatePolicyList,
    openapi_extra=parameters_of(CertificatePolicyQuery),
    summary="List certificate policies",
)
async def list_policies(request: Request) -> Response:
    query = query_of(request, CertificatePolicyQuery)
    found, total = await context_of(request).certificate_policies.list(
        principal_of(request),
        query.project_id,
        search=query.search,
        offset=query.offset,
        limit=query.limit,
    )
    return json_response(
        {"certificatePolicies": [policy_json(policy) for policy in found], "totalCount": total}
    )


@router.get(_ONE, response_model=CertificatePolicyAnswer, summary="Get a certificate policy")
async def get_policy(request: Request, policy_id: UUID) -> Response:
    return _answer(await context_of(request).certificate_policies.get(principal_of(request), str(policy_id)))


@router.patch(_ONE, response_model=CertificatePolicyAnswer, summary="Change a certificate policy")
async def update_policy(request: Request, policy_id: UUID, body: UpdateCertificatePolicy) -> Response:
    change = PolicyChange(
        name=body.name,
        description=body.description if "description" in body.model_fields_set else UNCHANGED,
        rules=_rules_of(body),
    )
    policies = context_of(request).certificate_policies
    return _answer(await policies.update(principal_of(request), str(policy_id), change))


@router.get(
    f"{_ONE}/binding",
    response_model=PolicyBindingAnswer,
    summary="Get who binds profiles to a certificate policy, and its authorities",
)
async def get_binding(request: Request, policy_id: UUID) -> Response:
    found = await context_of(request).policy_binding.get(principal_of(request), str(policy_id))
    return json_response({"binding": binding_json(found)})


@router.patch(
    f"{_ONE}/binding",
    response_model=PolicyBindingAnswer,
    summary="Change who binds profiles to a certificate policy, and its authorities",
)
async def change_binding(request: Request, policy_id: UUID, body: ChangePolicyBinding) -> Response:
    change = BindingChange(
        body.profiles_bound_by, None if body.ca_ids is None else tuple(map(str, body.ca_ids))
    )
    changed = await context_of(request).policy_binding.change(principal_of(request), str(policy_id), change)
    return json_response({"binding": binding_json(changed)})


@router.delete(_ONE, response_model=CertificatePolicyAnswer, summary="Delete a certificate policy")
async def delete_policy(request: Request, policy_id: UUID) -> Response:
    policies = context_of(request).certificate_policies
    return _answer(await policies.delete(principal_of(request), str(policy_id)))


def _rules_of(body: PolicyRules) -> dict[str, JsonValue]:
    """Return the rules that were given, as they were given; null those that are to be taken away."""
    given = body.model_fields_set & _RULES
    written: dict[str, JsonValue] = body.model_dump(
        mode="json", by_alias=True, include=given, exclude_none=True
    )
    taken = {PolicyRules.model_fields[name].alias or name for name in given if getattr(body, name) is None}
    return {**written, **dict.fromkeys(taken)}


def _answer(policy: CertificatePolicy) -> Response:
    return json_response({"certificatePolicy": policy_json(policy)})
