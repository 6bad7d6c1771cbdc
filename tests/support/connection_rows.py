"""Connections as the database keeps them, for tests in which no remote vouches for their credentials."""

from __future__ import annotations

from datetime import datetime
from uuid import uuid4

from keybearer.base.ids import OrganizationId, ProjectId
from keybearer.store.app_connections import AppConnection

__all__ = ["connection_row"]


def connection_row(
    organization_id: OrganizationId,
    project_id: ProjectId | None,
    name: str,
    app: str,
    method: str,
    now: datetime,
) -> AppConnection:
    """Return a new connection that shows nothing and isn't rotated."""
    return AppConnection(
        id=str(uuid4()),
        organization_id=organization_id,
        project_id=project_id,
        name=name,
        description=None,
        app=app,
        method=method,
        credentials_hash="",
        shown={},
        version=1,
        is_auto_rotation_enabled=False,
        rotation_interval_days=None,
        rotation_hour=None,
        rotation_minute=None,
        rotation_status=None,
        last_rotation_message=None,
        next_rotation_at=None,
        created_at=now,
        updated_at=now,
    )
