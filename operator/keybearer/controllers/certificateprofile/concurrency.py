"""Steps that run at the same time, so many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable

from keybearer.kube.errors import LeaseLostError

__all__ = ["Concurrency"]


class Concurrency:
    """Runs steps at the same time; all who share it share its bound.

    Args:
        at_once: how many run at a time.
    """

    def __init__(self, at_once: int) -> None:
        self._turns = asyncio.Semaphore(at_once)

    async def run(self, steps: Iterable[Awaitable[None]]) -> None:
        """Run each step to its end, whatever becomes of the others.

        Raises:
            LeaseLostError: one of them lost it; else what went wrong first, in the order of the steps.
        """

        async def bounded(step: Awaitable[None]) -> None:
            async with self._turns:
                await step

        taken = list(steps)
        if len(taken) < 2:
            for step in taken:  # without a task of its own: most profiles have one certificate
                await bounded(step)
            return
        ended = await asyncio.gather(*map(bounded, taken), return_exceptions=True)
        errors = [error for error in ended if isinstance(error, BaseException)]
        for error in errors:
            if isinstance(error, LeaseLostError) or not isinstance(error, Exception):
                raise error
        if errors:
            raise errors[0]
