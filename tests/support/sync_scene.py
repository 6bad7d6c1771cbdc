"""The sync engine without HTTP: a real database, real secrets, and remotes that a test scripts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from pydantic import JsonValue
from sqlalchemy import URL

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock, SystemClock
from keybearer.base.ids import IdentityId, ProjectId, new_uuid
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import OrganizationRole, ProjectRole
from keybearer.domain.outbound import OutboundSettings, outbound_of
from keybearer.domain.secrets.changes import ChangedSecret, NewSecret
from keybearer.domain.secrets.dependents import dependent_changes
from keybearer.domain.secrets.questions import SecretListing, ShownSecret
from keybearer.domain.syncs.engine import SyncEngine
from keybearer.domain.syncs.jobs import JobTerms
from keybearer.domain.syncs.leaving import store_changed
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.queueing import queue
from keybearer.domain.syncs.triggers import SyncTriggers
from keybearer.store.database import Database
from keybearer.store.records import Identity, Membership, Project
from keybearer.store.revisions import ListChange
from keybearer.store.secret_syncs import JobKind, JobStatus, Progress, SyncRecord, progress_of
from keybearer.store.unit import UnitOfWork
from support.async_waiting import until
from support.connection_rows import connection_row
from support.scripted_remote import SCRIPTED, ScriptedRemote, ScriptedRemotes
from support.service_domain import ServiceDomain, at, service_domain
from support.unlocking import unlock_with

__all__ = ["FAST", "MANY", "ONE_STAYED", "SyncScene", "blank_record", "sync_scene"]

ONE_STAYED = "1 secret at the destination came from elsewhere and stayed"
"""What a push says that found one name of others."""

MANY = 10_000
"""More failures than there are attempts while a test looks: what stands between two attempts passes by itself."""

FAST = JobTerms(
    backoff=Backoff(floor=timedelta(milliseconds=10), ceiling=timedelta(milliseconds=20)),
    start_delay=timedelta(0),
)


@dataclass
class SyncScene:
    """One process's engine, or several, and what tests ask of syncs.

    Attributes:
        followed: how often it was looked up what follows from changes.
    """

    domain: ServiceDomain
    remotes: ScriptedRemotes
    clock: Clock
    terms: JobTerms = FAST
    url: URL | None = None
    followed: int = 0
    _connections: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trail = AuditTrail(self.database, self.clock)

    @property
    def database(self) -> Database:
        return self.domain.database

    def pushing(self, database: Database | None = None) -> Pushing:
        """Return what the runs of this process share, or those of one with that database."""
        database = database or self.database
        remotes = outbound_of(OutboundSettings(), self.clock).remotes
        return Pushing(
            database,
            self.remotes.catalogue,
            remotes,
            b"0" * 32,
            self.domain.writing,
            self.trail,
            self.clock,
            pace=self.terms.pace,
        )

    def engine(self, database: Database | None = None) -> SyncEngine:
        """Return an engine that doesn't run yet, of this process or of one with that database."""
        database = database or self.database
        pushing = self.pushing(database)

        async def dependents(unit: UnitOfWork, changes: Sequence[ListChange]) -> Sequence[ListChange]:
            self.followed += 1
            return await dependent_changes(unit, changes)

        triggers = SyncTriggers(database, pushing, self.clock, dependents, self.terms.start_delay)
        return SyncEngine(database, pushing, triggers, self.clock, self.terms)

    @asynccontextmanager
    async def another_process(self) -> AsyncIterator[Database]:
        """Yield the database as another process has it; only on PostgreSQL is there one."""
        assert self.url is not None
        other = Database(self.url, self.clock)
        await unlock_with(other, self.database.keyring)
        try:
            async with other.following():
                yield other
        finally:
            await other.close()

    @asynccontextmanager
    async def running(self, database: Database | None = None) -> AsyncIterator[SyncEngine]:
        """Run an engine within; at the end it is cut off as by a crash, but that it lets go of its jobs."""
        engine = self.engine(database)
        task = asyncio.create_task(engine.run())
        try:
            yield engine
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def connection(self, project: Project, name: str = "one") -> str:
        """Return the id of the project's connection of that name."""
        known = self._connections.get((project.id, name))
        if known is not None:
            return known
        now = self.clock.now()
        connection = connection_row(
            project.organization_id, project.id, name, "hashicorp-vault", "access-token", now
        )
        async with self.database.writing() as unit:
            credentials: dict[str, JsonValue] = {
                "instanceUrl": "https://vault.example.com",
                "accessToken": "cnry-token-of-the-vault",
            }
            await unit.app_connections.add(connection, credentials)
        self._connections[project.id, name] = connection.id
        return connection.id

    async def sync(
        self,
        project: Project,
        place: str = "one",
        *,
        path: str = "/",
        connection: str = "one",
        is_automatic: bool = True,
        name: str | None = None,
        owner: IdentityId | None = None,
        **options: JsonValue,
    ) -> str:
        """Make a sync of a folder of dev to a remote, as the service does; by default the admin owns it."""
        now = self.clock.now()
        connection_id = await self.connection(project, connection)
        async with self.database.writing() as unit:
            where = at(project, path)
            folder = await unit.folders.at(project.id, where.environment, where.path)
            assert folder is not None
            record = blank_record(project.id, folder.id, connection_id, place, now)
            record = replace(
                record,
                name=name or record.name,
                is_auto_sync_enabled=is_automatic,
                owner_id=owner or self.domain.admin.identity_id,
                sync_options={"initialSyncBehavior": "overwrite-destination", **options},
            )
            await unit.secret_syncs.add(record)
            if is_automatic:
                stored = await unit.secret_syncs.get(record.id)
                assert stored is not None
                await queue(unit, stored, JobKind.SYNC, {}, now)
        return record.id

    async def member(self, project: Project, role: ProjectRole = ProjectRole.MEMBER) -> IdentityId:
        """Return an identity with this role in the project, and with nothing else."""
        now = self.clock.now()
        identity = Identity(
            IdentityId(new_uuid()), project.organization_id, "member", OrganizationRole.NO_ACCESS, 1, now, now
        )
        async with self.database.writing() as unit:
            await unit.identities.add(identity)
            await unit.projects.add_membership(
                Membership(new_uuid(), project.id, identity.id, (role,), now, now)
            )
        return identity.id

    async def let_go(self, project: Project, member: IdentityId) -> None:
        """Take an identity out of the project."""
        async with self.database.writing() as unit:
            membership = await unit.projects.membership(project.id, member)
            assert membership is not None
            await unit.projects.delete_membership(membership.id)

    async def ask(self, sync_id: str, kind: JobKind = JobKind.SYNC, **parameters: JsonValue) -> None:
        """Have something done for a sync, as people do."""
        async with self.database.writing() as unit:
            sync = await unit.secret_syncs.get(sync_id, for_change=True)
            assert sync is not None
            await queue(
                unit, sync, kind, parameters, self.clock.now(), afresh=kind is JobKind.SYNC, is_urgent=True
            )

    async def change(
        self,
        sync_id: str,
        *,
        config: Mapping[str, JsonValue] | None = None,
        connection: str | None = None,
        options: Mapping[str, JsonValue] | None = None,
    ) -> None:
        """Set a sync up otherwise, as people do; `connection` is an id."""
        now = self.clock.now()
        model = self.remotes.catalogue.kind(SCRIPTED)
        assert model is not None
        async with self.database.writing() as unit:
            sync = await unit.secret_syncs.get(sync_id, for_change=True)
            assert sync is not None
            record = sync.record
            changed = replace(record, version=record.version + 1)
            if config is not None:
                changed = replace(changed, destination_config=config, destination_digest=str(config["place"]))
            if connection is not None:
                changed = replace(changed, connection_id=connection)
            if options is not None:
                initial = {"initialSyncBehavior": "overwrite-destination"}
                changed = replace(changed, sync_options={**initial, **options})
            stored = await store_changed(unit, model, sync, changed, now)
            if changed.is_auto_sync_enabled:
                await queue(unit, stored, JobKind.SYNC, {}, now)

    async def left(self, sync_id: str) -> dict[str, list[str]]:
        """Return what is still known of former places: names by the place of their configuration."""
        async with self.database.reading() as unit:
            return {
                str(place.destination_config["place"]): sorted(await unit.former_places.pushes(place.id))
                for place in await unit.former_places.of_sync(sync_id)
            }

    async def pushed(self, sync_id: str) -> list[str]:
        """Return the names of a sync's ledger."""
        async with self.database.reading() as unit:
            return sorted(await unit.pushes.of_sync(sync_id))

    async def put(self, project: Project, path: str = "/", **values: str) -> None:
        """Write secrets of a folder of dev; those that exist get new values."""
        place = at(project, path)
        present = {secret.secret.key for secret in (await self._listing(project, path))}
        new = [NewSecret(key, value) for key, value in values.items() if key not in present]
        changed = [ChangedSecret(key, value) for key, value in values.items() if key in present]
        if new:
            await self.domain.writing.create(self.domain.admin, place, new)
        if changed:
            await self.domain.writing.update(self.domain.admin, place, changed)

    async def delete(self, project: Project, *keys: str, path: str = "/") -> None:
        await self.domain.writing.delete(self.domain.admin, at(project, path), keys)

    async def values(self, project: Project, path: str = "/") -> dict[str, str]:
        """Return what a folder of dev has of its own."""
        return {secret.secret.key: secret.value for secret in await self._listing(project, path)}

    async def _listing(self, project: Project, path: str) -> Sequence[ShownSecret]:
        listing = await self.domain.listed(project, path)
        assert isinstance(listing, SecretListing)
        return listing.secrets

    async def record(self, sync_id: str) -> SyncRecord | None:
        async with self.database.reading() as unit:
            sync = await unit.secret_syncs.get(sync_id)
        return None if sync is None else sync.record

    async def progress(self, sync_id: str, kind: JobKind = JobKind.SYNC) -> Progress:
        record = await self.record(sync_id)
        assert record is not None
        return progress_of(record, kind)

    async def ended(self, *sync_ids: str, kind: JobKind = JobKind.SYNC) -> list[Progress]:
        """Return how syncs stand when nothing waits or runs for them any more."""

        async def probe() -> bool:
            async with self.database.reading() as unit:
                return not await unit.sync_jobs.of_syncs(list(sync_ids))

        await until(probe, awaited="an end of all jobs")
        return [await self.progress(sync_id, kind) for sync_id in sync_ids]

    async def succeeded(
        self, *sync_ids: str, kind: JobKind = JobKind.SYNC, saying: str | None = None
    ) -> None:
        """Wait for the end of all that is to be done for syncs, which must be a good one, and say this or nothing."""
        for progress in await self.ended(*sync_ids, kind=kind):
            assert progress.status == JobStatus.SUCCEEDED, progress
            assert progress.at is not None
            if saying is None:
                assert progress.message is None
            else:
                assert progress.message is not None
                assert saying in progress.message

    async def failed(self, sync_id: str, kind: JobKind = JobKind.SYNC) -> str:
        """Wait until its status says that it failed, and return what is said of that; it may be tried again."""
        progress = await self.progress(sync_id, kind)

        async def probe() -> bool:
            nonlocal progress
            progress = await self.progress(sync_id, kind)
            return progress.status == JobStatus.FAILED

        await until(probe, awaited=f"a {kind.value} that failed")
        assert progress.message
        return progress.message

    async def holds(self, remote: ScriptedRemote, **content: str) -> None:
        """Wait until a remote holds this and nothing else."""

        async def probe() -> bool:
            return remote.content == content

        await until(probe, awaited=f"{sorted(content)} at the remote")


