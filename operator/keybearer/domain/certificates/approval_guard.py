"""That nobody goes around an approval: by a profile beside the one that needs it, or by doing away with that one.

Members make profiles, so that whoever manages certificates in a cluster needs no more rights than that. Who must
agree to what an authority signs is decided by who may change approvals.
"""

from __future__ import annotations

from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Subject
from keybearer.store.certificate_authorities import CertificateAuthority
from keybearer.store.certificate_profiles import CertificateProfile
from keybearer.store.unit import UnitOfWork

__all__ = ["require_free_authority", "require_unguarded"]


async def require_free_authority(
    unit: UnitOfWork, access: ProjectAccess, authority: CertificateAuthority
) -> None:
    """Let pass an authority for a profile whose requests need no agreement.

    Raises:
        ForbiddenError: requests of another profile of it do, and the principal may not change that.
    """
    if _may_govern(access, Action.EDIT) or not await unit.certificate_approvals.is_needed_of(authority.id):
        return
    message = (
        f"Certificates of certificate authority {authority.name} need approval: who may change approval policies has "
        "to make this profile, or to give it its authority"
    )
    raise access.refusal(message, Action.EDIT, Subject.CERTIFICATE_APPROVALS)


async def require_unguarded(unit: UnitOfWork, access: ProjectAccess, profile: CertificateProfile) -> None:
    """Let pass a profile that may go.

    Raises:
        ForbiddenError: its requests need agreement, and the principal may not change that.
    """
    policy = await unit.certificate_approvals.policy_of_profile(profile.id)
    if policy is None or not policy.is_enabled or _may_govern(access, Action.DELETE):
        return
    message = (
        f"Certificates of certificate profile {profile.slug} need approval: who may delete approval policies has to "
        "delete that one first"
    )
    raise access.refusal(message, Action.DELETE, Subject.CERTIFICATE_APPROVALS)


def _may_govern(access: ProjectAccess, action: Action) -> bool:
    return access.allows(action, Subject.CERTIFICATE_APPROVALS)
