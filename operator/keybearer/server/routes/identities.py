"""Machine identities, their Universal Auth and client secrets (wire.md section 1.4)."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.domain.authorization import OrganizationRole
from keybearer.domain.identity_lookup import IdentityView
from keybearer.domain.universal_auth import UniversalAuthChange, UniversalAuthTerms
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.rendering import (
    client_secret_json,
    identity_detail_json,
    identity_json,
    identity_view_json,
    universal_auth_json,
)
from keybearer.server.routing import new_router
from keybearer.wire.auth_methods import ClearedLockouts
from keybearer.wire.identities import (
    ClientSecretAnswer,
    ClientSecretList,
    CreateClientSecret,
    CreatedClientSecret,
    CreateIdentity,
    IdentityAnswer,
    IdentityDetailAnswer,
    IdentityList,
    OwnDetailsAnswer,
    UniversalAuthAnswer,
    UniversalAuthConfig,
    UpdateIdentity,
    UpdateUniversalAuth,
)
from keybearer.wire.token_terms import TrustedIp

__all__ = ["router"]

router = new_router("Identities", AuthenticatedRoute)
_UNIVERSAL = "/api/v1/auth/universal-auth/identities/{identity_id}"


@router.post("/api/v1/identities", response_model=IdentityAnswer, summary="Create an identity")
async def create_identity(request: Request, body: CreateIdentity) -> Response:
    identity = await context_of(request).identities.create(
        principal_of(request), body.name, body.organization_id, OrganizationRole(body.role)
    )
    return json_response({"identity": identity_view_json(IdentityView(identity))})


@router.get("/api/v1/identities", response_model=IdentityList, summary="List identities")
async def list_identities(request: Request) -> Response:
    found = await context_of(request).identities.list(principal_of(request))
    return json_response(
        {"identities": [identity_json(identity) for identity in found], "totalCount": len(found)}
    )


@router.get(
    "/api/v1/identities/details", response_model=OwnDetailsAnswer, summary="Get the caller's organization"
)
async def get_own_details(request: Request) -> Response:
    found = await context_of(request).users.organization(principal_of(request))
    organization = {"id": found.id, "name": found.name, "slug": found.slug}
    return json_response({"identityDetails": {"organization": organization}})


@router.get(
    "/api/v1/identities/{identity_id}", response_model=IdentityDetailAnswer, summary="Get an identity"
)
async def get_identity(request: Request, identity_id: str) -> Response:
    view = await context_of(request).identities.get(principal_of(request), identity_id)
    return json_response({"identity": identity_detail_json(view)})


@router.patch("/api/v1/identities/{identity_id}", response_model=IdentityAnswer, summary="Change an identity")
async def update_identity(request: Request, identity_id: str, body: UpdateIdentity) -> Response:
    view = await context_of(request).identities.update(
        principal_of(request),
        identity_id,
        name=body.name,
        role=None if body.role is None else OrganizationRole(body.role),
    )
    return json_response({"identity": identity_view_json(view)})


@router.delete(
    "/api/v1/identities/{identity_id}", response_model=IdentityAnswer, summary="Delete an identity"
)
async def delete_identity(request: Request, identity_id: str) -> Response:
    identity = await context_of(request).identities.delete(principal_of(request), identity_id)
    return json_response({"identity": identity_view_json(IdentityView(identity))})


@router.post(_UNIVERSAL, response_model=UniversalAuthAnswer, summary="Attach Universal Auth")
async def attach_universal_auth(request: Request, identity_id: str, body: UniversalAuthConfig) -> Response:
    auth = await context_of(request).identities.attach_universal_auth(
        principal_of(request), identity_id, _terms(body)
    )
    return json_response({"identityUniversalAuth": universal_auth_json(auth)})


@router.patch(_UNIVERSAL, response_model=UniversalAuthAnswer, summary="Change Universal Auth")
async def update_universal_auth(request: Request, identity_id: str, body: UpdateUniversalAuth) -> Response:
    auth = await context_of(request).identities.change_universal_auth(
        principal_of(request), identity_id, _change(body)
    )
    return json_response({"identityUniversalAuth": universal_auth_json(auth)})


@router.get(_UNIVERSAL, response_model=UniversalAuthAnswer, summary="Get Universal Auth")
async def get_universal_auth(request: Request, identity_id: str) -> Response:
    auth = await context_of(request).identities.universal_auth(principal_of(request), identity_id)
    return json_response({"identityUniversalAuth": universal_auth_json(auth)})


@router.delete(_UNIVERSAL, response_model=UniversalAuthAnswer, summary="Detach Universal Auth")
async def detach_universal_auth(request: Request, identity_id: str) -> Response:
    auth = await context_of(request).identities.delete_universal_auth(principal_of(request), identity_id)
    return json_response({"identityUniversalAuth": universal_auth_json(auth)})


@router.post(
    f"{_UNIVERSAL}/client-secrets", response_model=CreatedClientSecret, summary="Create a client secret"
)
async def create_client_secret(request: Request, identity_id: str, body: CreateClientSecret) -> Response:
    issued, auth = await context_of(request).identities.create_client_secret(
        principal_of(request),
        identity_id,
        description=body.description,
        ttl=body.ttl,
        num_uses_limit=body.num_uses_limit,
    )
    return json_response(
        {"clientSecret": issued.text, "clientSecretData": client_secret_json(issued.record, auth.id)}
    )


@router.get(f"{_UNIVERSAL}/client-secrets", response_model=ClientSecretList, summary="List client secrets")
async def list_client_secrets(request: Request, identity_id: str) -> Response:
    secrets, auth = await context_of(request).identities.client_secrets(principal_of(request), identity_id)
    return json_response({"clientSecretData": [client_secret_json(secret, auth.id) for secret in secrets]})


@router.get(
    f"{_UNIVERSAL}/client-secrets/{{client_secret_id}}",
    response_model=ClientSecretAnswer,
    summary="Get a client secret",
)
async def get_client_secret(request: Request, identity_id: str, client_secret_id: str) -> Response:
    secret, auth = await context_of(request).identities.client_secret(
        principal_of(request), identity_id, client_secret_id
    )
    return json_response({"clientSecretData": client_secret_json(secret, auth.id)})


@router.post(
    f"{_UNIVERSAL}/client-secrets/{{client_secret_id}}/revoke",
    response_model=ClientSecretAnswer,
    summary="Revoke a client secret",
)
async def revoke_client_secret(request: Request, identity_id: str, client_secret_id: str) -> Response:
    secret, auth = await context_of(request).identities.revoke_client_secret(
        principal_of(request), identity_id, client_secret_id
    )
    return json_response({"clientSecretData": client_secret_json(secret, auth.id)})


@router.post(
    f"{_UNIVERSAL}/clear-lockouts",
    response_model=ClearedLockouts,
    summary="End lockouts of Universal Auth",
)
async def clear_lockouts(request: Request, identity_id: str) -> Response:
    methods = context_of(request).auth_methods
    cleared = await methods.clear_universal_lockouts(principal_of(request), identity_id)
    return json_response({"deleted": cleared})


def _terms(body: UniversalAuthConfig) -> UniversalAuthTerms:
    return UniversalAuthTerms(
        access_token_ttl=body.access_token_ttl,
        access_token_max_ttl=body.access_token_max_ttl,
        access_token_num_uses_limit=body.access_token_num_uses_limit,
        access_token_period=body.access_token_period,
        access_token_trusted_ips=_addresses(body.access_token_trusted_ips),
        client_secret_trusted_ips=_addresses(body.client_secret_trusted_ips),
        lockout_enabled=body.lockout_enabled,
        lockout_threshold=body.lockout_threshold,
        lockout_duration_seconds=body.lockout_duration_seconds,
        lockout_counter_reset_seconds=body.lockout_counter_reset_seconds,
    )


def _change(body: UpdateUniversalAuth) -> UniversalAuthChange:
    token_ips, secret_ips = body.access_token_trusted_ips, body.client_secret_trusted_ips
    return UniversalAuthChange(
        access_token_ttl=body.access_token_ttl,
        access_token_max_ttl=body.access_token_max_ttl,
        access_token_num_uses_limit=body.access_token_num_uses_limit,
        access_token_period=body.access_token_period,
        access_token_trusted_ips=None if token_ips is None else _addresses(token_ips),
        client_secret_trusted_ips=None if secret_ips is None else _addresses(secret_ips),
        lockout_enabled=body.lockout_enabled,
        lockout_threshold=body.lockout_threshold,
        lockout_duration_seconds=body.lockout_duration_seconds,
        lockout_counter_reset_seconds=body.lockout_counter_reset_seconds,
    )


def _addresses(ranges: list[TrustedIp]) -> tuple[str, ...]:
    return tuple(item.ip_address for item in ranges)