def blank_record(
    project_id: str, folder_id: str, connection_id: str, place: str, now: datetime
) -> SyncRecord:
    """Return a sync that nothing was done for yet."""
    never = {
        name: None
        for kind, last in (("sync", "synced"), ("import", "imported"), ("remove", "removed"))
        for name in (f"{kind}_status", f"last_{kind}_job_id", f"last_{kind}_message", f"last_{last}_at")
    }
    return SyncRecord(
        id=str(uuid4()),
        project_id=ProjectId(project_id),
        folder_id=folder_id,
        connection_id=connection_id,
        name=f"sync-{uuid4().hex[:8]}",
        description=None,
        is_auto_sync_enabled=True,
        version=1,
        destination=SCRIPTED,
        destination_config={"place": place},
        destination_digest=place,
        sync_options={},
        source_digest=None,
        reached=None,
        is_settled=False,
        listed_at=None,
        owner_id=None,
        created_at=now,
        updated_at=now,
        **never,
    )


@asynccontextmanager
async def sync_scene(
    directory: Path, url: URL | None = None, *, terms: JobTerms = FAST
) -> AsyncIterator[SyncScene]:
    """Yield a scene on a database of its own; no engine runs yet."""
    async with service_domain(directory, url) as domain, domain.database.following():
        if not domain.database.sole_process:

            async def hears() -> bool:
                return domain.database.bus.hears

            await until(hears, awaited="a bus that hears")
        yield SyncScene(domain, ScriptedRemotes(), SystemClock(), terms, url)
