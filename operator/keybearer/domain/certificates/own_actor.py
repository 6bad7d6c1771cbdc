"""Who it is in the audit log when the service acts by itself."""

from __future__ import annotations

from keybearer.base.ids import ProjectId
from keybearer.store.audit import AuditActor
from keybearer.store.unit import UnitOfWork

__all__ = ["service_actor"]

_NAME = "keybearer serve"


async def service_actor(unit: UnitOfWork, project_id: ProjectId) -> AuditActor:
    """Return the service as it acts in a project of some organization."""
    found = await unit.projects.by_ids([project_id])
    return AuditActor("machine", None, _NAME, found[0].organization_id if found else None)
