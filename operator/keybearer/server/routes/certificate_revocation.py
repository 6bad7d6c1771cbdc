"""What everybody may ask of an authority: revocation lists and OCSP, as certificates say where to."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from email.utils import format_datetime
from uuid import UUID

import orjson
from fastapi import Request
from starlette.responses import Response

from keybearer.domain.certificates.status_answers import StatusAnswer
from keybearer.domain.secrets.entity_tags import candidates
from keybearer.pki.errors import MalformedError
from keybearer.pki.ocsp import (
    MAX_QUESTION_BYTES,
    OcspFailure,
    OcspQuestion,
    ocsp_failure,
    parse_ocsp_path,
    parse_ocsp_question,
)
from keybearer.pki.revocation_lists import revocation_list_text
from keybearer.server.answers import json_response, raw_json_response
from keybearer.server.auth import AuthenticatedRoute, OpenRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.routing import new_router
from keybearer.wire.base import write_instant
from keybearer.wire.certificates.authorities import RevocationList
from keybearer.wire.certificates.certificates import RevokeCertificate, RevokedCertificate

__all__ = ["public", "router"]

router = new_router("Certificate authorities", AuthenticatedRoute)
public = new_router("Certificate authorities", OpenRoute)
_ROOT = "/api/v1/cert-manager"
_AUTHORITY = f"{_ROOT}/ca/internal/{{authority_id}}"
_LIST, _ANSWER, _QUESTION = "application/pkix-crl", "application/ocsp-response", "application/ocsp-request"
_BODY = {
    "requestBody": {
        "required": False,  # without one, it is a question that can't be read: answered in OCSP's own way, with 200
        "content": {_QUESTION: {"schema": {"type": "string", "format": "binary"}}},
    }
}
_KEPT = timedelta(minutes=5)
"""How long caches may keep what may be outdated the next moment; a certificate's issuer may be sure of no less."""
_NOT_KEPT = {"cache-control": "no-store"}


@router.get(
    f"{_AUTHORITY}/crls",
    response_model=list[RevocationList],
    summary="List the revocation lists of a certificate authority",
)
async def list_revocation_lists(request: Request, authority_id: UUID) -> Response:
    found = await context_of(request).revocation_lists.of_authority(principal_of(request), str(authority_id))
    listed = [{"id": one.id, "crl": revocation_list_text(one.der)} for one in found]
    return raw_json_response(orjson.dumps(listed), {})


@router.post(
    f"{_AUTHORITY}/certificates/{{certificate_id}}/revoke",
    response_model=RevokedCertificate,
    summary="Revoke a certificate of an authority, which another one signed",
)
async def revoke(
    request: Request, authority_id: UUID, certificate_id: UUID, body: RevokeCertificate | None = None
) -> Response:
    reason = (body or RevokeCertificate()).revocation_reason
    revoked = await context_of(request).authority_revocation.revoke(
        principal_of(request), str(authority_id), str(certificate_id), reason
    )
    return json_response(
        {
            "message": "Successfully revoked certificate",
            "serialNumber": revoked.serial_number,
            "revokedAt": write_instant(revoked.revoked_at),
        }
    )


@public.get(
    f"{_ROOT}/crl/{{certificate_id}}",
    response_class=Response,
    summary="Get the revocation list of an authority, for everybody",
)
async def get_revocation_list(request: Request, certificate_id: UUID) -> Response:
    found = await context_of(request).revocation_lists.public(str(certificate_id))
    # A list may be megabytes: its number tells it from others of the same id.
    tag = f'"{found.id}-{found.number}"'
    return _kept(request, found.der, _LIST, tag, (found.this_update, found.next_update))


@public.post(
    f"{_ROOT}/ocsp/{{certificate_id}}",
    response_class=Response,
    openapi_extra=_BODY,
    summary="Ask for the status of a certificate",
)
async def ask(request: Request, certificate_id: UUID) -> Response:
    body = await request.body()
    try:
        question = parse_ocsp_question(body[: MAX_QUESTION_BYTES + 1])
    except MalformedError:
        return _malformed()
    answer = await _answer(request, certificate_id, question)
    return Response(answer.der, media_type=_ANSWER, headers=_NOT_KEPT)


@public.get(
    f"{_ROOT}/ocsp/{{certificate_id}}/{{question:path}}",
    response_class=Response,
    summary="Ask for the status of a certificate, the question in the path",
)
async def ask_by_path(request: Request, certificate_id: UUID, question: str) -> Response:
    if request.scope["raw_path"].upper().endswith((b"/", b"%2F")):
        # Elsewhere a slash at the end is another form of the path, and is taken away; here it is a letter of base64.
        question += "/"
    try:
        parsed = parse_ocsp_path(question)
    except MalformedError:
        return _malformed()
    answer = await _answer(request, certificate_id, parsed)
    if answer.this_update is None or answer.next_update is None:
        return Response(answer.der, media_type=_ANSWER, headers=_NOT_KEPT)
    tag = f'"{hashlib.sha256(answer.der).hexdigest()}"'
    return _kept(request, answer.der, _ANSWER, tag, (answer.this_update, answer.next_update))


async def _answer(request: Request, certificate_id: UUID, question: OcspQuestion) -> StatusAnswer:
    return await context_of(request).status_answers.answer(str(certificate_id), question)


def _malformed() -> Response:
    return Response(ocsp_failure(OcspFailure.MALFORMED), media_type=_ANSWER, headers=_NOT_KEPT)


def _kept(
    request: Request, der: bytes, media_type: str, tag: str, valid: tuple[datetime, datetime]
) -> Response:
    """Return what caches may keep for a while (RFC 5019 section 6.2), or that the one who asks has it."""
    begin, end = valid
    headers = {
        "etag": tag,
        "last-modified": format_datetime(begin, usegmt=True),
        "expires": format_datetime(end, usegmt=True),
        "cache-control": f"max-age={_KEPT.seconds}, public, no-transform, must-revalidate",
    }
    if tag in candidates(request.headers.get("if-none-match")):
        return Response(status_code=304, headers=headers)
    return Response(der, media_type=media_type, headers=headers)
