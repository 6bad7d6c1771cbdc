"""Environments of a project (wire.md section 2.10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from keybearer.interface.route import InProject, Older, Route
from keybearer.interface.shapes import Envelope, Instant, Number, Shape, Text
from keybearer.wire.base import WHOLE, Slug
from keybearer.wire.limits import ENVIRONMENT_SLUG_MAX

__all__ = [
    "CREATE",
    "DELETE",
    "GET",
    "GET_ANYWHERE",
    "GET_BY_SLUG",
    "ROUTES",
    "UPDATE",
    "CreateEnvironment",
    "DeleteEnvironment",
    "Environment",
    "EnvironmentAnswer",
    "EnvironmentDetails",
    "GetEnvironment",
    "GetEnvironmentAnywhere",
    "GetEnvironmentBySlug",
    "SingleEnvironment",
    "UpdateEnvironment",
    "WorkspaceEnvironmentAnswer",
]

_Name = Annotated[str, Field(min_length=1, max_length=64)]
_Slug = Annotated[Slug, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]
_Position = Annotated[int, Field(ge=1), WHOLE]


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment(Shape):
    """An environment of a project; `position` counts from 1, and is None where a project lists its own."""

    id: str
    name: Text = ""
    slug: str
    position: Number = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentDetails(Environment):
    """An environment with its project and its times; `position` counts from 1."""

    described_as: ClassVar[str] = "Environment"

    project_id: Text = ""
    created_at: Instant = ""
    updated_at: Instant = ""


@dataclass(frozen=True, slots=True)
class SingleEnvironment(Envelope[EnvironmentDetails]):
    """`{environment}`."""

    environment: EnvironmentDetails


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentAnswer(Envelope[EnvironmentDetails]):
    """`{message, projectId, environment}`."""

    message: Text = ""
    project_id: Text = ""
    environment: EnvironmentDetails


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceEnvironmentAnswer(Envelope[EnvironmentDetails]):
    """`{message, workspace, environment}`: the older word for a project, which holds its id."""

    message: Text = ""
    workspace: Text = ""
    environment: EnvironmentDetails


@dataclass(frozen=True, slots=True)
class GetEnvironment(InProject):
    """Return an environment by its id; `NotFound` where there is none."""

    environment_id: str


@dataclass(frozen=True, slots=True)
class GetEnvironmentBySlug(InProject):
    """Return an environment by its slug; `NotFound` where there is none."""

    slug: str


@dataclass(frozen=True, slots=True)
class GetEnvironmentAnywhere:
    """Return an environment of any project by its id; `NotFound` where there is none."""

    environment_id: str


@dataclass(frozen=True, slots=True)
class CreateEnvironment(InProject):
    """Add an environment to a project, and return it.

    Attributes:
        name: for people.
        slug: for requests.
        position: counts from 1; last by default.
    """

    name: _Name
    slug: _Slug
    position: _Position | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class UpdateEnvironment(InProject):
    """Change an environment, and return it; what isn't given stays."""

    environment_id: str
    name: _Name | None = field(default=None, kw_only=True)
    slug: _Slug | None = field(default=None, kw_only=True)
    position: _Position | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class DeleteEnvironment(InProject):
    """Delete an environment with all its secrets, and return what it was."""

    environment_id: str


_ALL, _OLD_ALL = "/api/v1/projects/{project_id}/environments", "/api/v1/workspace/{project_id}/environments"
_ONE, _OLD_ONE = f"{_ALL}/{{environment_id}}", f"{_OLD_ALL}/{{environment_id}}"
_TAG = "Environments"

CREATE = Route(
    "POST",
    (_ALL, Older(_OLD_ALL, WorkspaceEnvironmentAnswer, "create_workspace_environment")),
    CreateEnvironment,
    EnvironmentAnswer,
    _TAG,
    "Create an environment",
)
GET_ANYWHERE = Route(
    "GET",
    ("/api/v1/workspace/environments/{environment_id}",),
    GetEnvironmentAnywhere,
    SingleEnvironment,
    _TAG,
    "Get an environment by its id alone",
)
GET_BY_SLUG = Route(
    "GET",
    (f"{_ALL}/slug/{{slug}}",),
    GetEnvironmentBySlug,
    EnvironmentDetails,
    _TAG,
    "Get an environment by slug",
    also_answered=SingleEnvironment,
)
GET = Route("GET", (_ONE,), GetEnvironment, SingleEnvironment, _TAG, "Get an environment")
UPDATE = Route(
    "PATCH",
    (_ONE, Older(_OLD_ONE, WorkspaceEnvironmentAnswer, "update_workspace_environment")),
    UpdateEnvironment,
    EnvironmentAnswer,
    _TAG,
    "Change an environment",
)
DELETE = Route(
    "DELETE",
    (_ONE, Older(_OLD_ONE, WorkspaceEnvironmentAnswer, "delete_workspace_environment")),
    DeleteEnvironment,
    EnvironmentAnswer,
    _TAG,
    "Delete an environment",
)

ROUTES = (CREATE, GET_ANYWHERE, GET_BY_SLUG, GET, UPDATE, DELETE)
