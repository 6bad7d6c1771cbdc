"""Steps of one round that are taken side by side, so many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable

from keybearer.kube.errors import LeaseLostError

__all__ = ["Abreast"]


class Abreast:
    """Takes steps side by side; who shares it shares its bound.

    Args:
        at_once: how many are under way at a time.
    """

    def __init__(self, at_once: int) -> None:
        self._rings = asyncio.Semaphore(at_once)

    async def take(self, steps: Iterable[Awaitable[None]]) -> None:
        """Take all of the steps to their end, whatever becomes of the others.

        Raises:
            LeaseLostError: one of them lost it; else what went wrong first, in the order of the steps.
        """

        async def bounded(step: Awaitable[None]) -> None:
            async with self._rings:
                await step

        ended = await asyncio.gather(*(bounded(step) for step in steps), return_exceptions=True)
        errors = [error for error in ended if isinstance(error, BaseException)]
        for error in errors:
            if isinstance(error, LeaseLostError) or not isinstance(error, Exception):
                raise error
        if errors:
            raise errors[0]
