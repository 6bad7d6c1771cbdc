"""Waits inside of an event loop for what other tasks and programs do: by condition, with a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tools.local.waiting import PATIENCE_SECONDS, NotInTimeError

__all__ = ["until"]

_POLL_SECONDS = 0.02


async def until(
    probe: Callable[[], Awaitable[bool]], *, awaited: str, within: float = PATIENCE_SECONDS
) -> None:
    """Return when the probe says so.

    Raises:
        NotInTimeError: it never did; `awaited` completes "within 100 s there was not ...".
    """
    try:
        async with asyncio.timeout(within):
            while not await probe():  # noqa: ASYNC110 - what is awaited happens outside of this program
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError as error:
        raise NotInTimeError(f"within {within:g} s there was not {awaited}") from error
