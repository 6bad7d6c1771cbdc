"""The custom resource CertificateProfile: its spec as users write it, and its CRD (interface.md 2.4 to 2.6)."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from keybearer.base.certificate_terms import (
    ExtendedKeyUsage,
    IssuerType,
    KeyAlgorithm,
    KeyUsage,
    SignatureAlgorithm,
)
from keybearer.controllers.certificateprofile.spec_certificate import (
    IN_OTHER_WORDS,
    RENEW_BEFORE_MESSAGE,
    AltName,
    Certificate,
    Origin,
    SubjectText,
    renew_before_seconds,
)
from keybearer.controllers.certificateprofile.status import CertificateProfileStatus
from keybearer.controllers.custom_resource import (
    AGE_COLUMN,
    REASON_COLUMN,
    CustomResource,
    PrinterColumn,
    ResourceModel,
    RuledModel,
    SpecModel,
    ready_column,
    rule,
)
from keybearer.controllers.identity_ref import IdentityRef
from keybearer.controllers.issuance.timing import is_too_early
from keybearer.controllers.mode import Mode

__all__ = [
    "CERTIFICATES_MAX",
    "CERTIFICATE_PROFILE",
    "DESCRIPTION_MAX",
    "AuthorityChange",
    "CertificateProfileSpec",
    "NameOrId",
    "ProfileDefaults",
    "RemoteDeletionPolicy",
]


class NameOrId(RuledModel):
    """Something of the service, by its name or its id."""

    name: Annotated[str | None, Field(min_length=1, max_length=255, description="Its name.")] = None
    id: Annotated[str | None, Field(min_length=1, max_length=64, description="Its id.")] = None

    @rule(cel="has(self.name) != has(self.id)", message="give exactly one of name and id")
    def _has_one_form(self) -> bool:
        return (self.name is None) != (self.id is None)

    def __str__(self) -> str:
        """Return how messages call it."""
        return self.name if self.name is not None else f"of id {self.id}"


class BasicConstraints(ResourceModel):
    """Whether certificates may sign others."""

    is_ca: Annotated[bool, Field(alias="isCA", description="Whether they are authorities.")] = False
    path_length: Annotated[
        int | None, Field(ge=0, le=255, description="How many authorities may follow below.")
    ] = None


class ProfileDefaults(ResourceModel):
    """What certificates of the profile say where a request doesn't (interface.md section 2.6)."""

    ttl_days: Annotated[int | None, Field(ge=1, le=36500, description="Days that they are valid.")] = None
    common_name: Annotated[SubjectText | None, Field(description="The common name.")] = None
    key_algorithm: Annotated[
        KeyAlgorithm | None,
        Field(
            strict=False,
            description="Kind and size of keys that the service makes. What cert-manager calls ECDSA of size 256 is "
            "EC_prime256v1, and RSA of size 4096 is RSA_4096.",
        ),
    ] = None
    signature_algorithm: Annotated[
        SignatureAlgorithm | None, Field(strict=False, description="How they are signed.")
    ] = None
    key_usages: Annotated[
        tuple[Annotated[KeyUsage, Field(strict=False)], ...] | None,
        Field(strict=False, max_length=20, description="What their keys may be used for."),
    ] = None
    extended_key_usages: Annotated[
        tuple[Annotated[ExtendedKeyUsage, Field(strict=False)], ...] | None,
        Field(strict=False, max_length=20, description=f"What they may be used for. {IN_OTHER_WORDS}"),
    ] = None
    basic_constraints: Annotated[
        BasicConstraints | None, Field(description="Whether they may sign others.")
    ] = None
    organization: Annotated[SubjectText | None, Field(description="The organization.")] = None
    organizational_unit: Annotated[SubjectText | None, Field(description="The unit of it.")] = None
    country: Annotated[SubjectText | None, Field(description="The country, as two capital letters.")] = None
    state: Annotated[SubjectText | None, Field(description="The state or province.")] = None
    locality: Annotated[SubjectText | None, Field(description="The town.")] = None
    subject_alt_names: Annotated[
        tuple[AltName, ...] | None,
        Field(strict=False, max_length=100, description="Further names."),
    ] = None
    domain_components: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=255)], ...] | None,
        Field(strict=False, max_length=50, description="Domain components, from the outermost inwards."),
    ] = None


