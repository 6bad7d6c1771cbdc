"""One run of one job: read the source, look at the destination if need be, change it, note what arrived.

Every line may be the last one before the process is killed. What was claimed is not settled until the run ended well,
so that whoever goes on looks at the destination first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from keybearer.base.logs import get_logger
from keybearer.domain.audit import EventType, audited
from keybearer.domain.connections.credentials import credentials_of
from keybearer.domain.errors import InvalidError
from keybearer.domain.syncs.digests import Digests
from keybearer.domain.syncs.importing import behavior_at_first, found_in, take_in
from keybearer.domain.syncs.ledger import Notes
from keybearer.domain.syncs.outcomes import LostJobError, confidential_texts, redacted, told_of_others
from keybearer.domain.syncs.plan import (
    Plan,
    PlanRefusedError,
    Settings,
    naming_of,
    plan,
    removal,
    wanted_names,
    with_versions,
)
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.queueing import IMPORT_BEHAVIOR, REMOVES_FOREIGN
from keybearer.domain.syncs.refusals import NamesRefusedError
from keybearer.domain.syncs.source import Source, folder_of, reader_of
from keybearer.outbound.destinations.protocol import (
    Change,
    Destination,
    DriverInput,
    ForeignContentError,
    KeepsExtras,
    Present,
    Traits,
)
from keybearer.outbound.remote import RemoteError
from keybearer.store.app_connections import OpenedConnection
from keybearer.store.attempts import repeated
from keybearer.store.pushes import Push
from keybearer.store.secret_syncs import JobKind, SecretSync
from keybearer.store.sync_jobs import SyncJob
from keybearer.store.sync_names import NameState
from keybearer.store.unit import UnitOfWork
from keybearer.wire.destinations.base import ImportBehavior, SyncOptions
from keybearer.wire.key_schema import KeyNaming

__all__ = ["Begun", "Done", "Place", "Run", "place_of"]

_log = get_logger(__name__)
_LISTING_HOLDS = timedelta(hours=6)
"""After that a run looks at the remote again, for what others changed there."""
_RUN = timedelta(hours=1)
_FOREIGN_CONTENT = (
    "What the destination holds under this name has a form that no sync writes, so it is not overwritten; delete it "
    "there, choose another name, or push once with removeForeign"
)


@dataclass(frozen=True, slots=True)
class Begun:
    """A claimed job, and its sync as it was before."""

    job: SyncJob
    sync: SecretSync


@dataclass(frozen=True, slots=True)
class Done:
    """What a run that ended well leaves to be noted, in one transaction with the end of its job.

    Attributes:
        notes: what the ledger doesn't know yet.
        source_digest: of what was carried; None where nothing was.
        listed_at: when the destination was looked at, if it was.
        counts: for log and audit.
        message: what people are to know although it ended well; None: nothing.
    """

    notes: Notes | None = None
    source_digest: bytes | None = field(default=None, repr=False)
    reached: Mapping[str, int] = field(default_factory=dict)
    listed_at: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A destination ready to be used."""

    destination: Destination
    options: SyncOptions
    naming: KeyNaming

    @property
    def traits(self) -> Traits:
        """What kind of place it is."""
        return self.destination.traits

    @property
    def removes_nothing(self) -> bool:
        """Whether what isn't wanted any more stays there."""
        return bool(self.options.disable_secret_deletion)


def place_of(pushing: Pushing, sync: SecretSync, opened: OpenedConnection) -> Place:
    """Return the destination of a sync, over its opened connection; nothing is called.

    Raises:
        InvalidError: nothing here can write to it.
        RemoteError: the configuration names something that can't be.
        ValidationError: what is stored of the sync no longer fits.
    """
    record = sync.record
    model = pushing.model_of(sync)
    options = pushing.options_of(sync)
    naming = KeyNaming.of(options.key_schema, sync.environment_slug or "")
    destination = pushing.wiring.drivers[record.destination](
        DriverInput(
            config=model.config.validate_python(dict(record.destination_config)),
            options=options,
            naming=naming,
            credentials=credentials_of(opened),
            context=pushing.remotes.context(opened.connection.organization_id, opened.connection.app),
        )
    )
    return Place(destination, options, naming_of(destination.traits, naming))


