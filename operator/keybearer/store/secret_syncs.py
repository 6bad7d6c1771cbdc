"""Secret syncs and the states of what they do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Select, Update, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId, OrganizationId, ProjectId
from keybearer.base.runs import in_chunks
from keybearer.store.columns import Instant, record_columns
from keybearer.store.tables.app_connections import AppConnectionRow
from keybearer.store.tables.projects import EnvironmentRow, FolderRow, ProjectRow
from keybearer.store.tables.secret_syncs import SecretSyncRow, SyncJobRow

__all__ = [
    "JobKind",
    "JobStatus",
    "Progress",
    "SecretSync",
    "SecretSyncs",
    "SyncRecord",
    "progress_of",
    "settled",
    "with_status",
]

_CHUNK = 200
_NOTHING: Mapping[str, object] = MappingProxyType({})


class JobKind(StrEnum):
    """What is done for a sync; each has its own status (interface.md section 2.1), but for looks."""

    SYNC = "sync"
    IMPORT = "import"
    REMOVE = "remove"
    LOOK = "look"
    """The service's own: whether the remote is as it was left. It shows nowhere until there is something to do."""


class JobStatus(StrEnum):
    """How far it came (wire.md section 3.3); None before the first time."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Progress:
    """The four fields of one kind of job."""

    status: str | None = None
    job_id: str | None = None
    message: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SyncRecord:
    """What the table holds of a sync, in the order of its columns.

    Attributes:
        folder_id: None once the folder is gone.
        destination: in interface.md's words.
        source_digest: keyed digest of what the last settled run carried.
        reached: the revision of each project that this was read from, by id.
        is_settled: whether the ledger tells all that the remote holds of ours.
        listed_at: when the remote was last looked at as a whole.
        owner_id: of the identity whose rights it reads and writes with; None where nobody knows it any more.
    """

    id: str
    project_id: ProjectId
    folder_id: str | None
    connection_id: str
    name: str
    description: str | None
    is_auto_sync_enabled: bool
    version: int
    destination: str
    destination_config: Mapping[str, JsonValue]
    destination_digest: str
    sync_options: Mapping[str, JsonValue]
    sync_status: str | None
    last_sync_job_id: str | None
    last_sync_message: str | None
    last_synced_at: datetime | None
    import_status: str | None
    last_import_job_id: str | None
    last_import_message: str | None
    last_imported_at: datetime | None
    remove_status: str | None
    last_remove_job_id: str | None
    last_remove_message: str | None
    last_removed_at: datetime | None
    source_digest: bytes | None
    reached: Mapping[str, int] | None
    is_settled: bool
    listed_at: datetime | None
    owner_id: IdentityId | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class SecretSync:
    """A sync with what it refers to; environment and folder are None together, once the folder is gone.

    Attributes:
        app: of the connection, in interface.md's words.
    """

    record: SyncRecord
    organization_id: OrganizationId
    connection_name: str
    app: str
    environment_id: str | None
    environment_slug: EnvironmentSlug | None
    environment_name: str | None
    folder_path: FolderPath | None


_COLUMNS = record_columns(SecretSyncRow, SyncRecord)
_SYNCS: Select[*tuple[Any, ...]] = (
    select(
        ProjectRow.organization_id,
        AppConnectionRow.name,
        AppConnectionRow.app,
        EnvironmentRow.id,
        EnvironmentRow.slug,
        EnvironmentRow.name,
        FolderRow.path,
        *_COLUMNS,
    )
    .select_from(SecretSyncRow)
    .join(ProjectRow, ProjectRow.id == SecretSyncRow.project_id)
    .join(AppConnectionRow, AppConnectionRow.id == SecretSyncRow.connection_id)
    .outerjoin(FolderRow, FolderRow.id == SecretSyncRow.folder_id)
    .outerjoin(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
)
# Each run asks for these: they are built once.
_ONE = _SYNCS.where(SecretSyncRow.id == bindparam("sync_id"))
_SOME = _SYNCS.where(SecretSyncRow.id.in_(bindparam("sync_ids", expanding=True))).order_by(SecretSyncRow.id)
_LOCKED = {statement: statement.with_for_update(of=SecretSyncRow) for statement in (_ONE, _SOME)}
_NAMED = _SYNCS.where(
    SecretSyncRow.project_id == bindparam("project_id"), SecretSyncRow.name == bindparam("name")
)
_COUNT = (
    select(func.count()).select_from(SecretSyncRow).where(SecretSyncRow.project_id == bindparam("project_id"))
)
_ADD = insert(SecretSyncRow)
_CHANGED = update(SecretSyncRow).where(SecretSyncRow.id == bindparam("sync_id"))
_STATUS_COLUMNS = {
    JobKind.SYNC: ("sync_status", "last_sync_job_id", "last_sync_message", "last_synced_at"),
    JobKind.IMPORT: ("import_status", "last_import_job_id", "last_import_message", "last_imported_at"),
    JobKind.REMOVE: ("remove_status", "last_remove_job_id", "last_remove_message", "last_removed_at"),
}
_KNOWN = ("source_digest", "reached", "is_settled", "listed_at")


class SecretSyncs:
    """Repository of secret syncs."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, new: SyncRecord) -> None:
        """Store a new sync."""
        await self._connection.execute(_ADD, _values(new))

    async def update(self, changed: SyncRecord) -> None:
        """Store the present fields of what people set; those of jobs and of what is known have their own ways."""
        values = _values(changed)
        for name in (*(name for names in _STATUS_COLUMNS.values() for name in names), *_KNOWN):
            del values[name]
        await self._connection.execute(
            update(SecretSyncRow).where(SecretSyncRow.id == changed.id).values(values)
        )

    async def get(self, sync_id: str, *, for_change: bool = False) -> SecretSync | None:
        """Return the sync of that id, or None; for a change no job of it is claimed meanwhile."""
        found = await self._all(_LOCKED[_ONE] if for_change else _ONE, {"sync_id": sync_id})
        return found[0] if found else None

    async def by_ids(self, sync_ids: Sequence[str], *, for_change: bool = False) -> list[SecretSync]:
        """Return those of the syncs that exist, by id; for a change no job of them is claimed meanwhile."""
        return await self._all(_LOCKED[_SOME] if for_change else _SOME, {"sync_ids": list(sync_ids)})

    async def named(self, project_id: ProjectId, name: str) -> SecretSync | None:
        """Return the project's sync of that name, or None."""
        found = await self._all(_NAMED, {"project_id": project_id, "name": name})
        return found[0] if found else None

    async def of_project(self, project_id: ProjectId, destination: str | None = None) -> list[SecretSync]:
        """Return the project's syncs by name; of one destination, or of all."""
        statement = _SYNCS.where(SecretSyncRow.project_id == project_id)
        if destination is not None:
            statement = statement.where(SecretSyncRow.destination == destination)
        return await self._all(statement.order_by(SecretSyncRow.name))

    async def of_owner(
        self, organization_id: OrganizationId, owner_id: IdentityId, project_id: ProjectId | None = None
    ) -> list[SecretSync]:
        """Return the syncs of the organization, or of one project, that have this owner, by project and name."""
        statement = _SYNCS.where(
            ProjectRow.organization_id == organization_id, SecretSyncRow.owner_id == owner_id
        )
        if project_id is not None:
            statement = statement.where(SecretSyncRow.project_id == project_id)
        return await self._all(statement.order_by(SecretSyncRow.project_id, SecretSyncRow.name))

    async def count_of(self, project_id: ProjectId) -> int:
        """Return how many syncs the project has."""
        return (await self._connection.execute(_COUNT, {"project_id": project_id})).scalar_one()

    async def to_same_place(self, organization_id: OrganizationId, digest: str) -> list[SecretSync]:
        """Return the organization's syncs whose destination has that digest."""
        statement = _SYNCS.where(
            ProjectRow.organization_id == organization_id, SecretSyncRow.destination_digest == digest
        )
        return await self._all(statement.order_by(SecretSyncRow.created_at, SecretSyncRow.id))

    async def failing_over(self, connection_id: str) -> list[SecretSync]:
        """Return the syncs over a connection whose last push failed, is under way, or is to be tried again."""
        begun = select(SyncJobRow.id).where(
            SyncJobRow.sync_id == SecretSyncRow.id,
            SyncJobRow.kind == JobKind.SYNC,
            or_(SyncJobRow.attempt > 0, SyncJobRow.parked_until.is_not(None)),
        )
        statement = _SYNCS.where(
            SecretSyncRow.connection_id == connection_id,
            SecretSyncRow.folder_id.is_not(None),
            or_(SecretSyncRow.sync_status == JobStatus.FAILED, begun.exists()),
        )
        return await self._all(statement.order_by(SecretSyncRow.id))

    async def any_automatic(self) -> bool:
        """Return whether there is a sync that changes of secrets set off."""
        statement = select(SecretSyncRow.id).where(SecretSyncRow.is_auto_sync_enabled.is_(True)).limit(1)
        return (await self._connection.execute(statement)).first() is not None

    async def automatic_at(
        self, places: Iterable[tuple[ProjectId, EnvironmentSlug, FolderPath]]
    ) -> list[SecretSync]:
        """Return the syncs that changes set off, of these folders."""
        by_environment: dict[tuple[ProjectId, EnvironmentSlug], list[FolderPath]] = {}
        for project_id, environment, path in places:
            by_environment.setdefault((project_id, environment), []).append(path)
        found: list[SecretSync] = []
        for (project_id, environment), paths in by_environment.items():
            for some in in_chunks(paths, _CHUNK):
                statement = _SYNCS.where(
                    SecretSyncRow.is_auto_sync_enabled.is_(True),
                    SecretSyncRow.project_id == project_id,
                    EnvironmentRow.slug == environment,
                    FolderRow.path.in_(some),
                )
                found += await self._all(statement)
        return found

    async def automatic_after(self, sync_id: str, limit: int) -> list[SecretSync]:
        """Return the next syncs that changes set off, in the order of their ids; begin with an empty id."""
        statement = _SYNCS.where(
            SecretSyncRow.is_auto_sync_enabled.is_(True),
            SecretSyncRow.folder_id.is_not(None),
            SecretSyncRow.id > sync_id,
        )
        return await self._all(statement.order_by(SecretSyncRow.id).limit(limit))

    async def queue(
        self, sync_id: str, kind: JobKind, *, unpushed_since: datetime | None, looks_anew: bool
    ) -> None:
        """Note that a job of the kind waits; this locks the sync against others who queue for it.

        Args:
            sync_id: of the sync.
            kind: of the job.
            unpushed_since: since when there is something to push, unless something waits already.
            looks_anew: whether the next run looks at the remote, whatever the ledger says.
        """
        statement = _queueing(kind, is_push=unpushed_since is not None, looks_anew=looks_anew)
        since = {} if unpushed_since is None else {"since": unpushed_since}
        await self._connection.execute(statement, {"sync_id": sync_id, **since})

    async def begin(self, job_ids: Mapping[str, str], kind: JobKind) -> None:
        """Note that jobs of one kind run, by their syncs; until one succeeds, its ledger may be out of date."""
        jobs = [{"sync_id": sync_id, "job_id": job_id} for sync_id, job_id in job_ids.items()]
        await self._connection.execute(_beginning(kind), jobs)

    async def end(
        self, sync_id: str, kind: JobKind, progress: Mapping[str, Any], *known: Mapping[str, object]
    ) -> None:
        """Note how a job of the kind ended, as `move` does, together with what is known since.

        Args:
            sync_id: of the sync.
            kind: of the job.
            progress: fields of `Progress`.
            known: as `settled` and `sync_backlog.pushed` return it.
        """
        values = _columns_of(kind, progress)
        for some in known:
            values.update(some)
        await self._connection.execute(_setting(tuple(values)), {"sync_id": sync_id, **values})

    async def move(self, sync_ids: Sequence[str], kind: JobKind, progress: Mapping[str, Any]) -> None:
        """Set fields of one kind of job, but of a look: keys are the fields of `Progress`, those that are given."""
        for some in in_chunks(sync_ids, _CHUNK):
            await self._set(some, **_columns_of(kind, progress))

    async def reach(self, sync_id: str, source_digest: bytes, reached: Mapping[str, int]) -> None:
        """Note that the last settled run, if it is still that one, carried the same as these revisions do."""
        await self._connection.execute(
            update(SecretSyncRow)
            .where(SecretSyncRow.id == sync_id, SecretSyncRow.source_digest == source_digest)
            .values(reached=dict(reached))
        )

    async def resource(self, sync_id: str) -> None:
        """Note that it reads another folder: what the last run carried says nothing of the next."""
        await self._set([sync_id], source_digest=None, reached=None)

    async def unlearn(self, sync_id: str) -> None:
        """Note that nothing is known of the remote, as before the first run."""
        await self._set(
            [sync_id],
            source_digest=None,
            reached=None,
            is_settled=False,
            listed_at=None,
            unpushed_keys=0,
        )

    async def _set(self, sync_ids: Sequence[str], **values: object) -> None:
        await self._connection.execute(
            update(SecretSyncRow).where(SecretSyncRow.id.in_(sync_ids)).values(values)
        )

    async def delete(self, sync_id: str) -> None:
        """Remove the sync with its jobs and its ledger."""
        await self._connection.execute(delete(SecretSyncRow).where(SecretSyncRow.id == sync_id))

    async def _all(
        self, statement: Select[*tuple[Any, ...]], parameters: Mapping[str, object] = _NOTHING
    ) -> list[SecretSync]:
        return [_read(row) for row in await self._connection.execute(statement, parameters)]


