"""Certificate profiles (interface.md sections 2.6 and 4.7, wire.md section 5.4)."""

from __future__ import annotations

from typing import Annotated, Self
from uuid import UUID

from pydantic import AliasChoices, Field, StringConstraints, model_validator

from keybearer.base.certificate_terms import (
    AuthorityKind,
    AuthorityStatus,
    CertificateStatus,
    EnrollmentType,
    IssuerType,
)
from keybearer.wire.base import WHOLE, Confidential, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.certificates.attributes import (
    AltNames,
    BasicConstraints,
    DomainComponents,
    ExtendedKeyUsages,
    KeyUsages,
    SubjectText,
)
from keybearer.wire.certificates.enrollment import AcmeConfig, ApiConfig, EstConfig, ScepConfig
from keybearer.wire.certificates.fields import (
    AnyKeyAlgorithm,
    AnySignatureAlgorithm,
    OptionalConfidential,
    OptionalProject,
    QueryLimit,
    QueryOffset,
)
from keybearer.wire.certificates.names import AltName
from keybearer.wire.limits import CERTIFICATE_DESCRIPTION_MAX, CERTIFICATE_NAME_MAX, CERTIFICATE_PAGE_DEFAULT

__all__ = [
    "AuthorityOfProfile",
    "CertificateProfile",
    "CertificateProfileAnswer",
    "CertificateProfileDetail",
    "CertificateProfileList",
    "CertificateProfileQuery",
    "CertificatesOfProfileQuery",
    "CreateCertificateProfile",
    "EabSecret",
    "ExternalConfigs",
    "GivenProfileDefaults",
    "LatestBundle",
    "PolicyOfProfile",
    "ProfileBySlugQuery",
    "ProfileDefaults",
    "ShownApiConfig",
    "ShownEstConfig",
    "UpdateCertificateProfile",
]

_Slug = Annotated[
    str, StringConstraints(min_length=1, max_length=CERTIFICATE_NAME_MAX, pattern=r"^[a-z0-9-]+$")
]
_Description = Annotated[str, Field(max_length=CERTIFICATE_DESCRIPTION_MAX)]
_TTL_MAX_DAYS = 36500


class GivenProfileDefaults(BodyModel):
    """What requests take that don't say otherwise; a field that is null or left out is no default."""

    ttl_days: Annotated[int, Field(ge=1, le=_TTL_MAX_DAYS), WHOLE] | None = None
    common_name: SubjectText | None = None
    key_algorithm: AnyKeyAlgorithm | None = None
    signature_algorithm: AnySignatureAlgorithm | None = None
    key_usages: KeyUsages | None = None
    extended_key_usages: ExtendedKeyUsages | None = None
    basic_constraints: BasicConstraints | None = None
    organization: SubjectText | None = None
    organizational_unit: SubjectText | None = None
    country: SubjectText | None = None
    state: SubjectText | None = None
    locality: SubjectText | None = None
    subject_alt_names: AltNames | None = None
    domain_components: DomainComponents | None = None


class ExternalConfigs(WireModel):
    """What an authority elsewhere needs to know: its template."""

    template: Annotated[str, Field(max_length=CERTIFICATE_NAME_MAX)] | None = None


class _Configs(BodyModel):
    est_config: EstConfig | None = None
    api_config: ApiConfig | None = None
    acme_config: AcmeConfig | None = None
    scep_config: ScepConfig | None = None


_TITLES = {
    EnrollmentType.EST: ("est_config", "EST"),
    EnrollmentType.API: ("api_config", "API"),
    EnrollmentType.ACME: ("acme_config", "ACME"),
    EnrollmentType.SCEP: ("scep_config", "SCEP"),
}


def _require_fitting(kind: EnrollmentType | None, configs: _Configs) -> None:
    """Hold configurations against the way of enrollment; nothing is said where none is named.

    Raises:
        ValueError: that way's configuration is missing, or another's is there.
    """
    if kind is None:
        return
    own, title = _TITLES[kind]
    if getattr(configs, own) is None:
        msg = f"{title} enrollment type requires {title} configuration"
        raise ValueError(msg)
    for other, other_title in _TITLES.values():
        if other != own and getattr(configs, other) is not None:
            msg = f"{title} enrollment type cannot have {other_title} configuration"
            raise ValueError(msg)


class CreateCertificateProfile(_Configs):
    """POST /api/v1/cert-manager/certificate-profiles; `certificateTemplateId` is the policy's older name."""

    project_id: OptionalProject = None
    certificate_policy_id: Annotated[
        UUID,
        Field(
            validation_alias=AliasChoices(
                "certificatePolicyId", "certificateTemplateId", "certificate_policy_id"
            )
        ),
    ]
    ca_id: UUID | None = None
    slug: _Slug
    description: _Description | None = None
    issuer_type: IssuerType = IssuerType.CA
    enrollment_type: EnrollmentType | None = None
    external_configs: ExternalConfigs | None = None
    defaults: GivenProfileDefaults | None = None

    @model_validator(mode="after")
    def _judge(self) -> Self:
        if self.issuer_type is IssuerType.CA and self.ca_id is None:
            msg = "CA issuer type requires a CA ID"
            raise ValueError(msg)
        if self.issuer_type is IssuerType.SELF_SIGNED:
            if self.ca_id is not None:
                msg = "Self-signed issuer type cannot have a CA ID"
                raise ValueError(msg)
            if self.enrollment_type not in (None, EnrollmentType.API):
                msg = "Self-signed issuer type only supports API enrollment"
                raise ValueError(msg)
        _require_fitting(self.enrollment_type, self)
        return self


