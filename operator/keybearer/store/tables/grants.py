"""What an identity may or may not do in a part of a project, beside its roles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from sqlalchemy import ForeignKeyConstraint, Index, String, Text

from keybearer.base.ids import IdentityId, ProjectId
from keybearer.store.columns import Instant, Texts, Uuid
from keybearer.store.record_tables import PRIMARY, table_of

__all__ = ["GRANTS", "Grant"]


@dataclass(frozen=True, slots=True)
class Grant:
    """What an identity may (`effect` is `allow`) or may not (`deny`) do in a part of a project.

    It goes with the membership that it narrows or widens, and with the environment that it names.
    `environment` is the slug of the environment with `environment_id`, or `*` for all of them, which have no id. It
    is kept in step with that slug, so that reading grants needs no join. Nothing in the database links the id:
    SQLite can't add that to a table. What deletes an environment deletes its grants.
    A denial of an earlier version may name an environment that doesn't exist; it has no id until there is one.
    `secret_path` is a pattern of paths.
    """

    id: Annotated[str, Uuid, PRIMARY]
    project_id: Annotated[ProjectId, Uuid]
    identity_id: Annotated[IdentityId, Uuid]
    effect: Annotated[str, String(8)]
    subjects: Annotated[tuple[str, ...], Texts]
    actions: Annotated[tuple[str, ...], Texts]
    environment: Annotated[str, String(64)]
    environment_id: Annotated[str | None, Uuid]
    secret_path: Annotated[str, Text]
    created_at: Annotated[datetime, Instant]
    updated_at: Annotated[datetime, Instant]


GRANTS = table_of(
    Grant,
    "project_grants",
    ForeignKeyConstraint(
        ["project_id", "identity_id"],
        ["project_memberships.project_id", "project_memberships.identity_id"],
        ondelete="CASCADE",
    ),
    Index(None, "project_id", "identity_id"),
    Index(None, "identity_id"),
    Index(None, "environment_id"),
)