def settled(
    source_digest: bytes, reached: Mapping[str, int], listed_at: datetime | None
) -> Mapping[str, object]:
    """Return what is known after a run that wrote what it could; without `listed_at` nothing was listed."""
    listed = {} if listed_at is None else {"listed_at": listed_at}
    return {"is_settled": True, "source_digest": source_digest, "reached": dict(reached), **listed}


def progress_of(record: SyncRecord, kind: JobKind) -> Progress:
    """Return the four fields of one kind of job."""
    return Progress(*(getattr(record, name) for name in _STATUS_COLUMNS[kind]))


def with_status(record: SyncRecord, kind: JobKind, status: JobStatus) -> SyncRecord:
    """Return the record with that status of the kind of job."""
    changed: dict[str, Any] = {_STATUS_COLUMNS[kind][0]: status.value}
    return replace(record, **changed)


@cache
def _queueing(kind: JobKind, *, is_push: bool, looks_anew: bool) -> Update:
    values: dict[str, object] = {_STATUS_COLUMNS[kind][0]: JobStatus.PENDING}
    if is_push:
        # Where something waits already, its instant stays.
        values["unpushed_since"] = func.coalesce(
            SecretSyncRow.unpushed_since, bindparam("since", None, Instant)
        )
    if looks_anew:
        values["listed_at"] = None
    return _CHANGED.values(values)


