"""Lines to stand in: so many at a time of each who asks, so that one who is slow leaves places to the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["Lines"]


class Lines:
    """So many at a time for each key; a key that nobody waits for takes no memory."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._lines: dict[str, tuple[asyncio.Semaphore, int]] = {}

    @asynccontextmanager
    async def of(self, key: str) -> AsyncIterator[None]:
        """Wait for the turn, and hold it."""
        line, members = self._lines.get(key, (asyncio.Semaphore(self._width), 0))
        self._lines[key] = (line, members + 1)
        try:
            async with line:
                yield
        finally:
            line, members = self._lines.pop(key)
            if members > 1:
                self._lines[key] = (line, members - 1)
