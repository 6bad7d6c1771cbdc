"""Applications, and the profiles attached to them (wire.md section 5.7)."""

from __future__ import annotations

from uuid import UUID

from fastapi import Request
from starlette.responses import Response

from keybearer.base.certificate_terms import EnrollmentType
from keybearer.domain.certificates.applications import ApplicationChange, NewApplication
from keybearer.domain.unchanged import UNCHANGED
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.certificate_setup_rendering import (
    application_json,
    attached_json,
    enrollment_json,
    enrollments_json,
)
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routes.certificate_enrollments import terms_of
from keybearer.server.routing import new_router
from keybearer.store.certificate_applications import CertificateApplication
from keybearer.wire.certificates.applications import (
    ApplicationAnswer,
    ApplicationEnrollment,
    ApplicationList,
    ApplicationProfileList,
    ApplicationProfileRef,
    ApplicationQuery,
    ApplicationsQuery,
    AttachProfiles,
    CreateApplication,
    EnrollmentAnswer,
    UpdateApplication,
)
from keybearer.wire.certificates.enrollment import AcmeConfig, ApiConfig, EstConfig, ScepConfig

__all__ = ["router"]

router = new_router("Certificate applications", AuthenticatedRoute)
_ALL = "/api/v1/cert-manager/applications"
_ONE = f"{_ALL}/{{application_id}}"
_PROFILES = f"{_ONE}/profiles"
_PROFILE = f"{_PROFILES}/{{profile_id}}"
_ENROLLMENT = f"{_PROFILE}/enrollment"
_AnyConfig = ApiConfig | EstConfig | AcmeConfig | ScepConfig


@router.post(_ALL, response_model=ApplicationAnswer, summary="Create an application")
async def create_application(request: Request, body: CreateApplication) -> Response:
    new = NewApplication(
        body.project_id, body.name, body.description, tuple(map(str, body.profile_ids or ()))
    )
    return _answer(await context_of(request).certificate_applications.create(principal_of(request), new))


@router.get(
    _ALL,
    response_model=ApplicationList,
    openapi_extra=parameters_of(ApplicationsQuery),
    summary="List applications",
)
async def list_applications(request: Request) -> Response:
    query = query_of(request, ApplicationsQuery)
    found, total = await context_of(request).certificate_applications.list(
        principal_of(request),
        query.project_id,
        search=query.search,
        offset=query.offset,
        limit=query.limit,
    )
    return json_response({"applications": [application_json(one) for one in found], "totalCount": total})


@router.get(
    f"{_ALL}/by-name/{{name}}",
    response_model=ApplicationAnswer,
    openapi_extra=parameters_of(ApplicationQuery),
    summary="Get an application by its name",
)
async def get_application_by_name(request: Request, name: str) -> Response:
    query = query_of(request, ApplicationQuery)
    applications = context_of(request).certificate_applications
    return _answer(await applications.named(principal_of(request), name, query.project_id))


@router.get(_ONE, response_model=ApplicationAnswer, summary="Get an application")
async def get_application(request: Request, application_id: UUID) -> Response:
    applications = context_of(request).certificate_applications
    return _answer(await applications.get(principal_of(request), str(application_id)))


@router.patch(_ONE, response_model=ApplicationAnswer, summary="Change an application")
async def update_application(request: Request, application_id: UUID, body: UpdateApplication) -> Response:
    change = ApplicationChange(
        body.name, body.description if "description" in body.model_fields_set else UNCHANGED
    )
    applications = context_of(request).certificate_applications
    return _answer(await applications.update(principal_of(request), str(application_id), change))


@router.delete(_ONE, response_model=ApplicationAnswer, summary="Delete an application")
async def delete_application(request: Request, application_id: UUID) -> Response:
    applications = context_of(request).certificate_applications
    return _answer(await applications.delete(principal_of(request), str(application_id)))


