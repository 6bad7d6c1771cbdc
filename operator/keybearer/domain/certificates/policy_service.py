"""Certificate policies as people make, see, change and delete them (wire.md section 5.5)."""

from __future__ import annotations

import secrets
import string
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from keybearer.base.clock import Clock
from keybearer.base.ids import ProjectId, new_uuid
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.lookup import access_to, certificate_project
from keybearer.domain.certificates.policy_binding import require_unbound_policy
from keybearer.domain.errors import InvalidError
from keybearer.domain.unchanged import UNCHANGED, Unchanged
from keybearer.store.audit import AuditEvent
from keybearer.store.certificate_policies import CertificatePolicy
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import CERTIFICATE_NAME_MAX, CERTIFICATE_OBJECTS_MAX

__all__ = ["CertificatePolicies", "NewPolicy", "PolicyChange"]

_WHAT = "Certificate policy"
_SUFFIX_LENGTH = 6
_SUFFIX_LETTERS = string.ascii_lowercase + string.digits


@dataclass(frozen=True, slots=True)
class NewPolicy:
    """A policy to be made; `rules` in the wire's spelling, without what was left out."""

    project_id: str | None
    name: str
    description: str | None
    rules: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """What changes of a policy; a rule that is None is taken away, one that isn't there stays."""

    name: str | None = None
    description: str | Unchanged | None = UNCHANGED
    rules: Mapping[str, JsonValue | None] = field(default_factory=dict)


class CertificatePolicies:
    """Decides about certificate policies.

    Every method raises NotFoundError for a policy or project that isn't there, and ForbiddenError where the principal
    may not.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def list(
        self, principal: Principal, project_id: str | None, *, search: str | None, offset: int, limit: int
    ) -> tuple[list[CertificatePolicy], int]:
        """Return a page of the project's policies by name, and how many there are in all."""
        async with self._database.reading() as unit:
            access = await certificate_project(
                unit, principal, project_id, Action.READ, Subject.CERTIFICATE_POLICIES
            )
            return await unit.certificate_policies.of_project(
                access.project.id, search=search, offset=offset, limit=limit
            )

    async def get(self, principal: Principal, policy_id: str) -> CertificatePolicy:
        """Return one policy."""
        async with self._database.reading() as unit:
            return await _found(unit, principal, policy_id, Action.READ)

    async def create(self, principal: Principal, new: NewPolicy) -> CertificatePolicy:
        """Make a policy; where its name is taken, it gets a suffix nobody knows beforehand.

        Raises:
            InvalidError: the project has too many.
        """
        async with self._database.writing() as unit:
            access = await certificate_project(
                unit, principal, new.project_id, Action.CREATE, Subject.CERTIFICATE_POLICIES
            )
            project_id, now = access.project.id, self._clock.now()
            if await unit.certificate_policies.count_of(project_id) >= CERTIFICATE_OBJECTS_MAX:
                raise InvalidError(f"A project has at most {CERTIFICATE_OBJECTS_MAX} certificate policies")
            name = await _free_name(unit, project_id, new.name)
            policy = CertificatePolicy(new_uuid(), project_id, name, new.description, new.rules, now, now)
            await unit.certificate_policies.add(policy)
            await unit.audit(_event(principal, EventType.CREATE_CERTIFICATE_POLICY, policy))
            return policy

    async def update(self, principal: Principal, policy_id: str, change: PolicyChange) -> CertificatePolicy:
        """Change a policy; what is issued from now on is held against it.

        Raises:
            InvalidError: the new name is taken.
        """
        async with self._database.writing() as unit:
            policy = await _found(unit, principal, policy_id, Action.EDIT, for_change=True)
            if change.name is not None and change.name != policy.name:
                await _require_free_name(unit, policy.project_id, change.name)
            rules = {**policy.rules, **change.rules}
            changed = replace(
                policy,
                name=change.name or policy.name,
                description=policy.description
                if isinstance(change.description, Unchanged)
                else change.description,
                rules={name: rule for name, rule in rules.items() if rule is not None},
                updated_at=self._clock.now(),
            )
            await unit.certificate_policies.update(changed)
            await unit.audit(_event(principal, EventType.UPDATE_CERTIFICATE_POLICY, changed))
            return changed

    async def delete(self, principal: Principal, policy_id: str) -> CertificatePolicy:
        """Remove a policy.

        Raises:
            InvalidError: a profile uses it, or an authority is bound to it.
        """
        async with self._database.writing() as unit:
            policy = await _found(unit, principal, policy_id, Action.DELETE, for_change=True)
            if await unit.certificate_policies.is_used(policy.id):
                raise InvalidError(
                    f"Certificate policy {policy.name} is in use by a certificate profile: delete that first"
                )
            await require_unbound_policy(unit, policy)
            await unit.certificate_policies.delete(policy.id)
            await unit.audit(_event(principal, EventType.DELETE_CERTIFICATE_POLICY, policy))
            return policy


async def _found(
    unit: UnitOfWork, principal: Principal, policy_id: str, action: Action, *, for_change: bool = False
) -> CertificatePolicy:
    found = await unit.certificate_policies.get(policy_id, for_change=for_change)
    policy, _ = await access_to(unit, principal, found, _WHAT, action, Subject.CERTIFICATE_POLICIES)
    return policy


async def _free_name(unit: UnitOfWork, project_id: ProjectId, name: str) -> str:
    if await unit.certificate_policies.named(project_id, name) is None:
        return name
    suffix = "".join(secrets.choice(_SUFFIX_LETTERS) for _ in range(_SUFFIX_LENGTH))
    return f"{name[: CERTIFICATE_NAME_MAX - _SUFFIX_LENGTH - 1]}-{suffix}"


async def _require_free_name(unit: UnitOfWork, project_id: ProjectId, name: str) -> None:
    if await unit.certificate_policies.named(project_id, name) is not None:
        raise InvalidError(f'Certificate policy with name "{name}" already exists in project')


def _event(principal: Principal, kind: EventType, policy: CertificatePolicy) -> AuditEvent:
    return audited(principal, kind, policy.project_id, certificatePolicyId=policy.id, name=policy.name)
