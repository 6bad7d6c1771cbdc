"""What listings of a project for certificates have in common: whose they are, and pages of what is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from keybearer.client.messages import Request, query_of
from keybearer.client.operation import Operation, Repeat

__all__ = ["ListingOfProject", "PageOfProject"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingOfProject(Operation[T]):
    """All of a project.

    Attributes:
        project_id: None for the organization's own project for certificates.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str | None = None

    def window(self) -> dict[str, str | int | None]:
        """Return which part of them is asked for, in the wire's spelling."""
        return {"projectId": self.project_id}

    def asked(self, path: str, more: Mapping[str, str | int | None] | None = None) -> Request:
        """Return what to send.

        Args:
            path: where they are listed.
            more: what else they must meet, in the wire's spelling.
        """
        return Request("GET", path, query=query_of({**self.window(), **(more or {})}))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOfProject(ListingOfProject[T]):
    """Some of what a search in a project finds.

    Attributes:
        offset, limit: of those found, leave out so many, and return so many, 1 to 100.
        search: a text that stands in them.
    """

    offset: int = 0
    limit: int = 20
    search: str | None = None

    def window(self) -> dict[str, str | int | None]:
        """Return the project, and the page of what the search finds there."""
        return {
            "projectId": self.project_id,
            "offset": self.offset,
            "limit": self.limit,
            "search": self.search,
        }
