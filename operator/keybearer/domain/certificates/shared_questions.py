"""The same question of many at once: who comes while it is under way shares the next one with all who came since.

Nobody is given an answer to a question that began before it came, so that what was committed by then is seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["SharedQuestions"]

_T = TypeVar("_T")


class SharedQuestions(Generic[_T]):
    """Questions under way, by what they ask for."""

    def __init__(self) -> None:
        self._next: dict[Hashable, asyncio.Future[_T]] = {}
        self._asking: dict[Hashable, asyncio.Task[None]] = {}

    async def ask(self, key: Hashable, question: Callable[[], Awaitable[_T]]) -> _T:
        """Return the answer to the question, begun after this call; those of one key have the same answer."""
        answer = self._next.get(key)
        if answer is None:
            answer = self._next[key] = asyncio.get_running_loop().create_future()
            if key not in self._asking:
                self._asking[key] = asyncio.create_task(self._ask(key, question), name="shared-question")
        # One who gives up takes nothing from the others.
        return await asyncio.shield(answer)

    async def _ask(self, key: Hashable, question: Callable[[], Awaitable[_T]]) -> None:
        try:
            while key in self._next:
                answer = self._next.pop(key)
                try:
                    found = await question()
                except Exception as error:  # noqa: BLE001 - it is for those who wait
                    answer.set_exception(error)
                    answer.exception()  # who waited may have gone
                except BaseException:
                    answer.cancel()
                    raise
                else:
                    answer.set_result(found)
        finally:
            del self._asking[key]
            left = self._next.pop(key, None)
            if left is not None:
                left.cancel()