class AuthorityChange(ResourceModel):
    """How certificates follow when the profile's authority has another key."""

    per_hour: Annotated[
        int,
        Field(
            ge=1,
            le=3600,
            description=(
                "Number of certificates per hour that are issued again. Until the last one, "
                "ca.crt of all holds the old authority and the new one."
            ),
        ),
    ] = 60


CERTIFICATES_MAX = 200
DESCRIPTION_MAX = 200
"""The service takes 255 characters; the rest is the mark that says whose profile it is."""

_SLUG = r"^[a-z0-9-]+$"
_PROJECT_SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"


class RemoteDeletionPolicy(StrEnum):
    """What becomes of the profile in the service when the object is deleted."""

    DELETE = "Delete"
    RETAIN = "Retain"


def _secrets_once(certificates: tuple[Certificate, ...]) -> tuple[Certificate, ...]:
    """Mirror the API server, which keeps a list of type map free of duplicates by itself."""
    if len({one.name for one in certificates}) < len(certificates):
        raise ValueError("names a certificate twice")
    return certificates


_DEFAULT_CHANGE = AuthorityChange()


class CertificateProfileSpec(SpecModel):
    """A profile of the service, and the certificates that are issued from it."""

    identity_ref: Annotated[
        IdentityRef,
        Field(
            description="The Secret with the credentials of the machine identity that asks for certificates."
        ),
    ]
    project_id: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=64,
            description="The id of the project. Without a project, the organization's project for certificates.",
        ),
    ] = None
    project_slug: Annotated[
        str | None,
        Field(min_length=1, max_length=64, pattern=_PROJECT_SLUG, description="The slug of it instead."),
    ] = None
    mode: Annotated[
        Mode,
        Field(
            strict=False,
            description=(
                "Apply issues and writes. Plan issues and writes nothing. It lists in status.plan"
                " the next actions, and the rules of the policy that don't allow them. Suspended "
                "does nothing. CreateOnce issues each certificate once and never changes it "
                "afterwards."
            ),
        ),
    ] = Mode.APPLY
    existing: Annotated[
        bool,
        Field(
            description=(
                "Uses an existing profile of the service, without changes. If false, this object "
                "manages the profile."
            )
        ),
    ] = False
    slug: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=255,
            pattern=_SLUG,
            description="The profile's name in the service. Without it, the name of this object.",
        ),
    ] = None
    description: Annotated[
        str | None, Field(max_length=DESCRIPTION_MAX, description="What it is for, for people.")
    ] = None
    issuer_type: Annotated[
        IssuerType | None,
        Field(strict=False, description="The signer: ca (the default), or self-signed."),
    ] = None
    policy_ref: Annotated[
        NameOrId | None, Field(description="The policy that certificates obey; it can't be changed later.")
    ] = None
    ca_ref: Annotated[
        NameOrId | None, Field(description="The authority that signs; it can't be changed later.")
    ] = None
    defaults: Annotated[
        ProfileDefaults | None,
        Field(description="Contents of certificates whose entries don't say otherwise."),
    ] = None
    adopt: Annotated[
        bool, Field(description="Lets this object manage a profile of its slug that no other object manages.")
    ] = False
    application_id: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=64,
            description="The id of the application that certificates are issued for.",
        ),
    ] = None
    certificates: Annotated[
        tuple[Certificate, ...],
        Field(
            strict=False,
            max_length=CERTIFICATES_MAX,
            description="The certificates, each in a Secret of this namespace.",
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        ),
        AfterValidator(_secrets_once),
    ] = ()
    authority_change: Annotated[
        AuthorityChange,
        Field(description="How certificates are replaced when the authority has another key."),
    ] = Field(default_factory=lambda: _DEFAULT_CHANGE)
    hourly_mint_budget: Annotated[
        int,
        Field(
            ge=0,
            le=1000,
            description=(
                "Number of certificates per hour that may be issued because a key was lost. It "
                "limits repeated deletions of Secrets. First certificates, renewals and changes "
                "don't count."
            ),
        ),
    ] = 20
    on_delete: Annotated[
        RemoteDeletionPolicy,
        Field(
            strict=False,
            description="Deletes or retains a managed profile in the service when this object is deleted.",
        ),
    ] = RemoteDeletionPolicy.DELETE

    @rule(
        cel="!(has(self.projectId) && has(self.projectSlug))",
        message="give at most one of projectId and projectSlug",
    )
    def _names_one_project(self) -> bool:
        return self.project_id is None or self.project_slug is None

    @rule(
        cel="!self.existing || !(has(self.description) || has(self.issuerType) || has(self.policyRef)"
        " || has(self.caRef) || has(self.defaults) || self.adopt)",
        message=(
            "this object doesn't change an existing profile: leave out description, "
            "issuerType, policyRef, caRef, defaults and adopt"
        ),
    )
    def _changes_nothing_that_exists(self) -> bool:
        parts = (self.description, self.issuer_type, self.policy_ref, self.ca_ref, self.defaults)
        return not self.existing or (all(part is None for part in parts) and not self.adopt)

    @rule(
        cel="self.existing || (has(self.policyRef) && has(self.caRef) !="
        " (has(self.issuerType) && self.issuerType == 'self-signed'))",
        message="a profile needs policyRef, and caRef unless issuerType is self-signed; to use one that the service "
        "has, set existing: true",
    )
    def _describes_a_whole_profile(self) -> bool:
        has_authority = self.ca_ref is not None
        return self.existing or (
            self.policy_ref is not None and has_authority != (self.issuer_type is IssuerType.SELF_SIGNED)
        )

    @rule(
        cel="!has(self.certificates) || self.certificates.all(one, self.certificates.exists_one(other,"
        " (has(one.secretName) ? one.secretName : one.name) =="
        " (has(other.secretName) ? other.secretName : other.name)))",
        message="each certificate needs a Secret of its own: two name the same",
    )
    def _keeps_each_in_its_own_secret(self) -> bool:
        return len({one.target_name for one in self.certificates}) == len(self.certificates)

    @rule(
        cel="!has(self.issuerType) || self.issuerType != 'self-signed' || !has(self.certificates)"
        " || self.certificates.all(one, has(one.privateKey) && has(one.privateKey.generatedBy)"
        " && one.privateKey.generatedBy == 'Service')",
        message=(
            "certificates of a self-signed profile need privateKey.generatedBy: Service, "
            "because only the service can sign them"
        ),
    )
    def _lets_the_service_sign_what_signs_itself(self) -> bool:
        return self.issuer_type is not IssuerType.SELF_SIGNED or all(
            one.csr is None and one.key.generated_by is Origin.SERVICE for one in self.certificates
        )

    @rule(
        cel="!has(self.defaults) || !has(self.defaults.ttlDays) || !has(self.certificates)"
        " || self.certificates.all(one, !has(one.renewBefore) || (has(one.attributes) && (has(one.attributes.ttl)"
        " || has(one.attributes.notBefore) || has(one.attributes.notAfter)))"
        f" || {renew_before_seconds('one')} * 3 <= 2 * 86400 * self.defaults.ttlDays)",
        message=f"{RENEW_BEFORE_MESSAGE}; without ttl it is defaults.ttlDays",
        when_stored=False,
    )
    def _renews_after_a_third_of_the_default_lifetime(self) -> bool:
        days = None if self.defaults is None else self.defaults.ttl_days
        return days is None or not any(
            one.asked.has_no_validity and is_too_early(one.renew_before, timedelta(days=days))
            for one in self.certificates
        )

    def remote_slug(self, own_name: str) -> str:
        """Return the slug in the service; `own_name` is the name of the CertificateProfile."""
        return self.slug or own_name


CERTIFICATE_PROFILE = CustomResource(
    kind="CertificateProfile",
    plural="certificateprofiles",
    singular="certificateprofile",
    short_names=("kbcp",),
    description="Issues certificates from a profile of the service, keeps them in Secrets and renews them.",
    spec=CertificateProfileSpec,
    status=CertificateProfileStatus,
    columns=(
        PrinterColumn("Profile", ".status.profile.slug", description="The profile in the service."),
        PrinterColumn("Certificates", ".status.issued", description="How many of all are issued and valid."),
        ready_column("Every certificate is in its Secret and valid."),
        REASON_COLUMN,
        PrinterColumn("Renewal", ".status.nextRenewalTime", description="When the next one is renewed."),
        AGE_COLUMN,
    ),
)
