"""Path-scoped grants: an addition to the published interface (docs/interface.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from keybearer.interface.route import InProject, Route
from keybearer.interface.shapes import Envelope, Instant, Number, Sent, Several, Shape, Text
from keybearer.wire.base import WireModel
from keybearer.wire.limits import ENVIRONMENT_SLUG_MAX
from keybearer.wire.roles import GrantAction, GrantEffect, GrantSubject

__all__ = [
    "CREATE",
    "DELETE",
    "GET",
    "LIST",
    "ROUTES",
    "UPDATE",
    "CreateGrant",
    "DeleteGrant",
    "GetGrant",
    "Grant",
    "GrantAnswer",
    "GrantList",
    "ListGrants",
    "UpdateGrant",
]

_Subjects = Annotated[tuple[GrantSubject, ...], Field(min_length=1, max_length=10)]
_Actions = Annotated[tuple[GrantAction, ...], Field(min_length=1, max_length=10)]
_Environment = Annotated[
    str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX, pattern=r"^(\*|[a-z0-9]+(-[a-z0-9]+)*)$")
]
_Pattern = Annotated[str, Field(min_length=1, max_length=1024)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant(Shape):
    """A grant. `environment` is a slug or `*`; in `secretPath`, `*` is within a name and `**` any depth."""

    id: str
    project_id: Text = ""
    identity_id: Text = ""
    effect: Annotated[str, Sent(GrantEffect)]
    subjects: Annotated[Several[str], Sent(list[GrantSubject])] = ()
    actions: Annotated[Several[str], Sent(list[GrantAction])] = ()
    environment: Text = ""
    secret_path: Text = ""
    created_at: Instant = ""
    updated_at: Instant = ""


@dataclass(frozen=True, slots=True)
class GrantAnswer(Envelope[Grant]):
    """`{grant}`."""

    grant: Grant


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantList(Envelope[list[Grant]]):
    """`{grants, totalCount}`."""

    grants: list[Grant]
    total_count: Number = None


@dataclass(frozen=True, slots=True)
class ListGrants(InProject):
    """List the grants of a project, of one member only if it is named."""

    identity_id: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class GetGrant(InProject):
    """Return a grant by its id; `NotFound` where there is none."""

    grant_id: str


@dataclass(frozen=True, slots=True)
class CreateGrant(InProject):
    """Let a member of a project do something in a part of it, or forbid it, and return the grant.

    Attributes:
        identity_id: of a machine identity or a user who is in the project.
        effect: `allow` or `deny`; a deny wins.
        subjects: what it is about; secrets by default.
        actions: of `read`, `read-value`, `create`, `edit`, `delete`, `connect`.
        environment: a slug, or `*` for all.
        secret_path: a pattern; `*` is within a name, `**` any depth.
    """

    identity_id: Annotated[str, Field(min_length=1, max_length=36)]
    effect: GrantEffect = field(default="allow", kw_only=True)
    subjects: _Subjects = field(default=("secrets",), kw_only=True)
    actions: _Actions = field(kw_only=True)
    environment: _Environment = field(kw_only=True)
    secret_path: _Pattern = field(default="/**", kw_only=True)


@dataclass(frozen=True, slots=True)
class UpdateGrant(InProject):
    """Change a grant, and return it; what isn't given stays."""

    grant_id: str
    effect: GrantEffect | None = field(default=None, kw_only=True)
    subjects: _Subjects | None = field(default=None, kw_only=True)
    actions: _Actions | None = field(default=None, kw_only=True)
    environment: _Environment | None = field(default=None, kw_only=True)
    secret_path: _Pattern | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class DeleteGrant(InProject):
    """Take a grant away, and return what it was."""

    grant_id: str


_ALL = ("/api/v1/projects/{project_id}/grants",)
_ONE = ("/api/v1/projects/{project_id}/grants/{grant_id}",)
_TAG = "Grants"

# Their bodies aren't read like others: a zero that counted as absent would allow more.
CREATE = Route(
    "POST",
    _ALL,
    CreateGrant,
    GrantAnswer,
    _TAG,
    "Give a member a grant for a part of a project",
    body_rules=WireModel,
)
LIST = Route("GET", _ALL, ListGrants, GrantList, _TAG, "List the grants of a project")
GET = Route("GET", _ONE, GetGrant, GrantAnswer, _TAG, "Get a grant")
UPDATE = Route("PATCH", _ONE, UpdateGrant, GrantAnswer, _TAG, "Change a grant", body_rules=WireModel)
DELETE = Route("DELETE", _ONE, DeleteGrant, GrantAnswer, _TAG, "Remove a grant")

ROUTES = (CREATE, LIST, GET, UPDATE, DELETE)
