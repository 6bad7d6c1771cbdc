"""Certificates: issuance and what follows (interface.md sections 2.4 and 4.5, wire.md sections 5.1 and 5.3)."""

from __future__ import annotations

from uuid import UUID

from fastapi import Request
from starlette.responses import PlainTextResponse, Response

from keybearer.domain.certificates.lifecycle import StrangeCertificate
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.certificate_rendering import (
    bundle_json,
    certificate_json,
    pem_json,
    renewed_json,
)
from keybearer.server.context import context_of
from keybearer.server.known_issuance import issued_answer
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routing import new_router
from keybearer.store.certificates import CertificateFilter
from keybearer.wire.base import write_instant
from keybearer.wire.certificates.certificates import (
    CertificateAnswer,
    CertificateBundle,
    CertificateConfig,
    CertificateConfigAnswer,
    CertificateList,
    CertificatePem,
    CertificatesQuery,
    ImportCertificate,
    ImportedCertificate,
    RenewCertificate,
    RenewedCertificate,
    RevokeCertificate,
    RevokedCertificate,
)
from keybearer.wire.certificates.issuing import IssueCertificate, IssuedCertificate

__all__ = ["issuing", "router"]

issuing = new_router("Certificates", AuthenticatedRoute)
"""Issuance by itself: it is asked for by the thousand, and finding a route among all others weighs then."""
router = new_router("Certificates", AuthenticatedRoute)
_ALL = "/api/v1/cert-manager/certificates"
_ONE = f"{_ALL}/{{certificate_id}}"


@issuing.post(_ALL, response_model=IssuedCertificate, summary="Issue a certificate")
async def issue(request: Request, body: IssueCertificate) -> Response:
    return await issued_answer(context_of(request), principal_of(request), body)


@router.get(
    _ALL,
    response_model=CertificateList,
    openapi_extra=parameters_of(CertificatesQuery),
    summary="List certificates",
)
async def list_all(request: Request) -> Response:
    query = query_of(request, CertificatesQuery)
    page = await context_of(request).certificates.list(
        principal_of(request),
        CertificateFilter(status=query.status, search=query.search),
        project_id=query.project_id,
        offset=query.offset,
        limit=query.limit,
    )
    return json_response(
        {
            "certificates": [certificate_json(one, page.now) for one in page.certificates],
            "totalCount": page.total,
        }
    )


@router.get(_ONE, response_model=CertificateAnswer, summary="Get a certificate")
async def get(request: Request, certificate_id: UUID) -> Response:
    context = context_of(request)
    found = await context.certificates.get(principal_of(request), str(certificate_id))
    return json_response({"certificate": certificate_json(found.certificate, found.now)})


@router.get(
    f"{_ONE}/bundle", response_model=CertificateBundle, summary="Get a certificate with its chain and key"
)
async def get_bundle(request: Request, certificate_id: UUID) -> Response:
    bundle = await context_of(request).certificates.bundle(principal_of(request), str(certificate_id))
    return json_response(bundle_json(bundle))


@router.get(
    f"{_ONE}/certificate",
    response_model=CertificatePem,
    summary="Get the text of a certificate and its chain",
)
async def get_certificate(request: Request, certificate_id: UUID) -> Response:
    found = await context_of(request).certificates.get(principal_of(request), str(certificate_id))
    return json_response(pem_json(found.certificate))


@router.get(f"{_ONE}/private-key", response_class=PlainTextResponse, summary="Get the key of a certificate")
async def get_private_key(request: Request, certificate_id: UUID) -> Response:
    key = await context_of(request).certificates.private_key(principal_of(request), str(certificate_id))
    return PlainTextResponse(key)


@router.post(f"{_ONE}/renew", response_model=RenewedCertificate, summary="Renew a certificate")
async def renew(request: Request, certificate_id: UUID, body: RenewCertificate | None = None) -> Response:
    renewed = await context_of(request).certificate_renewal.renew(
        principal_of(request),
        str(certificate_id),
        remove_roots_from_chain=body is not None and body.remove_roots_from_chain,
    )
    return json_response(renewed_json(renewed))


@router.patch(
    f"{_ONE}/config",
    response_model=CertificateConfigAnswer,
    summary="Have a certificate renew by itself, or not",
)
async def configure(request: Request, certificate_id: UUID, body: CertificateConfig) -> Response:
    setting = await context_of(request).certificate_lifecycle.configure(
        principal_of(request),
        str(certificate_id),
        days=body.renew_before_days,
        is_on=body.enable_auto_renewal,
    )
    message = "Certificate auto-renewal is " + ("on" if setting.is_on else "off")
    return json_response({"message": message, "renewBeforeDays": setting.days})


@router.post(f"{_ONE}/revoke", response_model=RevokedCertificate, summary="Revoke a certificate")
async def revoke(request: Request, certificate_id: UUID, body: RevokeCertificate | None = None) -> Response:
    reason = (body or RevokeCertificate()).revocation_reason
    revoked = await context_of(request).certificate_lifecycle.revoke(
        principal_of(request), str(certificate_id), reason
    )
    return json_response(
        {
            "message": "Successfully revoked certificate",
            "serialNumber": revoked.serial_number,
            "revokedAt": write_instant(revoked.revoked_at),
        }
    )


@router.delete(_ONE, response_model=CertificateAnswer, summary="Delete a certificate")
async def delete(request: Request, certificate_id: UUID) -> Response:
    deleted = await context_of(request).certificate_lifecycle.delete(
        principal_of(request), str(certificate_id)
    )
    return json_response({"certificate": certificate_json(deleted.certificate, deleted.now)})


@router.post(
    f"{_ALL}/import-certificate",
    response_model=ImportedCertificate,
    summary="Import a certificate of somebody else",
)
async def take(request: Request, body: ImportCertificate) -> Response:
    strange = StrangeCertificate(
        certificate=body.certificate_pem,
        chain=body.chain_pem,
        private_key=body.private_key_pem,
        friendly_name=body.friendly_name,
        project_id=body.project_id,
        project_slug=body.project_slug,
    )
    bundle = await context_of(request).certificate_lifecycle.take(principal_of(request), strange)
    return json_response({**bundle_json(bundle), "certificateId": bundle.certificate.id})
