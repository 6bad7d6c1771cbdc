"""Users in projects. Their memberships are those of identities, named by email (wire.md section 1.4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.base.ids import ProjectId, new_uuid
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject, organization_allows
from keybearer.domain.errors import (
    DomainError,
    NotFoundError,
    TooManyUnknownEmailsError,
    UnknownEmailsError,
)
from keybearer.domain.lockouts import DEFAULT_LOCKOUT, Lockouts, in_minutes
from keybearer.store.database import Database
from keybearer.store.records import Membership, User
from keybearer.store.unit import UnitOfWork

__all__ = ["UserMembership", "UserMemberships"]


@dataclass(frozen=True, slots=True)
class UserMembership:
    """A user's roles in a project."""

    membership: Membership
    user: User


class UserMemberships:
    """Decides about users in projects."""

    def __init__(self, database: Database, lockouts: Lockouts, clock: Clock) -> None:
        self._database = database
        self._lockouts = lockouts
        self._clock = clock

    async def put(
        self, principal: Principal, ref: ProjectRef, emails: Sequence[str], roles: tuple[str, ...]
    ) -> Sequence[UserMembership]:
        """Give users of the organization these roles in the project, in place of what they had.

        Raises:
            NotFoundError: no such project.
            UnknownEmailsError: no user has one of the emails; nothing happened then.
            ForbiddenError: the principal may not decide about members, or not give these roles.
            TooManyUnknownEmailsError: the principal named too many emails that no user has.
        """
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.CREATE, Subject.MEMBERS)
            # Before anything is said of emails: this refusal is not counted.
            access.require_may_give_roles(roles)
            invited = await self._invited(unit, access, emails)
            if not isinstance(invited, DomainError):
                await unit.move_project(access.project.id)
                return [await self._put(unit, access, user, roles) for user in invited]
        # Raised after the commit, which keeps the count.
        raise invited

    async def list(self, principal: Principal, ref: ProjectRef) -> Sequence[UserMembership]:
        """Return the users of a project, those who came first first.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not read members.
        """
        async with self._database.reading() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.READ, Subject.MEMBERS)
            return await _members(unit, access)

    async def get(self, principal: Principal, ref: ProjectRef, membership_id: str) -> UserMembership:
        """Return one user's membership.

        Raises:
            NotFoundError: no such project or membership of a user.
            ForbiddenError: the principal may not read members.
        """
        return _of_id(await self.list(principal, ref), membership_id)

    async def named(self, principal: Principal, ref: ProjectRef, email: str) -> UserMembership:
        """Return the membership of the user who has this email.

        Raises:
            NotFoundError: no such project, or no member of it has the email.
            ForbiddenError: the principal may not read members.
        """
        for member in await self.list(principal, ref):
            if member.user.email == email:
                return member
        raise _no_member_named(email)

    async def of_user(self, principal: Principal, ref: ProjectRef, user_id: str) -> UserMembership:
        """Return the membership of the user of this id.

        Raises:
            NotFoundError: no such project, or the user is no member of it.
            ForbiddenError: the principal may not read members.
        """
        for member in await self.list(principal, ref):
            if member.user.identity_id == user_id:
                return member
        raise NotFoundError(f"User with ID '{user_id}' is not a member of the project")

    async def update(
        self, principal: Principal, ref: ProjectRef, membership_id: str, roles: tuple[str, ...]
    ) -> UserMembership:
        """Give a member other roles.

        Raises:
            NotFoundError: no such project or membership of a user.
            ForbiddenError: the principal may not decide about members, or not give these roles.
        """
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.EDIT, Subject.MEMBERS)
            access.require_may_give_roles(roles)
            present = _of_id(await _members(unit, access), membership_id)
            await unit.move_project(access.project.id)
            return await self._put(unit, access, present.user, roles)

    async def remove(self, principal: Principal, ref: ProjectRef, membership_id: str) -> UserMembership:
        """Take a user out of the project; personal secrets stay, for the case that the user comes back.

        Raises:
            NotFoundError: no such project or membership of a user.
            ForbiddenError: the principal may not decide about members.
        """
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.DELETE, Subject.MEMBERS)
            present = _of_id(await _members(unit, access), membership_id)
            await unit.move_project(access.project.id)
            await self._remove(unit, access, present)
            return present

    async def remove_named(
        self, principal: Principal, ref: ProjectRef, emails: Sequence[str]
    ) -> Sequence[UserMembership]:
        """Take these users out of the project.

        Raises:
            NotFoundError: no such project, or one of the emails is no member's; nothing happened then.
            ForbiddenError: the principal may not decide about members.
        """
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.DELETE, Subject.MEMBERS)
            members = {member.user.email: member for member in await _members(unit, access)}
            if missing := sorted(set(emails) - members.keys()):
                raise _no_member_named(missing[0])
            await unit.move_project(access.project.id)
            removed = [members[email] for email in dict.fromkeys(emails)]
            for member in removed:
                await self._remove(unit, access, member)
            return removed

    async def _invited(
        self, unit: UnitOfWork, access: ProjectAccess, emails: Sequence[str]
    ) -> Sequence[User] | DomainError:
        """Return who has these emails, or the refusal: returned, not raised, since its count must be committed.

        A refusal for an unknown email counts against principals who couldn't list the organization's users, whatever
        they ask in between, so that they can't try out emails. Of several emails it doesn't say which is unknown: the
        others would be known to have users.
        """
        principal, project_id = access.principal, access.project.id
        if organization_allows(principal, Action.READ, Subject.MEMBERS):
            return await _named(unit, access, emails)
        now = self._clock.now()
        counter = self._lockouts.counter("unknown emails", principal.identity_id, None)
        locked_for = await self._lockouts.claim(unit, counter, DEFAULT_LOCKOUT, now)
        if locked_for:
            return _too_many_unknown_emails(locked_for, project_id, emails)
        try:
            return await _named(unit, access, emails)
        except UnknownEmailsError as unknown:
            await self._lockouts.count(unit, counter, DEFAULT_LOCKOUT, now)
            if len(set(emails)) == 1:
                return unknown
            return UnknownEmailsError(
                "At least one of these emails or usernames belongs to no user of the organization; ask an admin of "
                "the organization, who can list its users",
                project_id=project_id,
                emails=unknown.emails,
            )

    async def _put(
        self, unit: UnitOfWork, access: ProjectAccess, user: User, roles: tuple[str, ...]
    ) -> UserMembership:
        now = self._clock.now()
        present = await unit.projects.membership(access.project.id, user.identity_id)
        if present is None:
            membership = Membership(new_uuid(), access.project.id, user.identity_id, roles, now, now)
            await unit.projects.add_membership(membership)
        else:
            membership = replace(present, roles=roles, updated_at=now)
            await unit.projects.update_membership(membership)
        await unit.move_identity(user.identity_id)
        await unit.audit(
            audited(
                access.principal,
                EventType.PUT_PROJECT_MEMBER,
                access.project.id,
                userId=user.identity_id,
                roles=list(roles),
            )
        )
        return UserMembership(membership, user)

    async def _remove(self, unit: UnitOfWork, access: ProjectAccess, member: UserMembership) -> None:
        await unit.projects.delete_membership(member.membership.id)
        await unit.move_identity(member.user.identity_id)
        await unit.audit(
            audited(
                access.principal,
                EventType.REMOVE_PROJECT_MEMBER,
                access.project.id,
                userId=member.user.identity_id,
            )
        )


