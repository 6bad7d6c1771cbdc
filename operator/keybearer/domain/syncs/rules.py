"""Checks before a sync is created, changed or run (wire.md section 3.6)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.destinations.catalogue import Catalogue, OfferedDestination
from keybearer.destinations.form import DestinationKind
from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Subject, Where
from keybearer.domain.connections.use import (
    NamedPlace,
    place_of,
    require_may_connect,
    require_place,
    require_project,
    stored_place_of,
)
from keybearer.domain.errors import InvalidError, NotFoundError, SchemaViolationError
from keybearer.domain.syncs.places import Setup
from keybearer.domain.syncs.source import folder_of
from keybearer.store.app_connections import AppConnection
from keybearer.store.records import Folder
from keybearer.store.secret_syncs import JobKind, SecretSync
from keybearer.store.sync_jobs import SyncJob
from keybearer.store.unit import UnitOfWork
from keybearer.wire.destination_forms import DestinationConfig, InitialSyncBehavior, SyncOptions
from keybearer.wire.key_schema import KeyNaming

__all__ = [
    "destination_digest",
    "driven",
    "existing_destination",
    "named_place",
    "place_of_sync",
    "require_idle",
    "require_may_import",
    "require_removable",
    "require_source",
    "require_together",
    "source_folder",
    "undriven",
    "usable_connection",
]


def existing_destination(catalogue: Catalogue, name: str) -> OfferedDestination:
    """Return the destination with this name of interface.md.

    Raises:
        NotFoundError: there is none.
    """
    found = catalogue.offered(name)
    if found is None:
        raise NotFoundError(
            "There is no such destination; GET /api/v1/secret-syncs/options lists all destinations"
        )
    return found


def driven(destination: OfferedDestination) -> DestinationKind:
    """Return the kind of a destination that has a driver.

    Raises:
        InvalidError: it is offered, but has no driver.
    """
    if not isinstance(destination, DestinationKind):
        raise undriven(destination)
    return destination


def undriven(destination: OfferedDestination) -> InvalidError:
    """Return the error for a destination that is not built yet."""
    return InvalidError(f"{destination.title} is not supported yet: this version can't push to it")


def require_together(model: DestinationKind, config: DestinationConfig, options: SyncOptions) -> None:
    """Check that configuration and options agree.

    Raises:
        SchemaViolationError: options and configuration contradict each other.
    """
    try:
        model.agree(config, options)
    except ValueError as error:
        raise SchemaViolationError(str(error), field="syncOptions") from None


def named_place(
    model: DestinationKind, config: DestinationConfig, options: SyncOptions, environment: str
) -> NamedPlace:
    """Return what names the place of a sync that is made or changed."""
    return lambda: place_of(model, config, KeyNaming.of(options.key_schema, environment))


def place_of_sync(destination: OfferedDestination, sync: SecretSync) -> NamedPlace:
    """Return what names the place of a sync as it is stored; it raises InvalidError if that has no valid form."""

    def place() -> str | None:
        if not isinstance(destination, DestinationKind):
            return None
        setup = Setup.of(sync)
        return stored_place_of(destination, dict(setup.config), setup.naming)

    return place


async def usable_connection(
    unit: UnitOfWork,
    access: ProjectAccess,
    connection_id: str,
    destination: OfferedDestination,
    place: NamedPlace,
) -> AppConnection:
    """Return a connection that the principal may use for a sync of the project to that place.

    Raises:
        NotFoundError: the organization has no such connection.
        ForbiddenError: the principal may not use it, or the connection doesn't allow the project or the place.
        InvalidError: it is for another app.
    """
    connection = await unit.app_connections.get(connection_id)
    if connection is None or connection.organization_id != access.project.organization_id:
        raise NotFoundError(f"Could not find App Connection with ID {connection_id}")
    require_project(connection, access.project.id)
    require_may_connect(access, connection)
    if connection.app != destination.connection:
        raise InvalidError(
            f'{destination.title} Syncs need a connection of App "{destination.connection}"; '
            f'App Connection with ID {connection_id} is for App "{connection.app}"'
        )
    require_place(connection, place)
    return connection


def require_may_import(access: ProjectAccess, where: Where, behavior: str) -> None:
    """Check that the principal may write what an import would store in the source.

    Raises:
        ForbiddenError: it may not create secrets there, or edit them if the destination wins.
    """
    if behavior == InitialSyncBehavior.OVERWRITE_DESTINATION:
        return
    access.require(Action.CREATE, Subject.SECRETS, where)
    if behavior.endswith("prioritize-destination"):
        access.require(Action.EDIT, Subject.SECRETS, where)


async def source_folder(
    unit: UnitOfWork, access: ProjectAccess, environment: EnvironmentSlug, path: FolderPath
) -> Folder:
    """Return the folder that a sync reads.

    Raises:
        InvalidError: the project has no such folder or environment.
    """
    folder = await unit.folders.at(access.project.id, environment, path)
    if folder is None:
        raise InvalidError(
            f'Could not find folder with path "{path}" in environment "{environment}" '
            f'for project with ID "{access.project.id}"'
        )
    return folder


def require_removable(destination: OfferedDestination) -> None:
    """Check that secrets can be removed from a destination.

    Raises:
        InvalidError: they can't.
    """
    if not destination.can_remove:
        raise InvalidError(f"{destination.title} does not support removing secrets.")


def require_source(sync: SecretSync) -> Where:
    """Return where the sync reads.

    Raises:
        InvalidError: the folder is gone.
    """
    at = folder_of(sync)
    return Where(at.environment, at.path)


async def require_idle(unit: UnitOfWork, sync: SecretSync) -> Sequence[SyncJob]:
    """Return the waiting jobs of a sync, after checking that none runs. A running look doesn't count.

    Raises:
        InvalidError: a job runs.
    """
    jobs = await unit.sync_jobs.of_syncs([sync.record.id])
    if any(job.is_running and job.kind != JobKind.LOOK for job in jobs):
        raise InvalidError("A job for this sync is already in progress. Please try again shortly.")
    return jobs


def destination_digest(model: DestinationKind, config: DestinationConfig) -> str:
    """Return a digest that is equal for syncs to the same place."""
    place = {"destination": model.name, "place": dict(model.place(config))}
    # Not orjson: a configuration may hold integers of more than 64 bits.
    return hashlib.sha256(json.dumps(place, sort_keys=True).encode()).hexdigest()
