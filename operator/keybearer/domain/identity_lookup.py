"""Machine identities as their organization finds them."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.base.ids import IdentityId
from keybearer.domain.authorization import ActorKind, Principal
from keybearer.domain.errors import NotFoundError
from keybearer.store.records import Identity, UniversalAuth
from keybearer.store.unit import UnitOfWork

__all__ = ["IdentityView", "identity_view", "machine_identity", "required_universal_auth"]


@dataclass(frozen=True, slots=True)
class IdentityView:
    """An identity with its ways to log in, in the words of their paths, such as `universal-auth`."""

    identity: Identity
    auth_methods: tuple[str, ...] = ()


async def identity_view(unit: UnitOfWork, identity: Identity) -> IdentityView:
    """Return the identity as it is shown."""
    return IdentityView(identity, await unit.auth_methods.names(identity.id))


async def machine_identity(unit: UnitOfWork, principal: Principal, identity_id: str) -> Identity:
    """Return the machine identity of the principal's organization.

    Raises:
        NotFoundError: it has none of that id.
    """
    identity = await unit.identities.get(IdentityId(identity_id))
    ours = identity is not None and identity.organization_id == principal.organization_id
    if identity is None or not ours or identity.kind != ActorKind.MACHINE:
        raise NotFoundError(f"Identity with ID '{identity_id}' not found")
    return identity


async def required_universal_auth(
    unit: UnitOfWork, identity: Identity, *, for_change: bool = False
) -> UniversalAuth:
    """Return the terms of the identity's Universal Auth.

    Raises:
        NotFoundError: it has none.
    """
    auth = await unit.credentials.universal_auth(identity.id, for_change=for_change)
    if auth is None:
        raise NotFoundError(f"Universal auth of identity with ID '{identity.id}' not found; attach it first")
    return auth
