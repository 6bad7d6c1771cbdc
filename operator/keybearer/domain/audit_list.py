"""Who may read which part of the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from keybearer.base.ids import ProjectId
from keybearer.domain.access import ProjectRef, open_project
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import (
    Action,
    OrganizationRole,
    Principal,
    Subject,
    require_organization,
)
from keybearer.store.audit import AuditFilter, AuditRecord
from keybearer.store.database import Database

__all__ = ["AuditList", "AuditQuestion"]


@dataclass(frozen=True, slots=True)
class AuditQuestion:
    """Which lines are asked for; None and empty ask for all. Instants inclusive."""

    project_id: ProjectId | None
    event_types: tuple[str, ...]
    actor_id: str | None
    actor_kind: str | None
    start: datetime | None
    end: datetime | None
    offset: int
    limit: int


class AuditList:
    """Answers questions about the log."""

    def __init__(self, database: Database, trail: AuditTrail) -> None:
        self._database = database
        self._trail = trail

    async def answer(self, principal: Principal, question: AuditQuestion) -> Sequence[AuditRecord]:
        """Return the lines, the latest first: all to admins of the organization, a project's to its admins.

        Raises:
            NotFoundError: no such project; an organization's admin may ask for one that is gone.
            ForbiddenError: the principal may not read this part.
            BusyError: what still waits couldn't be written.
        """
        await self._require(principal, question.project_id)
        # What this process has seen so far belongs into the answer.
        await self._trail.flush()
        wanted = AuditFilter(
            organization_id=principal.organization_id,
            project_id=question.project_id,
            event_types=question.event_types,
            actor_id=question.actor_id,
            actor_kind=question.actor_kind,
            start=question.start,
            end=question.end,
        )
        async with self._database.reading() as unit:
            return await unit.audit_log.listed(wanted, offset=question.offset, limit=question.limit)

    async def _require(self, principal: Principal, project_id: ProjectId | None) -> None:
        if project_id is None:
            require_organization(principal, Action.READ, Subject.AUDIT_LOGS)
        elif principal.organization_role != OrganizationRole.ADMIN:
            async with self._database.reading() as unit:
                access = await open_project(unit, principal, ProjectRef(id=project_id))
            access.require(Action.READ, Subject.AUDIT_LOGS)