class Run:
    """One attempt at one job.

    `confidential` holds all texts that no message may show; it grows as they become known.
    """

    def __init__(self, pushing: Pushing, begun: Begun) -> None:
        self._pushing = pushing
        self._database = pushing.database
        self._job = begun.job
        self._sync = begun.sync
        self._digests = Digests(pushing.digest_key, begun.sync.record)
        self.confidential: list[str] = []

    async def perform(self) -> Done:
        """Do what the job is for.

        Raises:
            RemoteError: the destination doesn't do what is asked.
            DomainError: the source can't be read or written.
            PlanRefusedError: the destination can't hold what the source has, or only the part that it holds now.
            LostJobError: the job is held no more.
            TimeoutError: it took too long.
        """
        async with asyncio.timeout(_RUN.total_seconds()):
            match JobKind(self._job.kind):
                case JobKind.SYNC:
                    return await self._push()
                case JobKind.IMPORT:
                    return await self._import()
                case JobKind.REMOVE:
                    return await self._remove()

    async def _push(self) -> Done:
        record = self._sync.record
        source, digest, ledger, opened = await self._gathered()
        place = await self._place(opened)
        listing: Mapping[str, Present] | None = None
        listed_at: datetime | None = None
        first = (
            behavior_at_first(place.options.initial_sync_behavior) if record.last_synced_at is None else None
        )
        removes_foreign = self._job.parameters.get(REMOVES_FOREIGN) is True
        if first is not None or removes_foreign or not self._trusts_ledger():
            listed_at = self._pushing.clock.now()
            names = wanted_names(source.secrets, place.traits, place.naming).held | ledger.keys()
            listing = await self._listed_to_write(
                place, sorted(names), imports=first is not None, replaces_foreign=removes_foreign
            )
        if first is not None and listing is not None:
            # An attempt that failed has brought its part already: what is ours by now isn't taken in once more.
            others = {name: present for name, present in listing.items() if name not in ledger}
            ledger |= {push.name: push for push in await self._take_in(place, others, first)}
            source, digest = await self._read()
        wanted = wanted_names(source.secrets, place.traits, place.naming).held
        # Whom else the rest belongs to is asked only where that was looked at as well.
        shared = await self._shared(
            ledger.keys() - wanted if listing is None else {*ledger, *wanted, *listing}
        )
        settings = replace(self._settings(place), removes_foreign=removes_foreign, shared=shared.keys())
        planned = plan(source.secrets, listing, ledger, settings)
        notes = await self._notes(planned)
        notes.learn(planned.learnt, planned.forgotten)
        tried = planned.refused.keys() | {one.name for one in planned.change.put}
        notes.learn_names(None if listing is None else planned.foreign, tried)
        try:
            await self._apply(place, planned.change, notes)
        except (RemoteError, NamesRefusedError):
            # The next attempt looks first: what was written by this one must not look like another's.
            await self._learn_what_arrived(place, planned, notes)
            raise
        if listing is not None:
            await self._learn_versions(place, planned, notes)
        await self._tell_refusals(notes)
        counts = {
            "secrets": len(planned.digests),
            "written": notes.written,
            "removed": notes.removed,
            "foreign": len(planned.foreign),
        }
        overlap = {name: owner for name, owner in shared.items() if name in planned.digests}
        # Without a look what the last one told still stands.
        message = record.last_sync_message if listing is None else told_of_others(planned.foreign, overlap)
        return Done(notes, digest, source.reached, listed_at, counts, message)

    async def _import(self) -> Done:
        behavior = ImportBehavior(str(self._job.parameters[IMPORT_BEHAVIOR]))
        source, _, ledger, opened = await self._gathered()
        place = await self._place(opened)
        if not place.traits.has_readable_values:
            raise InvalidError("The destination does not support importing secrets.")
        names = ledger.keys() | {place.naming.name_of(secret.key) for secret in source.secrets}
        listing = await self._listed(place, sorted(names))
        imported = await self._take_in(place, listing, behavior)
        notes = Notes(self._database, self._pushing.clock, self._job, {})
        notes.learn(push for push in imported if push.name not in ledger)
        return Done(notes, counts={"imported": len(imported)})

    async def _remove(self) -> Done:
        # The source may be gone, or unreadable: what was written is known from the ledger.
        async with self._database.reading() as unit:
            ledger = await unit.pushes.of_sync(self._sync.record.id)
            opened = await self._opened(unit)
        place = await self._place(opened)
        listing = await self._listed(place, sorted(ledger))
        change = removal(listing, ledger, place.naming, (await self._shared(ledger)).keys())
        notes = Notes(self._database, self._pushing.clock, self._job, {})
        notes.learn((), ledger.keys() - set(change.delete))
        await self._apply(place, change, notes)
        return Done(notes, counts={"removed": notes.removed})

    def _trusts_ledger(self) -> bool:
        record = self._sync.record
        if not record.is_settled or record.listed_at is None or record.last_synced_at is None:
            return False
        return self._pushing.clock.now() - record.listed_at < _LISTING_HOLDS

    async def _gathered(self) -> tuple[Source, bytes, dict[str, Push], OpenedConnection]:
        """Return what the service knows, from one snapshot."""
        async with self._database.reading() as unit:
            source, digest = await self._pushing.source_of(unit, self._sync)
            ledger = await unit.pushes.of_sync(self._sync.record.id)
            opened = await self._opened(unit)
        await self._told_of(source)
        return source, digest, ledger, opened

    async def _read(self) -> tuple[Source, bytes]:
        async with self._database.reading() as unit:
            source, digest = await self._pushing.source_of(unit, self._sync)
        await self._told_of(source)
        return source, digest

    async def _told_of(self, source: Source) -> None:
        """Write down that values were read, before they leave."""
        self.confidential += source.values.values()
        at = folder_of(self._sync)
        self._pushing.trail.read(
            audited(
                reader_of(self._sync),
                EventType.GET_SECRETS,
                self._sync.record.project_id,
                environment=at.environment,
                secretPath=at.path,
                numberOfSecrets=len(source.secrets),
                secretKeys=[secret.key for secret in source.secrets],
                syncId=self._sync.record.id,
            )
        )
        await self._pushing.trail.settle()

    async def _opened(self, unit: UnitOfWork) -> OpenedConnection:
        opened = await unit.app_connections.opened(self._sync.record.connection_id)
        if opened is None:
            raise InvalidError("The app connection of the sync is gone; choose another one")
        self.confidential += confidential_texts(opened.credentials, opened.connection.shown)
        return opened

    async def _place(self, opened: OpenedConnection) -> Place:
        return place_of(self._pushing, self._sync, opened)

    def _settings(self, place: Place) -> Settings:
        base = (place.traits, place.naming, place.removes_nothing, self._digests.of)
        if isinstance(place.destination, KeepsExtras):
            return Settings(*base, place.destination.extras_of)
        return Settings(*base)

    async def _listed(self, place: Place, names: list[str]) -> Mapping[str, Present]:
        listing = await place.destination.read(names)
        self.confidential += [present.value for present in listing.values() if present.value]
        return listing

    async def _listed_to_write(
        self, place: Place, names: list[str], *, imports: bool, replaces_foreign: bool
    ) -> Mapping[str, Present]:
        """Return what is there; content of another form is nothing where it is to be replaced."""
        try:
            return await self._listed(place, names)
        except ForeignContentError as error:
            if imports:
                raise
            if replaces_foreign:
                return {}
            raise PlanRefusedError(_FOREIGN_CONTENT) from error

    async def _shared(self, names: Collection[str]) -> dict[str, str | None]:
        """Return which of these names other syncs wrote to the same place, with a name of one that may be told."""
        if not names:
            return {}
        async with self._database.reading() as unit:
            return await unit.pushes.of_others(self._sync.record, names)

    async def _take_in(
        self, place: Place, listing: Mapping[str, Present], behavior: ImportBehavior
    ) -> list[Push]:
        """Store what the source lacks, and return it as names of ours, whose content no digest tells yet."""
        found = found_in(listing, place.naming)

        async def taken_in() -> frozenset[str]:
            async with self._database.writing() as unit:
                if not await unit.sync_jobs.is_held(self._job):
                    raise LostJobError("another process has the job")
                return await take_in(unit, self._pushing.writing, self._sync, found, behavior)

        names = [place.naming.name_of(key) for key in sorted(await repeated(taken_in))]
        return [Push(name, b"", listing[name].version) for name in names]

    async def _apply(self, place: Place, change: Change, notes: Notes) -> None:
        if not change.put and not change.delete:
            return
        try:
            async for outcome in place.destination.apply(change):
                await notes.take(outcome)
        except ForeignContentError as error:
            raise PlanRefusedError(_FOREIGN_CONTENT) from error
        except BaseException:
            # What arrived counts, whatever became of the rest.
            await asyncio.shield(notes.flush())
            raise

    async def _notes(self, planned: Plan) -> Notes:
        async with self._database.reading() as unit:
            known = await unit.sync_names.of_sync(self._sync.record.id)
        return Notes(
            self._database,
            self._pushing.clock,
            self._job,
            planned.digests,
            planned.refused,
            failing={one.name for one in known if one.state == NameState.FAILED},
            shown=lambda message: redacted(message, self.confidential),
        )

    @staticmethod
    async def _tell_refusals(notes: Notes) -> None:
        try:
            notes.tell_refusals()
        except NamesRefusedError:
            await asyncio.shield(notes.flush())
            raise

    async def _learn_what_arrived(self, place: Place, planned: Plan, notes: Notes) -> None:
        """Note versions of what was written before a run failed; where the remote doesn't show them, none."""
        try:
            await self._learn_versions(place, planned, notes)
        except RemoteError as error:
            # The error that ended the run is the one to tell; what arrived is written once more then.
            _log.info(
                "secret_sync_versions_not_learnt", sync_id=self._sync.record.id, kind=type(error).__name__
            )
            return
        await asyncio.shield(notes.flush())

    async def _learn_versions(self, place: Place, planned: Plan, notes: Notes) -> None:
        """Learn what the remote shows for what was just written, where only that tells of changes by others."""
        if place.traits.has_readable_values or not notes.unversioned:
            return
        listing = await self._listed(place, sorted(planned.digests))
        notes.learn(with_versions(notes.unversioned.values(), listing))
