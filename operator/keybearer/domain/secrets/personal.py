"""Personal secrets: a user's own value on top of a shared secret of the same key (wire.md section 2.8).

Nobody else sees them. They follow the shared secret when it is renamed and go when it goes.
"""

from __future__ import annotations

from collections.abc import Iterable

from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import ActorKind, Principal
from keybearer.domain.errors import InvalidError
from keybearer.domain.secrets.questions import ListSecrets
from keybearer.store.records import Secret
from keybearer.store.secret_places import Location
from keybearer.store.secrets import LISTED_MAX_BYTES, TooLargeError
from keybearer.store.unit import UnitOfWork

__all__ = ["overridden", "owner_of", "owners_values", "writing_owner"]


def owner_of(principal: Principal) -> str | None:
    """Return whose personal secrets the principal sees; None: a machine identity has none."""
    return principal.identity_id if principal.kind is ActorKind.USER else None


def writing_owner(principal: Principal, verb: str, *, personal: bool) -> str:
    """Return the owner of what is about to be written; empty for shared secrets.

    Raises:
        InvalidError: a machine identity writes no personal secrets.
    """
    if not personal:
        return ""
    owner = owner_of(principal)
    if owner is None:
        raise InvalidError(f"Must be user to {verb} personal secret")
    return owner


async def overridden(
    unit: UnitOfWork, access: ProjectAccess, query: ListSecrets, shared: list[Secret]
) -> list[Secret]:
    """Return the listed secrets with those of the user who asks in the place of shared ones.

    Raises:
        InvalidError: they hold more than is answered at once.
    """
    owner = owner_of(access.principal)
    if not query.personal_overrides or owner is None or not shared:
        return shared
    try:
        own = await unit.secrets.overrides(
            access.project.id,
            query.at.environment,
            query.at.path,
            owner,
            recursive=query.recursive,
            with_values=query.view_value,
        )
    except TooLargeError as error:
        raise InvalidError(
            f"Your personal secrets under '{query.at.path}' hold more than {LISTED_MAX_BYTES >> 20} MiB; "
            "read them one by one"
        ) from error
    by_place = {(secret.path, secret.key): secret for secret in own}
    return [by_place.get((secret.path, secret.key), secret) for secret in shared]


async def owners_values(
    unit: UnitOfWork, access: ProjectAccess, locations: Iterable[Location], *, max_bytes: int
) -> dict[Location, str]:
    """Return the values of the personal secrets at these places, of the user who asks.

    Raises:
        TooLargeError: their envelopes hold more than `max_bytes`.
    """
    owner = owner_of(access.principal)
    if owner is None or not await unit.secrets.has_overrides(owner):
        return {}
    found = await unit.secrets.at(access.project.id, locations, max_bytes=max_bytes, owner=owner)
    return {Location(one.environment, one.path, one.key): one.value or "" for one in found}
