"""Lists the state of each name of a sync, never values, without asking the destination."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from keybearer.destinations.remote import RemoteError
from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.errors import DomainError, InvalidError
from keybearer.domain.secrets.imported import imported_blocks
from keybearer.domain.syncs.digests import Digests
from keybearer.domain.syncs.key_states import KeyStanding, standings
from keybearer.domain.syncs.lookup import sync_of_id
from keybearer.domain.syncs.outcomes import failure_of
from keybearer.domain.syncs.places import Place, Reach, Setup
from keybearer.domain.syncs.plan import wanted_names
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.rules import existing_destination, require_source
from keybearer.domain.syncs.source import Source, folder_of
from keybearer.store.database import Database
from keybearer.store.secret_syncs import SecretSync
from keybearer.store.unit import UnitOfWork

__all__ = ["SyncedSecrets"]

_LISTED_MAX = 12_000
"""The most names that the ledger and the noted foreign names of one place can have, with some room."""


class SyncedSecrets:
    """Lists the states of names."""

    def __init__(self, database: Database, pushing: Pushing) -> None:
        self._database = database
        self._pushing = pushing

    async def list(self, principal: Principal, destination: str, sync_id: str) -> Sequence[KeyStanding]:
        """Return the state of each name, sorted by name, 12,000 at most.

        A name reveals a key, so the principal must be allowed to see names in the sync's folder. Names imported from
        folders that the principal may not see are left out.

        Raises:
            NotFoundError: there is no such destination or sync.
            ForbiddenError: the principal may not see the sync, or the names of secrets in its folder.
            InvalidError: it has another destination, its folder is gone, or the sync can't read the folder.
        """
        offered = existing_destination(self._pushing.catalogue, destination)
        async with self._database.reading() as unit:
            access, sync = await sync_of_id(unit, principal, offered, sync_id, Action.READ)
            access.require(Action.READ, Subject.SECRETS, require_source(sync))
            source, place = await self._opened(unit, sync)
            ledger = await unit.pushes.of_sync(sync_id)
            noted = await unit.sync_names.of_sync(sync_id)
            hidden = {secret.key for secret in source.secrets} - await _visible(unit, access, sync)
        found = standings(
            wanted_names(source.secrets, place.traits, place.naming),
            ledger,
            noted,
            Digests(self._pushing.digest_key, sync.record).of,
            naming=place.naming,
            removes_nothing=bool(place.options.disable_secret_deletion),
            hidden=hidden,
        )
        return found[:_LISTED_MAX]

    async def _opened(self, unit: UnitOfWork, sync: SecretSync) -> tuple[Source, Place]:
        """Return what the sync carries, and where to; an error says what a run would say."""
        reach, setup = Reach(self._pushing, sync), Setup.of(sync)
        try:
            opened = await reach.usable(unit, setup)
            source, _ = await self._pushing.source_of(unit, sync)
            return source, reach.place(setup, opened)
        except (DomainError, RemoteError, ValidationError) as error:
            # The sync reads with its owner's rights: its refusal is not one of the principal.
            raise InvalidError(failure_of(error, reach.confidential).message) from error


async def _visible(unit: UnitOfWork, access: ProjectAccess, sync: SecretSync) -> set[str]:
    """Return the keys of the folder and of what it imports, as far as the principal may see them."""
    at = folder_of(sync)
    direct = await unit.secrets.listed(
        access.project.id, at.environment, at.path, recursive=False, with_values=False
    )
    blocks = await imported_blocks(unit, access, at, recursive=False, with_values=False)
    return {secret.key for secret in direct} | {secret.key for block in blocks for secret in block.secrets}
