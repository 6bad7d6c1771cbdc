"""Setting up an empty instance over the API: its organization, first user and admin identity (wire.md 1.4)."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, field

from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId, OrganizationId, new_uuid
from keybearer.domain.addresses import EVERY_ADDRESS
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import OrganizationRole
from keybearer.domain.errors import ForbiddenError, InvalidError, UnauthenticatedError
from keybearer.domain.issuing import TokenGrant, issue_token
from keybearer.domain.login_terms import login_actor
from keybearer.domain.passwords import Passwords, require_strong
from keybearer.domain.server_keys import ServerKeys
from keybearer.domain.users import NewUser, UserView, make_user
from keybearer.store.database import Database
from keybearer.store.records import Identity, Organization

__all__ = ["InstanceSetup", "SetUpInstance", "SetupDoor", "organization_slug"]

_IDENTITY_NAME = "Instance Admin Identity"
_TOKEN_SECONDS = 30 * 24 * 3600
"""The default lifetime of tokens (wire.md section 1.2): whoever needs longer attaches a login method."""
_DONE = "Instance has already been set up"


@dataclass(frozen=True, slots=True)
class SetupDoor:
    """Whether an empty instance may be set up over the API, and the token that is asked for; None: none is."""

    is_open: bool = False
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SetUpInstance:
    """What was made; the token is known this once."""

    organization: Organization
    user: UserView
    identity: Identity
    token: str = field(repr=False)


class InstanceSetup:
    """Decides who sets up an instance. It happens once."""

    def __init__(
        self, database: Database, keys: ServerKeys, passwords: Passwords, clock: Clock, door: SetupDoor
    ) -> None:
        self._database = database
        self._keys = keys
        self._passwords = passwords
        self._clock = clock
        self._door = door

    def admit(self, token: str | None) -> None:
        """Let pass who may set up this instance, were it empty.

        Raises:
            ForbiddenError: nobody may: the service was started otherwise.
            UnauthenticatedError: the token that was printed at the start is missing, or is another one.
        """
        if not self._door.is_open:
            raise ForbiddenError(
                "Setting up over the API is off; start with keybearer serve --bootstrap api",
                name="ForbiddenError",
            )
        expected = self._door.token
        if expected is not None and not hmac.compare_digest(_bytes(expected), _bytes(token or "")):
            raise UnauthenticatedError(
                "Send the token that keybearer serve printed when it started, as Authorization: Bearer <token>"
            )

    async def is_needed(self) -> bool:
        """Return whether the instance is empty."""
        async with self._database.reading() as unit:
            return await unit.identities.is_empty()

    async def set_up(self, email: str, password: str, organization_name: str) -> SetUpInstance:
        """Make the organization, its admin, and an admin identity with a token; `admit` was asked before.

        Raises:
            InvalidError: somebody did already.
            SchemaViolationError: the password is too weak.
            LimitReachedError: too many passwords are being hashed.
        """
        if not await self.is_needed():
            raise InvalidError(_DONE)
        require_strong(password, email, field="password")
        hashed = await self._passwords.hash(password)
        async with self._database.writing() as unit:
            if not await unit.identities.claim_empty():
                raise InvalidError(_DONE)
            now = self._clock.now()
            organization = Organization(
                OrganizationId(new_uuid()), organization_name, organization_slug(organization_name), 1, now
            )
            await unit.identities.add_organization(organization)
            user = await make_user(
                unit, organization.id, NewUser(email, password, OrganizationRole.ADMIN), hashed, now
            )
            identity = Identity(
                IdentityId(new_uuid()), organization.id, _IDENTITY_NAME, OrganizationRole.ADMIN, 1, now, now
            )
            await unit.identities.add(identity)
            grant = TokenGrant(identity.id, "token-auth", _TOKEN_SECONDS, _TOKEN_SECONDS, EVERY_ADDRESS)
            issued = await issue_token(unit, self._keys.token_signing, grant, now)
            await unit.audit(
                audited(login_actor(user.identity), EventType.CREATE_ORGANIZATION, name=organization.name)
            )
        return SetUpInstance(organization, user, identity, issued.text)


def organization_slug(name: str) -> str:
    """Return the slug of an organization of that name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "organization"


def _bytes(token: str) -> bytes:
    return token.encode("utf-8", "surrogateescape")
