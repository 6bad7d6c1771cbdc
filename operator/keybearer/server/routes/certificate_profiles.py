"""Certificate profiles (interface.md sections 2.6 and 4.7, wire.md section 5.4)."""

from __future__ import annotations

from uuid import UUID

from fastapi import Request
from pydantic import JsonValue
from starlette.responses import Response

from keybearer.base.certificate_terms import EnrollmentType
from keybearer.domain.certificates.enrolling import EnrollmentTerms
from keybearer.domain.certificates.profile_requests import NewProfile, ProfileChange, ProfileView
from keybearer.domain.unchanged import UNCHANGED
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.certificate_rendering import bundle_json, certificate_json
from keybearer.server.certificate_setup_rendering import profile_detail_json, profile_json
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routes.certificate_enrollments import terms_of
from keybearer.server.routing import new_router
from keybearer.store.certificate_profiles import ProfileFilter
from keybearer.store.certificates import CertificateFilter
from keybearer.wire.base import WireModel
from keybearer.wire.certificates.certificates import CertificateList
from keybearer.wire.certificates.profiles import (
    CertificateProfileAnswer,
    CertificateProfileDetail,
    CertificateProfileList,
    CertificateProfileQuery,
    CertificatesOfProfileQuery,
    CreateCertificateProfile,
    EabSecret,
    ExternalConfigs,
    GivenProfileDefaults,
    LatestBundle,
    ProfileBySlugQuery,
    UpdateCertificateProfile,
)

__all__ = ["router"]

router = new_router("Certificate profiles", AuthenticatedRoute)
_ALL = "/api/v1/cert-manager/certificate-profiles"
_ONE = f"{_ALL}/{{profile_id}}"
_BUNDLE = ("certificate", "certificateChain", "privateKey", "serialNumber")


@router.post(_ALL, response_model=CertificateProfileAnswer, summary="Create a certificate profile")
async def create_profile(request: Request, body: CreateCertificateProfile) -> Response:
    new = NewProfile(
        project_id=body.project_id,
        policy_id=str(body.certificate_policy_id),
        authority_id=_text(body.ca_id),
        slug=body.slug,
        description=body.description,
        issuer_type=body.issuer_type,
        enrollment_type=body.enrollment_type,
        external_configs=_external(body.external_configs),
        defaults=_defaults(body.defaults),
        enrollments=_enrollments(body),
    )
    return _answer(await context_of(request).certificate_profiles.create(principal_of(request), new))


@router.get(
    _ALL,
    response_model=CertificateProfileList,
    openapi_extra=parameters_of(CertificateProfileQuery),
    summary="List certificate profiles",
)
async def list_profiles(request: Request) -> Response:
    query = query_of(request, CertificateProfileQuery)
    wanted = ProfileFilter(query.search, query.enrollment_type, query.issuer_type, _text(query.ca_id))
    found, total = await context_of(request).certificate_profiles.list(
        principal_of(request), query.project_id, wanted, offset=query.offset, limit=query.limit
    )
    return json_response({"certificateProfiles": [profile_json(view) for view in found], "totalCount": total})


@router.get(
    f"{_ALL}/slug/{{slug}}",
    response_model=CertificateProfileAnswer,
    openapi_extra=parameters_of(ProfileBySlugQuery),
    summary="Get a certificate profile by its slug",
)
async def get_profile_by_slug(request: Request, slug: str) -> Response:
    query = query_of(request, ProfileBySlugQuery)
    profiles = context_of(request).certificate_profiles
    return _answer(await profiles.with_slug(principal_of(request), slug, query.project_id))


@router.get(_ONE, response_model=CertificateProfileDetail, summary="Get a certificate profile")
async def get_profile(request: Request, profile_id: UUID) -> Response:
    detail = await context_of(request).certificate_profiles.get(principal_of(request), str(profile_id))
    return json_response(profile_detail_json(detail))


