"""Turns to take in large answers: each may take several times its bytes until it is a listing.

Nothing but the body needs a turn. So who waits for a service that hangs, or for a token of the session's bucket,
keeps nobody else waiting; and one session, whose service may send drop by drop, never holds all turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

__all__ = ["BodyTurn", "BodyTurns"]

BodyTurn = Callable[[int | None], AbstractAsyncContextManager[None]]
"""Waits for a turn to take in a body of so many bytes (None: nobody says how many), and holds it."""

_AT_ONCE = 4
_PER_SESSION = 2
_SMALL_BYTES = 64 * 1024


class BodyTurns:
    """The turns of all sessions."""

    def __init__(self) -> None:
        self._all = asyncio.Semaphore(_AT_ONCE)

    def for_session(self) -> BodyTurn:
        """Return how a new session waits for its turns."""
        own = asyncio.Semaphore(_PER_SESSION)

        @asynccontextmanager
        async def turn(length: int | None) -> AsyncIterator[None]:
            if length is not None and length <= _SMALL_BYTES:
                yield
                return
            async with own, self._all:
                yield

        return turn
