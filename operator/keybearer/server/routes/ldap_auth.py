"""LDAP auth: login, configuration and the end of lockouts (wire.md section 1.2)."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.domain.ldap_auth import LdapAuthChange, LdapAuthTerms
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, OpenRoute, address_of, principal_of
from keybearer.server.auth_method_rendering import ldap_auth_json
from keybearer.server.context import context_of
from keybearer.server.rendering import token_json
from keybearer.server.routing import new_router
from keybearer.wire.auth import AccessToken, LdapLogin
from keybearer.wire.auth_methods import (
    AllowedField,
    ClearedLockouts,
    LdapAuthAnswer,
    LdapAuthConfig,
    UpdateLdapAuth,
)

__all__ = ["login", "router"]

login = new_router("Authentication", OpenRoute)
router = new_router("Identities", AuthenticatedRoute)
_PATH = "/api/v1/auth/ldap-auth/identities/{identity_id}"


@login.post("/api/v1/auth/ldap-auth/login", response_model=AccessToken, summary="Log in with LDAP auth")
async def login_ldap(request: Request, body: LdapLogin) -> Response:
    issued = await context_of(request).external_logins.login_ldap(
        str(body.identity_id), body.username, body.password, body.organization_slug, address_of(request)
    )
    return json_response(token_json(issued))


@router.post(_PATH, response_model=LdapAuthAnswer, summary="Attach LDAP auth")
async def attach(request: Request, identity_id: str, body: LdapAuthConfig) -> Response:
    terms = LdapAuthTerms(
        url=body.url,
        bind_dn=body.bind_dn,
        bind_password=body.bind_pass,
        search_base=body.search_base,
        search_filter=body.search_filter,
        ca_pem=body.ldap_ca_certificate,
        allowed_fields=_pairs(body.allowed_fields),
        access_token_ttl=body.access_token_ttl,
        access_token_max_ttl=body.access_token_max_ttl,
        access_token_num_uses_limit=body.access_token_num_uses_limit,
        access_token_period=body.access_token_period,
        access_token_trusted_ips=tuple(one.ip_address for one in body.access_token_trusted_ips),
        lockout_enabled=body.lockout_enabled,
        lockout_threshold=body.lockout_threshold,
        lockout_duration_seconds=body.lockout_duration_seconds,
        lockout_counter_reset_seconds=body.lockout_counter_reset_seconds,
    )
    auth = await context_of(request).auth_methods.attach_ldap(principal_of(request), identity_id, terms)
    return json_response({"identityLdapAuth": ldap_auth_json(auth)})


@router.get(_PATH, response_model=LdapAuthAnswer, summary="Get LDAP auth")
async def get(request: Request, identity_id: str) -> Response:
    auth = await context_of(request).auth_methods.ldap(principal_of(request), identity_id)
    return json_response({"identityLdapAuth": ldap_auth_json(auth)})


@router.patch(_PATH, response_model=LdapAuthAnswer, summary="Change LDAP auth")
async def update(request: Request, identity_id: str, body: UpdateLdapAuth) -> Response:
    trusted = body.access_token_trusted_ips
    change = LdapAuthChange(
        url=body.url,
        bind_dn=body.bind_dn,
        bind_password=body.bind_pass,
        search_base=body.search_base,
        search_filter=body.search_filter,
        ca_pem=body.ldap_ca_certificate,
        allowed_fields=None if body.allowed_fields is None else _pairs(body.allowed_fields),
        access_token_ttl=body.access_token_ttl,
        access_token_max_ttl=body.access_token_max_ttl,
        access_token_num_uses_limit=body.access_token_num_uses_limit,
        access_token_period=body.access_token_period,
        access_token_trusted_ips=None if trusted is None else tuple(one.ip_address for one in trusted),
        lockout_enabled=body.lockout_enabled,
        lockout_threshold=body.lockout_threshold,
        lockout_duration_seconds=body.lockout_duration_seconds,
        lockout_counter_reset_seconds=body.lockout_counter_reset_seconds,
    )
    auth = await context_of(request).auth_methods.change_ldap(principal_of(request), identity_id, change)
    return json_response({"identityLdapAuth": ldap_auth_json(auth)})


@router.delete(_PATH, response_model=LdapAuthAnswer, summary="Detach LDAP auth")
async def detach(request: Request, identity_id: str) -> Response:
    auth = await context_of(request).auth_methods.detach_ldap(principal_of(request), identity_id)
    return json_response({"identityLdapAuth": ldap_auth_json(auth)})


@router.post(f"{_PATH}/clear-lockouts", response_model=ClearedLockouts, summary="End lockouts of LDAP auth")
async def clear_lockouts(request: Request, identity_id: str) -> Response:
    methods = context_of(request).auth_methods
    return json_response({"deleted": await methods.clear_ldap_lockouts(principal_of(request), identity_id)})


def _pairs(listed: list[AllowedField]) -> tuple[tuple[str, str], ...]:
    return tuple((one.key, one.value) for one in listed)
