"""Certificate authorities (wire.md section 5.6). Internal ones are answered bare, without a key around them."""

from __future__ import annotations

from uuid import UUID

import orjson
from fastapi import Request
from starlette.responses import Response

from keybearer.domain.certificates.authority_requests import (
    AuthorityChange,
    Configuration,
    NewAuthority,
    NewAuthorityCertificate,
)
from keybearer.server.answers import json_response, raw_json_response
from keybearer.server.auth import AuthenticatedRoute, OpenRoute, principal_of
from keybearer.server.certificate_setup_rendering import (
    authority_certificate_json,
    authority_item_json,
    authority_json,
)
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routing import new_router
from keybearer.store.certificate_authorities import AuthorityCertificate
from keybearer.wire.base import write_instant
from keybearer.wire.certificates.authorities import (
    AuthorityCertificate as AuthorityCertificateAnswer,
)
from keybearer.wire.certificates.authorities import (
    AuthorityCertificateDetail,
    AuthorityCertificateVersion,
    AuthorityCsr,
    AuthorityQuery,
    CertificateAuthorityList,
    CreateInternalAuthority,
    DeleteAuthorityQuery,
    GenerateAuthorityCertificate,
    GeneratedAuthorityCertificate,
    ImportAuthorityCertificate,
    ImportedAuthorityCertificate,
    InternalAuthority,
    RenewAuthority,
    SignedIntermediate,
    SignIntermediate,
    UpdateInternalAuthority,
)

__all__ = ["public", "router"]

router = new_router("Certificate authorities", AuthenticatedRoute)
public = new_router("Certificate authorities", OpenRoute)
_ALL = "/api/v1/cert-manager/ca"
_INTERNAL = f"{_ALL}/internal"
_ONE = f"{_INTERNAL}/{{authority_id}}"
_CERTIFICATE = "application/pkix-cert"


@router.get(
    _ALL,
    response_model=CertificateAuthorityList,
    openapi_extra=parameters_of(AuthorityQuery),
    summary="List certificate authorities of all kinds",
)
async def list_authorities(request: Request) -> Response:
    query = query_of(request, AuthorityQuery)
    found = await context_of(request).certificate_authorities.list(principal_of(request), query.project_id)
    return json_response({"certificateAuthorities": [authority_item_json(one) for one in found]})


@router.post(_INTERNAL, response_model=InternalAuthority, summary="Create an internal certificate authority")
async def create_authority(request: Request, body: CreateInternalAuthority) -> Response:
    given = body.configuration
    new = NewAuthority(
        project_id=body.project_id,
        name=body.name,
        enable_direct_issuance=body.enable_direct_issuance,
        configuration=Configuration(
            type=given.type,
            friendly_name=given.friendly_name,
            common_name=given.common_name,
            organization=given.organization,
            ou=given.ou,
            country=given.country,
            province=given.province,
            locality=given.locality,
            key_algorithm=given.key_algorithm,
            max_path_length=_bounded(given.max_path_length),
            crl_distribution_point_urls=tuple(given.crl_distribution_point_urls),
            disable_managed_crl_distribution_point_url=given.disable_managed_crl_distribution_point_url,
            once_certified=body.status,
        ),
        not_before=given.not_before,
        not_after=given.not_after,
    )
    made = authority_json(
        await context_of(request).certificate_authorities.create(principal_of(request), new)
    )
    if "status" in body.model_fields_set:
        # Terraform's provider takes it for a fault if it isn't answered what it asked for. A read says how it is.
        made["status"] = body.status
    return json_response(made)


@router.get(
    _INTERNAL,
    response_model=list[InternalAuthority],
    openapi_extra=parameters_of(AuthorityQuery),
    summary="List internal certificate authorities",
)
async def list_internal_authorities(request: Request) -> Response:
    query = query_of(request, AuthorityQuery)
    authorities = context_of(request).certificate_authorities
    found = await authorities.internal(principal_of(request), query.project_id)
    return raw_json_response(orjson.dumps([authority_json(view) for view in found]), {})


@router.get(_ONE, response_model=InternalAuthority, summary="Get an internal certificate authority")
async def get_authority(request: Request, authority_id: UUID) -> Response:
    view = await context_of(request).certificate_authorities.get(principal_of(request), str(authority_id))
    return json_response(authority_json(view))


@router.patch(_ONE, response_model=InternalAuthority, summary="Change an internal certificate authority")
async def update_authority(request: Request, authority_id: UUID, body: UpdateInternalAuthority) -> Response:
    given = body.configuration
    urls = None if given is None else given.crl_distribution_point_urls
    change = AuthorityChange(
        name=body.name,
        status=body.status,
        enable_direct_issuance=body.enable_direct_issuance,
        friendly_name=None if given is None else given.friendly_name,
        crl_distribution_point_urls=None if urls is None else tuple(urls),
        disable_managed_crl_distribution_point_url=None
        if given is None
        else given.disable_managed_crl_distribution_point_url,
    )
    authorities = context_of(request).certificate_authorities
    view = await authorities.update(principal_of(request), str(authority_id), change)
    return json_response(authority_json(view))


