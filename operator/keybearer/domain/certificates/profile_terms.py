"""A certificate profile as issuance looks at it: who may use it, its rules and defaults, where it is attached."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import orjson

from keybearer.base.certificate_terms import EnrollmentType
from keybearer.base.validity import Dating
from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.lookup import access_to
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.pki.policy_rules import CompiledRules
from keybearer.store.certificate_policies import CertificatePolicy
from keybearer.store.certificate_profiles import IssuingProfile
from keybearer.store.unit import UnitOfWork
from keybearer.wire.certificates.policies import PolicyRules
from keybearer.wire.certificates.profiles import GivenProfileDefaults

__all__ = [
    "AutoRenewal",
    "auto_renewal_of",
    "dating_of",
    "defaults_of",
    "open_profile",
    "require_attached",
    "rules_of",
]

_NO_DEFAULTS = GivenProfileDefaults()


@dataclass(frozen=True, slots=True)
class AutoRenewal:
    """How many days before their end certificates renew by themselves; None where nobody said."""

    days: int | None


async def open_profile(
    unit: UnitOfWork, principal: Principal, profile_id: str, action: Action, subject: Subject
) -> tuple[IssuingProfile, ProjectAccess]:
    """Return a profile in whose project the principal may do that.

    Raises:
        NotFoundError: the principal's organization has no such profile.
        ForbiddenError: it may not.
    """
    profile = await unit.certificate_profiles.issuing(profile_id)
    if profile is None:
        raise NotFoundError("Certificate profile not found")
    _, access = await access_to(unit, principal, profile.profile, "Certificate profile", action, subject)
    return profile, access


def rules_of(policy: CertificatePolicy) -> CompiledRules:
    """Return the rules of a policy, read once as long as they stay the same."""
    return _read_rules(orjson.dumps(dict(policy.rules)))


def dating_of(profile: IssuingProfile) -> Dating:
    """Return how far from now certificates of the profile may begin."""
    return rules_of(profile.policy).dating


def defaults_of(profile: IssuingProfile) -> GivenProfileDefaults:
    """Return what requests of a profile take that don't say otherwise."""
    defaults = profile.profile.defaults
    return _NO_DEFAULTS if defaults is None else _read_defaults(orjson.dumps(dict(defaults)))


@lru_cache(maxsize=256)
def _read_rules(written: bytes) -> CompiledRules:
    return CompiledRules(PolicyRules.model_validate_json(written))


@lru_cache(maxsize=256)
def _read_defaults(written: bytes) -> GivenProfileDefaults:
    return GivenProfileDefaults.model_validate_json(written)


async def auto_renewal_of(
    unit: UnitOfWork, profile: IssuingProfile, application_id: str | None
) -> AutoRenewal | None:
    """Return how certificates of the profile renew by themselves, None where they don't.

    What is set for an application and the profile together stands before what is set for the profile.
    """
    profile_id = profile.profile.id
    found = await unit.enrollments.of_profiles([profile_id])
    if application_id is not None:
        found = [*await unit.enrollments.of_application(application_id, profile_id), *found]
    for one in found:
        if one.kind == EnrollmentType.API and one.application_id in (None, application_id):
            days = one.settings.get("renewBeforeDays")
            return (
                AutoRenewal(days if isinstance(days, int) else None)
                if one.settings.get("autoRenew")
                else None
            )
    return None


async def require_attached(unit: UnitOfWork, profile: IssuingProfile, application_id: str | None) -> None:
    """Let pass a profile that is attached to the application, and where none is named.

    Raises:
        NotFoundError: there is no such application.
        InvalidError: the profile isn't attached to it.
    """
    if application_id is None:
        return
    application = await unit.certificate_applications.get(application_id)
    if application is None or application.project_id != profile.profile.project_id:
        raise NotFoundError("Application not found")
    if not await unit.certificate_applications.is_attached(application_id, profile.profile.id):
        raise InvalidError(
            f"Certificate profile {profile.profile.slug} is not attached to application {application.name}"
        )
