"""Removes what a sync left at former places, after it has pushed to the present one.

Only names that were in the ledger at the time of the change are removed, and none that another sync wrote to the same
place. A failure is noted with its reason and tried again with growing pauses. The push succeeds nevertheless.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from keybearer.base.errors import KeybearerError
from keybearer.base.logs import get_logger
from keybearer.destinations.protocol import ForeignContentError, Present
from keybearer.destinations.remote import RemoteThrottledError
from keybearer.domain.errors import InvalidError
from keybearer.domain.syncs.former_places import (
    alike,
    as_left,
    kept_back,
    resembling,
    told_alike,
    told_failure,
)
from keybearer.domain.syncs.outcomes import LostJobError, failure_of
from keybearer.domain.syncs.places import Place, Reach, Setup
from keybearer.domain.syncs.plan import Ledger, Names, removal
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.queueing import require_held
from keybearer.store.former_places import FormerPlace
from keybearer.store.secret_syncs import SecretSync
from keybearer.store.sync_jobs import SyncJob
from keybearer.store.unit import UnitOfWork

__all__ = ["Clearing", "SetUpOtherwiseError"]

_ONE = timedelta(minutes=5)
"""Time limit for one former place."""
_RNG = random.Random()  # noqa: S311 - jitter, not cryptography
_log = get_logger(__name__)


class SetUpOtherwiseError(KeybearerError):
    """The place of the sync changed during this run, so what the run knows of former places is out of date."""


class Clearing:
    """The former places of one run.

    Methods that change them raise LostJobError if this process no longer holds the job, and SetUpOtherwiseError.

    Args:
        pushing: what all runs share.
        job: the run's; it must still be held whenever something is noted.
        sync: as it was when the run began.
        reach: of the run.
    """

    def __init__(self, pushing: Pushing, job: SyncJob, sync: SecretSync, reach: Reach) -> None:
        self._pushing = pushing
        self._database = pushing.database
        self._job = job
        self._sync = sync
        self._reach = reach
        self._has_places = True
        self._told: list[str] = []
        self.removed = 0

    def due(self, places: Sequence[FormerPlace]) -> list[FormerPlace]:
        """Return the former places whose next attempt is due; all of them if somebody asked for a listing.

        Args:
            places: all former places of the sync when the run begins.
        """
        self._has_places = bool(places)
        now = self._pushing.clock.now()
        is_asked = self._sync.record.listed_at is None
        return [place for place in places if is_asked or place.next_attempt_at <= now]

    async def compared(
        self,
        places: Sequence[FormerPlace],
        listing: Mapping[str, Present],
        names: Names,
        ledger: Ledger,
    ) -> list[FormerPlace]:
        """Return those of the places that are not the present one, and forget the names that they share with it.

        Called before anything is written to the present place: afterwards it holds the same as the former ones.

        Args:
            places: the former places to compare.
            listing: what the present place holds.
            names: what it should hold. A name that a rule refuses may still be there from an earlier run.
            ledger: what was already written there.
        """
        return [
            place for place in places if place.is_apart or await self._is_apart(place, listing, names, ledger)
        ]

    async def _is_apart(
        self,
        place: FormerPlace,
        listing: Mapping[str, Present],
        names: Names,
        ledger: Ledger,
    ) -> bool:
        left = await self._left(place)
        same = as_left(left, listing, names.wanted)
        suspects = resembling(left.keys() - same, listing, ledger.keys() | names.held)
        if suspects and left.keys() - same:
            try:
                async with asyncio.timeout(_ONE.total_seconds()):
                    await self._begin(place)
                    former = await self._reach.listed(await self._opened(place), sorted(left))
            except (LostJobError, SetUpOtherwiseError):
                raise
            except Exception as error:  # noqa: BLE001 - the present place must get its secrets, whatever the error
                await self._note_failure(place, error)
                return False
            same |= alike(left, former, listing, suspects)
        await self._note(place, sorted(same), is_apart=True)
        if same:
            self._told.append(told_alike(len(same), place.destination_config))
            _log.info("secret_sync_place_taken_for_the_same", sync_id=place.sync_id, secrets=len(same))
        return len(same) < len(left)

    async def clear(self, places: Sequence[FormerPlace], refused: Collection[str] = ()) -> list[Exception]:
        """Remove what is left at these places; failures are noted for `told`, and returned.

        Args:
            places: the former places to clear.
            refused: keys that the present place refuses. They stay at the former places: no other place has them.
        """
        errors: list[Exception] = []
        for place in places:
            try:
                async with asyncio.timeout(_ONE.total_seconds()):
                    await self._begin(place)
                    await self._clear(place, refused)
            except (LostJobError, SetUpOtherwiseError):
                raise
            except Exception as error:  # noqa: BLE001 - the push has succeeded, whatever the error
                await self._note_failure(place, error)
                errors.append(error)
        return errors

    async def clear_all(self) -> None:
        """Remove what is left at all former places.

        Raises:
            RemoteThrottledError: a remote says how long to wait. If several do, it is the one with the shortest wait.
            InvalidError: some of it can't be removed.
        """
        errors = await self.clear(await self._all())
        waits = {
            error.wait: error for error in errors if isinstance(error, RemoteThrottledError) and error.wait
        }
        if waits:
            raise waits[min(waits)]
        if failed := [place for place in await self._all() if place.message is not None]:
            raise InvalidError(". ".join([await self._failure(place, is_tried=False) for place in failed]))

    async def told(self) -> tuple[str, ...]:
        """Return messages about former places for `lastSyncMessage`."""
        if not self._has_places:
            # One that the sync left meanwhile was not tried, so there is nothing to say about it.
            return tuple(self._told)
        failed = [place for place in await self._all() if place.message is not None]
        return (*self._told, *[await self._failure(place) for place in failed])

    async def _failure(self, place: FormerPlace, *, is_tried: bool = True) -> str:
        async with self._database.reading() as unit:
            count = len(await unit.former_places.pushes(place.id))
            connection = await unit.app_connections.get(place.connection_id)
        return told_failure(
            count,
            place.destination_config,
            "" if connection is None else connection.name,
            place.message or "",
            place.next_attempt_at if is_tried else None,
        )

    async def _clear(self, place: FormerPlace, refused: Collection[str]) -> None:
        left = await self._left(place)
        opened = await self._opened(place)
        kept = kept_back(left, refused, opened.naming)
        if left.keys() - kept:
            await self._remove(place, opened, {name: push for name, push in left.items() if name not in kept})
        if kept:
            raise InvalidError(f"the new place refuses {'it' if len(kept) == 1 else 'them'}")

    async def _remove(self, place: FormerPlace, opened: Place, left: Ledger) -> None:
        try:
            listing = await self._reach.listed(opened, sorted(left))
        except ForeignContentError:
            # Somebody replaced our object with something else.
            await self._note(place, sorted(left))
            return
        shared = await self._reach.shared(Setup.of_former(place), left)
        change = removal(listing, left, opened.naming, shared.keys())
        # An attempt before this one may have removed names without the call that makes it take effect.
        change = replace(change, is_resumed=place.attempts > 0 or place.message is not None)
        gone: list[str] = []
        counts = self._pushing.tallies.of(self._sync.record.destination)
        try:
            async for written in opened.destination.apply(change):
                gone.append(written.name)
                self.removed += 1
                counts.removed += 1
        except BaseException:
            # Removed names must be noted even if the rest failed. One name is kept: without names the place would be
            # forgotten, and the last call of the destination never repeated.
            await asyncio.shield(self._note(place, gone if len(gone) < len(left) else gone[:-1]))
            raise
        # Names that the change left out are gone already, or belong to another sync.
        await self._note(place, sorted((left.keys() - set(change.delete)).union(gone)))

    async def _opened(self, place: FormerPlace) -> Place:
        async with self._database.reading() as unit:
            opened = await self._reach.usable(unit, Setup.of_former(place))
        return self._reach.place(Setup.of_former(place), opened)

    async def _all(self) -> list[FormerPlace]:
        async with self._database.reading() as unit:
            return await unit.former_places.of_sync(self._sync.record.id)

    async def _left(self, place: FormerPlace) -> Ledger:
        async with self._database.reading() as unit:
            return await unit.former_places.pushes(place.id)

    async def _begin(self, place: FormerPlace) -> None:
        pause = self._pushing.pace.backoff.delay(place.attempts + 1, _RNG)

        async def begun(unit: UnitOfWork) -> None:
            await self._require_held(unit)
            await unit.former_places.begin_attempt(place.id, self._pushing.clock.now() + pause)

        await self._database.write(begun)

    async def _note(self, place: FormerPlace, gone: Sequence[str], *, is_apart: bool = False) -> None:
        if not gone and not is_apart:
            return

        async def noted(unit: UnitOfWork) -> None:
            await self._require_held(unit)
            if is_apart:
                await unit.former_places.note_apart(place.id)
            await unit.former_places.forget_names(place.id, gone)

        await self._database.write(noted)

    async def _note_failure(self, place: FormerPlace, error: Exception) -> None:
        failure = failure_of(error, self._reach.confidential)
        log = _log.info if failure.is_foreseen else _log.error
        log("secret_sync_former_place_not_cleared", sync_id=place.sync_id, kind=type(error).__name__)

        async def noted(unit: UnitOfWork) -> None:
            await self._require_held(unit)
            await unit.former_places.note_failure(place.id, failure.message)

        await self._database.write(noted)

    async def _require_held(self, unit: UnitOfWork) -> None:
        await require_held(unit, self._job)
        sync = await unit.secret_syncs.get(self._sync.record.id)
        if sync is None or _place_of(sync) != _place_of(self._sync):
            raise SetUpOtherwiseError("the sync was set up otherwise meanwhile")


def _place_of(sync: SecretSync) -> tuple[object, ...]:
    record = sync.record
    return record.connection_id, record.destination_config, record.sync_options
