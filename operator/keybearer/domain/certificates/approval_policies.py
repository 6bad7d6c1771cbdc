"""Whose agreement requests of a profile need: the policies of approval, one per profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keybearer.base.clock import Clock
from keybearer.base.ids import new_uuid
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.lookup import access_to, certificate_project
from keybearer.domain.errors import InvalidError
from keybearer.store.audit import AuditEvent
from keybearer.store.certificate_approvals import ApprovalPolicy
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = ["ApprovalPolicies", "ApprovalPolicyChange", "NewApprovalPolicy"]

_POLICY = "Approval policy"


@dataclass(frozen=True, slots=True)
class NewApprovalPolicy:
    """A policy to be made; `request_ttl` in seconds, None without end."""

    profile_id: str
    name: str | None
    is_enabled: bool
    required_approvals: int
    approver_ids: tuple[str, ...]
    bypass_identity_ids: tuple[str, ...]
    allow_self_approval: bool
    request_ttl: int | None


@dataclass(frozen=True, slots=True)
class ApprovalPolicyChange:
    """What is to be different; None stays. `request_ttl` is wrapped, since it may become None."""

    name: str | None = None
    is_enabled: bool | None = None
    required_approvals: int | None = None
    approver_ids: tuple[str, ...] | None = None
    bypass_identity_ids: tuple[str, ...] | None = None
    allow_self_approval: bool | None = None
    request_ttl: tuple[int | None] | None = None


class ApprovalPolicies:
    """Decides about policies of approval.

    Every method raises NotFoundError for a policy, profile or project that isn't there, and ForbiddenError where the
    principal may not.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(self, principal: Principal, new: NewApprovalPolicy) -> ApprovalPolicy:
        """Make a policy.

        Raises:
            InvalidError: the profile has one, or nobody could ever meet it.
        """
        async with self._database.writing() as unit:
            profile = await unit.certificate_profiles.get(new.profile_id, for_change=True)
            profile, access = await access_to(
                unit,
                principal,
                profile,
                "Certificate profile",
                Action.CREATE,
                Subject.CERTIFICATE_APPROVALS,
            )
            if await unit.certificate_approvals.policy_of_profile(profile.id) is not None:
                raise InvalidError(f"Certificate profile {profile.slug} has an approval policy already")
            now = self._clock.now()
            policy = ApprovalPolicy(
                id=new_uuid(),
                project_id=access.project.id,
                profile_id=profile.id,
                name=profile.slug if new.name is None else new.name,
                is_enabled=new.is_enabled,
                required_approvals=new.required_approvals,
                approver_ids=tuple(dict.fromkeys(new.approver_ids)),
                bypass_identity_ids=tuple(dict.fromkeys(new.bypass_identity_ids)),
                allow_self_approval=new.allow_self_approval,
                request_ttl=new.request_ttl,
                created_at=now,
                updated_at=now,
            )
            _require_attainable(policy)
            await unit.certificate_approvals.add_policy(policy)
            await unit.audit(_event(principal, EventType.CREATE_APPROVAL_POLICY, policy))
            return policy

    async def get(self, principal: Principal, policy_id: str) -> ApprovalPolicy:
        """Return a policy."""
        async with self._database.reading() as unit:
            return await self._open(unit, principal, policy_id, Action.READ)

    async def list(
        self, principal: Principal, project_id: str | None, profile_id: str | None
    ) -> Sequence[ApprovalPolicy]:
        """Return the project's policies, oldest first; that of one profile, or all."""
        async with self._database.reading() as unit:
            access = await certificate_project(
                unit, principal, project_id, Action.READ, Subject.CERTIFICATE_APPROVALS
            )
            found = await unit.certificate_approvals.policies_of(access.project.id)
        return [one for one in found if profile_id is None or one.profile_id == profile_id]

    async def update(
        self, principal: Principal, policy_id: str, change: ApprovalPolicyChange
    ) -> ApprovalPolicy:
        """Change a policy; requests that wait keep the terms they were made on.

        Raises:
            InvalidError: nobody could ever meet it.
        """
        async with self._database.writing() as unit:
            former = await self._open(unit, principal, policy_id, Action.EDIT, for_change=True)
            given = {
                name: value
                for name in (
                    "name",
                    "is_enabled",
                    "required_approvals",
                    "approver_ids",
                    "bypass_identity_ids",
                    "allow_self_approval",
                )
                if (value := getattr(change, name)) is not None
            }
            for name in ("approver_ids", "bypass_identity_ids"):
                if name in given:
                    given[name] = tuple(dict.fromkeys(given[name]))
            changed = replace(former, **given, updated_at=self._clock.now())
            if change.request_ttl is not None:
                changed = replace(changed, request_ttl=change.request_ttl[0])
            _require_attainable(changed)
            await unit.certificate_approvals.update_policy(changed)
            await unit.audit(_event(principal, EventType.UPDATE_APPROVAL_POLICY, changed))
            return changed

    async def delete(self, principal: Principal, policy_id: str) -> ApprovalPolicy:
        """Remove a policy and return what it was; requests that wait go on waiting."""
        async with self._database.writing() as unit:
            policy = await self._open(unit, principal, policy_id, Action.DELETE, for_change=True)
            await unit.certificate_approvals.delete_policy(policy.id)
            await unit.audit(_event(principal, EventType.DELETE_APPROVAL_POLICY, policy))
            return policy

    async def _open(
        self,
        unit: UnitOfWork,
        principal: Principal,
        policy_id: str,
        action: Action,
        *,
        for_change: bool = False,
    ) -> ApprovalPolicy:
        found = await unit.certificate_approvals.policy(policy_id, for_change=for_change)
        policy, _ = await access_to(unit, principal, found, _POLICY, action, Subject.CERTIFICATE_APPROVALS)
        return policy


def _require_attainable(policy: ApprovalPolicy) -> None:
    if policy.approver_ids and policy.required_approvals > len(policy.approver_ids):
        raise InvalidError(
            f"{policy.required_approvals} approvals are required, but there are only {len(policy.approver_ids)} "
            "approvers"
        )


def _event(principal: Principal, kind: EventType, policy: ApprovalPolicy) -> AuditEvent:
    return audited(
        principal,
        kind,
        policy.project_id,
        approvalPolicyId=policy.id,
        profileId=policy.profile_id,
        enabled=policy.is_enabled,
        requiredApprovals=policy.required_approvals,
        approverIds=list(policy.approver_ids),
        bypassIdentityIds=list(policy.bypass_identity_ids),
        allowSelfApproval=policy.allow_self_approval,
        requestTtlSeconds=policy.request_ttl,
    )
