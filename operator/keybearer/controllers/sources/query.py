"""What a source is: a folder of the service, and who asks for it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SourceKey", "SourceQuery"]


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """What is asked of the service; `project` is an id, or a slug where `by_slug`."""

    project: str
    by_slug: bool
    environment: str
    path: str
    recursive: bool = False
    include_imports: bool = True
    expand_references: bool = True
    tag_slugs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.project}/{self.environment}:{self.path}"


@dataclass(frozen=True, slots=True)
class SourceKey:
    """A query, and the session (service and identity) that asks it."""

    session_id: str
    query: SourceQuery
