"""Who listens for changes of sources, as the reader of sources sees it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from keybearer.controllers.event_feed import RefusalKind
from keybearer.controllers.sources.query import SourceKey
from keybearer.controllers.sources.session import SourceSession

__all__ = ["PollingOnly", "SourceFollower"]


class SourceFollower(Protocol):
    """Listens for changes of sources, so that they need not wait for their next poll."""

    def follow(self, key: SourceKey, session: SourceSession) -> None:
        """Listen for changes of a source; the newest session given is used."""
        ...

    def forget(self, key: SourceKey) -> None:
        """Listen no more for changes of a source."""
        ...

    def judged(self, key: SourceKey, *, readable: bool) -> None:
        """Learn whether the source could be read."""
        ...

    def settle(self, key: SourceKey) -> Awaitable[None]:
        """Wait a moment until it is known whether changes will be heard: the first read comes after."""
        ...

    def is_instant(self, key: SourceKey) -> bool | None:
        """Tell whether changes are heard; None if that isn't known yet."""
        ...

    def why_polling(self, key: SourceKey) -> RefusalKind | None:
        """Return why changes are not heard; None where they are, or that isn't known."""
        ...


class PollingOnly:
    """Listens for nothing."""

    def follow(self, key: SourceKey, session: SourceSession) -> None:
        """Do nothing."""

    def forget(self, key: SourceKey) -> None:
        """Do nothing."""

    def judged(self, key: SourceKey, *, readable: bool) -> None:
        """Do nothing."""

    async def settle(self, key: SourceKey) -> None:
        """Return at once."""

    def is_instant(self, key: SourceKey) -> bool | None:  # noqa: ARG002 - it is the same for all
        """Return that nothing is."""
        return False

    def why_polling(self, key: SourceKey) -> RefusalKind | None:  # noqa: ARG002 - it is the same for all
        """Return that nothing refused it: nothing was asked."""
        return None