@cache
def _beginning(kind: JobKind) -> Update:
    status, last_job, _, _ = _STATUS_COLUMNS[kind]
    values: dict[str, object] = {status: JobStatus.RUNNING, last_job: bindparam("job_id")}
    if kind is not JobKind.IMPORT:
        values["is_settled"] = False
    return _CHANGED.values(values)


@cache
def _setting(names: tuple[str, ...]) -> Update:
    return _CHANGED.values({name: bindparam(name) for name in names})


def _columns_of(kind: JobKind, progress: Mapping[str, Any]) -> dict[str, Any]:
    names = dict(zip((one.name for one in fields(Progress)), _STATUS_COLUMNS[kind], strict=True))
    return {names[key]: value for key, value in progress.items()}


def _read(row: Sequence[Any]) -> SecretSync:
    organization_id, connection_name, app, environment_id, slug, environment_name, path, *columns = row
    return SecretSync(
        SyncRecord(*columns),
        organization_id,
        connection_name,
        app,
        environment_id,
        slug,
        environment_name,
        path,
    )


def _values(record: SyncRecord) -> dict[str, Any]:
    values = {one.name: getattr(record, one.name) for one in fields(record)}
    return {
        **values,
        "destination_config": dict(record.destination_config),
        "sync_options": dict(record.sync_options),
    }
