"""Runs of the sync engine as a kill leaves them: every state of the database and of the remote that may outlast it.

Nothing of a process is left but what it committed and what it sent. So one run is watched, and what lasts is kept
before each of its calls, once it was carried out and not yet answered, and at the end. From each of these states
another process goes on: a fresh copy of the database, and a remote that holds what it held then.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from pydantic import JsonValue

from keybearer.base.clock import SystemClock
from keybearer.destinations.catalogue import CATALOGUE
from keybearer.destinations.form import DestinationKind
from keybearer.destinations.remote import NO_LIMITS, Http, Limits, RemoteAnswer, RemoteRequest
from keybearer.destinations.short_lived import ShortLived
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.outbound import Remotes
from keybearer.domain.secrets.changes import ChangedSecret, NewSecret
from keybearer.domain.secrets.writing import SecretWriting
from keybearer.domain.syncs.jobs import JobTerms, SyncQueue
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.queueing import queue
from keybearer.domain.syncs.run import Run
from keybearer.outbound.remote import RemoteHttp
from keybearer.store.database import Database
from keybearer.store.engines import sqlite_url
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind
from keybearer.store.sync_jobs import SyncJob
from keybearer.wire.credentials import Credentials
from support.connection_rows import connection_row
from support.directory import loopback_gate
from support.service_domain import ServiceDomain, at, service_domain
from support.sync_scene import blank_record
from support.unlocking import unlock_with

__all__ = ["KilledRuns", "Left", "Shape", "killed_runs"]

_KEY = b"0" * 32
_TERMS = JobTerms()


@dataclass(frozen=True)
class Shape:
    """A place of a kind, and what a person sees there.

    Attributes:
        kind: of the catalogue.
        config: of the sync.
        credentials: of its connection.
        endpoints: where the app is that isn't at its usual place.
        values: what the place holds, by names.
        put: writes as somebody else.
        kept: returns what has it hold the same again.
    """

    kind: DestinationKind
    config: Mapping[str, JsonValue]
    credentials: Credentials = field(repr=False)
    values: Callable[[], Mapping[str, object]]
    put: Callable[[Mapping[str, str]], None]
    kept: Callable[[], Callable[[], None]]
    endpoints: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Left:
    """What a kill at one moment leaves.

    Attributes:
        moments: all that leave the same, for people.
        database: the file's content.
        restore: has the remote hold what it held.
        writes: how often each name was sent in a request that writes.
    """

    moments: list[str]
    database: bytes = field(repr=False)
    restore: Callable[[], None]
    writes: Counter[str]


class _Watched(Http):
    """A way out that says when a call begins, and when it was carried out and isn't answered yet."""

    def __init__(self, names: Collection[str], note: Callable[[str], None]) -> None:
        self._names = names
        self._note = note
        self._right = RemoteHttp(loopback_gate("127.0.0.0/8"), SystemClock(), None, _no_time)
        self.writes = Counter[str]()
        self.calls = self.changes = 0

    def now(self) -> datetime:
        return self._right.now()

    async def pause(self, wait: timedelta) -> None:
        await self._right.pause(wait)

    async def send(
        self, request: RemoteRequest, *, limits: Limits = NO_LIMITS, place: str = ""
    ) -> RemoteAnswer:
        self.calls += 1
        self._note(f"before call {self.calls}, {request.method}")
        if request.method != "GET":
            sent = request.url + request.content.decode()
            self.writes.update(name for name in self._names if name in sent)
        answer = await self._right.send(request, limits=limits, place=place)
        self.changes += request.method != "GET"
        self._note(f"without the answer to call {self.calls}, {request.method}")
        return answer

    async def close(self) -> None:
        await self._right.close()


async def _no_time(seconds: float) -> None:
    raise AssertionError(f"a run waits for {seconds} s, though no remote asked for it")


