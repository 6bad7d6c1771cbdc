"""Creates, lists, changes and deletes secret syncs (wire.md sections 3.1 to 3.3 and 3.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keybearer.base.clock import Clock
from keybearer.base.ids import EnvironmentSlug, FolderPath, ProjectId
from keybearer.destinations.catalogue import Catalogue, OfferedDestination
from keybearer.destinations.form import DestinationKind
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project, open_projects
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, Principal, Subject, Where
from keybearer.domain.errors import InvalidError
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.domain.syncs.auditing import sync_event
from keybearer.domain.syncs.changes import changed_record, new_record
from keybearer.domain.syncs.leaving import store_changed
from keybearer.domain.syncs.lookup import stored_sync, sync_of_id, sync_of_name
from keybearer.domain.syncs.queueing import DELETES_SYNC, queue
from keybearer.domain.syncs.requests import DestinationCheck, NewSync, SyncChange
from keybearer.domain.syncs.rules import (
    destination_digest,
    driven,
    existing_destination,
    named_place,
    place_of_sync,
    require_idle,
    require_may_import,
    require_removable,
    require_source,
    require_together,
    source_folder,
    usable_connection,
)
from keybearer.domain.syncs.source import read_folder, require_may_push
from keybearer.store.database import Database
from keybearer.store.secret_syncs import JobKind, SecretSync, SyncRecord
from keybearer.store.unit import UnitOfWork
from keybearer.wire.destination_forms import DestinationConfig, SyncOptions
from keybearer.wire.limits import SECRET_SYNCS_MAX

__all__ = ["CheckedPlace", "SecretSyncs"]


@dataclass(frozen=True, slots=True)
class CheckedPlace:
    """Whether another sync writes to a place; its project only if the principal may see its syncs."""

    has_duplicate: bool
    project_id: ProjectId | None = None


class SecretSyncs:
    """Manages secret syncs. Destinations have their names of interface.md.

    Every method that takes a destination raises NotFoundError if the destination is not offered, or if there is no
    such sync or project. It raises ForbiddenError if the principal has no permission.
    """

    def __init__(self, database: Database, catalogue: Catalogue, clock: Clock) -> None:
        self._database = database
        self._catalogue = catalogue
        self._clock = clock

    def options(self) -> Sequence[OfferedDestination]:
        """Return all offered destinations, sorted by title."""
        return sorted(self._catalogue.destinations, key=lambda one: (one.title.casefold(), one.name))

    async def list(
        self, principal: Principal, project_id: str, destination: str | None = None
    ) -> Sequence[SecretSync]:
        """Return the project's syncs sorted by name, of one destination or of all."""
        if destination is not None:
            existing_destination(self._catalogue, destination)
        async with self._database.reading() as unit:
            access = await open_project(unit, principal, ProjectRef(id=project_id))
            access.require(Action.READ, Subject.SECRET_SYNCS)
            return await unit.secret_syncs.of_project(access.project.id, destination)

    async def get(self, principal: Principal, destination: str, sync_id: str) -> SecretSync:
        """Return one sync.

        Raises:
            InvalidError: it is of another destination.
        """
        offered = existing_destination(self._catalogue, destination)
        async with self._database.reading() as unit:
            _, sync = await sync_of_id(unit, principal, offered, sync_id, Action.READ)
            return sync

    async def named(self, principal: Principal, destination: str, project_id: str, name: str) -> SecretSync:
        """Return the project's sync with this name.

        Raises:
            InvalidError: it is of another destination.
        """
        offered = existing_destination(self._catalogue, destination)
        async with self._database.reading() as unit:
            return await sync_of_name(unit, principal, offered, project_id, name)

    async def create(self, principal: Principal, destination: str, new: NewSync) -> SecretSync:
        """Create a sync; with auto-sync, queue its first run.

        Raises:
            InvalidError: the destination has no driver, the name is taken, the folder doesn't exist, or the
                connection is for another app.
            SchemaViolationError: options and configuration don't go together.
        """
        offered = existing_destination(self._catalogue, destination)
        model = driven(offered)
        require_together(model, new.config, new.options)
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ProjectRef(id=new.project_id))
            access.require(Action.CREATE, Subject.SECRET_SYNCS)
            place = named_place(model, new.config, new.options, new.environment)
            await usable_connection(unit, access, new.connection_id, offered, place)
            folder_id = await _source(unit, access, new.environment, new.path, new.options)
            await _require_room(unit, access.project.id)
            await _require_free_name(unit, access.project.id, new.name)
            record = new_record(
                access.project.id, folder_id, model, new, principal.identity_id, self._clock.now()
            )
            await unit.secret_syncs.add(record)
            sync = await stored_sync(unit, record.id)
            if new.is_auto_sync_enabled:
                sync = await queue(unit, sync, JobKind.SYNC, {}, self._clock.now())
            await unit.audit(sync_event(principal, EventType.CREATE_SECRET_SYNC, sync))
            return sync

    async def update(
        self, principal: Principal, destination: str, sync_id: str, change: SyncChange
    ) -> SecretSync:
        """Change a sync; with auto-sync, queue a run. If the place changes, a run removes what is at the former one.

        Raises:
            InvalidError: as at creation; or it has another destination, or the change affects pushing while one of
                its jobs runs.
            SchemaViolationError: options and configuration don't go together.
        """
        offered = existing_destination(self._catalogue, destination)
        async with self._database.writing() as unit:
            access, sync = await sync_of_id(unit, principal, offered, sync_id, Action.EDIT)
            old = sync.record
            folder_id, owner_id = old.folder_id, old.owner_id
            if change.touches_pushing:
                owner_id = principal.identity_id  # whoever says what goes where answers for it
                folder_id = await _source_after(unit, access, offered, sync, change)
            elif change.is_auto_sync_enabled and not old.is_auto_sync_enabled:
                # A request to push, from now on: as one request is.
                await usable_connection(
                    unit, access, old.connection_id, offered, place_of_sync(offered, sync)
                )
            if change.name is not None and change.name != old.name:
                await _require_free_name(unit, old.project_id, change.name)
            now = self._clock.now()
            changed = changed_record(old, driven(offered), change, folder_id, owner_id, now)
            sync = await store_changed(unit, driven(offered), sync, changed, now)
            if changed.is_auto_sync_enabled and changed.folder_id is not None:
                sync = await queue(unit, sync, JobKind.SYNC, {}, now, is_urgent=True)
            await unit.audit(sync_event(principal, EventType.UPDATE_SECRET_SYNC, sync))
            return sync

    async def delete(
        self, principal: Principal, destination: str, sync_id: str, *, remove_secrets: bool
    ) -> SecretSync:
        """Delete a sync: at once, or after what it pushed was removed from the destination.

        Raises:
            InvalidError: it has another destination; or its secrets can't be removed, because the destination doesn't
                support it, the folder is gone, or one of its jobs runs.
        """
        offered = existing_destination(self._catalogue, destination)
        async with self._database.writing() as unit:
            access, sync = await sync_of_id(unit, principal, offered, sync_id, Action.DELETE)
            if remove_secrets:
                require_removable(offered)
                await usable_connection(
                    unit, access, sync.record.connection_id, offered, place_of_sync(offered, sync)
                )
            await unit.audit(
                sync_event(principal, EventType.DELETE_SECRET_SYNC, sync, removeSecrets=remove_secrets)
            )
            if not remove_secrets:
                await unit.secret_syncs.delete(sync.record.id)
                return sync
            require_source(sync)
            await require_idle(unit, sync)
            return await queue(
                unit, sync, JobKind.REMOVE, {DELETES_SYNC: True}, self._clock.now(), is_urgent=True
            )

    async def check_destination(
        self, principal: Principal, destination: str, check: DestinationCheck
    ) -> CheckedPlace:
        """Return whether another sync of the organization writes to that place.

        Raises:
            InvalidError: the destination has no driver.
        """
        digest = destination_digest(driven(existing_destination(self._catalogue, destination)), check.config)
        async with self._database.reading() as unit:
            access = await open_project(unit, principal, ProjectRef(id=check.project_id))
            access.require(Action.READ, Subject.SECRET_SYNCS)
            found = [
                sync.record
                for sync in await unit.secret_syncs.to_same_place(principal.organization_id, digest)
                if sync.record.id != check.excluded_sync_id
                and check.connection_id in (None, sync.record.connection_id)
            ]
            projects = dict.fromkeys(record.project_id for record in found)
            shown = [
                other.project.id
                for other in await open_projects(unit, principal, ids=projects)
                if other.allows(Action.READ, Subject.SECRET_SYNCS)
            ]
        # Prefer the project that was asked about.
        nearest = sorted(shown, key=lambda one: one != access.project.id)
        return CheckedPlace(bool(found), nearest[0] if nearest else None)


