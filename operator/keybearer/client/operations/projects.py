"""Projects (wire.md section 2.10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.models import Project
from keybearer.client.operation import Operation, Repeat
from keybearer.wire import projects as wire

__all__ = [
    "CreateProject",
    "DeleteProject",
    "GetProject",
    "GetProjectBySlug",
    "ListProjects",
    "ProjectAnswer",
    "UpdateProject",
]


@from_wire
@dataclass(frozen=True, slots=True)
class ProjectAnswer:
    """`{project}`."""

    project: Project


@from_wire
@dataclass(frozen=True, slots=True)
class _ProjectsAnswer:
    """`{projects}`."""

    projects: tuple[Project, ...]


@dataclass(frozen=True, slots=True)
class ListProjects(Operation[list[Project]]):
    """List the projects that the identity may see."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", "/api/v1/projects")

    def read(self, response: Response) -> list[Project]:
        """Return the projects in the service's order."""
        return list(decode(response, _ProjectsAnswer).projects)


@dataclass(frozen=True, slots=True)
class GetProject(Operation[Project]):
    """Return a project by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill("/api/v1/projects/{}", self.project_id))

    def read(self, response: Response) -> Project:
        """Return the project."""
        return decode(response, ProjectAnswer).project


@dataclass(frozen=True, slots=True)
class GetProjectBySlug(Operation[Project]):
    """Return a project by its slug; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    slug: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill("/api/v1/projects/slug/{}", self.slug))

    def read(self, response: Response) -> Project:
        """Return the project; here the answer has no envelope."""
        return decode(response, Project)


@dataclass(frozen=True, slots=True)
class CreateProject(Operation[Project]):
    """Create a project, and return it.

    Attributes:
        slug: 5 to 36 characters; made from the name by default.
        type: what it is for; `cert-manager` for certificates.
        should_create_default_envs: with the environments `dev`, `staging` and `prod`.
        has_delete_protection: it can't be deleted until an update takes this away.
    """

    name: str
    slug: str | None = field(default=None, kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    type: str = field(default="secret-manager", kw_only=True)
    should_create_default_envs: bool = field(default=True, kw_only=True)
    has_delete_protection: bool = field(default=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.CreateProject(
                project_name=self.name,
                project_description=self.description,
                slug=self.slug,
                type=self.type,
                should_create_default_envs=self.should_create_default_envs,
                has_delete_protection=self.has_delete_protection,
            )
        )
        return Request("POST", "/api/v1/projects", body=body)

    def read(self, response: Response) -> Project:
        """Return the created project."""
        return decode(response, ProjectAnswer).project


@dataclass(frozen=True, slots=True)
class UpdateProject(Operation[Project]):
    """Change a project, and return it; what isn't given stays.

    Attributes:
        has_delete_protection: while it holds, the project can't be deleted.
    """

    project_id: str
    name: str | None = field(default=None, kw_only=True)
    slug: str | None = field(default=None, kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    has_delete_protection: bool | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.UpdateProject(
                name=self.name,
                slug=self.slug,
                description=self.description,
                has_delete_protection=self.has_delete_protection,
            )
        )
        return Request("PATCH", fill("/api/v1/projects/{}", self.project_id), body=body)

    def read(self, response: Response) -> Project:
        """Return the changed project."""
        return decode(response, ProjectAnswer).project


@dataclass(frozen=True, slots=True)
class DeleteProject(Operation[Project]):
    """Delete a project with all its secrets, and return what it was."""

    project_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill("/api/v1/projects/{}", self.project_id))

    def read(self, response: Response) -> Project:
        """Return the deleted project."""
        return decode(response, ProjectAnswer).project
