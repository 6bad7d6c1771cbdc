"""Projects and their environments (wire.md section 2.10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.models import Environment, Project
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.answers import EnvironmentAnswer, ProjectAnswer, ProjectsAnswer
from keybearer.wire import projects as wire

__all__ = ["CreateEnvironment", "CreateProject", "GetProject", "GetProjectBySlug", "ListProjects"]


@dataclass(frozen=True, slots=True)
class ListProjects(Operation[list[Project]]):
    """List the projects that the identity may see."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", "/api/v1/projects")

    def read(self, response: Response) -> list[Project]:
        """Return the projects in the service's order."""
        return list(decode(response, ProjectsAnswer).projects)


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
        should_create_default_envs: with the environments `dev`, `staging` and `prod`.
    """

    name: str
    slug: str | None = field(default=None, kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    should_create_default_envs: bool = field(default=True, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.CreateProject(
                project_name=self.name,
                project_description=self.description,
                slug=self.slug,
                should_create_default_envs=self.should_create_default_envs,
            )
        )
        return Request("POST", "/api/v1/projects", body=body)

    def read(self, response: Response) -> Project:
        """Return the created project."""
        return decode(response, ProjectAnswer).project


@dataclass(frozen=True, slots=True)
class CreateEnvironment(Operation[Environment]):
    """Add an environment to a project, and return it.

    Attributes:
        name: for people.
        slug: for requests.
        position: counts from 1; last by default.
    """

    name: str
    slug: str
    project_id: str = field(kw_only=True)
    position: int | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.CreateEnvironment(name=self.name, slug=self.slug, position=self.position)
        )
        return Request("POST", fill("/api/v1/projects/{}/environments", self.project_id), body=body)

    def read(self, response: Response) -> Environment:
        """Return the created environment."""
        return decode(response, EnvironmentAnswer).environment
