"""Steps that run at the same time, so many at once, and tasks that all end with the lead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

from keybearer.kube.errors import LeaseLostError

__all__ = ["Concurrency", "leading_tasks"]


class Concurrency:
    """Runs steps at the same time; all who share it share its bound.

    Args:
        at_once: how many run at a time.
    """

    def __init__(self, at_once: int) -> None:
        self._turns = asyncio.Semaphore(at_once)

    async def run(self, steps: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Run each step to its end, whatever becomes of the others.

        Raises:
            LeaseLostError: one of them lost it; else what went wrong first, in the order of the steps.
        """

        async def bounded(step: Awaitable[None]) -> None:
            async with self._turns:
                await step

        taken = list(steps)
        try:
            if len(taken) < 2:
                # Without a task of its own: most profiles have one certificate.
                for step in taken:
                    await bounded(step)
                return
            ended = await asyncio.gather(*map(bounded, taken), return_exceptions=True)
        finally:
            for step in taken:
                step.close()  # What was cancelled before its turn is not a forgotten await.
        errors = [error for error in ended if isinstance(error, BaseException)]
        for error in errors:
            if isinstance(error, LeaseLostError) or not isinstance(error, Exception):
                raise error
        if errors:
            raise errors[0]


@asynccontextmanager
async def leading_tasks() -> AsyncIterator[asyncio.TaskGroup]:
    """Yield a group of tasks that work as long as this process leads.

    Raises:
        LeaseLostError: it is all that ended tasks; itself, not in a group of errors.
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failed:
        # Not `except*`: until Python 3.11.4 it wraps what is raised in its block.
        lost, others = failed.split(LeaseLostError)
        if lost is None or others is not None:
            raise
        raise LeaseLostError(str(lost.exceptions[0])) from failed
