"""Tasks that run as long as the process does: each has a name, and the first to end ends the process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Self

from keybearer.base.errors import KeybearerError

__all__ = ["Background", "first_of"]


class Background:
    """Owns long-lived tasks. As an async context, cancels them on the way out, the newest first."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cancel()

    async def cancel(self) -> None:
        """Cancel all, the newest first, and wait until each has ended. May be called twice."""
        for task in reversed(self._tasks):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run until cancelled."""
        self._tasks.append(asyncio.create_task(work, name=name))

    async def ended(self) -> None:
        """Wait until one of them ends, which none should; without any, wait until cancelled.

        Raises:
            KeybearerError: it ended without an error of its own.
            Exception: what it ended with.
        """
        if not self._tasks:
            await asyncio.get_running_loop().create_future()
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
            msg = f"{task.get_name()} has ended by itself"
            raise KeybearerError(msg)


async def first_of(*works: Coroutine[Any, Any, object]) -> int:
    """Run all until one has ended; cancel the others; return the place of that one.

    Raises:
        Exception: what it ended with.
    """
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            if not task.done():
                task.cancel()
        ended = [task for task in tasks if task.done()]
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in ended:
        task.result()
    return tasks.index(ended[0])
