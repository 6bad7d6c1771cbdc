"""How a request comes to the project of certificates, and to what is in it."""

from __future__ import annotations

from typing import Protocol, TypeVar

from keybearer.base.ids import ProjectId
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project, open_projects
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.store.unit import UnitOfWork

__all__ = ["CERTIFICATE_PROJECT", "access_to", "certificate_project", "in_project"]

CERTIFICATE_PROJECT = "cert-manager"
"""The type of the projects that are made for certificates."""


class _OfProject(Protocol):
    @property
    def project_id(self) -> ProjectId: ...


_Record = TypeVar("_Record", bound=_OfProject)


async def certificate_project(
    unit: UnitOfWork, principal: Principal, project_id: str | None, action: Action, subject: Subject
) -> ProjectAccess:
    """Return the project that is named, of whichever type; without a name the organization's oldest for certificates.

    Raises:
        NotFoundError: the organization has no such project.
        InvalidError: none is named, and it has none for certificates.
        ForbiddenError: the principal may not do this there.
    """
    if project_id is None:
        found = await unit.projects.oldest_of_type(principal.organization_id, CERTIFICATE_PROJECT)
        if found is None:
            raise InvalidError(
                "This organization has no Certificate Manager project. Contact your administrator."
            )
        project_id = found.id
    access = await open_project(unit, principal, ProjectRef(id=project_id))
    access.require(action, subject)
    return access


async def access_to(
    unit: UnitOfWork,
    principal: Principal,
    record: _Record | None,
    what: str,
    action: Action,
    subject: Subject,
) -> tuple[_Record, ProjectAccess]:
    """Return what was looked up, and what the principal may do in its project.

    Args:
        unit: it was looked up in.
        principal: who asks.
        record: as it was found, if it was.
        what: as messages call it.
        action: what is to be done.
        subject: to what.

    Raises:
        NotFoundError: there is none, or it is another organization's.
        ForbiddenError: the principal may not do this there.
    """
    found = [] if record is None else await open_projects(unit, principal, ids=[record.project_id])
    if record is None or not found:
        raise NotFoundError(f"{what} not found")
    found[0].require(action, subject)
    return record, found[0]


def in_project(record: _Record | None, project_id: ProjectId, what: str) -> _Record:
    """Return what was looked up, if it is of that project.

    Raises:
        NotFoundError: there is none, or it is of another project.
    """
    if record is None or record.project_id != project_id:
        raise NotFoundError(f"{what} not found")
    return record
