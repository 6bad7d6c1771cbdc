"""Kubernetes auth: login and configuration (wire.md section 1.2)."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.domain.kubernetes_auth import KubernetesAuthChange, KubernetesAuthTerms
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, OpenRoute, principal_of
from keybearer.server.auth_method_rendering import kubernetes_auth_json
from keybearer.server.context import context_of
from keybearer.server.rendering import token_json
from keybearer.server.routing import new_router
from keybearer.store.auth_methods import KubernetesAuth
from keybearer.wire.auth import AccessToken, KubernetesLogin
from keybearer.wire.auth_methods import KubernetesAuthAnswer, KubernetesAuthConfig, UpdateKubernetesAuth

__all__ = ["login", "router"]

login = new_router("Authentication", OpenRoute)
router = new_router("Identities", AuthenticatedRoute)
_PATH = "/api/v1/auth/kubernetes-auth/identities/{identity_id}"


@login.post(
    "/api/v1/auth/kubernetes-auth/login", response_model=AccessToken, summary="Log in with Kubernetes auth"
)
async def login_kubernetes(request: Request, body: KubernetesLogin) -> Response:
    issued = await context_of(request).external_logins.login_kubernetes(
        body.identity_id, body.jwt, body.organization_slug
    )
    return json_response(token_json(issued))


@router.post(_PATH, response_model=KubernetesAuthAnswer, summary="Attach Kubernetes auth")
async def attach(request: Request, identity_id: str, body: KubernetesAuthConfig) -> Response:
    terms = KubernetesAuthTerms(
        host=body.kubernetes_host,
        ca_pem=body.ca_cert,
        reviewer_token=body.token_reviewer_jwt,
        allowed_namespaces=body.allowed_namespaces,
        allowed_names=body.allowed_names,
        allowed_audience=body.allowed_audience,
        access_token_ttl=body.access_token_ttl,
        access_token_max_ttl=body.access_token_max_ttl,
        access_token_num_uses_limit=body.access_token_num_uses_limit,
        access_token_period=body.access_token_period,
        access_token_trusted_ips=tuple(one.ip_address for one in body.access_token_trusted_ips),
    )
    methods = context_of(request).auth_methods
    auth = await methods.attach_kubernetes(principal_of(request), identity_id, terms)
    return _answer(request, auth)


@router.get(_PATH, response_model=KubernetesAuthAnswer, summary="Get Kubernetes auth")
async def get(request: Request, identity_id: str) -> Response:
    auth = await context_of(request).auth_methods.kubernetes(principal_of(request), identity_id)
    return _answer(request, auth)


@router.patch(_PATH, response_model=KubernetesAuthAnswer, summary="Change Kubernetes auth")
async def update(request: Request, identity_id: str, body: UpdateKubernetesAuth) -> Response:
    trusted = body.access_token_trusted_ips
    removes_reviewer = "token_reviewer_jwt" in body.model_fields_set and body.token_reviewer_jwt is None
    change = KubernetesAuthChange(
        host=body.kubernetes_host,
        ca_pem=body.ca_cert,
        reviewer_token="" if removes_reviewer else body.token_reviewer_jwt,
        allowed_namespaces=body.allowed_namespaces,
        allowed_names=body.allowed_names,
        allowed_audience=body.allowed_audience,
        access_token_ttl=body.access_token_ttl,
        access_token_max_ttl=body.access_token_max_ttl,
        access_token_num_uses_limit=body.access_token_num_uses_limit,
        access_token_period=body.access_token_period,
        access_token_trusted_ips=None if trusted is None else tuple(one.ip_address for one in trusted),
    )
    methods = context_of(request).auth_methods
    auth = await methods.change_kubernetes(principal_of(request), identity_id, change)
    return _answer(request, auth)


@router.delete(_PATH, response_model=KubernetesAuthAnswer, summary="Detach Kubernetes auth")
async def detach(request: Request, identity_id: str) -> Response:
    auth = await context_of(request).auth_methods.detach_kubernetes(principal_of(request), identity_id)
    return _answer(request, auth)


def _answer(request: Request, auth: KubernetesAuth) -> Response:
    reviewer = context_of(request).external_logins.reviewer_of(auth)
    return json_response({"identityKubernetesAuth": kubernetes_auth_json(auth, reviewer)})
