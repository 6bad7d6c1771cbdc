"""Certificate profiles (interface.md section 4.7, wire.md section 5.4)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from keybearer.client.certificate_enrollments import (
    AcmeEnrollment,
    ApiEnrollment,
    EstEnrollment,
    ScepEnrollment,
)
from keybearer.client.certificate_profiles import (
    CertificateProfile,
    CertificateProfilePage,
    ProfileAuthority,
    ProfileDefaults,
    ProfilePolicy,
)
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body, query_of
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.certificate_bodies import (
    AcmeBody,
    AltNameBody,
    ApiBody,
    ConstraintsBody,
    EstBody,
    ScepBody,
    given_of,
    secrets_of,
    without_none,
)
from keybearer.client.operations.certificate_listings import PageOfProject
from keybearer.wire.base import WireModel

__all__ = [
    "CreateCertificateProfile",
    "DeleteCertificateProfile",
    "EnrollmentWord",
    "GetCertificateProfile",
    "GetCertificateProfileBySlug",
    "IssuerWord",
    "ListCertificateProfiles",
    "UpdateCertificateProfile",
]

_ALL = "/api/v1/cert-manager/certificate-profiles"
_ONE = f"{_ALL}/{{}}"

IssuerWord = Literal["ca", "self-signed"]
EnrollmentWord = Literal["api", "est", "acme", "scep"]


@from_wire
@dataclass(frozen=True, slots=True)
class _ProfileAnswer:
    """`{certificateProfile}`."""

    certificate_profile: CertificateProfile


@from_wire
@dataclass(frozen=True, slots=True)
class _DetailAnswer:
    """`{certificateProfile}`, and beside it what that refers to."""

    certificate_profile: CertificateProfile
    certificate_authority: ProfileAuthority | None = None
    certificate_policy: ProfilePolicy | None = None
    api_config: ApiEnrollment | None = None
    est_config: EstEnrollment | None = None


class _Defaults(WireModel):
    ttl_days: Annotated[float, Field(gt=0)] | None = None
    common_name: str | None = None
    key_algorithm: str | None = None
    signature_algorithm: str | None = None
    key_usages: list[str] | None = None
    extended_key_usages: list[str] | None = None
    basic_constraints: ConstraintsBody | None = None
    organization: str | None = None
    organizational_unit: str | None = None
    country: str | None = None
    state: str | None = None
    locality: str | None = None
    subject_alt_names: list[AltNameBody] | None = None
    domain_components: list[str] | None = None


class _External(WireModel):
    template: str


class _Written(WireModel):
    """Both bodies; what isn't given isn't sent."""

    project_id: str | None = None
    certificate_policy_id: str | None = None
    ca_id: str | None = None
    slug: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    description: Annotated[str, Field(max_length=1000)] | None = None
    issuer_type: IssuerWord | None = None
    enrollment_type: EnrollmentWord | None = None
    api_config: ApiBody | None = None
    est_config: EstBody | None = None
    acme_config: AcmeBody | None = None
    scep_config: ScepBody | None = None
    external_configs: _External | None = None
    defaults: _Defaults | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCertificateProfiles(PageOfProject[CertificateProfilePage]):
    """List profiles: those that meet all of what is given.

    Attributes:
        project_id: None for the organization's own project for certificates.
        offset, limit: of those found, leave out so many, and return so many, 1 to 100.
        search: stands in the slug or the description.
    """

    enrollment_type: EnrollmentWord | None = None
    issuer_type: IssuerWord | None = None
    ca_id: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        more = {
            "enrollmentType": self.enrollment_type,
            "issuerType": self.issuer_type,
            "caId": self.ca_id,
        }
        return self.asked(_ALL, more)

    def read(self, response: Response) -> CertificateProfilePage:
        """Return the page."""
        return decode(response, CertificateProfilePage)


class _One(Operation[CertificateProfile]):
    __slots__ = ()

    def read(self, response: Response) -> CertificateProfile:
        """Return the profile."""
        return decode(response, _ProfileAnswer).certificate_profile


@dataclass(frozen=True, slots=True)
class GetCertificateProfile(Operation[CertificateProfile]):
    """Return a profile by its id, with its authority and policy by name; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    profile_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.profile_id))

    def read(self, response: Response) -> CertificateProfile:
        """Return the profile with what stands beside it, or within it from other servers."""
        answer = decode(response, _DetailAnswer)
        profile = answer.certificate_profile
        return replace(
            profile,
            certificate_authority=answer.certificate_authority or profile.certificate_authority,
            certificate_policy=answer.certificate_policy or profile.certificate_policy,
            api_config=answer.api_config or profile.api_config,
            est_config=answer.est_config or profile.est_config,
        )


