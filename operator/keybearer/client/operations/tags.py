"""Tags of a project (wire.md section 2.10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.models import Tag
from keybearer.client.operation import Operation, Repeat
from keybearer.wire import projects as wire

__all__ = ["CreateTag", "DeleteTag", "GetTag", "GetTagBySlug", "ListTags"]

_ALL = "/api/v1/projects/{}/tags"
_ONE = "/api/v1/projects/{}/tags/{}"


@from_wire
@dataclass(frozen=True, slots=True)
class _TagAnswer:
    """`{tag}`."""

    tag: Tag


@from_wire
@dataclass(frozen=True, slots=True)
class _TagsAnswer:
    """`{tags}`."""

    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class ListTags(Operation[list[Tag]]):
    """List the tags of a project."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ALL, self.project_id))

    def read(self, response: Response) -> list[Tag]:
        """Return the tags in the service's order."""
        return list(decode(response, _TagsAnswer).tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class _InProject(Operation[Tag]):
    project_id: str

    def read(self, response: Response) -> Tag:
        """Return the tag."""
        return decode(response, _TagAnswer).tag


@dataclass(frozen=True, slots=True)
class GetTag(_InProject):
    """Return a tag by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    tag_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.project_id, self.tag_id))


@dataclass(frozen=True, slots=True)
class GetTagBySlug(_InProject):
    """Return a tag by its slug; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    slug: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(f"{_ALL}/slug/{{}}", self.project_id, self.slug))


@dataclass(frozen=True, slots=True)
class CreateTag(_InProject):
    """Create a tag, and return it; without a name the slug stands for it."""

    slug: str
    name: str | None = field(default=None, kw_only=True)
    color: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: wire.CreateTag(slug=self.slug, name=self.name, color=self.color))
        return Request("POST", fill(_ALL, self.project_id), body=body)


@dataclass(frozen=True, slots=True)
class DeleteTag(_InProject):
    """Delete a tag, also from the secrets that carry it, and return what it was."""

    tag_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_ONE, self.project_id, self.tag_id))