class UpdateCertificateProfile(_Configs):
    """PATCH …/{id}: what is absent stays; description, externalConfigs and defaults may be null."""

    certificate_policy_id: UUID | None = None
    ca_id: UUID | None = None
    slug: _Slug | None = None
    description: Annotated[_Description, Zero.COUNTS] | None = None
    issuer_type: IssuerType | None = None
    enrollment_type: EnrollmentType | None = None
    external_configs: ExternalConfigs | None = None
    defaults: GivenProfileDefaults | None = None


class ProfileDefaults(WireModel):
    """Defaults as they are answered (interface.md section 2.6); what there is no default for is left out."""

    ttl_days: int | None = None
    common_name: str | None = None
    key_algorithm: str | None = None
    signature_algorithm: str | None = None
    key_usages: list[str] | None = None
    extended_key_usages: list[str] | None = None
    basic_constraints: BasicConstraints | None = None
    organization: str | None = None
    organizational_unit: str | None = None
    country: str | None = None
    state: str | None = None
    locality: str | None = None
    subject_alt_names: list[AltName] | None = None
    domain_components: list[str] | None = None


class CertificateProfile(WireModel):
    """A profile (interface.md section 2.6); what it doesn't have is left out."""

    id: UUID
    certificate_policy_id: UUID
    slug: str
    enrollment_type: EnrollmentType
    created_at: WireInstant
    updated_at: WireInstant
    ca_id: UUID | None = None
    description: str | None = None
    est_config_id: UUID | None = None
    api_config_id: UUID | None = None
    acme_config_id: UUID | None = None
    scep_config_id: UUID | None = None
    issuer_type: IssuerType
    external_configs: ExternalConfigs | None = None
    defaults: ProfileDefaults | None = None


class CertificateProfileAnswer(WireModel):
    """`{certificateProfile}`."""

    certificate_profile: CertificateProfile


class CertificateProfileList(WireModel):
    """`{certificateProfiles, totalCount}`, by slug."""

    certificate_profiles: list[CertificateProfile]
    total_count: int


class AuthorityOfProfile(WireModel):
    """The authority that signs for a profile."""

    id: str
    project_id: str
    status: AuthorityStatus
    name: str
    is_external: bool
    external_type: AuthorityKind | None = None


class PolicyOfProfile(WireModel):
    """The policy of a profile."""

    id: str
    project_id: str
    name: str
    description: str | None = None


class ShownEstConfig(WireModel):
    """Enrollment by EST as it is answered: never the passphrase."""

    id: str
    disable_bootstrap_ca_validation: bool
    ca_chain: str | None = None


class ShownApiConfig(WireModel):
    """Enrollment by the API as it is answered."""

    id: str
    auto_renew: bool
    renew_before_days: int | None = None


class CertificateProfileDetail(WireModel):
    """GET …/{id}: the profile, and beside it what it refers to; what there isn't is left out."""

    certificate_profile: CertificateProfile
    certificate_authority: AuthorityOfProfile | None = None
    certificate_policy: PolicyOfProfile
    est_config: ShownEstConfig | None = None
    api_config: ShownApiConfig | None = None


class CertificateProfileQuery(WireModel):
    """Query of the list."""

    project_id: OptionalProject = None
    offset: QueryOffset = 0
    limit: QueryLimit = CERTIFICATE_PAGE_DEFAULT
    search: Annotated[str | None, Field(max_length=CERTIFICATE_NAME_MAX)] = None
    enrollment_type: EnrollmentType | None = None
    issuer_type: IssuerType | None = None
    ca_id: UUID | None = None


class ProfileBySlugQuery(WireModel):
    """Query of GET …/slug/{slug}."""

    project_id: OptionalProject = None


class CertificatesOfProfileQuery(WireModel):
    """Query of GET …/{id}/certificates."""

    offset: QueryOffset = 0
    limit: QueryLimit = CERTIFICATE_PAGE_DEFAULT
    status: CertificateStatus | None = None
    search: Annotated[str | None, Field(max_length=CERTIFICATE_NAME_MAX)] = None


class LatestBundle(WireModel):
    """GET …/{id}/certificates/latest-active-bundle: nulls where there is none."""

    certificate: str | None
    certificate_chain: str | None
    private_key: OptionalConfidential
    serial_number: str | None


class EabSecret(WireModel):
    """GET …/{id}/acme/eab-secret/reveal."""

    eab_kid: str
    eab_secret: Confidential
