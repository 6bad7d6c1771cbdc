"""Machine identities, their Universal Auth and client secrets (wire.md section 1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId, OrganizationId, new_uuid
from keybearer.domain.administrators import move_actor, require_other_admin
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import (
    Action,
    OrganizationRole,
    Principal,
    Subject,
    require_organization,
)
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.identity_lookup import (
    IdentityView,
    identity_view,
    machine_identity,
    required_universal_auth,
)
from keybearer.domain.issuing import end_tokens
from keybearer.domain.server_keys import ServerKeys
from keybearer.domain.universal_auth import (
    IssuedClientSecret,
    UniversalAuthChange,
    UniversalAuthTerms,
    changed_universal_auth,
    new_client_secret,
    universal_auth_of,
)
from keybearer.store.database import Database
from keybearer.store.records import ClientSecret, Identity, UniversalAuth
from keybearer.store.unit import UnitOfWork

__all__ = ["Identities"]

_MAX_CLIENT_SECRETS = 100


class Identities:
    """Decides about machine identities."""

    def __init__(self, database: Database, keys: ServerKeys, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock

    async def create(
        self, principal: Principal, name: str, organization_id: str, role: OrganizationRole
    ) -> Identity:
        """Make an identity; it can't do anything until it has a way to log in.

        Raises:
            ForbiddenError: the principal may not, or names another organization.
        """
        require_organization(principal, Action.CREATE, Subject.IDENTITIES)
        if organization_id != principal.organization_id:
            raise NotFoundError(f"Organization with ID '{organization_id}' not found")
        now = self._clock.now()
        identity = Identity(IdentityId(new_uuid()), OrganizationId(organization_id), name, role, 1, now, now)
        async with self._database.writing() as unit:
            await unit.identities.add(identity)
            await unit.audit(
                audited(
                    principal,
                    EventType.CREATE_IDENTITY,
                    identityId=identity.id,
                    name=identity.name,
                    role=role,
                )
            )
        return identity

    async def get(self, principal: Principal, identity_id: str) -> IdentityView:
        """Return one identity; an identity may always read itself.

        Raises:
            NotFoundError: the organization has no such identity.
            ForbiddenError: the principal may not read other identities.
        """
        if identity_id != principal.identity_id:
            require_organization(principal, Action.READ, Subject.IDENTITIES)
        async with self._database.reading() as unit:
            return await identity_view(unit, await machine_identity(unit, principal, identity_id))

    async def list(self, principal: Principal) -> Sequence[Identity]:
        """Return the organization's identities, oldest first.

        Raises:
            ForbiddenError: the principal may not read identities.
        """
        require_organization(principal, Action.READ, Subject.IDENTITIES)
        async with self._database.reading() as unit:
            return await unit.identities.machines(principal.organization_id)

    async def update(
        self, principal: Principal, identity_id: str, *, name: str | None, role: OrganizationRole | None
    ) -> IdentityView:
        """Change an identity's name or role.

        Raises:
            NotFoundError: the organization has no such identity.
            ForbiddenError: the principal may not.
            InvalidError: the organization would be left without an admin.
        """
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self._database.writing() as unit:
            old = await machine_identity(unit, principal, identity_id)
            new = replace(old, name=name or old.name, role=role or old.role, updated_at=self._clock.now())
            if new.role != old.role:
                await require_other_admin(unit, old)
                await move_actor(unit, old)
            await unit.identities.update(new)
            await unit.audit(
                audited(principal, EventType.UPDATE_IDENTITY, identityId=new.id, name=new.name, role=new.role)
            )
            return await identity_view(unit, new)

    async def delete(self, principal: Principal, identity_id: str) -> Identity:
        """Remove an identity with its credentials, tokens and memberships.

        Raises:
            NotFoundError: the organization has no such identity.
            ForbiddenError: the principal may not.
            InvalidError: the organization would be left without an admin.
        """
        require_organization(principal, Action.DELETE, Subject.IDENTITIES)
        async with self._database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            await require_other_admin(unit, identity)
            await move_actor(unit, identity)
            await unit.identities.delete(identity.id)
            await unit.audit(
                audited(principal, EventType.DELETE_IDENTITY, identityId=identity.id, name=identity.name)
            )
            return identity

    async def attach_universal_auth(
        self, principal: Principal, identity_id: str, terms: UniversalAuthTerms
    ) -> UniversalAuth:
        """Let the identity log in with Universal Auth.

        Raises:
            NotFoundError: no such identity.
            ForbiddenError: the principal may not.
            InvalidError: it may already, or the terms contradict each other.
        """
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self._database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            # In turn: of two that find nothing, the later one would take the place of the other.
            await unit.move_identity(identity.id)
            if await unit.credentials.universal_auth(identity.id) is not None:
                raise InvalidError("Failed to add universal auth to already configured identity")
            auth = universal_auth_of(identity.id, terms, self._clock)
            await unit.credentials.put_universal_auth(auth)
            await unit.audit(audited(principal, EventType.ADD_UNIVERSAL_AUTH, identityId=identity.id))
            return auth

    async def change_universal_auth(
        self, principal: Principal, identity_id: str, change: UniversalAuthChange
    ) -> UniversalAuth:
        """Change the terms of the identity's logins, and of the tokens they gave; the client id stays.

        Raises:
            NotFoundError: no such identity, or it has no Universal Auth.
            ForbiddenError: the principal may not.
            InvalidError: the terms contradict each other.
        """
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self._database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            former = await required_universal_auth(unit, identity, for_change=True)
            auth = changed_universal_auth(former, change, self._clock)
            await unit.credentials.update_universal_auth(auth)
            unit.drop_identity(identity.id)
            await unit.audit(audited(principal, EventType.UPDATE_UNIVERSAL_AUTH, identityId=identity.id))
            return auth

    async def universal_auth(self, principal: Principal, identity_id: str) -> UniversalAuth:
        """Return the identity's Universal Auth.

        Raises:
            NotFoundError: no such identity, or it has none.
            ForbiddenError: the principal may not.
        """
        require_organization(principal, Action.READ, Subject.IDENTITIES)
        async with self._database.reading() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            return await required_universal_auth(unit, identity)

    async def delete_universal_auth(self, principal: Principal, identity_id: str) -> UniversalAuth:
        """Take Universal Auth from the identity, with its client secrets and the tokens they gave.

        Raises:
            NotFoundError: no such identity, or it has none.
            ForbiddenError: the principal may not.
        """
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self._database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            auth = await required_universal_auth(unit, identity, for_change=True)
            for secret in await unit.credentials.client_secrets(identity.id, usable_only=True):
                await self._revoke(unit, secret)
            # Those of client secrets that have ended by themselves, too.
            await end_tokens(unit, identity.id, auth_method="universal-auth")
            await unit.credentials.delete_universal_auth(identity.id)
            await unit.audit(audited(principal, EventType.REVOKE_UNIVERSAL_AUTH, identityId=identity.id))
            return auth

    async def create_client_secret(
        self, principal: Principal, identity_id: str, *, description: str, ttl: int, num_uses_limit: int
    ) -> tuple[IssuedClientSecret, UniversalAuth]:
        """Make a client secret; its text is known this once.

        Raises:
            NotFoundError: no such identity, or it has no Universal Auth.
            ForbiddenError: the principal may not.
            InvalidError: the identity has too many.
        """
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self._database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            auth = await required_universal_auth(unit, identity, for_change=True)
            usable = await unit.credentials.client_secrets(identity.id, usable_only=True)
            if len(usable) >= _MAX_CLIENT_SECRETS:
                raise InvalidError(
                    f"An identity has at most {_MAX_CLIENT_SECRETS} client secrets; revoke one first"
                )
            issued = new_client_secret(
                self._keys.credential_digest,
                identity.id,
                self._clock,
                description=description,
                ttl=ttl,
                num_uses_limit=num_uses_limit,
            )
            await unit.credentials.add_client_secret(issued.record)
            await unit.audit(
                audited(
                    principal,
                    EventType.CREATE_CLIENT_SECRET,
                    identityId=identity.id,
                    clientSecretId=issued.record.id,
                )
            )
            return issued, auth

    async def client_secrets(
        self, principal: Principal, identity_id: str
    ) -> tuple[Sequence[ClientSecret], UniversalAuth]:
        """Return the identity's client secrets that are not revoked, oldest first.

        Raises:
            NotFoundError: no such identity, or it has no Universal Auth.
            ForbiddenError: the principal may not.
        """
        require_organization(principal, Action.READ, Subject.IDENTITIES)
        async with self._database.reading() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            auth = await required_universal_auth(unit, identity)
            return await unit.credentials.client_secrets(identity.id, usable_only=True), auth

    async def client_secret(
        self, principal: Principal, identity_id: str, secret_id: str
    ) -> tuple[ClientSecret, UniversalAuth]:
        """Return one client secret of the identity.

        Raises:
            NotFoundError: no such identity or client secret.
            ForbiddenError: the principal may not.
        """
        require_organization(principal, Action.READ, Subject.IDENTITIES)
        async with self._database.reading() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            auth = await required_universal_auth(unit, identity)
            return await _client_secret(unit, identity, secret_id), auth

    async def revoke_client_secret(
        self, principal: Principal, identity_id: str, secret_id: str
    ) -> tuple[ClientSecret, UniversalAuth]:
        """Make a client secret worthless, with the tokens that logins with it gave.

        Raises:
            NotFoundError: no such identity or client secret.
            ForbiddenError: the principal may not.
        """
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self._database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            auth = await required_universal_auth(unit, identity, for_change=True)
            secret = await _client_secret(unit, identity, secret_id)
            await unit.audit(
                audited(
                    principal,
                    EventType.REVOKE_CLIENT_SECRET,
                    identityId=identity.id,
                    clientSecretId=secret.id,
                )
            )
            return await self._revoke(unit, secret), auth

    async def _revoke(self, unit: UnitOfWork, secret: ClientSecret) -> ClientSecret:
        now = self._clock.now()
        await unit.credentials.revoke_client_secret(secret.id, now)
        for token_id in await unit.credentials.delete_tokens_of_client_secret(secret.id):
            unit.drop_token(token_id)
        return replace(secret, revoked=True, updated_at=now)


async def _client_secret(unit: UnitOfWork, identity: Identity, secret_id: str) -> ClientSecret:
    secret = await unit.credentials.client_secret(identity.id, secret_id)
    if secret is None:
        raise NotFoundError(f"Client secret with ID '{secret_id}' not found")
    return secret
