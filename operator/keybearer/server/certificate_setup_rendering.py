"""Domain to wire: the JSON of what certificates are issued by: policies, profiles, applications, authorities."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.base.certificate_terms import EnrollmentType
from keybearer.domain.certificates.applications import AttachedView
from keybearer.domain.certificates.authority_requests import AuthorityView
from keybearer.domain.certificates.policy_binding import Binding
from keybearer.domain.certificates.profile_requests import ProfileDetail, ProfileView
from keybearer.store.certificate_applications import CertificateApplication
from keybearer.store.certificate_authorities import AuthorityCertificate, CertificateAuthority
from keybearer.store.certificate_policies import CertificatePolicy
from keybearer.store.enrollments import Enrollment
from keybearer.wire.base import write_instant

__all__ = [
    "application_json",
    "attached_json",
    "authority_certificate_json",
    "authority_item_json",
    "authority_json",
    "binding_json",
    "enrollment_json",
    "enrollments_json",
    "policy_json",
    "profile_detail_json",
    "profile_json",
]

Json = dict[str, object]


def binding_json(binding: Binding) -> Json:
    """Return who has profiles issue by a policy, and the authorities that sign by it alone."""
    return {"profilesBoundBy": binding.profiles_bound_by, "caIds": list(binding.authority_ids)}


def policy_json(policy: CertificatePolicy) -> Json:
    """Return a policy; a rule that was left out isn't there."""
    return {
        "id": policy.id,
        "projectId": policy.project_id,
        "name": policy.name,
        "description": policy.description,
        **policy.rules,
        "createdAt": write_instant(policy.created_at),
        "updatedAt": write_instant(policy.updated_at),
    }


def profile_json(view: ProfileView) -> Json:
    """Return a profile (interface.md section 2.6), without what it doesn't have."""
    profile = view.profile
    return _without_none(
        {
            "id": profile.id,
            "certificatePolicyId": profile.policy_id,
            "slug": profile.slug,
            "enrollmentType": profile.enrollment_type,
            "createdAt": write_instant(profile.created_at),
            "updatedAt": write_instant(profile.updated_at),
            "caId": profile.authority_id,
            "description": profile.description,
            **_config_ids(view.enrollments),
            "issuerType": profile.issuer_type,
            "externalConfigs": profile.external_configs,
            "defaults": profile.defaults,
        }
    )


def profile_detail_json(detail: ProfileDetail) -> Json:
    """Return a profile, and beside it what it refers to."""
    policy, authority, enrollments = detail.policy, detail.authority, detail.view.enrollments
    return _without_none(
        {
            "certificateProfile": profile_json(detail.view),
            "certificateAuthority": None if authority is None else _authority_of_profile(authority),
            "certificatePolicy": _without_none(
                {
                    "id": policy.id,
                    "projectId": policy.project_id,
                    "name": policy.name,
                    "description": policy.description,
                }
            ),
            "estConfig": _shown(enrollments, EnrollmentType.EST),
            "apiConfig": _shown(enrollments, EnrollmentType.API),
        }
    )


def application_json(application: CertificateApplication) -> Json:
    """Return an application."""
    return {
        "id": application.id,
        "projectId": application.project_id,
        "name": application.name,
        "description": application.description,
        "createdAt": write_instant(application.created_at),
        "updatedAt": write_instant(application.updated_at),
    }


def attached_json(view: AttachedView) -> Json:
    """Return a profile that is attached to an application."""
    attached = view.attached
    return {
        "applicationId": attached.application_id,
        "profileId": attached.profile_id,
        "profileSlug": attached.profile_slug,
        "profileDescription": attached.profile_description,
        **_config_ids(view.enrollments),
        "createdAt": write_instant(attached.created_at),
        "updatedAt": write_instant(attached.updated_at),
    }


def enrollments_json(view: AttachedView) -> Json:
    """Return what is set for an application and a profile together; null what isn't."""
    return {
        "applicationId": view.attached.application_id,
        "profileId": view.attached.profile_id,
        **{kind.value: _shown(view.enrollments, kind) for kind in EnrollmentType},
        **{
            f"{kind.value}Configured": kind in view.enrollments
            for kind in (EnrollmentType.EST, EnrollmentType.ACME, EnrollmentType.SCEP)
        },
    }


def enrollment_json(enrollment: Enrollment) -> Json:
    """Return one way of enrollment; what is secret of it isn't among its settings."""
    return {"id": enrollment.id, **enrollment.settings}


def authority_item_json(authority: CertificateAuthority) -> Json:
    """Return an authority in the list of all kinds."""
    return {
        "id": authority.id,
        "projectId": authority.project_id,
        "name": authority.name,
        "type": authority.kind,
        "status": authority.status,
        "enableDirectIssuance": authority.enable_direct_issuance,
    }


def authority_json(view: AuthorityView) -> Json:
    """Return an internal authority."""
    authority, configuration, certificate = view.authority, view.configuration, view.certificate
    return {
        **authority_item_json(authority),
        "configuration": {
            "type": configuration.type,
            "friendlyName": configuration.friendly_name,
            "commonName": configuration.common_name,
            "organization": configuration.organization,
            "ou": configuration.ou,
            "country": configuration.country,
            "province": configuration.province,
            "locality": configuration.locality,
            "keyAlgorithm": configuration.key_algorithm,
            "maxPathLength": _path_length(view),
            "notBefore": None if certificate is None else write_instant(certificate.not_before),
            "notAfter": None if certificate is None else write_instant(certificate.not_after),
            "serialNumber": None if certificate is None else certificate.serial_number,
            "dn": str(configuration.subject),
            "parentCaId": None if certificate is None else certificate.parent_id,
            "activeCaCertId": authority.certificate_id,
            "crlDistributionPointUrls": [*configuration.crl_distribution_point_urls],
            "disableManagedCrlDistributionPointUrl": configuration.disable_managed_crl_distribution_point_url,
        },
        "createdAt": write_instant(authority.created_at),
        "updatedAt": write_instant(authority.updated_at),
    }


def authority_certificate_json(certificate: AuthorityCertificate) -> Json:
    """Return a certificate of an authority, PEM."""
    return {
        "certificate": certificate.certificate,
        "certificateChain": certificate.chain,
        "serialNumber": certificate.serial_number,
    }


def _path_length(view: AuthorityView) -> int:
    length = (view.certificate or view.configuration).max_path_length
    return -1 if length is None else length


def _authority_of_profile(authority: CertificateAuthority) -> Json:
    return _without_none(
        {
            "id": authority.id,
            "projectId": authority.project_id,
            "status": authority.status,
            "name": authority.name,
            "isExternal": not authority.is_internal,
            "externalType": None if authority.is_internal else authority.kind,
        }
    )


def _config_ids(enrollments: Mapping[str, Enrollment]) -> Json:
    return {
        f"{kind.value}ConfigId": enrollments[kind].id if kind in enrollments else None
        for kind in (EnrollmentType.EST, EnrollmentType.API, EnrollmentType.ACME, EnrollmentType.SCEP)
    }


def _shown(enrollments: Mapping[str, Enrollment], kind: EnrollmentType) -> Json | None:
    found = enrollments.get(kind)
    return None if found is None else enrollment_json(found)


def _without_none(fields: Json) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