@router.delete(
    _ONE,
    response_model=InternalAuthority,
    openapi_extra=parameters_of(DeleteAuthorityQuery),
    summary="Delete an internal certificate authority",
)
async def delete_authority(request: Request, authority_id: UUID) -> Response:
    query = query_of(request, DeleteAuthorityQuery)
    authorities = context_of(request).certificate_authorities
    view = await authorities.delete(principal_of(request), str(authority_id), force=query.force)
    return json_response(authority_json(view))


@router.post(
    f"{_ONE}/certificate",
    response_model=GeneratedAuthorityCertificate,
    summary="Give a certificate authority its certificate",
)
async def generate_certificate(
    request: Request, authority_id: UUID, body: GenerateAuthorityCertificate
) -> Response:
    wanted = NewAuthorityCertificate(
        body.not_after,
        body.not_before,
        body.max_path_length,
        None if body.parent_ca_id is None else str(body.parent_ca_id),
    )
    certificates = context_of(request).authority_certificates
    return _named(await certificates.certify(principal_of(request), str(authority_id), wanted))


@router.get(
    f"{_ONE}/certificate",
    response_model=GeneratedAuthorityCertificate,
    summary="Get the certificate of a certificate authority",
)
async def get_certificate(request: Request, authority_id: UUID) -> Response:
    certificates = context_of(request).authority_certificates
    return _named(await certificates.certificate(principal_of(request), str(authority_id)))


@router.get(
    f"{_ONE}/certificate/{{certificate_id}}",
    response_model=AuthorityCertificateDetail,
    summary="Get one of the certificates of a certificate authority",
)
async def get_one_certificate(request: Request, authority_id: UUID, certificate_id: UUID) -> Response:
    found = await context_of(request).authority_certificates.certificate(
        principal_of(request), str(authority_id), str(certificate_id)
    )
    return json_response(
        {
            "certId": found.id,
            **authority_certificate_json(found),
            "notBefore": write_instant(found.not_before),
            "notAfter": write_instant(found.not_after),
            "maxPathLength": -1 if found.max_path_length is None else found.max_path_length,
            "parentCaId": found.parent_id,
        }
    )


@router.get(
    f"{_ONE}/ca-certificates",
    response_model=list[AuthorityCertificateVersion],
    summary="List all certificates of a certificate authority",
)
async def list_certificates(request: Request, authority_id: UUID) -> Response:
    certificates = context_of(request).authority_certificates
    found = await certificates.certificates(principal_of(request), str(authority_id))
    listed = [{**authority_certificate_json(one), "version": one.version} for one in found]
    return raw_json_response(orjson.dumps(listed), {})


@router.get(
    f"{_ONE}/csr", response_model=AuthorityCsr, summary="Get the signing request of an intermediate authority"
)
async def get_csr(request: Request, authority_id: UUID) -> Response:
    certificates = context_of(request).authority_certificates
    return json_response({"csr": await certificates.request(principal_of(request), str(authority_id))})


@router.post(
    f"{_ONE}/sign-intermediate",
    response_model=SignedIntermediate,
    summary="Sign the certificate of another authority",
)
async def sign_intermediate(request: Request, authority_id: UUID, body: SignIntermediate) -> Response:
    wanted = NewAuthorityCertificate(body.not_after, body.not_before, body.max_path_length)
    signed = await context_of(request).authority_certificates.sign_intermediate(
        principal_of(request), str(authority_id), body.csr, wanted
    )
    return json_response(
        {
            "certificate": signed.certificate,
            "certificateChain": signed.chain,
            "issuingCaCertificate": signed.issuing,
            "serialNumber": signed.serial_number,
        }
    )


@router.post(
    f"{_ONE}/import-certificate",
    response_model=ImportedAuthorityCertificate,
    summary="Import the certificate of an intermediate authority",
)
async def import_certificate(
    request: Request, authority_id: UUID, body: ImportAuthorityCertificate
) -> Response:
    await context_of(request).authority_certificates.import_certificate(
        principal_of(request), str(authority_id), body.certificate, body.certificate_chain
    )
    return json_response({"message": "Successfully imported certificate to CA", "caId": str(authority_id)})


@router.post(
    f"{_ONE}/renew", response_model=AuthorityCertificateAnswer, summary="Renew a certificate authority"
)
async def renew_authority(request: Request, authority_id: UUID, body: RenewAuthority) -> Response:
    certificates = context_of(request).authority_certificates
    made = await certificates.renew(principal_of(request), str(authority_id), body.not_after)
    return json_response(authority_certificate_json(made))


@public.get(
    f"{_ONE}/certificates/{{certificate_id}}/der",
    response_class=Response,
    summary="Get the certificate of a certificate authority, for everybody",
)
async def get_public_certificate(request: Request, authority_id: UUID, certificate_id: UUID) -> Response:
    certificates = context_of(request).authority_certificates
    der = await certificates.public_certificate(str(authority_id), str(certificate_id))
    return Response(
        der, media_type=_CERTIFICATE, headers={"cache-control": "max-age=86400, public, immutable"}
    )


def _bounded(max_path_length: int | None) -> int | None:
    return None if max_path_length is None or max_path_length < 0 else max_path_length


def _named(certificate: AuthorityCertificate) -> Response:
    return json_response({"certId": certificate.id, **authority_certificate_json(certificate)})
