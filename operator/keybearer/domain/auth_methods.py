"""Administration of the ways to log in that ask somebody else, and of lockouts (wire.md sections 1.2 and 1.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from keybearer.base.clock import Clock
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject, require_organization
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.identity_lookup import machine_identity, required_universal_auth
from keybearer.domain.issuing import end_tokens
from keybearer.domain.kubernetes_auth import (
    KUBERNETES_AUTH,
    KubernetesAuthChange,
    KubernetesAuthTerms,
    changed_kubernetes_auth,
    kubernetes_auth_of,
)
from keybearer.domain.ldap_auth import (
    LDAP_AUTH,
    LdapAuthChange,
    LdapAuthTerms,
    changed_ldap_auth,
    ldap_auth_of,
)
from keybearer.domain.lockouts import Lockouts
from keybearer.store.auth_methods import KubernetesAuth, LdapAuth
from keybearer.store.database import Database

__all__ = ["AuthMethods", "kubernetes_not_configured", "ldap_not_configured"]

_A = TypeVar("_A", KubernetesAuth, LdapAuth)


@dataclass(frozen=True, slots=True)
class AuthMethods:
    """Decides about Kubernetes and LDAP auth of machine identities.

    Every method raises NotFoundError for an identity, or a configuration, that isn't there, and ForbiddenError where
    the principal may not.
    """

    database: Database
    lockouts: Lockouts
    clock: Clock

    async def attach_kubernetes(
        self, principal: Principal, identity_id: str, terms: KubernetesAuthTerms
    ) -> KubernetesAuth:
        """Let the identity log in with tokens of ServiceAccounts.

        Raises:
            SchemaViolationError: a field can't be used.
            InvalidError: it may already, or the terms contradict each other.
        """
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self.database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            await unit.move_identity(identity.id)  # one attaches at a time
            if await unit.auth_methods.kubernetes(identity.id, for_change=True) is not None:
                raise InvalidError("Failed to add Kubernetes Auth to already configured identity")
            auth = kubernetes_auth_of(identity.id, terms, self.clock)
            await unit.auth_methods.add_kubernetes(auth)
            await unit.audit(audited(principal, EventType.ADD_KUBERNETES_AUTH, identityId=identity.id))
            return auth

    async def kubernetes(self, principal: Principal, identity_id: str) -> KubernetesAuth:
        """Return the identity's Kubernetes auth."""
        require_organization(principal, Action.READ, Subject.IDENTITIES)
        async with self.database.reading() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            return _found(await unit.auth_methods.kubernetes(identity.id), kubernetes_not_configured())

    async def change_kubernetes(
        self, principal: Principal, identity_id: str, change: KubernetesAuthChange
    ) -> KubernetesAuth:
        """Change the terms of logins, and of the tokens they gave.

        Raises:
            SchemaViolationError: a field can't be used.
            InvalidError: the terms contradict each other, or the reviewer's token has to be given again.
        """
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self.database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            former = await unit.auth_methods.kubernetes(identity.id, for_change=True)
            auth = changed_kubernetes_auth(_found(former, kubernetes_not_configured()), change, self.clock)
            await unit.auth_methods.update_kubernetes(auth)
            unit.drop_identity(identity.id)
            await unit.audit(audited(principal, EventType.UPDATE_KUBERNETES_AUTH, identityId=identity.id))
            return auth

    async def detach_kubernetes(self, principal: Principal, identity_id: str) -> KubernetesAuth:
        """Take Kubernetes auth from the identity, with the tokens it gave."""
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self.database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            former = await unit.auth_methods.kubernetes(identity.id, for_change=True)
            auth = _found(former, kubernetes_not_configured())
            await unit.auth_methods.delete_kubernetes(identity.id)
            await end_tokens(unit, identity.id, KUBERNETES_AUTH)
            await unit.audit(audited(principal, EventType.REVOKE_KUBERNETES_AUTH, identityId=identity.id))
            return auth

    async def attach_ldap(self, principal: Principal, identity_id: str, terms: LdapAuthTerms) -> LdapAuth:
        """Let the identity log in as users of a directory.

        Raises:
            SchemaViolationError: a field can't be used.
            InvalidError: it may already, or the terms contradict each other.
        """
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self.database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            await unit.move_identity(identity.id)  # one attaches at a time
            if await unit.auth_methods.ldap(identity.id, for_change=True) is not None:
                raise InvalidError("Failed to add LDAP Auth to already configured identity")
            auth = ldap_auth_of(identity.id, terms, self.clock)
            await unit.auth_methods.add_ldap(auth)
            await unit.audit(audited(principal, EventType.ADD_LDAP_AUTH, identityId=identity.id))
            return auth

    async def ldap(self, principal: Principal, identity_id: str) -> LdapAuth:
        """Return the identity's LDAP auth."""
        require_organization(principal, Action.READ, Subject.IDENTITIES)
        async with self.database.reading() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            return _found(await unit.auth_methods.ldap(identity.id), ldap_not_configured())

    async def change_ldap(self, principal: Principal, identity_id: str, change: LdapAuthChange) -> LdapAuth:
        """Change the terms of logins, and of the tokens they gave.

        Raises:
            SchemaViolationError: a field can't be used.
            InvalidError: the terms contradict each other, or the password has to be given again.
        """
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self.database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            former = await unit.auth_methods.ldap(identity.id, for_change=True)
            auth = changed_ldap_auth(_found(former, ldap_not_configured()), change, self.clock)
            await unit.auth_methods.update_ldap(auth)
            unit.drop_identity(identity.id)
            await unit.audit(audited(principal, EventType.UPDATE_LDAP_AUTH, identityId=identity.id))
            return auth

    async def detach_ldap(self, principal: Principal, identity_id: str) -> LdapAuth:
        """Take LDAP auth from the identity, with the tokens it gave."""
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self.database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            auth = _found(await unit.auth_methods.ldap(identity.id, for_change=True), ldap_not_configured())
            await unit.auth_methods.delete_ldap(identity.id)
            await end_tokens(unit, identity.id, LDAP_AUTH)
            await unit.audit(audited(principal, EventType.REVOKE_LDAP_AUTH, identityId=identity.id))
            return auth

    async def clear_ldap_lockouts(self, principal: Principal, identity_id: str) -> int:
        """Let the identity log in again at once from everywhere; return how many lockouts there were."""
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self.database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            _found(await unit.auth_methods.ldap(identity.id, for_change=True), ldap_not_configured())
            await unit.audit(
                audited(principal, EventType.CLEAR_LOCKOUTS, identityId=identity.id, authMethod=LDAP_AUTH)
            )
            return await self.lockouts.clear(unit, LDAP_AUTH, identity.id, self.clock.now())

    async def clear_universal_lockouts(self, principal: Principal, identity_id: str) -> int:
        """Let the identity log in again at once from everywhere; return how many lockouts there were."""
        require_organization(principal, Action.EDIT, Subject.IDENTITIES)
        async with self.database.writing() as unit:
            identity = await machine_identity(unit, principal, identity_id)
            await required_universal_auth(unit, identity, for_change=True)
            await unit.audit(
                audited(
                    principal, EventType.CLEAR_LOCKOUTS, identityId=identity.id, authMethod="universal-auth"
                )
            )
            return await self.lockouts.clear(unit, "universal-auth", identity.id, self.clock.now())


def kubernetes_not_configured() -> NotFoundError:
    """Return the refusal for an identity without Kubernetes auth (wire.md section 1.2)."""
    return NotFoundError("Kubernetes auth method not found for identity, did you configure Kubernetes auth?")


def ldap_not_configured() -> NotFoundError:
    """Return the refusal for an identity without LDAP auth."""
    return NotFoundError("LDAP auth method not found for identity, did you configure LDAP auth?")


def _found(auth: _A | None, missing: NotFoundError) -> _A:
    if auth is None:
        raise missing
    return auth