async def _named(unit: UnitOfWork, access: ProjectAccess, emails: Sequence[str]) -> list[User]:
    found = await unit.users.of_organization(access.project.organization_id, emails=emails)
    users = {user.email: user for user, _ in found}
    if missing := sorted(set(emails) - users.keys()):
        raise UnknownEmailsError(
            f"No user of the organization has the email or username '{missing[0]}'",
            project_id=access.project.id,
            emails=len(set(emails)),
        )
    # In one order for all writers, so that two that lock users' rows can't deadlock.
    return [users[email] for email in sorted(users)]


def _too_many_unknown_emails(
    locked_for: timedelta, project_id: ProjectId, emails: Sequence[str]
) -> TooManyUnknownEmailsError:
    return TooManyUnknownEmailsError(
        "Too many invitations of emails that no user of the organization has; "
        f"try again in {in_minutes(locked_for)}. "
        "An admin of the organization can list its users and invite them at any time",
        retry_after=locked_for,
        project_id=project_id,
        emails=len(set(emails)),
    )


def _no_member_named(email: str) -> NotFoundError:
    return NotFoundError(f"No member of the project has the email or username '{email}'")


async def _members(unit: UnitOfWork, access: ProjectAccess) -> list[UserMembership]:
    return [
        UserMembership(membership, user) for membership, user in await unit.users.members(access.project.id)
    ]


def _of_id(members: Iterable[UserMembership], membership_id: str) -> UserMembership:
    for member in members:
        if member.membership.id == membership_id:
            return member
    raise NotFoundError(f"Membership with ID '{membership_id}' not found")
