"""Who has profiles issue by a certificate policy, and which authorities sign by it alone (an addition of Keybearer).

A policy says what may be issued, so the choice of a profile's policy is the admins'; a policy may leave it to
members. An authority that is bound to a policy signs nothing else, whatever other policies allow: `require_may_sign`
holds it to that whenever it signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keybearer.base.certificate_terms import BoundBy
from keybearer.base.clock import Clock
from keybearer.domain.access import ProjectAccess
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.lookup import access_to, in_project
from keybearer.domain.errors import InvalidError
from keybearer.store.certificate_authorities import CertificateAuthority
from keybearer.store.certificate_policies import CertificatePolicy
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = [
    "Binding",
    "BindingChange",
    "PolicyBinding",
    "require_may_bind",
    "require_of_policy",
    "require_unbound_policy",
]

_WHAT = "Certificate policy"


@dataclass(frozen=True, slots=True)
class Binding:
    """Who has profiles issue by a policy, and the ids of the authorities that sign by it alone."""

    profiles_bound_by: BoundBy
    authority_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BindingChange:
    """What changes of a binding; None leaves it as it is."""

    profiles_bound_by: BoundBy | None = None
    authority_ids: tuple[str, ...] | None = None


class PolicyBinding:
    """Shows and changes bindings.

    Every method raises NotFoundError for a policy that isn't there, and ForbiddenError where the principal may not.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def get(self, principal: Principal, policy_id: str) -> Binding:
        """Return the binding, to whoever may read the policy."""
        async with self._database.reading() as unit:
            found = await unit.certificate_policies.get(policy_id)
            policy, _ = await access_to(
                unit, principal, found, _WHAT, Action.READ, Subject.CERTIFICATE_POLICIES
            )
            return await _binding(unit, policy)

    async def change(self, principal: Principal, policy_id: str, change: BindingChange) -> Binding:
        """Change a binding. Profiles keep their policies; what an authority signs from now on is held to it.

        Raises:
            NotFoundError: an authority isn't one of the project.
            InvalidError: another policy has an authority.
        """
        async with self._database.writing() as unit:
            found = await unit.certificate_policies.get(policy_id, for_change=True)
            policy, access = await access_to(
                unit, principal, found, _WHAT, Action.EDIT, Subject.CERTIFICATE_POLICIES
            )
            if change.profiles_bound_by is not None:
                policy = replace(
                    policy, profiles_bound_by=change.profiles_bound_by, updated_at=self._clock.now()
                )
                await unit.certificate_policies.update(policy)
            if change.authority_ids is not None:
                access.require(Action.EDIT, Subject.CERTIFICATE_AUTHORITIES)
                for authority_id in change.authority_ids:
                    await _require_unbound_authority(unit, policy, authority_id)
                await unit.certificate_policies.set_authorities(policy.id, change.authority_ids)
            binding = await _binding(unit, policy)
            await unit.audit(
                audited(
                    principal,
                    EventType.UPDATE_CERTIFICATE_POLICY_BINDING,
                    policy.project_id,
                    certificatePolicyId=policy.id,
                    name=policy.name,
                    profilesBoundBy=binding.profiles_bound_by,
                    caIds=list(binding.authority_ids),
                )
            )
            return binding


def require_may_bind(access: ProjectAccess, policy: CertificatePolicy) -> None:
    """Let pass who has profiles issue by the policy, or takes them away from it.

    Raises:
        ForbiddenError: the policy leaves that to admins, and the principal is none.
    """
    if policy.profiles_bound_by == BoundBy.MEMBERS or access.allows(
        Action.BIND, Subject.CERTIFICATE_POLICIES
    ):
        return
    message = (
        f"Only admins of the project bind profiles to certificate policy {policy.name}, or take them away from it; "
        f"an admin leaves that to members with: keybearer policies bind {policy.name} --profiles-by members "
        f"--project {access.project.id}"
    )
    raise access.refusal(message, Action.BIND, Subject.CERTIFICATE_POLICIES)


async def require_of_policy(unit: UnitOfWork, authority: CertificateAuthority, policy_id: str) -> None:
    """Let pass an authority that may sign by a profile of this policy.

    Raises:
        InvalidError: it signs by another one alone.
    """
    if authority.policy_id in (None, policy_id):
        return
    other = await unit.certificate_policies.get(authority.policy_id)
    raise InvalidError(
        f"Certificate authority {authority.name} signs only by profiles of certificate policy "
        f"{authority.policy_id if other is None else other.name}: give the profile that policy, or another authority"
    )


async def require_unbound_policy(unit: UnitOfWork, policy: CertificatePolicy) -> None:
    """Let pass a policy that no authority is bound to.

    Raises:
        InvalidError: one is.
    """
    bound = await unit.certificate_policies.authorities_of(policy.id)
    if bound:
        authority = await unit.certificate_authorities.get(bound[0])
        raise InvalidError(
            f"Certificate authority {bound[0] if authority is None else authority.name} is bound to certificate "
            f"policy {policy.name}; release it first: keybearer policies bind {policy.name} --no-authorities "
            f"--project {policy.project_id}"
        )


async def _require_unbound_authority(unit: UnitOfWork, policy: CertificatePolicy, authority_id: str) -> None:
    found = await unit.certificate_authorities.get(authority_id, for_change=True)
    authority = in_project(found, policy.project_id, "Certificate authority")
    if authority.policy_id in (None, policy.id):
        return
    other = await unit.certificate_policies.get(authority.policy_id)
    raise InvalidError(
        f"Certificate authority {authority.name} is bound to certificate policy "
        f"{authority.policy_id if other is None else other.name} already; an authority has one policy"
    )


async def _binding(unit: UnitOfWork, policy: CertificatePolicy) -> Binding:
    authorities: Sequence[str] = await unit.certificate_policies.authorities_of(policy.id)
    return Binding(BoundBy(policy.profiles_bound_by), tuple(authorities))