@dataclass(frozen=True, slots=True)
class GetCertificateProfileBySlug(_One):
    """Return a profile by its slug; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    slug: str
    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        query = query_of({"projectId": self.project_id})
        return Request("GET", fill(f"{_ALL}/slug/{{}}", self.slug), query=query)


@dataclass(frozen=True, slots=True)
class _Writing(_One):
    enrollment_type: EnrollmentWord | None = field(default=None, kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    defaults: ProfileDefaults | None = field(default=None, kw_only=True)
    api_config: ApiEnrollment | None = field(default=None, kw_only=True)
    est_config: EstEnrollment | None = field(default=None, kw_only=True)
    acme_config: AcmeEnrollment | None = field(default=None, kw_only=True)
    scep_config: ScepEnrollment | None = field(default=None, kw_only=True)
    template: str | None = field(default=None, kw_only=True)

    def terms(self) -> dict[str, Any]:
        """Return what both bodies share."""
        objects = {
            "api_config": self.api_config,
            "est_config": self.est_config,
            "acme_config": self.acme_config,
            "scep_config": self.scep_config,
            "defaults": self.defaults,
        }
        return {
            "description": self.description,
            "enrollment_type": self.enrollment_type,
            "external_configs": None if self.template is None else {"template": self.template},
            **{name: None if value is None else given_of(value) for name, value in objects.items()},
        }

    def confidential(self) -> tuple[str, ...]:
        """Return the passwords of configurations."""
        return secrets_of(self.est_config, self.scep_config)


@dataclass(frozen=True, slots=True)
class CreateCertificateProfile(_Writing):
    """Make a profile, and return it; `PermissionDenied` where the slug is taken.

    Attributes:
        slug: lower-case letters, digits and hyphens.
        policy_id: what may be asked for.
        ca_id: who signs; not with the issuer type `self-signed`.
        enrollment_type: None for asking over this API.
        defaults: what certificates say where requests are silent.
        api_config, est_config, acme_config, scep_config: how certificates are asked for; that of the enrollment type.
        template: what an authority elsewhere calls this kind of certificate.
        project_id: None for the organization's own project for certificates.
    """

    slug: str
    policy_id: str = field(kw_only=True)
    ca_id: str | None = field(default=None, kw_only=True)
    issuer_type: IssuerWord = field(default="ca", kw_only=True)
    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        fields = {
            "project_id": self.project_id,
            "certificate_policy_id": self.policy_id,
            "ca_id": self.ca_id,
            "slug": self.slug,
            "issuer_type": self.issuer_type,
            **self.terms(),
        }
        return Request("POST", _ALL, body=json_body(lambda: _Written(**fields)))


@dataclass(frozen=True, slots=True)
class UpdateCertificateProfile(_Writing):
    """Change a profile, and return it; what isn't given stays. An empty description takes it away.

    Attributes:
        defaults: the whole of them.
    """

    profile_id: str
    slug: str | None = field(default=None, kw_only=True)
    issuer_type: IssuerWord | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        given = {"slug": self.slug, "issuer_type": self.issuer_type, **self.terms()}
        changes = without_none(given.items())
        if self.description == "":
            changes["description"] = None
        body = json_body(lambda: _Written(**changes), nulls=True)
        return Request("PATCH", fill(_ONE, self.profile_id), body=body)


@dataclass(frozen=True, slots=True)
class DeleteCertificateProfile(_One):
    """Delete a profile, and return what it was; the certificates issued from it live on."""

    profile_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_ONE, self.profile_id))
