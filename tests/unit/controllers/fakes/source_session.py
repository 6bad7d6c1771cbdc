"""A service that answers what a test says, when a test says."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from keybearer.client import EventPlace
from keybearer.controllers.event_feed import EventFeed, FeedRefusal
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.sources.query import SourceQuery
from keybearer.controllers.sources.session import Listing, NotChanged, SourceFailure
from unit.controllers.fakes.event_feeds import FakeFeeds

__all__ = ["DENIED", "OUTAGE", "FakeSession", "listing", "secret"]

OUTAGE = SourceFailure("ServiceUnavailable", "the service can't be reached", passing=True)
DENIED = SourceFailure("PermissionDenied", "the identity may not read it", passing=False)

Answer = Listing | NotChanged | SourceFailure | Exception


def secret(key: str, value: str = "cnry-value", *, path: str = "/", environment: str = "dev") -> SourceSecret:
    return SourceSecret(key=key, value=value, path=path, environment=environment, version=1)


def listing(*values: str, etag: str | None = "tag") -> Listing:
    """Return an answer with the secrets K0, K1 and so on."""
    return Listing(etag, tuple(secret(f"K{number}", value) for number, value in enumerate(values)))


class FakeSession:
    """Gives its answers in order, and the last of them for ever; each takes `seconds`.

    Attributes:
        asked: the tag of each request, None for a whole read.
        asked_at: the loop's time of each request.
        feeds: what listening yields; by default no stream is to be had.
        versions: what single versions are read as; others don't exist.
        version_seconds: how long reading one version takes.
        versions_at_once: how many were read at once, at most.
    """

    def __init__(self, *answers: Answer, seconds: float = 0.1, session_id: str = "session") -> None:
        self._answers = deque(answers)
        self._seconds = seconds
        self._id = session_id
        self.versions: dict[tuple[str, int], SourceSecret | SourceFailure] = {}
        self.version_seconds = 0.0
        self.versions_at_once = self._reading_versions = 0
        self.is_closed = False
        self.feeds = FakeFeeds()
        self.asked: list[str | None] = []
        self.asked_at: list[float] = []

    @property
    def id(self) -> str:
        return self._id

    def then(self, *answers: Answer) -> None:
        """Replace the answers that are still to come."""
        self._answers = deque(answers)

    async def list_source(self, query: SourceQuery, etag: str | None) -> Listing | NotChanged | SourceFailure:
        del query
        self.asked.append(etag)
        self.asked_at.append(asyncio.get_running_loop().time())
        answer = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        await asyncio.sleep(self._seconds)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def open_feed(self, query: SourceQuery, places: Sequence[EventPlace]) -> EventFeed | FeedRefusal:
        """Refuse, but where a test sets `feeds`."""
        del query
        return await self.feeds.open(places)

    async def read_version(
        self, query: SourceQuery, name: str, version: int
    ) -> SourceSecret | SourceFailure | None:
        del query
        self._reading_versions += 1
        self.versions_at_once = max(self.versions_at_once, self._reading_versions)
        await asyncio.sleep(self.version_seconds)
        self._reading_versions -= 1
        return self.versions.get((name, version))

    async def close(self, *, spare_token: bool = False) -> None:  # noqa: ARG002 - it has none
        self.is_closed = True
