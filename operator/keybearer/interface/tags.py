"""Tags of a project (wire.md section 2.10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from keybearer.interface.route import InProject, Older, Route
from keybearer.interface.shapes import Envelope, Instant, NullText, Shape, Text
from keybearer.wire.base import Slug
from keybearer.wire.bodies import Zero

__all__ = [
    "CREATE",
    "DELETE",
    "GET",
    "GET_BY_SLUG",
    "LIST",
    "ROUTES",
    "UPDATE",
    "CreateTag",
    "DeleteTag",
    "GetTag",
    "GetTagBySlug",
    "ListTags",
    "Tag",
    "TagAnswer",
    "TagList",
    "UpdateTag",
    "WorkspaceTagAnswer",
    "WorkspaceTagList",
]

_Slug = Annotated[Slug, Field(min_length=1, max_length=64)]
_Name = Annotated[str, Field(max_length=64)]
_Color = Annotated[str, Field(max_length=32)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag(Shape):
    """A tag that secrets of a project may carry."""

    id: str
    slug: str
    name: Text = ""
    color: NullText = ""
    project_id: Text = ""
    created_at: Instant = ""
    updated_at: Instant = ""


@dataclass(frozen=True, slots=True)
class TagAnswer(Envelope[Tag]):
    """`{tag}`."""

    tag: Tag


@dataclass(frozen=True, slots=True)
class WorkspaceTagAnswer(Envelope[Tag]):
    """`{workspaceTag}`, the older word."""

    workspace_tag: Tag


@dataclass(frozen=True, slots=True)
class TagList(Envelope[list[Tag]]):
    """`{tags}`."""

    tags: list[Tag]


@dataclass(frozen=True, slots=True)
class WorkspaceTagList(Envelope[list[Tag]]):
    """`{workspaceTags}`, the older word."""

    workspace_tags: list[Tag]


@dataclass(frozen=True, slots=True)
class ListTags(InProject):
    """List the tags of a project."""


@dataclass(frozen=True, slots=True)
class GetTag(InProject):
    """Return a tag by its id; `NotFound` where there is none."""

    tag_id: str


@dataclass(frozen=True, slots=True)
class GetTagBySlug(InProject):
    """Return a tag by its slug; `NotFound` where there is none."""

    slug: str


@dataclass(frozen=True, slots=True)
class CreateTag(InProject):
    """Create a tag, and return it; without a name it gets its slug as name."""

    slug: _Slug
    name: _Name | None = field(default=None, kw_only=True)
    color: _Color | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class UpdateTag(InProject):
    """Change a tag, and return it; what isn't given stays."""

    tag_id: str
    slug: _Slug | None = field(default=None, kw_only=True)
    name: _Name | None = field(default=None, kw_only=True)
    color: Annotated[_Color, Zero.COUNTS] | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class DeleteTag(InProject):
    """Delete a tag, also from the secrets that carry it, and return what it was."""

    tag_id: str


def _older(path: str, name: str) -> Older:
    """Return an older path as Terraform's provider reads it."""
    return Older(path, WorkspaceTagAnswer, name)


_ALL, _OLD_ALL = "/api/v1/projects/{project_id}/tags", "/api/v1/workspace/{project_id}/tags"
_ONE, _OLD_ONE = f"{_ALL}/{{tag_id}}", f"{_OLD_ALL}/{{tag_id}}"
_OF_SLUG, _OLD_OF_SLUG = f"{_ALL}/slug/{{slug}}", f"{_OLD_ALL}/slug/{{slug}}"
_TAG = "Environments"

CREATE = Route(
    "POST", (_ALL, _older(_OLD_ALL, "create_workspace_tag")), CreateTag, TagAnswer, _TAG, "Create a tag"
)
LIST = Route(
    "GET",
    (_ALL, Older(_OLD_ALL, WorkspaceTagList, "list_workspace_tags")),
    ListTags,
    TagList,
    _TAG,
    "List tags",
)
GET_BY_SLUG = Route(
    "GET",
    (_OF_SLUG, _older(_OLD_OF_SLUG, "get_workspace_tag_by_slug")),
    GetTagBySlug,
    TagAnswer,
    _TAG,
    "Get a tag by slug",
)
GET = Route("GET", (_ONE, _older(_OLD_ONE, "get_workspace_tag")), GetTag, TagAnswer, _TAG, "Get a tag")
UPDATE = Route(
    "PATCH", (_ONE, _older(_OLD_ONE, "update_workspace_tag")), UpdateTag, TagAnswer, _TAG, "Change a tag"
)
DELETE = Route(
    "DELETE", (_ONE, _older(_OLD_ONE, "delete_workspace_tag")), DeleteTag, TagAnswer, _TAG, "Delete a tag"
)

ROUTES = (CREATE, LIST, GET_BY_SLUG, GET, UPDATE, DELETE)
