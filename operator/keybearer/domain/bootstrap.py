"""The first start: an organization, and one admin identity whose credentials are handed to the operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId, OrganizationId, new_uuid
from keybearer.domain.authorization import OrganizationRole
from keybearer.domain.server_keys import ServerKeys
from keybearer.domain.universal_auth import UniversalAuthTerms, new_client_secret, universal_auth_of
from keybearer.store.database import Database
from keybearer.store.records import Identity, Organization

__all__ = ["AdminCredentials", "AdminLogin", "bootstrap"]


@dataclass(frozen=True, slots=True)
class AdminCredentials:
    """What the first admin logs in with."""

    organization_id: str
    identity_id: str
    client_id: str
    client_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class AdminLogin:
    """Universal Auth credentials that were chosen before the first start, and that their chooser keeps."""

    client_id: str
    client_secret: str = field(repr=False)


async def bootstrap(
    database: Database,
    keys: ServerKeys,
    clock: Clock,
    hand_over: Callable[[AdminCredentials], None],
    *,
    chosen: AdminLogin | None = None,
) -> bool:
    """Make the first admin on an empty database and hand its credentials over; return whether it was empty.

    They are handed over before the commit: a crash between the two leaves an empty database, and the next
    start replaces them, instead of an admin whose secret nobody has.
    """
    async with database.writing() as unit:
        if not await unit.identities.claim_empty():
            return False
        now = clock.now()
        organization = Organization(OrganizationId(new_uuid()), "Keybearer", "keybearer", 1, now)
        await unit.identities.add_organization(organization)
        identity = Identity(
            IdentityId(new_uuid()), organization.id, "admin", OrganizationRole.ADMIN, 1, now, now
        )
        await unit.identities.add(identity)
        auth = universal_auth_of(identity.id, UniversalAuthTerms(), clock)
        if chosen is not None:
            auth = replace(auth, client_id=chosen.client_id)
        await unit.credentials.put_universal_auth(auth)
        issued = new_client_secret(
            keys.credential_digest,
            identity.id,
            clock,
            description="made at the first start",
            chosen=None if chosen is None else chosen.client_secret,
        )
        await unit.credentials.add_client_secret(issued.record)
        hand_over(AdminCredentials(organization.id, identity.id, auth.client_id, issued.text))
    return True
