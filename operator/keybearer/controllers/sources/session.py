"""The service as one identity sees it: what it is asked about a source, and what it can answer."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from keybearer.base.logs import get_logger
from keybearer.client import EventPlace
from keybearer.controllers.event_feed import EventFeed, FeedRefusal
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.sources.query import SourceQuery

__all__ = ["Listing", "NotChanged", "SourceAnswer", "SourceFailure", "SourceSession", "ask_source"]

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SourceFailure:
    """Why a source can't be read: a condition's reason and message, without values.

    Attributes:
        passing: it may come right by itself (an outage), as opposed to what a person must mend.
        after: the wait the service asked for; two failures that differ in nothing else are the same one.
        remedy: what is to be done; None for what kinds say of the reason.
    """

    reason: str
    message: str
    passing: bool
    after: timedelta | None = field(default=None, compare=False)
    remedy: Remedy | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A whole answer: secrets from the lowest precedence to the highest, and the tag to ask by next time.

    `updated` holds the instants of their last changes as the service writes them, those that it tells.
    """

    etag: str | None
    secrets: tuple[SourceSecret, ...] = field(repr=False)
    updated: tuple[str, ...] = field(default=(), repr=False, compare=False)


class NotChanged:
    """The service answered 304: what we hold is still what is there."""


SourceAnswer = Listing | NotChanged | SourceFailure


class SourceSession(Protocol):
    """The service as one identity sees it."""

    @property
    def id(self) -> str:
        """A name for the session, safe to show."""
        ...

    def list_source(self, query: SourceQuery, etag: str | None) -> Awaitable[SourceAnswer]:
        """Ask once; never raises for what the service answers or fails to answer."""
        ...

    def open_feed(
        self, query: SourceQuery, places: Sequence[EventPlace]
    ) -> Awaitable[EventFeed | FeedRefusal]:
        """Open a feed of the query's project: of these places, or of all of it without any."""
        ...


async def ask_source(session: SourceSession, query: SourceQuery, etag: str | None) -> SourceAnswer:
    """Return what the session answers, and a failure that passes where it breaks or answers what can't be."""
    try:
        answer = await session.list_source(query, etag)
    except Exception as error:  # noqa: BLE001 - a fault with one source must not end the reads of all others
        # Neither text nor traceback: both may hold what the service answered.
        _log.error("source_read_broke", source=str(query), error=type(error).__name__)
        return SourceFailure(
            "InternalError",
            f"an unexpected {type(error).__name__} while {query} was read; it is tried again",
            passing=True,
        )
    if etag is None and isinstance(answer, NotChanged):
        text = f"what answers for {query} says that nothing changed since nothing; it is tried again"
        return SourceFailure("ServiceRefused", text, passing=True)
    return answer