@router.patch(_ONE, response_model=CertificateProfileAnswer, summary="Change a certificate profile")
async def update_profile(request: Request, profile_id: UUID, body: UpdateCertificateProfile) -> Response:
    said = body.model_fields_set
    change = ProfileChange(
        policy_id=_text(body.certificate_policy_id),
        authority_id=_text(body.ca_id),
        slug=body.slug,
        description=body.description if "description" in said else UNCHANGED,
        issuer_type=body.issuer_type,
        enrollment_type=body.enrollment_type,
        external_configs=_external(body.external_configs) if "external_configs" in said else UNCHANGED,
        defaults=_defaults(body.defaults) if "defaults" in said else UNCHANGED,
        enrollments=_enrollments(body),
    )
    profiles = context_of(request).certificate_profiles
    return _answer(await profiles.update(principal_of(request), str(profile_id), change))


@router.delete(_ONE, response_model=CertificateProfileAnswer, summary="Delete a certificate profile")
async def delete_profile(request: Request, profile_id: UUID) -> Response:
    profiles = context_of(request).certificate_profiles
    return _answer(await profiles.delete(principal_of(request), str(profile_id)))


@router.get(
    f"{_ONE}/certificates",
    response_model=CertificateList,
    openapi_extra=parameters_of(CertificatesOfProfileQuery),
    summary="List the certificates of a profile",
)
async def list_certificates(request: Request, profile_id: UUID) -> Response:
    query = query_of(request, CertificatesOfProfileQuery)
    page = await context_of(request).profile_certificates.list(
        principal_of(request),
        str(profile_id),
        CertificateFilter(status=query.status, search=query.search),
        offset=query.offset,
        limit=query.limit,
    )
    return json_response(
        {
            "certificates": [certificate_json(one, page.now) for one in page.certificates],
            "totalCount": page.total,
        }
    )


@router.get(
    f"{_ONE}/certificates/latest-active-bundle",
    response_model=LatestBundle,
    summary="Get the newest active certificate of a profile with its chain and key",
)
async def get_latest_bundle(request: Request, profile_id: UUID) -> Response:
    found = await context_of(request).profile_certificates.latest(principal_of(request), str(profile_id))
    return json_response(dict.fromkeys(_BUNDLE) if found is None else bundle_json(found))


@router.get(
    f"{_ONE}/acme/eab-secret/reveal",
    response_model=EabSecret,
    summary="Reveal what ACME clients make an account with",
)
async def reveal_acme_binding(request: Request, profile_id: UUID) -> Response:
    profiles = context_of(request).certificate_profiles
    binding = await profiles.acme_binding(principal_of(request), str(profile_id))
    return json_response({"eabKid": binding.key_id, "eabSecret": binding.secret})


def _answer(view: ProfileView) -> Response:
    return json_response({"certificateProfile": profile_json(view)})


def _text(given: UUID | None) -> str | None:
    return None if given is None else str(given)


def _written(given: WireModel) -> dict[str, JsonValue]:
    return given.model_dump(mode="json", by_alias=True, exclude_none=True)


def _external(given: ExternalConfigs | None) -> dict[str, JsonValue] | None:
    return None if given is None else _written(given)


def _defaults(given: GivenProfileDefaults | None) -> dict[str, JsonValue] | None:
    """Return defaults as they are answered: each name with its kind."""
    if given is None:
        return None
    written = _written(given)
    if given.subject_alt_names is not None:
        written["subjectAltNames"] = [
            {"type": name.kind.value, "value": name.value} for name in given.subject_alt_names
        ]
    return written


def _enrollments(body: CreateCertificateProfile | UpdateCertificateProfile) -> tuple[EnrollmentTerms, ...]:
    given = {
        EnrollmentType.EST: body.est_config,
        EnrollmentType.API: body.api_config,
        EnrollmentType.ACME: body.acme_config,
        EnrollmentType.SCEP: body.scep_config,
    }
    return tuple(terms_of(kind, config) for kind, config in given.items() if config is not None)
