"""The way into a project for nouns that are only read, created, changed and deleted.

The project is opened, the action is allowed, the project moves, and the audit log has a line: in this order for each
of these nouns, in one transaction.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from keybearer.base.ids import ProjectId
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.store.audit import AuditDetail
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Entered", "ProjectGate", "changed"]

Record = TypeVar("Record", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class Entered:
    """A project that somebody may do something in. A change puts in `details` what its line of the audit log says."""

    unit: UnitOfWork
    access: ProjectAccess
    details: dict[str, AuditDetail] = field(default_factory=dict)

    @property
    def project_id(self) -> ProjectId:
        """The project's id."""
        return self.access.project.id


class ProjectGate:
    """The gate of one noun.

    Args:
        database: that has it.
        subject: what it is to roles and grants.
        events: what the audit log calls its changes.
    """

    def __init__(self, database: Database, subject: Subject, events: Mapping[Action, EventType]) -> None:
        self._database = database
        self._subject = subject
        self._events = events

    @asynccontextmanager
    async def reading(self, principal: Principal, project_id: str) -> AsyncIterator[Entered]:
        """Enter the project to read.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not.
        """
        async with self._database.reading() as unit:
            access = await open_project(unit, principal, ProjectRef(id=project_id))
            access.require(Action.READ, self._subject)
            yield Entered(unit, access)

    @asynccontextmanager
    async def changing(self, principal: Principal, project_id: str, action: Action) -> AsyncIterator[Entered]:
        """Enter the project to change it; the line of the audit log is written at the end.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not.
        """
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ProjectRef(id=project_id))
            access.require(action, self._subject)
            await unit.move_project(access.project.id)
            entered = Entered(unit, access)
            yield entered
            await unit.audit(audited(principal, self._events[action], entered.project_id, **entered.details))


def changed(record: Record, command: DataclassInstance, now: datetime) -> Record:
    """Return the record as a command changes it: by the fields that both have and that aren't the command's default.

    Fields of the command without a default say which record it is.
    """
    own = {one.name for one in fields(record)}
    given = {
        one.name: getattr(command, one.name)
        for one in fields(command)
        if one.name in own and one.default is not MISSING and getattr(command, one.name) is not one.default
    }
    return replace(record, **given, updated_at=now)
