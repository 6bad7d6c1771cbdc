"""Syncs to one remote: real secrets, a real database, real jobs and runs, and a clock that jumps to what is due."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath, OrganizationId
from keybearer.destinations.app import App
from keybearer.destinations.catalogue import Catalogue
from keybearer.destinations.engine.opening import Opening, open_destination
from keybearer.destinations.form import DestinationKind
from keybearer.destinations.protocol import Change, Outgoing
from keybearer.destinations.short_lived import ShortLived
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.connections.proving import Proving
from keybearer.domain.connections.requests import AppConnectionChange, NewAppConnection
from keybearer.domain.connections.service import AppConnections
from keybearer.domain.outbound import Remotes
from keybearer.domain.secrets.changes import ChangedSecret, OnMissing
from keybearer.domain.secrets.questions import SecretListing
from keybearer.domain.syncs.asking import SyncRequests
from keybearer.domain.syncs.jobs import JobTerms, SyncQueue
from keybearer.domain.syncs.looking import Look
from keybearer.domain.syncs.outcomes import Failure, failure_of
from keybearer.domain.syncs.plan import naming_of
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.queueing import queue
from keybearer.domain.syncs.requests import NewSync, SyncChange
from keybearer.domain.syncs.run import Begun, Run
from keybearer.domain.syncs.seeing import SyncedSecrets
from keybearer.domain.syncs.service import SecretSyncs
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind, JobStatus, Progress, progress_of
from keybearer.store.sync_jobs import SyncJob
from keybearer.store.unit import UnitOfWork
from keybearer.wire.credentials import Credentials
from keybearer.wire.destination_forms import ImportBehavior, SyncOptions
from keybearer.wire.key_schema import KeyNaming
from support.conformance.interposed import InterposedHttp, KilledError
from support.conformance.jumping_clock import JumpingClock
from support.conformance.remote_under_test import (
    PlaceUnderTest,
    RemoteUnderTest,
    RunningRemote,
    Surroundings,
)
from support.service_domain import ServiceDomain, at

__all__ = ["Scene", "scene_of"]

_PATIENCE = timedelta(days=2)
"""Of the jumping clock: nothing that ends takes longer."""


class _Believing(Proving):
    """Takes credentials as they are: what a remote took once may have been revoked since."""

    async def proven(self, _model: App, _organization_id: OrganizationId, given: Credentials) -> Credentials:
        return given


@dataclass
class Scene:
    """A project with secrets, and a remote that they are pushed to.

    Attributes:
        kind: what runs: the one under test, or a broken variant of it.
        sync_id: of the sync that was made first.
        connection_id: of its connection.
    """

    domain: ServiceDomain
    project: Project
    under_test: RemoteUnderTest
    remote: RunningRemote
    kind: DestinationKind
    http: InterposedHttp
    clock: JumpingClock
    sync_id: str = ""
    connection_id: str = ""

    def __post_init__(self) -> None:
        self._written: dict[str, dict[str, str]] = {}
        database = self.domain.database
        self._context = Remotes(
            self.http, ShortLived(self.clock), self.remote.endpoints, self.remote.own_credentials
        )
        # A variant of a destination takes its place.
        self._catalogue = catalogue = Catalogue((self.kind,))
        self._pushing = Pushing(
            database,
            catalogue,
            self._context,
            b"0" * 32,
            self.domain.writing,
            AuditTrail(database, self.clock),
            self.clock,
        )
        self._syncs = SecretSyncs(database, catalogue, self.clock)
        self._requests = SyncRequests(database, catalogue, self.clock)
        self._seen = SyncedSecrets(database, self._pushing)
        self._queue = SyncQueue(database, self.clock, JobTerms())

    @property
    def here(self) -> PlaceUnderTest:
        """The place of the first sync."""
        return self.remote.here

    # What people do.

    async def put(self, values: Mapping[str, str], path: str = "/") -> None:
        """Write secrets of a folder; those that exist get new values."""
        self._written.setdefault(path, {}).update(values)
        changes = [ChangedSecret(key, value) for key, value in values.items()]
        await self.domain.writing.update(
            self.domain.admin, at(self.project, path), changes, on_missing=OnMissing.UPSERT
        )

    async def delete(self, *keys: str, path: str = "/") -> None:
        """Delete secrets of a folder."""
        for key in keys:
            del self._written[path][key]
        await self.domain.writing.delete(self.domain.admin, at(self.project, path), keys)

    async def source(self, path: str = "/") -> dict[str, str]:
        """Return what a folder holds, also of what was imported."""
        listing = await self.domain.listed(self.project, path)
        assert isinstance(listing, SecretListing)
        found = self._written[path] = {one.secret.key: one.value for one in listing.secrets}
        return dict(found)

    @property
    def written(self) -> Mapping[str, str]:
        """What the first sync's folder was seen to hold, and what was written there since."""
        return dict(self._written["/"])

    async def connect(self, credentials: Credentials | None = None, *, was_right: bool = False) -> str:
        """Make a connection, by default with the right credentials; others are taken if they were right once."""
        proving = _Believing(self._context) if was_right else Proving(self._context)
        new = NewAppConnection(
            self.kind.app,
            self.remote.method,
            f"c-{uuid4().hex[:8]}",
            None,
            self.project.id,
            credentials or self.remote.right,
        )
        connections = AppConnections(self.domain.database, self._catalogue, proving, self.clock)
        return (await connections.create(self.domain.admin, new)).connection.id

    async def mend(self, credentials: Credentials) -> None:
        """Give the connection other credentials, which the remote must take."""
        change = AppConnectionChange(credentials={self.remote.method: credentials})
        connections = AppConnections(
            self.domain.database, self._catalogue, Proving(self._context), self.clock
        )
        await connections.update(self.domain.admin, self.kind.app, self.connection_id, change)

    async def create(
        self,
        place: PlaceUnderTest | None = None,
        *,
        path: str = "/",
        **options: object,
    ) -> str:
        """Make a sync of a folder to a place, and have it run until nothing waits any more."""
        sync_id = await self.make(place, path=path, **options)
        await self.settle()
        return sync_id

    async def make(self, place: PlaceUnderTest | None = None, *, path: str = "/", **options: object) -> str:
        """Make a sync whose first run waits."""
        self.connection_id = self.connection_id or await self.connect()
        made = await self._syncs.create(
            self.domain.admin,
            self.kind.name,
            NewSync(
                name=f"s-{uuid4().hex[:8]}",
                description=None,
                project_id=self.project.id,
                connection_id=self.connection_id,
                environment=EnvironmentSlug("dev"),
                path=FolderPath(path),
                is_auto_sync_enabled=True,
                options=self._options(options),
                config=self.kind.config.validate_python(dict((place or self.here).config)),
            ),
        )
        self.sync_id = self.sync_id or made.record.id
        return made.record.id

    async def change(self, *, place: PlaceUnderTest | None = None, **options: object) -> None:
        """Set the sync up otherwise, and have it run."""
        config = None if place is None else self.kind.config.validate_python(dict(place.config))
        change = SyncChange(options=self._options(options), config=config)
        await self._syncs.update(self.domain.admin, self.kind.name, self.sync_id, change)
        await self.settle()

    def _options(self, options: Mapping[str, object]) -> SyncOptions:
        return self.kind.options.model_validate({"initialSyncBehavior": "overwrite-destination", **options})

    async def trigger(self, sync_id: str | None = None, *, removes_foreign: bool = False) -> None:
        """Have the sync pushed after a look, as people ask for it, and run."""
        await self.ask(sync_id, removes_foreign=removes_foreign)
        await self.settle()

    async def ask(self, sync_id: str | None = None, *, removes_foreign: bool = False) -> None:
        """Queue what `trigger` runs."""
        await self._requests.sync(
            self.domain.admin, self.kind.name, sync_id or self.sync_id, removes_foreign=removes_foreign
        )

    async def bring_back(self) -> None:
        """Import what the place holds, which wins."""
        await self._requests.bring_back(
            self.domain.admin, self.kind.name, self.sync_id, ImportBehavior.PRIORITIZE_DESTINATION
        )
        await self.settle()

    async def remove(self) -> None:
        """Have what was pushed removed."""
        await self._requests.remove(self.domain.admin, self.kind.name, self.sync_id)
        await self.settle()

    async def delete_sync(self) -> None:
        """Delete the sync with what it pushed."""
        await self._syncs.delete(self.domain.admin, self.kind.name, self.sync_id, remove_secrets=True)
        await self.settle()

    async def has_sync(self) -> bool:
        """Return whether the sync is still there."""
        async with self.domain.database.reading() as unit:
            return await unit.secret_syncs.get(self.sync_id) is not None

    # What the service does.

    async def notice(self) -> None:
        """Queue a push, as a change of the source does; `settle` or `step` runs it."""
        async with self.domain.database.writing() as unit:
            sync = await unit.secret_syncs.get(self.sync_id, for_change=True)
            assert sync is not None
            await queue(unit, sync, JobKind.SYNC, {}, self.clock.now())

    async def push(self, values: Mapping[str, str] | None = None, *gone: str) -> None:
        """Change the source, and have that pushed."""
        if values:
            await self.put(values)
        if gone:
            await self.delete(*gone)
        await self.notice()
        await self.settle()

    async def step(self) -> None:
        """Run what is due, and return when no job runs any more: a worker is never held for long."""
        begun_at = self.clock.now()
        while begun := await self._queue.claim(1):
            for one in begun:
                await self._perform(one)
        assert self.clock.now() - begun_at < timedelta(minutes=5), "a worker was held"

    async def settle(self, within: timedelta = _PATIENCE) -> None:
        """Run all jobs to their end, at the times that they are due."""
        until = self.clock.now() + within
        await self.step()
        while (wait := (await self._queue.due()).next) is not None:
            assert self.clock.now() + wait <= until, f"not ended in time: {await self.progress()}"
            self.clock.move(wait)
            await self.step()

    async def _perform(self, begun: Begun) -> None:
        run = Look(self._pushing, begun) if begun.job.kind == JobKind.LOOK else Run(self._pushing, begun)
        try:
            done = await run.perform()
        except Exception as error:  # noqa: BLE001 - as the engine does: whatever it is, the sync says so
            await self._queue.fail(begun, _told(failure_of(error, run.confidential)))
            return
        await self._queue.end(begun, done)

    async def waiting(self) -> list[SyncJob]:
        """Return the jobs of the sync that haven't ended."""
        async with self.domain.database.reading() as unit:
            return list(await unit.sync_jobs.of_syncs([self.sync_id]))

    async def put_off(self) -> SyncJob:
        """Hold that one job of the sync waits, and return it."""
        waiting = await self.waiting()
        assert [job.is_running for job in waiting] == [False], await self.progress()
        return waiting[0]

    async def dies(self) -> bool:
        """Run all jobs; return whether the process was killed. Once it is, nothing more is stored."""
        database, http = self.domain.database, self.http
        writing = database.writing

        @asynccontextmanager
        async def writing_while_alive() -> AsyncIterator[UnitOfWork]:
            if http.is_dead:
                raise KilledError
            async with writing() as unit:
                yield unit

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(database, "writing", writing_while_alive)
            try:
                await self.settle()
            except KilledError:
                http.is_dead = False
                return True
        return False

    async def restart(self) -> None:
        """Take up what a killed process had begun, as the next one does, and run it."""
        self._queue = SyncQueue(self.domain.database, self.clock, JobTerms())
        assert await self._queue.take_up(is_starting=True) == 1
        await self.settle()

    # What is seen of it.

    async def progress(self, sync_id: str | None = None, kind: JobKind = JobKind.SYNC) -> Progress:
        """Return how the sync stands."""
        async with self.domain.database.reading() as unit:
            sync = await unit.secret_syncs.get(sync_id or self.sync_id)
        assert sync is not None
        return progress_of(sync.record, kind)

    async def succeeded(
        self, sync_id: str | None = None, kind: JobKind = JobKind.SYNC, saying: str | None = None
    ) -> None:
        """Hold that the last job ended well, and that this is said, or nothing."""
        progress = await self.progress(sync_id, kind)
        assert progress.status == JobStatus.SUCCEEDED, progress
        if saying is None:
            assert progress.message is None
        else:
            assert saying in str(progress.message)

    async def succeeded_in_any_words(self) -> None:
        """Hold that the last push ended well."""
        assert (await self.progress()).status == JobStatus.SUCCEEDED, await self.progress()

    async def failed(self) -> str:
        """Hold that the last push failed, and return what is said of that."""
        progress = await self.progress()
        assert progress.status == JobStatus.FAILED, progress
        assert progress.message
        return progress.message

    async def states(self) -> dict[str, tuple[str, str | None]]:
        """Return the state of each key of the source, and what is said of it."""
        found = await self._seen.list(self.domain.admin, self.kind.name, self.sync_id)
        return {one.key: (one.state.value, one.message) for one in found if one.key is not None}

    def names(self, keys: Collection[str], schema: str | None = None) -> dict[str, str]:
        """Return what the remote calls secrets, by their keys."""
        traits = self.under_test.traits(self.here)
        naming = naming_of(traits, KeyNaming.of(schema, "dev"))
        return {
            key: self.under_test.spelt(naming.name_of(key.upper() if traits.folds_case else key))
            for key in keys
        }

    def holds_all(
        self,
        others: Mapping[str, str] | None = None,
        *,
        place: PlaceUnderTest | None = None,
        schema: str | None = None,
    ) -> None:
        """Hold that the place has exactly what was written to the folder, and what others wrote."""
        source = self.written
        if self.under_test.traits(self.here).skips_empty:
            source = {key: value for key, value in source.items() if value}
        names = self.names(source, schema)
        wanted = {names[key]: value for key, value in source.items()} | dict(others or {})
        there = (place or self.here).values()
        assert there.keys() == wanted.keys()
        assert [name for name in wanted if there[name] != wanted[name]] == []

    async def change_by_hand(self, put: Mapping[str, str], *gone: str) -> None:
        """Change the place through the vendor's interface, as somebody else would."""
        config = self.kind.config.validate_python(dict(self.here.config))
        context = self._context.context(self.domain.admin.organization_id, self.kind.app.name)
        given = Opening(config, self._options({}), KeyNaming("", ""), self.remote.right, context)
        destination = open_destination(self.under_test.kind, given)
        outgoing = tuple(Outgoing(name, value) for name, value in put.items())
        async for _ in destination.apply(Change(outgoing, gone, frozenset(put))):
            pass


def _told(failure: Failure) -> Failure:
    """Return a failure that is none of the service itself, and whose words hold no value and no credential."""
    assert failure.is_foreseen, failure
    assert "cnry-" not in failure.message
    return failure


@asynccontextmanager
async def scene_of(
    under_test: RemoteUnderTest,
    request: pytest.FixtureRequest,
    domain: ServiceDomain,
    kind: DestinationKind | None = None,
) -> AsyncIterator[Scene]:
    """Yield a scene with a project of its own; `kind` is a broken variant of what is under test."""
    clock = JumpingClock()
    http = InterposedHttp(clock, under_test.kind_of)
    project = await domain.project(f"home-{uuid4().hex[:8]}")
    surroundings = Surroundings(request, clock, domain.admin.organization_id)
    async with under_test.start(surroundings) as remote:
        try:
            yield Scene(domain, project, under_test, remote, kind or under_test.kind, http, clock)
        finally:
            await http.close()
            # What a scenario that failed has left would be run by the next one.
            async with domain.database.writing() as unit:
                for sync in await unit.secret_syncs.of_project(project.id):
                    await unit.secret_syncs.delete(sync.record.id)
