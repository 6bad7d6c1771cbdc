"""Long work on the event loop, cut so that others get their turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

__all__ = ["SLICE", "in_slices"]

SLICE = 250
"""Items between two turns of others: some milliseconds of opening and rendering secrets."""

_T = TypeVar("_T")


async def in_slices(items: Sequence[_T]) -> AsyncIterator[Sequence[_T]]:
    """Yield the items in order, a slice at a time, with a turn of everybody else between two slices."""
    for start in range(0, len(items), SLICE):
        if start:
            await asyncio.sleep(0)
        yield items[start : start + SLICE]
