"""Machine identities in projects, named by their ids (wire.md section 1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId, ProjectId, new_uuid
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, Principal, Subject, organization_allows
from keybearer.domain.errors import NotFoundError
from keybearer.domain.identity_lookup import IdentityView, identity_view, machine_identity
from keybearer.domain.project_gate import Entered, ProjectGate
from keybearer.store.database import Database
from keybearer.store.records import Membership, Project
from keybearer.store.unit import UnitOfWork

__all__ = ["IdentityMembership", "IdentityMemberships", "add_member"]

_EVENTS = {
    Action.CREATE: EventType.PUT_PROJECT_MEMBER,
    Action.DELETE: EventType.REMOVE_PROJECT_MEMBER,
}


@dataclass(frozen=True, slots=True)
class IdentityMembership:
    """A membership with both of its sides."""

    membership: Membership
    identity: IdentityView
    project: Project


class IdentityMemberships:
    """Decides about machine identities in projects."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._gate = ProjectGate(database, Subject.MEMBERS, _EVENTS)
        self._clock = clock

    async def put(
        self, principal: Principal, project_id: str, identity_id: IdentityId, roles: tuple[str, ...]
    ) -> Membership:
        """Give an identity of the organization these roles in the project, in place of what it had.

        Raises:
            NotFoundError: no such project or identity.
            ForbiddenError: the principal may not decide about members, or not about an identity that is none yet.
        """
        async with self._gate.changing(principal, project_id, Action.CREATE) as entered:
            unit, access = entered.unit, entered.access
            await _hold(entered, identity_id)
            access.require_may_give_roles(roles)
            present = await unit.projects.membership(entered.project_id, identity_id)
            if present is None and not organization_allows(principal, Action.EDIT, Subject.IDENTITIES):
                raise access.refusal(
                    "Only who may edit the identity makes it a member of a project; ask an admin of the organization",
                    Action.EDIT,
                    Subject.IDENTITIES,
                )
            entered.details["roles"] = list(roles)
            if present is None:
                return await add_member(unit, entered.project_id, identity_id, roles, self._clock.now())
            changed = replace(present, roles=roles, updated_at=self._clock.now())
            await unit.projects.update_membership(changed)
            return changed

    async def remove(self, principal: Principal, project_id: str, identity_id: IdentityId) -> Membership:
        """Take all roles in the project from the identity.

        Raises:
            NotFoundError: no such project, identity or membership.
            ForbiddenError: the principal may not decide about members.
        """
        async with self._gate.changing(principal, project_id, Action.DELETE) as entered:
            await _hold(entered, identity_id)
            present = await _present(entered, identity_id)
            await entered.unit.projects.delete_membership(present.id)
            return present

    async def list(self, principal: Principal, project_id: str) -> Sequence[Membership]:
        """Return the machine identities in a project, oldest first.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not read members.
        """
        async with self._gate.reading(principal, project_id) as entered:
            return await entered.unit.projects.memberships(entered.project_id)

    async def get(self, principal: Principal, project_id: str, identity_id: IdentityId) -> IdentityMembership:
        """Return the membership of an identity in a project.

        Raises:
            NotFoundError: no such project, identity or membership.
            ForbiddenError: the principal may not read members.
        """
        async with self._gate.reading(principal, project_id) as entered:
            return await _seen(entered.unit, entered.access, await _present(entered, identity_id))

    async def get_anywhere(self, principal: Principal, membership_id: str) -> IdentityMembership:
        """Return a membership by its id alone.

        Raises:
            NotFoundError: no project that the principal sees has it.
            ForbiddenError: the principal may not read members of its project.
        """
        async with self._database.reading() as unit:
            membership = await unit.projects.membership_by_id(membership_id)
            if membership is None:
                raise NotFoundError(f"Membership with ID '{membership_id}' not found")
            access = await open_project(unit, principal, ProjectRef(id=membership.project_id))
            access.require(Action.READ, Subject.MEMBERS)
            return await _seen(unit, access, membership)


async def add_member(
    unit: UnitOfWork, project_id: ProjectId, identity_id: IdentityId, roles: tuple[str, ...], now: datetime
) -> Membership:
    """Store a new membership, and have the identity's permissions looked up again."""
    membership = Membership(new_uuid(), project_id, identity_id, roles, now, now)
    await unit.projects.add_membership(membership)
    await unit.move_identity(identity_id)
    return membership


async def _seen(unit: UnitOfWork, access: ProjectAccess, membership: Membership) -> IdentityMembership:
    identity = await machine_identity(unit, access.principal, membership.identity_id)
    return IdentityMembership(membership, await identity_view(unit, identity), access.project)


async def _hold(entered: Entered, identity_id: IdentityId) -> None:
    """Have the identity's permissions looked up again, and name it in the audit log.

    Raises:
        NotFoundError: the organization has no such identity.
    """
    await machine_identity(entered.unit, entered.access.principal, identity_id)
    await entered.unit.move_identity(identity_id)
    entered.details["identityId"] = identity_id


async def _present(entered: Entered, identity_id: IdentityId) -> Membership:
    membership = await entered.unit.projects.membership(entered.project_id, identity_id)
    if membership is None:
        raise NotFoundError(f"Identity with ID '{identity_id}' is not a member of the project")
    return membership
