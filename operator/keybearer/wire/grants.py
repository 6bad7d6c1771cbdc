"""Path-scoped grants on the wire: an addition to the published interface (docs/interface.md)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keybearer.wire.base import WireInstant, WireModel
from keybearer.wire.limits import ENVIRONMENT_SLUG_MAX
from keybearer.wire.roles import GrantAction, GrantEffect, GrantSubject

__all__ = [
    "CreateGrant",
    "Grant",
    "GrantAction",
    "GrantAnswer",
    "GrantEffect",
    "GrantList",
    "GrantQuery",
    "GrantSubject",
    "UpdateGrant",
]

_Subjects = Annotated[list[GrantSubject], Field(min_length=1, max_length=10)]
_Actions = Annotated[list[GrantAction], Field(min_length=1, max_length=10)]
_Environment = Annotated[
    str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX, pattern=r"^(\*|[a-z0-9]+(-[a-z0-9]+)*)$")
]
_Pattern = Annotated[str, Field(min_length=1, max_length=1024)]


class Grant(WireModel):
    """A grant. `environment` is a slug or `*`; in `secretPath`, `*` is within a name and `**` any depth."""

    id: str
    project_id: str
    identity_id: str
    effect: GrantEffect
    subjects: list[GrantSubject]
    actions: list[GrantAction]
    environment: str
    secret_path: str
    created_at: WireInstant
    updated_at: WireInstant


class GrantAnswer(WireModel):
    """`{grant}`."""

    grant: Grant


class GrantList(WireModel):
    """`{grants, totalCount}`."""

    grants: list[Grant]
    total_count: int


class GrantQuery(WireModel):
    """Query of GET grants: of one member only, if it is named."""

    identity_id: str | None = None


def _only_secrets() -> list[GrantSubject]:
    return ["secrets"]


class CreateGrant(WireModel):
    """POST /api/v1/projects/{projectId}/grants. `identityId` names a machine identity or a user."""

    identity_id: Annotated[str, Field(min_length=1, max_length=36)]
    effect: GrantEffect = "allow"
    subjects: _Subjects = Field(default_factory=_only_secrets)
    actions: _Actions
    environment: _Environment
    secret_path: _Pattern = "/**"


class UpdateGrant(WireModel):
    """PATCH /api/v1/projects/{projectId}/grants/{grantId}: what is absent stays."""

    effect: GrantEffect | None = None
    subjects: _Subjects | None = None
    actions: _Actions | None = None
    environment: _Environment | None = None
    secret_path: _Pattern | None = None
