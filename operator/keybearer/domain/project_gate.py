"""Transactions on what people only read, create, change and delete in a project.

Each opens the project, checks that the principal may do this, moves the project's revision, and writes a line of the
audit log, in this order.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from keybearer.base.ids import EnvironmentSlug, FolderPath, ProjectId
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject, Where
from keybearer.domain.paths import normalize_path
from keybearer.interface.route import InFolder
from keybearer.store.audit import AuditDetail
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Entered", "Place", "ProjectGate", "changed", "place_of"]

Record = TypeVar("Record", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class Entered:
    """A project in which the principal may do what was asked. `details` are for the line of the audit log."""

    unit: UnitOfWork
    access: ProjectAccess
    details: dict[str, AuditDetail] = field(default_factory=dict)

    @property
    def project_id(self) -> ProjectId:
        """The project's id."""
        return self.access.project.id


@dataclass(frozen=True, slots=True)
class Place(Where):
    """A folder that a command names."""

    environment: EnvironmentSlug
    path: FolderPath


def place_of(command: InFolder) -> Place:
    """Return the folder of a command.

    Raises:
        SchemaViolationError: its path has too many names.
    """
    return Place(EnvironmentSlug(command.environment), normalize_path(command.path))


class ProjectGate:
    """Opens projects to read or change one kind of object.

    Args:
        database: of the projects.
        subject: the kind in roles and grants.
        events: the kind's changes in the audit log.
    """

    def __init__(self, database: Database, subject: Subject, events: Mapping[Action, EventType]) -> None:
        self._database = database
        self._subject = subject
        self._events = events

    @asynccontextmanager
    async def reading(
        self, principal: Principal, project_id: str, where: Where | None = None
    ) -> AsyncIterator[Entered]:
        """Enter the project to read, in a part of it if one is given.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not.
        """
        async with self._database.reading() as unit:
            access = await open_project(unit, principal, ProjectRef(id=project_id))
            access.require(Action.READ, self._subject, where)
            yield Entered(unit, access)

    @asynccontextmanager
    async def changing(
        self, principal: Principal, project_id: str, action: Action, where: Where | None = None
    ) -> AsyncIterator[Entered]:
        """Enter the project to change it, or a part of it; the line of the audit log is written at the end.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not.
        """
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ProjectRef(id=project_id))
            access.require(action, self._subject, where)
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
