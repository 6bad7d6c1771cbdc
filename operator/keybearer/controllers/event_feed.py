"""What the instant path asks of a session: a feed of events, or why none is to be had."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Protocol

from keybearer.client import ProjectEvent

__all__ = ["EventFeed", "FeedRefusal", "RefusalKind"]


class RefusalKind(Enum):
    """Why there is no feed, as far as it matters for what is tried next."""

    DENIED = "denied"
    """The identity may not listen there; perhaps to parts of it."""
    UNAVAILABLE = "unavailable"
    """The service has no such route, plan or project."""
    CROWDED = "crowded"
    """The identity has too many streams already."""
    FAILED = "failed"
    """It may come right by itself."""


@dataclass(frozen=True, slots=True)
class FeedRefusal:
    """No feed is to be had now.

    Attributes:
        kind: what it means.
        why: for the log, without values.
        after: the wait the service asked for.
        passing: it may come right by itself; otherwise what the feed told of may be lost to the identity as well.
    """

    kind: RefusalKind
    why: str
    after: timedelta | None = None
    passing: bool = True


class EventFeed(Protocol):
    """An open stream of events."""

    def __anext__(self) -> Awaitable[ProjectEvent]:
        """Return the next event; `ClientError` is the end."""
        ...

    def aclose(self) -> Awaitable[None]:
        """Give it up."""
        ...
