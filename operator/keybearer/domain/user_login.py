"""How users log in: email and password, then an organization (wire.md section 1.4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.domain.addresses import EVERY_ADDRESS
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import ActorKind, Principal
from keybearer.domain.errors import ForbiddenError, NotFoundError, UnauthenticatedError
from keybearer.domain.issuing import IssuedToken, TokenGrant, issue_token
from keybearer.domain.lockouts import DEFAULT_LOCKOUT, Counter, Lockouts, in_minutes
from keybearer.domain.login_terms import login_actor
from keybearer.domain.passwords import Passwords
from keybearer.domain.server_keys import ServerKeys
from keybearer.store.database import Database
from keybearer.store.records import Identity, User
from keybearer.store.unit import UnitOfWork

__all__ = ["PasswordAttempt", "PasswordGate", "UserLogins", "require_user"]

_TOKEN_SECONDS = 10 * 24 * 3600
"""A person's session; published clients don't renew it, they ask for the password again."""
_INVALID = "Invalid credentials"


@dataclass(frozen=True, slots=True)
class PasswordAttempt:
    """A password that was looked at; `user` is who has it, None where nobody does."""

    email: str
    counter: Counter
    user: User | None


class PasswordGate:
    """Judges passwords. It takes as long, counts as much and locks as soon for users that don't exist."""

    def __init__(self, database: Database, keys: ServerKeys, passwords: Passwords, clock: Clock) -> None:
        self._database = database
        self._passwords = passwords
        self._clock = clock
        self._lockouts = Lockouts(keys)

    async def look(self, email: str, password: str, address: str | None) -> PasswordAttempt:
        """Compare the password, outside of any transaction: it takes long.

        Raises:
            UnauthenticatedError: the email is locked for the address; nothing was compared.
            LimitReachedError: too many others log in.
        """
        counter = self._lockouts.counter("user", email, address)
        async with self._database.reading() as unit:
            locked_for = await self._lockouts.locked_for(unit, counter, DEFAULT_LOCKOUT, self._clock.now())
            user = await unit.users.by_email(email)
        if locked_for:
            raise _locked(locked_for, user)
        matches = await self._passwords.matches(None if user is None else user.password_hash, password)
        return PasswordAttempt(email, counter, user if matches else None)

    async def settle(self, unit: UnitOfWork, attempt: PasswordAttempt) -> User | UnauthenticatedError:
        """Return who is let in, or the refusal: returned, not raised, since its count must be committed."""
        now = self._clock.now()
        locked_for = await self._lockouts.claim(unit, attempt.counter, DEFAULT_LOCKOUT, now)
        present = await unit.users.by_email(attempt.email, for_change=True)
        if locked_for:
            return _locked(locked_for, present)
        if attempt.user is None or present is None or present.password_hash != attempt.user.password_hash:
            await self._lockouts.count(unit, attempt.counter, DEFAULT_LOCKOUT, now)
            return UnauthenticatedError(_INVALID, attempted=_attempted(present))
        await self._lockouts.forget(unit, attempt.counter)
        return present


class UserLogins:
    """Decides which users come in."""

    def __init__(self, database: Database, keys: ServerKeys, gate: PasswordGate, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._gate = gate
        self._clock = clock

    async def login(self, email: str, password: str, address: str | None) -> IssuedToken:
        """Return a token of the user.

        Raises:
            UnauthenticatedError: no such user, another password, or too many failures under this email
                from this address.
            LimitReachedError: too many others log in.
        """
        attempt = await self._gate.look(email, password, address)
        async with self._database.writing() as unit:
            admitted = await self._gate.settle(unit, attempt)
            if isinstance(admitted, User):
                identity = await unit.identities.get(admitted.identity_id)
                if identity is not None:
                    await unit.audit(audited(login_actor(identity), EventType.LOGIN_USER))
                    return await self._issue(unit, identity)
                admitted = UnauthenticatedError(_INVALID)
        raise admitted

    async def select_organization(self, principal: Principal, organization_id: str) -> IssuedToken:
        """Return a token of the same user for that organization; a user has one organization.

        It ends when the present one does: a session is prolonged by logging in alone.

        Raises:
            UnauthenticatedError: the present token or its user has ended meanwhile.
            ForbiddenError: the principal is no user.
            NotFoundError: the user is in no such organization.
        """
        require_user(principal)
        if organization_id != principal.organization_id:
            raise NotFoundError(f"Organization with ID '{organization_id}' not found")
        async with self._database.writing() as unit:
            identity = await unit.identities.get(principal.identity_id)
            token = await unit.credentials.token(principal.token_id)
            if identity is None or token is None or token.expires_at is None:
                raise UnauthenticatedError(_INVALID)
            left = int((token.expires_at - self._clock.now()).total_seconds())
            if left < 1:
                raise UnauthenticatedError(_INVALID)
            await unit.audit(audited(principal, EventType.SELECT_ORGANIZATION))
            return await self._issue(unit, identity, left)

    async def _issue(
        self, unit: UnitOfWork, identity: Identity, seconds: int = _TOKEN_SECONDS
    ) -> IssuedToken:
        grant = TokenGrant(
            identity_id=identity.id,
            auth_method="user",
            ttl=seconds,
            max_ttl=seconds,
            trusted_ips=EVERY_ADDRESS,
        )
        return await issue_token(unit, self._keys.token_signing, grant, self._clock.now())


def require_user(principal: Principal) -> None:
    """Let pass users.

    Raises:
        ForbiddenError: the principal is a machine identity.
    """
    if principal.kind is not ActorKind.USER:
        raise ForbiddenError("Only users can do this; log in with email and password", name="ForbiddenError")


def _locked(left: timedelta, user: User | None) -> UnauthenticatedError:
    return UnauthenticatedError(
        f"Too many failed logins under this email; try again in {in_minutes(left)}",
        attempted=_attempted(user),
        retry_after=left,
    )


def _attempted(user: User | None) -> str | None:
    return None if user is None else user.identity_id
