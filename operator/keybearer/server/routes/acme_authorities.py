"""Certificate authorities that speak ACME, bare as internal ones are, and the answers to their challenges."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import orjson
from fastapi import Path, Request
from starlette.responses import PlainTextResponse, Response

from keybearer.domain.certificates.acme_accounts import AcmeConfiguration
from keybearer.domain.certificates.acme_authorities import (
    AcmeAuthorityChange,
    AcmeAuthorityView,
    NewAcmeAuthority,
)
from keybearer.server.answers import json_response, raw_json_response
from keybearer.server.auth import AuthenticatedRoute, OpenRoute, principal_of
from keybearer.server.certificate_setup_rendering import authority_item_json
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routing import new_router
from keybearer.wire.base import write_instant
from keybearer.wire.certificates.acme_authorities import (
    AcmeAuthority,
    CreateAcmeAuthority,
    UpdateAcmeAuthority,
)
from keybearer.wire.certificates.authorities import AuthorityQuery
from keybearer.wire.limits import ACME_TOKEN_MAX

__all__ = ["public", "router"]

router = new_router("Certificate authorities", AuthenticatedRoute)
public = new_router("Certificate authorities", OpenRoute)
_ALL = "/api/v1/cert-manager/ca/acme"
_ONE = f"{_ALL}/{{authority_id}}"
_Token = Annotated[str, Path(max_length=ACME_TOKEN_MAX, pattern=r"^[A-Za-z0-9_-]+$")]


@router.post(_ALL, response_model=AcmeAuthority, summary="Create a certificate authority that speaks ACME")
async def create_authority(request: Request, body: CreateAcmeAuthority) -> Response:
    given = body.configuration
    new = NewAcmeAuthority(
        project_id=body.project_id,
        name=body.name,
        status=body.status,
        enable_direct_issuance=body.enable_direct_issuance,
        configuration=AcmeConfiguration(
            given.directory_url, given.account_email, given.ca_certificates.strip()
        ),
        eab_key_id=given.eab_kid,
        eab_secret=given.eab_hmac_key,
        agrees_to_terms=given.terms_of_service_agreed,
    )
    authorities = context_of(request).acme_authorities
    return json_response(_json(await authorities.create(principal_of(request), new)))


@router.get(
    _ALL,
    response_model=list[AcmeAuthority],
    openapi_extra=parameters_of(AuthorityQuery),
    summary="List certificate authorities that speak ACME",
)
async def list_authorities(request: Request) -> Response:
    query = query_of(request, AuthorityQuery)
    found = await context_of(request).acme_authorities.list(principal_of(request), query.project_id)
    return raw_json_response(orjson.dumps([_json(view) for view in found]), {})


@router.get(_ONE, response_model=AcmeAuthority, summary="Get a certificate authority that speaks ACME")
async def get_authority(request: Request, authority_id: UUID) -> Response:
    return json_response(
        _json(await context_of(request).acme_authorities.get(principal_of(request), str(authority_id)))
    )


@router.patch(_ONE, response_model=AcmeAuthority, summary="Change a certificate authority that speaks ACME")
async def update_authority(request: Request, authority_id: UUID, body: UpdateAcmeAuthority) -> Response:
    given = None if body.configuration is None else body.configuration.ca_certificates
    change = AcmeAuthorityChange(
        name=body.name,
        status=body.status,
        enable_direct_issuance=body.enable_direct_issuance,
        ca_certificates=None if given is None else given.strip(),
    )
    authorities = context_of(request).acme_authorities
    return json_response(_json(await authorities.update(principal_of(request), str(authority_id), change)))


@router.delete(_ONE, response_model=AcmeAuthority, summary="Delete a certificate authority that speaks ACME")
async def delete_authority(request: Request, authority_id: UUID) -> Response:
    authorities = context_of(request).acme_authorities
    return json_response(_json(await authorities.delete(principal_of(request), str(authority_id))))


@public.get(
    "/.well-known/acme-challenge/{token}",
    response_class=PlainTextResponse,
    summary="Get what answers a challenge of a certificate authority, for everybody",
)
async def answer_challenge(request: Request, token: _Token) -> Response:
    answer = await context_of(request).acme_challenges.answer(token)
    # RFC 8555 section 8.3.
    return Response(answer, media_type="application/octet-stream")


def _json(view: AcmeAuthorityView) -> dict[str, object]:
    authority, configuration, account = view.authority, view.configuration, view.account
    return {
        **authority_item_json(authority),
        "configuration": {
            "directoryUrl": configuration.directory_url,
            "accountEmail": configuration.account_email,
            "accountUrl": None if account is None else account.url,
            "eabKid": None if account is None else account.eab_key_id,
            "caCertificates": configuration.ca_certificates,
            "termsOfService": configuration.terms_of_service,
        },
        "createdAt": write_instant(authority.created_at),
        "updatedAt": write_instant(authority.updated_at),
    }
