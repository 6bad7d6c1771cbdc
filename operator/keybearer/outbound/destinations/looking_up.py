"""Values that have to be asked for one by one: some at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

__all__ = ["each"]

_AT_ONCE = 8


async def each(names: Iterable[str], look_up: Callable[[str], Awaitable[None]]) -> None:
    """Call `look_up` with every name, some at a time; the first that fails ends the others."""
    waiting = iter(list(names))

    async def work() -> None:
        for name in waiting:
            await look_up(name)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(work())
    except BaseExceptionGroup as failures:
        # Those that were ended don't count; whoever calls knows single errors only.
        raise failures.exceptions[0] from None