async def _source_after(
    unit: UnitOfWork,
    access: ProjectAccess,
    offered: OfferedDestination,
    sync: SecretSync,
    change: SyncChange,
) -> str | None:
    """Return the id of the folder that the sync reads after the change, after checking that the change is allowed."""
    await require_idle(unit, sync)
    options, config = _pushed_as(driven(offered), sync.record, change)
    require_together(driven(offered), config, options)
    environment, path = change.environment or sync.environment_slug, change.path or sync.folder_path
    place = named_place(driven(offered), config, options, environment or "")
    await usable_connection(unit, access, change.connection_id or sync.record.connection_id, offered, place)
    if environment is not None and path is not None:
        return await _source(unit, access, environment, path, options)
    if change.environment is None and change.path is None:
        return None
    raise InvalidError("Must specify both source environment and secret path")


async def _source(
    unit: UnitOfWork,
    access: ProjectAccess,
    environment: EnvironmentSlug,
    path: FolderPath,
    options: SyncOptions,
) -> str:
    where = Where(environment, path)
    require_may_push(access, where)
    require_may_import(access, where, options.initial_sync_behavior)
    folder = await source_folder(unit, access, environment, path)
    await read_folder(unit, access, SecretsAt(ProjectRef(id=access.project.id), environment, path))
    return folder.id


async def _require_room(unit: UnitOfWork, project_id: ProjectId) -> None:
    if await unit.secret_syncs.count_of(project_id) >= SECRET_SYNCS_MAX:
        raise InvalidError(f"A project has at most {SECRET_SYNCS_MAX} secret syncs")


async def _require_free_name(unit: UnitOfWork, project_id: ProjectId, name: str) -> None:
    if await unit.secret_syncs.named(project_id, name) is not None:
        raise InvalidError(
            f'A Secret Sync with the name "{name}" already exists for the project with ID "{project_id}"'
        )


def _pushed_as(
    model: DestinationKind, record: SyncRecord, change: SyncChange
) -> tuple[SyncOptions, DestinationConfig]:
    """Return options and configuration after the change."""
    options, config = change.options, change.config
    return (
        model.options.model_validate(dict(record.sync_options)) if options is None else options,
        model.config.validate_python(dict(record.destination_config)) if config is None else config,
    )
