"""Environments of a project (wire.md section 2.10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.models import Environment
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.projects import ProjectAnswer
from keybearer.wire import projects as wire

__all__ = [
    "CreateEnvironment",
    "DeleteEnvironment",
    "GetEnvironment",
    "GetEnvironmentBySlug",
    "ListEnvironments",
    "UpdateEnvironment",
]

_ALL = "/api/v1/projects/{}/environments"
_ONE = "/api/v1/projects/{}/environments/{}"


@from_wire
@dataclass(frozen=True, slots=True)
class _EnvironmentAnswer:
    """`{environment}`."""

    environment: Environment


@dataclass(frozen=True, slots=True)
class ListEnvironments(Operation[list[Environment]]):
    """List the environments of a project, in their order."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send: a project lists its own."""
        return Request("GET", fill("/api/v1/projects/{}", self.project_id))

    def read(self, response: Response) -> list[Environment]:
        """Return the environments in the service's order."""
        return list(decode(response, ProjectAnswer).project.environments)


@dataclass(frozen=True, slots=True, kw_only=True)
class _InProject(Operation[Environment]):
    project_id: str

    def read(self, response: Response) -> Environment:
        """Return the environment."""
        return decode(response, _EnvironmentAnswer).environment


@dataclass(frozen=True, slots=True)
class GetEnvironment(_InProject):
    """Return an environment by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    environment_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.project_id, self.environment_id))


@dataclass(frozen=True, slots=True)
class GetEnvironmentBySlug(_InProject):
    """Return an environment by its slug; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    slug: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(f"{_ALL}/slug/{{}}", self.project_id, self.slug))


@dataclass(frozen=True, slots=True)
class CreateEnvironment(_InProject):
    """Add an environment to a project, and return it.

    Attributes:
        name: for people.
        slug: for requests.
        position: counts from 1; last by default.
    """

    name: str
    slug: str
    position: int | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.CreateEnvironment(name=self.name, slug=self.slug, position=self.position)
        )
        return Request("POST", fill(_ALL, self.project_id), body=body)


@dataclass(frozen=True, slots=True)
class UpdateEnvironment(_InProject):
    """Change an environment, and return it; what isn't given stays."""

    environment_id: str
    name: str | None = field(default=None, kw_only=True)
    slug: str | None = field(default=None, kw_only=True)
    position: int | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.UpdateEnvironment(name=self.name, slug=self.slug, position=self.position)
        )
        return Request("PATCH", fill(_ONE, self.project_id, self.environment_id), body=body)


@dataclass(frozen=True, slots=True)
class DeleteEnvironment(_InProject):
    """Delete an environment with all its secrets, and return what it was."""

    environment_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_ONE, self.project_id, self.environment_id))
