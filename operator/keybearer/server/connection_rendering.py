"""Domain to wire: the JSON of app connections, in the vocabulary of the request."""

from __future__ import annotations

from collections.abc import Iterable

from keybearer.destinations.app import App
from keybearer.domain.connections.allowing import ChangedUse
from keybearer.domain.connections.lookup import AppConnectionView
from keybearer.domain.connections.service import ProjectUse
from keybearer.store.app_connections import AppConnection
from keybearer.store.records import Project
from keybearer.wire.base import write_instant
from keybearer.wire.vocabulary import Vocabulary

__all__ = [
    "allowed_use_json",
    "available_connection_json",
    "changed_use_json",
    "connection_json",
    "option_json",
    "usage_json",
]

Json = dict[str, object]


def connection_json(view: AppConnectionView, words: Vocabulary) -> Json:
    """Return a connection (interface.md section 2.3); what it doesn't have is left out."""
    connection, project = view.connection, view.project
    shown: Json = {
        "id": connection.id,
        "name": connection.name,
        "orgId": connection.organization_id,
        "app": words.app(connection.app),
        "method": connection.method,
        "credentials": connection.shown,
        "credentialsHash": connection.credentials_hash,
        "version": connection.version,
        "isPlatformManagedCredentials": False,
        "isAutoRotationEnabled": connection.is_auto_rotation_enabled,
        "createdAt": write_instant(connection.created_at),
        "updatedAt": write_instant(connection.updated_at),
    }
    if connection.description is not None:
        shown["description"] = connection.description
    if project is not None:
        shown["projectId"] = project.id
        shown["project"] = _project_json(project)
    rotation = _rotation_json(connection)
    if rotation:
        shown["rotation"] = rotation
    return shown


def available_connection_json(connection: AppConnection, words: Vocabulary) -> Json:
    """Return what is told of a connection to whoever may use it."""
    return {"app": words.app(connection.app), "name": connection.name, "id": connection.id}


def allowed_use_json(connection: AppConnection) -> Json:
    """Return which projects may use a connection, and for which places; null where it doesn't say."""
    projects, places = connection.allowed_project_ids, connection.allowed_places
    return {
        "projectIds": None if projects is None else list(projects),
        "places": None if places is None else list(places),
    }


def changed_use_json(changed: ChangedUse) -> Json:
    """Return the use that a connection allows now, and the syncs that stop by the change."""
    stopping = [{"id": one.id, "name": one.name, "projectId": one.project_id} for one in changed.stopping]
    return {"allowedUse": allowed_use_json(changed.connection), "stoppingSyncs": stopping}


def option_json(app: App) -> Json:
    """Return an app that connections can be made to."""
    return {
        "name": app.title,
        "app": app.name,
        "methods": list(app.methods),
        "supportsPlatformManagement": False,
    }


def usage_json(uses: Iterable[ProjectUse]) -> Json:
    """Return where a connection is used."""
    return {
        "projects": [
            {
                **_project_json(use.project),
                "resources": {"secretSyncs": [{"id": sync.id, "name": sync.name} for sync in use.syncs]},
            }
            for use in uses
        ]
    }


def _project_json(project: Project) -> Json:
    return {"id": project.id, "name": project.name, "type": project.type, "slug": project.slug}


def _rotation_json(connection: AppConnection) -> Json:
    shown: Json = {}
    if connection.rotation_interval_days is not None:
        shown["rotationInterval"] = connection.rotation_interval_days
        shown["rotateAtUtc"] = {"hours": connection.rotation_hour, "minutes": connection.rotation_minute}
    if connection.rotation_status is not None:
        shown["rotationStatus"] = connection.rotation_status
    if connection.last_rotation_message is not None:
        shown["lastRotationMessage"] = connection.last_rotation_message
    if connection.next_rotation_at is not None:
        shown["nextRotationAt"] = write_instant(connection.next_rotation_at)
    return shown
