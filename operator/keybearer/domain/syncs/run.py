"""One run of one job: read the source, list the destination if necessary, change it, note what arrived.

The process may be killed at any line. A claimed sync is not settled until its run has ended, so the next run lists
the destination first. Names that are new there are in the ledger before they are sent, so they never become foreign.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from keybearer.base.logs import get_logger
from keybearer.destinations.protocol import Change, ForeignContentError, Present
from keybearer.destinations.remote import RemoteError, RemoteUnavailableError
from keybearer.domain.audit import EventType, audited
from keybearer.domain.errors import InvalidError
from keybearer.domain.syncs.clearing import Clearing
from keybearer.domain.syncs.digests import Digests
from keybearer.domain.syncs.findings import repaired_names, told_after_look
from keybearer.domain.syncs.importing import behavior_at_first, found_in, take_in
from keybearer.domain.syncs.ledger import Notes
from keybearer.domain.syncs.look_times import latest_look
from keybearer.domain.syncs.outcomes import redacted
from keybearer.domain.syncs.places import Place, Reach, Setup
from keybearer.domain.syncs.plan import (
    Plan,
    PlanRefusedError,
    plan,
    removal,
    wanted_names,
    with_versions,
)
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.queueing import IMPORT_BEHAVIOR, REMOVES_FOREIGN, require_held
from keybearer.domain.syncs.refusals import told_of_refused
from keybearer.domain.syncs.source import Source, actor_of, folder_of
from keybearer.store.app_connections import OpenedConnection
from keybearer.store.former_places import FormerPlace
from keybearer.store.pushes import Push
from keybearer.store.secret_syncs import JobKind, SecretSync
from keybearer.store.sync_jobs import SyncJob
from keybearer.store.sync_names import NameState, SyncName
from keybearer.store.unit import UnitOfWork
from keybearer.wire.destination_forms import ImportBehavior

__all__ = ["Begun", "Done", "Run"]

_log = get_logger(__name__)
_RUN = timedelta(hours=1)
_FOREIGN_CONTENT = (
    "What the destination holds under this name has a form that no sync writes, so it is not overwritten; delete it "
    "there, choose another name, or push once with removeForeign"
)


@dataclass(frozen=True, slots=True)
class Begun:
    """A claimed job, and its sync as it was before the claim."""

    job: SyncJob
    sync: SecretSync


@dataclass(frozen=True, slots=True)
class Done:
    """What to store when a run has ended without an error, in one transaction with the end of its job.

    Attributes:
        notes: what is not in the ledger yet.
        source_digest: of what was pushed; None if nothing was.
        listed_at: when the destination was listed, if it was.
        counts: for log and audit.
        message: for people; None if there is nothing to say.
        has_refused: whether names were refused; then the push has failed, and the message names them.
        differs: whether a look found something to do.
    """

    notes: Notes | None = None
    source_digest: bytes | None = field(default=None, repr=False)
    reached: Mapping[str, int] = field(default_factory=dict)
    listed_at: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    message: str | None = None
    has_refused: bool = False
    differs: bool = False


@dataclass(frozen=True, slots=True)
class _Known:
    """What the service knows when a run begins, from one snapshot.

    Attributes:
        digest: of the source.
        ledger: what earlier runs wrote or announced.
        left: former places that are due.
        names: that aren't as wanted, as earlier runs and looks noted them.
    """

    source: Source
    digest: bytes = field(repr=False)
    ledger: dict[str, Push]
    opened: OpenedConnection
    left: list[FormerPlace]
    names: list[SyncName]

    @property
    def failing(self) -> frozenset[str]:
        """Names that earlier runs noted as failed."""
        return frozenset(one.name for one in self.names if one.state == NameState.FAILED)

    @property
    def has_foreign(self) -> bool:
        """Whether the last listing found foreign names."""
        return any(one.state == NameState.FOREIGN for one in self.names)


class Run:
    """One attempt at one job."""

    def __init__(self, pushing: Pushing, begun: Begun) -> None:
        self._pushing = pushing
        self._database = pushing.database
        self._job = begun.job
        self._sync = begun.sync
        self._digests = Digests(pushing.digest_key, begun.sync.record)
        self._setup = Setup.of(begun.sync)
        self._reach = Reach(pushing, begun.sync, is_removal=begun.job.kind == JobKind.REMOVE)
        self._clearing = Clearing(pushing, begun.job, begun.sync, self._reach)
        self._counts = pushing.tallies.of(begun.sync.record.destination)

    @property
    def confidential(self) -> list[str]:
        """All texts that no message may show; they grow as they become known."""
        return self._reach.confidential

    async def perform(self) -> Done:
        """Push, import or remove, as the job says.

        Raises:
            RemoteError: a request to the destination failed.
            DomainError: the source can't be read or written.
            PlanRefusedError: the destination can't hold what the source has, or not all of it.
            LostJobError: this process no longer holds the job.
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
                case JobKind.LOOK:
                    raise TypeError("a look is not a run")

    async def _push(self) -> Done:
        record = self._sync.record
        known = await self._gathered()
        source, digest, ledger = known.source, known.digest, known.ledger
        left = known.left
        place = self._reach.place(self._setup, known.opened)
        listing: Mapping[str, Present] | None = None
        listed_at: datetime | None = None
        # A run that wrote all but refused names was the first one, too: it has no time of success.
        is_first = record.last_synced_at is None and record.source_digest is None
        first = behavior_at_first(place.options.initial_sync_behavior) if is_first else None
        removes_foreign = self._job.parameters.get(REMOVES_FOREIGN) is True
        # After refused names the message is about them, so the findings of the last listing are not in it.
        if first is not None or removes_foreign or left or known.failing or not self._trusts_ledger():
            listed_at = self._pushing.clock.now()
            asked = wanted_names(source.secrets, place.traits, place.naming).held | ledger.keys()
            listing = await self._listed_to_write(
                place, sorted(asked), imports=first is not None, replaces_foreign=removes_foreign
            )
        if first is not None and listing is not None:
            # A failed attempt may have imported and written names: these are ours by now, and not imported again.
            others = {name: present for name, present in listing.items() if name not in ledger}
            ledger |= {push.name: push for push in await self._take_in(place, others, first)}
            known = await self._gathered()
            source, digest = known.source, known.digest
        names = wanted_names(source.secrets, place.traits, place.naming)
        if listing is not None:
            left = await self._clearing.compared(left, listing, names, ledger)
        # Without a listing, only names that would be removed matter.
        shared = await self._reach.shared(
            self._setup,
            ledger.keys() - names.held if listing is None else {*ledger, *names.held, *listing},
        )
        settings = place.settings(self._digests, shared.keys(), removes_foreign=removes_foreign)
        planned = plan(source.secrets, listing, ledger, settings)
        notes = self._notes_of(known, planned, is_listed=listing is not None)
        is_resumed = self._is_resumed(ledger.keys() | {push.name for push in planned.learnt})
        there = ledger if listing is None else listing
        await notes.announce((one.name for one in planned.change.put if one.name not in there), ledger)
        async with notes.kept():
            try:
                await self._apply(place, replace(planned.change, is_resumed=is_resumed), notes)
            except (RemoteError, PlanRefusedError) as error:
                if not isinstance(error, RemoteUnavailableError):
                    notes.withdraw()
                # The next attempt lists first: without versions, what this one wrote would look changed by others.
                await self._learn_what_arrived(place, planned, notes)
                raise
            if listing is not None:
                await self._learn_versions(place, planned, notes)
            await self._clearing.clear(left, names.keys_of(notes.refused))
        counts = {
            "secrets": len(planned.digests),
            "written": notes.written,
            "removed": notes.removed,
            "foreign": len(planned.foreign),
            "repaired": 0 if listing is None else len(repaired_names(planned, ledger, place.traits)),
            "removedElsewhere": self._clearing.removed,
        }
        # Without a listing, the findings of the last one stay valid.
        message = record.last_sync_message
        if notes.refused:
            message = redacted(told_of_refused(notes.refused, await self._clearing.told()), self.confidential)
        elif listing is not None:
            message = told_after_look(planned, shared, await self._clearing.told())
        return Done(notes, digest, source.reached, listed_at, counts, message, bool(notes.refused))

    async def _import(self) -> Done:
        behavior = ImportBehavior(str(self._job.parameters[IMPORT_BEHAVIOR]))
        known = await self._gathered()
        source, ledger = known.source, known.ledger
        place = self._reach.place(self._setup, known.opened)
        if not place.traits.has_readable_values:
            raise InvalidError("The destination does not support importing secrets.")
        names = ledger.keys() | {place.naming.name_of(secret.key) for secret in source.secrets}
        listing = await self._reach.listed(place, sorted(names))
        imported = await self._take_in(place, listing, behavior)
        notes = Notes(self._database, self._pushing.clock, self._job, {})
        notes.learn(push for push in imported if push.name not in ledger)
        return Done(notes, counts={"imported": len(imported)})

    async def _remove(self) -> Done:
        # The ledger says what was written, even if the source is gone or unreadable.
        async with self._database.reading() as unit:
            ledger = await unit.pushes.of_sync(self._sync.record.id)
            opened = await self._reach.usable(unit, self._setup)
        place = self._reach.place(self._setup, opened)
        listing = await self._reach.listed(place, sorted(ledger))
        shared = await self._reach.shared(self._setup, ledger)
        change = replace(
            removal(listing, ledger, place.naming, shared.keys()), is_resumed=self._is_resumed(ledger)
        )
        notes = Notes(self._database, self._pushing.clock, self._job, {}, counts=self._counts)
        notes.learn((), ledger.keys() - set(change.delete))
        async with notes.kept():
            await self._apply(place, change, notes)
            await self._clearing.clear_all()
        return Done(notes, counts={"removed": notes.removed + self._clearing.removed})

    def _is_resumed(self, ours: Collection[str]) -> bool:
        """Return whether an earlier run wrote something and may have been interrupted before its last call."""
        record = self._sync.record
        return not record.is_settled and bool(record.last_synced_at or ours)

    def _trusts_ledger(self) -> bool:
        record = self._sync.record
        if not record.is_settled or record.listed_at is None or record.last_synced_at is None:
            return False
        interval, now = self._pushing.pace.look_interval, self._pushing.clock.now()
        return now - interval < record.listed_at <= latest_look(now, interval)

    def _notes_of(self, known: _Known, planned: Plan, *, is_listed: bool) -> Notes:
        """Return the notes of a push that is about to begin."""
        notes = Notes(
            self._database,
            self._pushing.clock,
            self._job,
            planned.digests,
            planned.refused,
            failing=known.failing,
            shown=lambda message: redacted(message, self.confidential),
            counts=self._counts,
        )
        notes.learn(planned.learnt, planned.forgotten)
        tried = planned.refused.keys() | {one.name for one in planned.change.put}
        differs = bool(planned.foreign) or known.has_foreign
        notes.learn_names(planned.foreign if is_listed and differs else None, tried)
        notes.expect(planned)
        return notes

    async def _gathered(self) -> _Known:
        """Return what the service knows, from one snapshot."""
        sync_id = self._sync.record.id
        async with self._database.reading() as unit:
            source, digest = await self._pushing.source_of(unit, self._sync)
            known = _Known(
                source,
                digest,
                await unit.pushes.of_sync(sync_id),
                await self._reach.usable(unit, self._setup, source.access),
                self._clearing.due(await unit.former_places.of_sync(sync_id)),
                await unit.sync_names.of_sync(sync_id),
            )
        await self._told_of(source)
        return known

    async def _told_of(self, source: Source) -> None:
        """Audit that values were read, before they leave the service."""
        self._reach.confidential += source.values.values()
        at = folder_of(self._sync)
        self._pushing.trail.read(
            audited(
                actor_of(self._sync),
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

    async def _listed_to_write(
        self, place: Place, names: list[str], *, imports: bool, replaces_foreign: bool
    ) -> Mapping[str, Present]:
        """Return what is there; content in a foreign form counts as nothing if it may be replaced."""
        try:
            return await self._reach.listed(place, names)
        except ForeignContentError as error:
            if imports:
                raise
            if replaces_foreign:
                return {}
            raise PlanRefusedError(_FOREIGN_CONTENT) from error

    async def _take_in(
        self, place: Place, listing: Mapping[str, Present], behavior: ImportBehavior
    ) -> list[Push]:
        """Import what the source lacks; return the names as pushes with an empty digest."""
        found = found_in(listing, place.naming)

        async def taken_in(unit: UnitOfWork) -> frozenset[str]:
            await require_held(unit, self._job)
            return await take_in(unit, self._pushing.writing, self._sync, found, behavior)

        names = [place.naming.name_of(key) for key in sorted(await self._database.write(taken_in))]
        return [Push(name, b"", listing[name].version) for name in names]

    async def _apply(self, place: Place, change: Change, notes: Notes) -> None:
        if not change.put and not change.delete and not change.is_resumed:
            return
        try:
            # Noted before the destination is listed again, which takes time and may be cut off.
            async with notes.kept():
                async for outcome in place.destination.apply(change):
                    await notes.take(outcome)
        except ForeignContentError as error:
            raise PlanRefusedError(_FOREIGN_CONTENT) from error

    async def _learn_what_arrived(self, place: Place, planned: Plan, notes: Notes) -> None:
        """Note the versions of what was written before a run failed, if the remote still shows them."""
        try:
            await self._learn_versions(place, planned, notes)
        except RemoteError as error:
            # Report the error that ended the run, not this one; what arrived is written again then.
            _log.info(
                "secret_sync_versions_not_learnt", sync_id=self._sync.record.id, kind=type(error).__name__
            )

    async def _learn_versions(self, place: Place, planned: Plan, notes: Notes) -> None:
        """Note the versions of what was just written, where only versions show changes by others."""
        if place.traits.has_readable_values or not notes.unversioned:
            return
        listing = await self._reach.listed(place, sorted(planned.digests))
        notes.learn(with_versions(notes.unversioned.values(), listing))
