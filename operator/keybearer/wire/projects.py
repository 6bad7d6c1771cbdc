"""Projects, environments and folders on the wire (wire.md sections 2.9 and 2.10)."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, AliasChoices, Field

from keybearer.wire.base import Flag, GivenInstant, QueryFlag, Slug, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.limits import (
    DESCRIPTION_MAX,
    ENVIRONMENT_SLUG_MAX,
    FOLDER_NAME_MAX,
    FOLDER_PATH_MAX,
    FOLDERS_BATCH_MAX_ITEMS,
    PROJECT_NAME_MAX,
    PROJECT_SLUG_MAX,
    PROJECT_SLUG_MIN,
)

__all__ = [
    "BatchUpdateFolders",
    "CreateFolder",
    "CreateProject",
    "DeleteFolder",
    "EnvironmentSummary",
    "Folder",
    "FolderAnswer",
    "FolderEnvironment",
    "FolderList",
    "FolderQuery",
    "FolderWithEnvironment",
    "FolderWithEnvironmentAnswer",
    "Project",
    "ProjectAnswer",
    "ProjectList",
    "ProjectQuery",
    "UpdateFolder",
    "UpdateProject",
    "WorkspaceAnswer",
    "WorkspaceList",
]


class EnvironmentSummary(WireModel):
    """An environment as its project lists it."""

    id: str
    name: str
    slug: str


class Project(WireModel):
    """A project; `_id` repeats `id` for old clients."""

    id: str
    legacy_id: Annotated[str, Field(alias="_id")]
    name: str
    slug: str
    description: str | None = None
    type: str = "secret-manager"
    org_id: str
    auto_capitalization: bool = False
    version: int = 3
    upgrade_status: str | None = None
    has_delete_protection: bool = False
    audit_logs_retention_days: int | None = None
    created_at: WireInstant
    updated_at: WireInstant
    environments: list[EnvironmentSummary]


class ProjectAnswer(WireModel):
    """`{project}`."""

    project: Project


class WorkspaceAnswer(WireModel):
    """`{workspace}`, the older word for a project."""

    workspace: Project


class WorkspaceList(WireModel):
    """`{workspaces}`."""

    workspaces: list[Project]


class ProjectQuery(WireModel):
    """Query of GET /api/v1/projects."""

    type: str | None = None


class ProjectList(WireModel):
    """`{projects}`."""

    projects: list[Project]


class CreateProject(BodyModel):
    """POST /api/v1/projects and /api/v2/workspace. Without a slug one is made from the name."""

    project_name: Annotated[str, Field(min_length=1, max_length=PROJECT_NAME_MAX)]
    project_description: Annotated[str, Field(max_length=DESCRIPTION_MAX)] | None = None
    slug: Annotated[Slug, Field(min_length=PROJECT_SLUG_MIN, max_length=PROJECT_SLUG_MAX)] | None = None
    type: str = "secret-manager"
    should_create_default_envs: Flag = True
    has_delete_protection: Flag = False


class UpdateProject(BodyModel):
    """PATCH /api/v1/projects/{id}: what is absent stays."""

    name: Annotated[str, Field(min_length=1, max_length=PROJECT_NAME_MAX)] | None = None
    slug: Annotated[Slug, Field(min_length=PROJECT_SLUG_MIN, max_length=PROJECT_SLUG_MAX)] | None = None
    description: Annotated[str, Field(max_length=DESCRIPTION_MAX), Zero.COUNTS] | None = None
    auto_capitalization: Flag | None = None
    has_delete_protection: Flag | None = None


class Folder(WireModel):
    """A folder; `parentId` is null at the root of an environment."""

    id: str
    name: str
    version: int
    created_at: WireInstant
    updated_at: WireInstant
    env_id: str
    parent_id: str | None
    is_reserved: bool = False
    description: str | None = None
    last_secret_modified: WireInstant | None = None
    path: str
    relative_path: str | None = None


class FolderAnswer(WireModel):
    """`{folder}`."""

    folder: Folder


class FolderEnvironment(WireModel):
    """The environment of a folder that was asked for by its id."""

    env_id: str
    env_name: str
    env_slug: str


class FolderWithEnvironment(Folder):
    """A folder as GET folders/{id} answers it."""

    project_id: str
    environment: FolderEnvironment


class FolderWithEnvironmentAnswer(WireModel):
    """`{folder}` of GET folders/{id}."""

    folder: FolderWithEnvironment


class FolderList(WireModel):
    """`{folders}`."""

    folders: list[Folder]


def _folder_name(text: str) -> str:
    if not re.fullmatch(r"[a-zA-Z0-9_-]+", text):
        # The published text (wire.md section 2.9).
        msg = "Invalid folder name. Only alphanumeric characters, dashes, and underscores are allowed."
        raise ValueError(msg)
    return text


_FolderName = Annotated[
    str,
    Field(min_length=1, max_length=FOLDER_NAME_MAX, json_schema_extra={"pattern": "^[a-zA-Z0-9_-]+$"}),
    AfterValidator(_folder_name),
]
_Path = Annotated[str, Field(max_length=FOLDER_PATH_MAX, validation_alias=AliasChoices("path", "directory"))]


class _FolderBody(BodyModel):
    project_id: str | None = None
    workspace_id: str | None = None
    environment: Annotated[str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]
    path: _Path = "/"


_WHITE = r"[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*"
_MADE = {"pattern": rf"^{_WHITE}/*([a-zA-Z0-9_-]{{1,255}}/+)*([a-zA-Z0-9_-]{{1,255}})?{_WHITE}$"}


class CreateFolder(_FolderBody):
    """POST folders: missing parents are made on the way."""

    path: Annotated[_Path, Field(json_schema_extra=_MADE)] = "/"
    name: _FolderName
    description: Annotated[str, Field(max_length=DESCRIPTION_MAX)] | None = None


class UpdateFolder(_FolderBody):
    """PATCH folders/{id}."""

    name: _FolderName
    description: Annotated[str, Field(max_length=DESCRIPTION_MAX), Zero.COUNTS] | None = None


class DeleteFolder(_FolderBody):
    """DELETE folders/{idOrName}; v1 always forces."""

    force_delete: Flag = False


class _FolderItem(BodyModel):
    id: str
    environment: Annotated[str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]
    path: _Path = "/"
    name: _FolderName
    description: Annotated[str, Field(max_length=DESCRIPTION_MAX), Zero.COUNTS] | None = None


class BatchUpdateFolders(BodyModel):
    """PATCH folders/batch: all or none. The project by id (v2) or slug (v1)."""

    project_id: str | None = None
    project_slug: str | None = None
    workspace_id: str | None = None
    folders: Annotated[list[_FolderItem], Field(min_length=1, max_length=FOLDERS_BATCH_MAX_ITEMS)]


class FolderQuery(WireModel):
    """Query of GET folders; `lastSecretModified` leaves out folders whose secrets are older."""

    project_id: str | None = None
    workspace_id: str | None = None
    environment: Annotated[str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]
    path: _Path = "/"
    recursive: QueryFlag = False
    last_secret_modified: GivenInstant | None = None
