"""Feeds of events that a test opens, feeds, breaks and refuses."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import timedelta

from keybearer.client import ChangedPlace, ClientError, EventPlace, ProjectEvent
from keybearer.controllers.event_feed import FeedRefusal, RefusalKind

__all__ = ["CROWDED", "DENIED_FEED", "FAILED", "NO_LOGIN", "UNAVAILABLE", "FakeFeed", "FakeFeeds", "event"]

DENIED_FEED = FeedRefusal(RefusalKind.DENIED, "may not", passing=False)
UNAVAILABLE = FeedRefusal(RefusalKind.UNAVAILABLE, "no such route", passing=False)
NO_LOGIN = FeedRefusal(RefusalKind.FAILED, "invalid credentials", timedelta(minutes=1), passing=False)
CROWDED = FeedRefusal(RefusalKind.CROWDED, "too many")
FAILED = FeedRefusal(RefusalKind.FAILED, "can't be reached")


def event(environment: str = "dev", path: str = "/", key: str | None = "KEY") -> ProjectEvent:
    """An update in the folder."""
    return ProjectEvent("secret:update", (ChangedPlace(environment, path, key),))


class FakeFeed:
    """One open feed; `places` is what it listens to."""

    def __init__(self, places: frozenset[EventPlace]) -> None:
        self.places = places
        self.is_closed = False
        self._told: asyncio.Queue[ProjectEvent | Exception] = asyncio.Queue()

    def tell(self, *events: ProjectEvent | Exception) -> None:
        """These come next; an exception is the end."""
        for item in events:
            self._told.put_nowait(item)

    async def __anext__(self) -> ProjectEvent:
        item = await self._told.get()
        if isinstance(item, Exception):
            raise item
        return item

    async def aclose(self) -> None:
        self.is_closed = True


class FakeFeeds:
    """What listening through a session yields: refusals in turn, the last for ever; or feeds, with `serve`.

    Attributes:
        asked: the places of each attempt.
        asked_at: the loop's time of each.
        opened: the feeds, open or closed.
        seconds: what an attempt takes.
    """

    def __init__(self, *refusals: FeedRefusal | Exception) -> None:
        self.asked: list[frozenset[EventPlace]] = []
        self.asked_at: list[float] = []
        self.opened: list[FakeFeed] = []
        self.seconds = 0.01
        self._refusals: deque[FeedRefusal | Exception] = deque(refusals or [UNAVAILABLE])
        self._serves = False
        self._whole = True

    def serve(self, *refusals: FeedRefusal | Exception, whole: bool = True) -> FakeFeeds:
        """After these refusals every feed is had; that of the whole project only if `whole`."""
        self._refusals = deque(refusals)
        self._serves, self._whole = True, whole
        return self

    def refuse(self, *refusals: FeedRefusal | Exception) -> None:
        """From now on none is had."""
        self._refusals = deque(refusals)
        self._serves = False

    @property
    def open_now(self) -> list[FakeFeed]:
        """The feeds that are open."""
        return [feed for feed in self.opened if not feed.is_closed]

    async def open(self, places: Sequence[EventPlace]) -> FakeFeed | FeedRefusal:
        """Open a feed, or refuse."""
        wanted = frozenset(places)
        self.asked.append(wanted)
        self.asked_at.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self.seconds)
        if not wanted and not self._whole:
            return DENIED_FEED
        if self._refusals:
            answer = (
                self._refusals[0]
                if len(self._refusals) == 1 and not self._serves
                else self._refusals.popleft()
            )
            if isinstance(answer, Exception):
                raise answer
            return answer
        feed = FakeFeed(wanted)
        self.opened.append(feed)
        return feed


class FeedBrokenError(ClientError):
    """A stream that ended."""
