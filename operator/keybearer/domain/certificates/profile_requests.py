"""What people ask of certificate profiles, as the domain takes it, and what they are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.base.certificate_terms import EnrollmentType, IssuerType
from keybearer.domain.certificates.enrolling import EnrollmentTerms
from keybearer.domain.unchanged import UNCHANGED, Unchanged
from keybearer.store.certificate_authorities import CertificateAuthority
from keybearer.store.certificate_policies import CertificatePolicy
from keybearer.store.certificate_profiles import CertificateProfile
from keybearer.store.enrollments import Enrollment

__all__ = ["AcmeBinding", "NewProfile", "ProfileChange", "ProfileDetail", "ProfileView"]


@dataclass(frozen=True, slots=True)
class NewProfile:
    """A profile to be made; `external_configs` and `defaults` in the wire's spelling, without what was left out."""

    project_id: str | None
    policy_id: str
    authority_id: str | None
    slug: str
    description: str | None
    issuer_type: IssuerType
    enrollment_type: EnrollmentType | None
    external_configs: Mapping[str, JsonValue] | None
    defaults: Mapping[str, JsonValue] | None
    enrollments: tuple[EnrollmentTerms, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileChange:
    """What changes of a profile; None leaves a field as it is, but for those that may be taken away."""

    policy_id: str | None = None
    authority_id: str | None = None
    slug: str | None = None
    description: str | Unchanged | None = UNCHANGED
    issuer_type: IssuerType | None = None
    enrollment_type: EnrollmentType | None = None
    external_configs: Mapping[str, JsonValue] | Unchanged | None = UNCHANGED
    defaults: Mapping[str, JsonValue] | Unchanged | None = UNCHANGED
    enrollments: tuple[EnrollmentTerms, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileView:
    """A profile with its own ways of enrollment, by their kind."""

    profile: CertificateProfile
    enrollments: Mapping[str, Enrollment]


@dataclass(frozen=True, slots=True)
class ProfileDetail:
    """A profile with what it refers to."""

    view: ProfileView
    policy: CertificatePolicy
    authority: CertificateAuthority | None


@dataclass(frozen=True, slots=True)
class AcmeBinding:
    """What an ACME client would make an account with."""

    key_id: str
    secret: str = field(repr=False)
