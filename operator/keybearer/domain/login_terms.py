"""What all ways to log in have in common: terms of the tokens they give, and whose organization is meant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol

from keybearer.base.ids import IdentityId
from keybearer.domain.addresses import networks
from keybearer.domain.authorization import ActorKind
from keybearer.domain.errors import InvalidError, NotFoundError, SchemaViolationError, UnauthenticatedError
from keybearer.domain.issuing import TokenGrant
from keybearer.store.audit import AuditActor
from keybearer.store.records import Identity
from keybearer.store.unit import UnitOfWork

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "LOCKED",
    "given_fields",
    "grant_of",
    "login_actor",
    "member_of",
    "require_readable",
    "require_sensible_terms",
]

LOCKED = "This identity auth method is temporarily locked, please try again later"


class _GrantsTokens(Protocol):
    """A configuration of a way to log in; seconds, 0 means without end or unlimited."""

    @property
    def identity_id(self) -> IdentityId: ...
    @property
    def access_token_ttl(self) -> int: ...
    @property
    def access_token_max_ttl(self) -> int: ...
    @property
    def access_token_num_uses_limit(self) -> int: ...
    @property
    def access_token_period(self) -> int: ...
    @property
    def access_token_trusted_ips(self) -> tuple[str, ...]: ...


def grant_of(auth: _GrantsTokens, auth_method: str) -> TokenGrant:
    """Return what a login under this configuration earns."""
    return TokenGrant(
        identity_id=auth.identity_id,
        auth_method=auth_method,
        ttl=auth.access_token_ttl,
        max_ttl=auth.access_token_max_ttl,
        trusted_ips=auth.access_token_trusted_ips,
        period=auth.access_token_period,
        num_uses_limit=auth.access_token_num_uses_limit,
    )


def require_sensible_terms(auth: _GrantsTokens) -> None:
    """Let pass terms that don't contradict each other.

    Raises:
        InvalidError: the TTL is over the max TTL.
    """
    if 0 < auth.access_token_max_ttl < auth.access_token_ttl:
        raise InvalidError("Access token TTL cannot be greater than max TTL")


def require_readable(name: str, read: Callable[[], object]) -> None:
    """Let pass a field that can be read.

    Args:
        name: of the field, as it is spelt on the wire.
        read: raises ValueError where it can't be, with words that follow the name.

    Raises:
        SchemaViolationError: it can't be.
    """
    try:
        read()
    except ValueError as error:
        raise SchemaViolationError(f"{name} {error}", field=name) from error


def given_fields(change: DataclassInstance) -> dict[str, Any]:
    """Return the fields of a change that are not None, ranges of addresses as they are kept.

    Raises:
        InvalidError: a trusted address is none.
    """
    given = {one.name: value for one in fields(change) if (value := getattr(change, one.name)) is not None}
    for name in ("access_token_trusted_ips", "client_secret_trusted_ips"):
        if name in given:
            given[name] = networks(given[name])
    return given


async def member_of(unit: UnitOfWork, identity_id: IdentityId, organization_slug: str | None) -> Identity:
    """Return the identity that logs in; where an organization is named, it must be the identity's.

    Raises:
        NotFoundError: there is no such organization.
        UnauthenticatedError: the identity is gone, or belongs to another one.
    """
    identity = await unit.identities.get(identity_id)
    if identity is None:
        raise UnauthenticatedError("Invalid credentials")
    if organization_slug:
        organization = await unit.identities.organization_by_slug(organization_slug)
        if organization is None:
            raise NotFoundError(f"Organization with slug '{organization_slug}' not found")
        if identity.organization_id != organization.id:
            raise UnauthenticatedError("Identity is not a member of the organization", attempted=identity.id)
    return identity


def login_actor(identity: Identity) -> AuditActor:
    """Return who a login is recorded for."""
    return AuditActor(ActorKind.MACHINE, identity.id, identity.name, identity.organization_id)
