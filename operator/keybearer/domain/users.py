"""Users: who they are, and what an organization's admin decides about them (wire.md section 1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId, OrganizationId, new_uuid
from keybearer.domain.administrators import move_actor, require_other_admin
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import (
    Action,
    ActorKind,
    OrganizationRole,
    Principal,
    Subject,
    require_organization,
)
from keybearer.domain.errors import InvalidError, NotFoundError, UnauthenticatedError, WrongPasswordError
from keybearer.domain.passwords import Passwords, require_strong
from keybearer.domain.user_login import PasswordGate, require_user
from keybearer.store.database import Database
from keybearer.store.records import Identity, Organization, User
from keybearer.store.unit import UnitOfWork

__all__ = ["NewUser", "UserChange", "UserView", "Users", "make_user"]

_NAME_MAX = 64


@dataclass(frozen=True, slots=True)
class NewUser:
    """What a user is made of; the email in lower case."""

    email: str
    password: str = field(repr=False)
    role: OrganizationRole
    first_name: str | None = None
    last_name: str | None = None


@dataclass(frozen=True, slots=True)
class UserChange:
    """What changes of a user; None leaves a field as it is."""

    role: OrganizationRole | None = None
    first_name: str | None = None
    last_name: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class UserView:
    """A user with the identity that says its organization and its role there."""

    user: User
    identity: Identity


class Users:
    """Decides about users."""

    def __init__(self, database: Database, passwords: Passwords, gate: PasswordGate, clock: Clock) -> None:
        self._database = database
        self._passwords = passwords
        self._gate = gate
        self._clock = clock

    async def create(self, principal: Principal, new: NewUser) -> UserView:
        """Make a user of the principal's organization.

        Raises:
            ForbiddenError: the principal may not.
            SchemaViolationError: the password is too weak.
            InvalidError: the email is taken.
            LimitReachedError: too many passwords are being hashed.
        """
        require_organization(principal, Action.CREATE, Subject.MEMBERS)
        require_strong(new.password, new.email, field="password")
        hashed = await self._passwords.hash(new.password)
        async with self._database.writing() as unit:
            view = await make_user(unit, principal.organization_id, new, hashed, self._clock.now())
            await unit.audit(
                audited(principal, EventType.CREATE_USER, userId=view.identity.id, email=view.user.email)
            )
            return view

    async def list(self, principal: Principal) -> Sequence[UserView]:
        """Return the organization's users by email.

        Raises:
            ForbiddenError: the principal may not read members of the organization.
        """
        require_organization(principal, Action.READ, Subject.MEMBERS)
        async with self._database.reading() as unit:
            found = await unit.users.of_organization(principal.organization_id)
        return [UserView(user, identity) for user, identity in found]

    async def get(self, principal: Principal, user_id: str) -> UserView:
        """Return one user.

        Raises:
            NotFoundError: the organization has no such user.
            ForbiddenError: the principal may not read members of the organization.
        """
        require_organization(principal, Action.READ, Subject.MEMBERS)
        async with self._database.reading() as unit:
            return await _view(unit, principal, user_id)

    async def me(self, principal: Principal) -> UserView:
        """Return the user who asks.

        Raises:
            ForbiddenError: the principal is no user.
        """
        require_user(principal)
        async with self._database.reading() as unit:
            return await _view(unit, principal, principal.identity_id)

    async def organization(self, principal: Principal, organization_id: str | None = None) -> Organization:
        """Return the organization of whoever asks, machine or user.

        Raises:
            NotFoundError: the principal is in no such organization.
        """
        wanted = principal.organization_id if organization_id is None else organization_id
        async with self._database.reading() as unit:
            found = await unit.identities.organization(principal.organization_id)
        if found is None or found.id != wanted:
            raise NotFoundError(f"Organization with ID '{wanted}' not found")
        return found

    async def update(self, principal: Principal, user_id: str, change: UserChange) -> UserView:
        """Change a user; a new password ends all sessions of the user.

        Raises:
            NotFoundError: the organization has no such user.
            ForbiddenError: the principal may not.
            InvalidError: the organization would be left without an admin.
            LimitReachedError: too many passwords are being hashed.
        """
        require_organization(principal, Action.EDIT, Subject.MEMBERS)
        hashed = None
        if change.password is not None:
            async with self._database.reading() as unit:
                view = await _view(unit, principal, user_id)
            require_strong(change.password, view.user.email, field="password")
            hashed = await self._passwords.hash(change.password)
        async with self._database.writing() as unit:
            old = await _view(unit, principal, user_id)
            now = self._clock.now()
            user = replace(
                old.user,
                first_name=old.user.first_name if change.first_name is None else change.first_name,
                last_name=old.user.last_name if change.last_name is None else change.last_name,
                updated_at=now,
            )
            identity = replace(
                old.identity, name=_display_name(user), role=change.role or old.identity.role, updated_at=now
            )
            if identity.role != old.identity.role:
                await require_other_admin(unit, old.identity)
                await move_actor(unit, old.identity)
            await unit.identities.update(identity)
            await unit.users.update(user)
            if hashed is not None:
                user = await _put_password(unit, user, hashed, now)
            await unit.audit(
                audited(
                    principal,
                    EventType.UPDATE_USER,
                    userId=identity.id,
                    role=identity.role,
                    passwordChanged=hashed is not None,
                )
            )
            return UserView(user, identity)

    async def change_password(
        self, principal: Principal, current: str, new: str, address: str | None
    ) -> None:
        """Give the user who asks another password, and end all their sessions, this one included.

        Raises:
            ForbiddenError: the principal is no user.
            WrongPasswordError: the current password is another one, or too many wrong ones were given.
            LimitReachedError: too many passwords are being hashed.
        """
        email = (await self.me(principal)).user.email
        require_strong(new, email, field="newPassword")
        try:
            attempt = await self._gate.look(email, current, address)
        except UnauthenticatedError as refused:
            raise WrongPasswordError(refused) from refused
        hashed = await self._passwords.hash(new)
        async with self._database.writing() as unit:
            admitted = await self._gate.settle(unit, attempt)
            if isinstance(admitted, User):
                await _put_password(unit, admitted, hashed, self._clock.now())
                await unit.audit(
                    audited(
                        principal, EventType.UPDATE_USER, userId=admitted.identity_id, passwordChanged=True
                    )
                )
                return
        raise WrongPasswordError(admitted)

    async def delete(self, principal: Principal, user_id: str) -> UserView:
        """Remove a user with sessions, memberships and personal secrets, and return what it was.

        Raises:
            NotFoundError: the organization has no such user.
            ForbiddenError: the principal may not.
            InvalidError: the organization would be left without an admin.
        """
        require_organization(principal, Action.DELETE, Subject.MEMBERS)
        async with self._database.writing() as unit:
            view = await _view(unit, principal, user_id)
            await require_other_admin(unit, view.identity)
            # Projects that the user left hold personal secrets still, which others may be renaming right now.
            left = await unit.secrets.projects_of_owner(view.identity.id)
            await move_actor(unit, view.identity, left)
            await unit.secrets.delete_of_owner(view.identity.id)
            await unit.identities.delete(view.identity.id)
            await unit.audit(
                audited(principal, EventType.DELETE_USER, userId=view.identity.id, email=view.user.email)
            )
            return view


async def make_user(
    unit: UnitOfWork, organization_id: OrganizationId, new: NewUser, password_hash: str, now: datetime
) -> UserView:
    """Store a new user with its identity.

    Raises:
        InvalidError: the email is taken.
    """
    # Of two users made at once with one email, the second waits here and finds it taken.
    await unit.identities.lock_organization(organization_id)
    if await unit.users.by_email(new.email) is not None:
        raise InvalidError(f"A user with the email '{new.email}' already exists")
    user = User(
        identity_id=IdentityId(new_uuid()),
        email=new.email,
        first_name=new.first_name,
        last_name=new.last_name,
        password_hash=password_hash,
        password_changed_at=now,
        created_at=now,
        updated_at=now,
    )
    identity = Identity(
        id=user.identity_id,
        organization_id=organization_id,
        name=_display_name(user),
        role=new.role,
        permission_revision=1,
        created_at=now,
        updated_at=now,
        kind=ActorKind.USER,
    )
    await unit.identities.add(identity)
    await unit.users.add(user)
    return UserView(user, identity)


async def _view(unit: UnitOfWork, principal: Principal, user_id: str) -> UserView:
    identity = await unit.identities.get(IdentityId(user_id))
    user = await unit.users.get(IdentityId(user_id))
    if identity is None or user is None or identity.organization_id != principal.organization_id:
        raise NotFoundError(f"User with ID '{user_id}' not found")
    return UserView(user, identity)


async def _put_password(unit: UnitOfWork, user: User, password_hash: str, now: datetime) -> User:
    changed = replace(user, password_hash=password_hash, password_changed_at=now, updated_at=now)
    await unit.users.update(changed)
    for token_id in await unit.credentials.delete_tokens_of(user.identity_id):
        unit.drop_token(token_id)
    return changed


def _display_name(user: User) -> str:
    """Return what the audit log calls the user."""
    given = " ".join(part for part in (user.first_name, user.last_name) if part)
    return (given or user.email)[:_NAME_MAX]
