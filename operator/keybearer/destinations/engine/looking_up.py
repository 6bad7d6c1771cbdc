"""Values that are asked for one by one: some at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

__all__ = ["each"]

_AT_ONCE = 8
_T = TypeVar("_T")


async def each(asked: Iterable[_T], look_up: Callable[[_T], Awaitable[None]]) -> None:
    """Call `look_up` with each, some at a time; the first that fails ends the others."""
    waiting = iter(list(asked))

    async def work() -> None:
        for one in waiting:
            await look_up(one)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(work())
    except BaseExceptionGroup as failures:
        # Those that were ended don't count; whoever calls knows single errors only.
        raise failures.exceptions[0] from None
