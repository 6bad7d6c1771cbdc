"""A follower of sources that hears nothing by itself."""

from __future__ import annotations

import asyncio

from keybearer.controllers.event_feed import RefusalKind
from keybearer.controllers.sources.query import SourceKey
from keybearer.controllers.sources.session import SourceSession

__all__ = ["FakeFollower"]


class FakeFollower:
    """Remembers what it is told; what is instant says the test, for single sources or by `others`."""

    def __init__(self, *, others: bool | None = None) -> None:
        self.followed: dict[SourceKey, SourceSession] = {}
        self.judgements: list[bool] = []
        self.instant: dict[SourceKey, bool] = {}
        self.others = others
        self.why: RefusalKind | None = None
        self.settling_seconds = 0.0

    def follow(self, key: SourceKey, session: SourceSession) -> None:
        self.followed[key] = session

    def forget(self, key: SourceKey) -> None:
        del self.followed[key]

    def judged(self, key: SourceKey, *, readable: bool) -> None:
        del key
        self.judgements.append(readable)

    async def settle(self, key: SourceKey) -> None:
        del key
        await asyncio.sleep(self.settling_seconds)

    def is_instant(self, key: SourceKey) -> bool | None:
        return self.instant.get(key, self.others)

    def why_polling(self, key: SourceKey) -> RefusalKind | None:
        return None if self.is_instant(key) is not False else self.why
