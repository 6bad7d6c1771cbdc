"""What the client takes and returns of certificate profiles (interface.md section 2.6, wire.md section 5.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keybearer.client.certificate_enrollments import ApiEnrollment, EstEnrollment
from keybearer.client.certificates import AltName, BasicConstraints
from keybearer.client.lenient import Flag, Text, from_wire

__all__ = [
    "CertificateProfile",
    "CertificateProfilePage",
    "ProfileAuthority",
    "ProfileDefaults",
    "ProfileExternalConfigs",
    "ProfilePolicy",
]


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileDefaults:
    """What a certificate says where its request is silent; None for nothing.

    Attributes:
        ttl_days: for how long it is valid.
        basic_constraints: whether it may sign others.
    """

    ttl_days: float | None = None
    common_name: str | None = None
    key_algorithm: str | None = None
    signature_algorithm: str | None = None
    key_usages: Sequence[str] | None = None
    extended_key_usages: Sequence[str] | None = None
    basic_constraints: BasicConstraints | None = None
    organization: str | None = None
    organizational_unit: str | None = None
    country: str | None = None
    state: str | None = None
    locality: str | None = None
    subject_alt_names: Sequence[AltName] | None = None
    domain_components: Sequence[str] | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileExternalConfigs:
    """What an authority elsewhere is told; `template` is its own name for a kind of certificate."""

    template: str | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileAuthority:
    """The authority of a profile, as the profile alone tells it."""

    id: str
    name: Text = ""
    project_id: Text = ""
    status: Text = ""
    is_external: Flag = False
    external_type: str | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilePolicy:
    """The policy of a profile, as the profile alone tells it."""

    id: str
    name: Text = ""
    project_id: Text = ""
    description: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateProfile:
    """What certificates are issued from: who signs (or nobody else), what may be asked for, and what is filled in.

    Attributes:
        issuer_type: `ca`, or `self-signed`, then without `ca_id`.
        enrollment_type: `api`, `est`, `acme` or `scep`.
        certificate_authority, certificate_policy, api_config, est_config: told of one that is asked for by its id.
    """

    id: str
    slug: str
    certificate_policy_id: Text = ""
    project_id: Text = ""
    ca_id: str | None = None
    description: Text = ""
    issuer_type: Text = ""
    enrollment_type: Text = ""
    est_config_id: str | None = None
    api_config_id: str | None = None
    acme_config_id: str | None = None
    scep_config_id: str | None = None
    external_configs: ProfileExternalConfigs | None = None
    defaults: ProfileDefaults | None = None
    certificate_authority: ProfileAuthority | None = None
    certificate_policy: ProfilePolicy | None = None
    api_config: ApiEnrollment | None = None
    est_config: EstEnrollment | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateProfilePage:
    """Some of the profiles that there are, and how many there are in all."""

    certificate_profiles: tuple[CertificateProfile, ...]
    total_count: int
