"""Secrets moved and copied, their versions and references, on the wire (wire.md section 2.5)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keybearer.wire.base import Confidential, Flag, WireModel
from keybearer.wire.bodies import BodyModel
from keybearer.wire.limits import BATCH_MAX_ITEMS, ENVIRONMENT_SLUG_MAX, FOLDER_PATH_MAX
from keybearer.wire.secrets import Secret

__all__ = [
    "MovedSecrets",
    "ReferenceTree",
    "ReferenceTreeAnswer",
    "ReferenceTreeQuery",
    "SecretVersions",
    "SecretVersionsQuery",
    "TransferSecrets",
]

_Environment = Annotated[str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]
_Path = Annotated[str, Field(max_length=FOLDER_PATH_MAX)]


class TransferSecrets(BodyModel):
    """POST secrets/move and secrets/duplicate: within one project, all or none."""

    project_id: str | None = None
    workspace_id: str | None = None
    project_slug: str | None = None
    source_environment: _Environment
    source_secret_path: _Path = "/"
    destination_environment: _Environment
    destination_secret_path: _Path = "/"
    secret_ids: Annotated[list[str], Field(min_length=1, max_length=BATCH_MAX_ITEMS)]
    should_overwrite: Flag = False


class MovedSecrets(WireModel):
    """Answer of secrets/move. Both are always true: no change waits for an approval."""

    is_source_updated: bool
    is_destination_updated: bool


class SecretVersionsQuery(WireModel):
    """Query of GET /api/v1/secret/{secretId}/secret-versions; no more than fifty come at once."""

    offset: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    limit: Annotated[int, Field(ge=1, le=2**31 - 1)] = 20


class SecretVersions(WireModel):
    """`{secretVersions}`, the newest first."""

    secret_versions: list[Secret]


class ReferenceTreeQuery(WireModel):
    """Query of GET .../{secretName}/secret-reference-tree."""

    project_id: Annotated[str, Field(min_length=1)]
    environment: _Environment
    secret_path: _Path = "/"


class ReferenceTree(WireModel):
    """A secret that a value is made of; `value` is its own text, absent where there is no such secret."""

    key: str
    environment: str
    secret_path: str
    project_slug: str | None = None
    value: Annotated[str | None, Field(repr=False)] = None
    children: list[ReferenceTree]


class ReferenceTreeAnswer(WireModel):
    """`{tree, value}`: the value with its references replaced."""

    tree: ReferenceTree
    value: Confidential