class KilledRuns:
    """A sync of one folder to a place."""

    def __init__(
        self, directory: Path, domain: ServiceDomain, shape: Shape, sync_id: str, project: Project
    ) -> None:
        self._directory = directory
        self._domain = domain
        self._shape = shape
        self._sync_id = sync_id
        self._project = project
        self._secrets: dict[str, str] = {}

    async def hold(self, source: Mapping[str, str]) -> None:
        """Have the folder hold this and nothing else, and a push wait."""
        place, known = at(self._project), self._secrets
        new = [NewSecret(key, value) for key, value in source.items() if key not in known]
        changed = [
            ChangedSecret(key, value) for key, value in source.items() if known.get(key, value) != value
        ]
        if new:
            await self._domain.writing.create(self._domain.admin, place, new)
        if changed:
            await self._domain.writing.update(self._domain.admin, place, changed)
        if gone := sorted(known.keys() - source.keys()):
            await self._domain.writing.delete(self._domain.admin, place, gone)
        self._secrets = dict(source)
        async with self._domain.database.writing() as unit:
            sync = await unit.secret_syncs.get(self._sync_id, for_change=True)
            assert sync is not None
            await queue(unit, sync, JobKind.SYNC, {}, self._domain.database.clock.now())

    async def push(self) -> list[Left]:
        """Run what waits to its end; return each state that a kill would leave, in its order."""
        kept: list[Left] = []
        changes = -1

        def note(moment: str) -> None:
            nonlocal changes
            database = self._content()
            if kept and kept[-1].database == database and changes == http.changes:
                kept[-1].moments.append(moment)
                return
            changes = http.changes
            kept.append(Left([moment], database, self._shape.kept(), Counter(http.writes)))

        http = _Watched(list(self._secrets), note)
        await self._run(self._domain.database, http)
        note("at the end")
        return kept

    async def go_on(self, left: Left, *, without: Collection[str] = ()) -> Counter[str]:
        """Have another process go on, and return how often each name was written by both.

        Before it begins, the folder loses the secrets that it should go on `without`.
        """
        file = self._directory / f"{uuid4()}.db"
        file.write_bytes(left.database)
        left.restore()
        database = Database(sqlite_url(file), SystemClock())
        await unlock_with(database, self._domain.database.keyring)
        http = _Watched(list(self._secrets), lambda _: None)
        try:
            async with database.following():
                if without:
                    writing = SecretWriting(database, database.clock)
                    await writing.delete(self._domain.admin, at(self._project), sorted(without))
                await self._run(database, http)
        finally:
            await database.close()
            file.unlink()
        return left.writes + http.writes

    async def _run(self, database: Database, http: _Watched) -> None:
        """Take up what another process had, and run it."""
        clock = database.clock
        remotes = Remotes(http, ShortLived(clock), self._shape.endpoints)  # type: ignore[arg-type]
        trail = AuditTrail(database, clock)
        pushing = Pushing(database, CATALOGUE, remotes, _KEY, self._domain.writing, trail, clock)
        jobs = SyncQueue(database, clock, _TERMS)
        await jobs.take_up(is_starting=True)
        try:
            for begun in await jobs.claim(1):
                await jobs.end(begun, await Run(pushing, begun).perform())
            assert await self._waiting(database) == []
        finally:
            await http.close()

    async def _waiting(self, database: Database) -> list[SyncJob]:
        async with database.reading() as unit:
            return list(await unit.sync_jobs.of_syncs([self._sync_id]))

    def _content(self) -> bytes:
        with (
            closing(sqlite3.connect(self._directory / "keybearer.db")) as file,
            closing(sqlite3.connect(":memory:")) as copy,
        ):
            file.backup(copy)
            return copy.serialize()


@asynccontextmanager
async def killed_runs(directory: Path, shape: Shape) -> AsyncIterator[KilledRuns]:
    """Yield a new sync to the place, for which nothing was done yet."""
    async with service_domain(directory) as domain, domain.database.following():
        project = await domain.project("home")
        now = domain.database.clock.now()
        method = next(
            name
            for name, method in shape.kind.app.methods.items()
            if type(shape.credentials) in (method.given, method.kept)
        )
        connection = connection_row(
            project.organization_id, project.id, "one", shape.kind.app.name, method, now
        )
        async with domain.database.writing() as unit:
            await unit.app_connections.add(connection, shape.credentials.written())
            where = at(project)
            folder = await unit.folders.at(project.id, where.environment, where.path)
            assert folder is not None
            record = blank_record(project.id, folder.id, connection.id, "one", now)
            record = replace(
                record,
                destination=shape.kind.name,
                destination_config=dict(shape.config),
                sync_options={"initialSyncBehavior": "overwrite-destination"},
                owner_id=domain.admin.identity_id,
            )
            await unit.secret_syncs.add(record)
        yield KilledRuns(directory, domain, shape, record.id, project)