@router.get(_PROFILES, response_model=ApplicationProfileList, summary="List the profiles of an application")
async def list_profiles(request: Request, application_id: UUID) -> Response:
    applications = context_of(request).certificate_applications
    found = await applications.profiles(principal_of(request), str(application_id))
    return json_response({"profiles": [attached_json(view) for view in found]})


@router.post(
    _PROFILES, response_model=ApplicationProfileList, summary="Attach certificate profiles to an application"
)
async def attach_profiles(request: Request, application_id: UUID, body: AttachProfiles) -> Response:
    found = await context_of(request).certificate_applications.attach(
        principal_of(request), str(application_id), [str(one) for one in body.profile_ids]
    )
    return json_response({"profiles": [attached_json(view) for view in found]})


@router.delete(
    _PROFILE, response_model=ApplicationProfileRef, summary="Detach a certificate profile from an application"
)
async def detach_profile(request: Request, application_id: UUID, profile_id: UUID) -> Response:
    applications = context_of(request).certificate_applications
    await applications.detach(principal_of(request), str(application_id), str(profile_id))
    return json_response({"applicationId": str(application_id), "profileId": str(profile_id)})


@router.get(
    _ENROLLMENT,
    response_model=ApplicationEnrollment,
    summary="Get how certificates of a profile are asked for within an application",
)
async def get_enrollment(request: Request, application_id: UUID, profile_id: UUID) -> Response:
    applications = context_of(request).certificate_applications
    view = await applications.enrollment(principal_of(request), str(application_id), str(profile_id))
    return json_response(enrollments_json(view))


@router.put(f"{_ENROLLMENT}/api", response_model=EnrollmentAnswer, summary="Set enrollment by the API")
async def put_api(request: Request, application_id: UUID, profile_id: UUID, body: ApiConfig) -> Response:
    return await _put(request, application_id, profile_id, EnrollmentType.API, body)


@router.put(f"{_ENROLLMENT}/est", response_model=EnrollmentAnswer, summary="Set enrollment by EST")
async def put_est(request: Request, application_id: UUID, profile_id: UUID, body: EstConfig) -> Response:
    return await _put(request, application_id, profile_id, EnrollmentType.EST, body)


@router.put(f"{_ENROLLMENT}/acme", response_model=EnrollmentAnswer, summary="Set enrollment by ACME")
async def put_acme(request: Request, application_id: UUID, profile_id: UUID, body: AcmeConfig) -> Response:
    return await _put(request, application_id, profile_id, EnrollmentType.ACME, body)


@router.put(f"{_ENROLLMENT}/scep", response_model=EnrollmentAnswer, summary="Set enrollment by SCEP")
async def put_scep(request: Request, application_id: UUID, profile_id: UUID, body: ScepConfig) -> Response:
    return await _put(request, application_id, profile_id, EnrollmentType.SCEP, body)


@router.delete(
    f"{_ENROLLMENT}/{{kind}}", response_model=EnrollmentAnswer, summary="Take away a way of enrollment"
)
async def delete_enrollment(
    request: Request, application_id: UUID, profile_id: UUID, kind: EnrollmentType
) -> Response:
    applications = context_of(request).certificate_applications
    await applications.unenroll(principal_of(request), str(application_id), str(profile_id), kind)
    return _set(application_id, profile_id, kind, None)


async def _put(
    request: Request, application_id: UUID, profile_id: UUID, kind: EnrollmentType, config: _AnyConfig
) -> Response:
    enrollment = await context_of(request).certificate_applications.enroll(
        principal_of(request), str(application_id), str(profile_id), terms_of(kind, config)
    )
    return _set(application_id, profile_id, kind, enrollment_json(enrollment))


def _set(
    application_id: UUID, profile_id: UUID, kind: EnrollmentType, shown: dict[str, object] | None
) -> Response:
    return json_response(
        {"applicationId": str(application_id), "profileId": str(profile_id), kind.value: shown}
    )


def _answer(application: CertificateApplication) -> Response:
    return json_response({"application": application_json(application)})
