"""Budgets of steps: how much one request may make the event loop do, and when others get their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import TypeVar

from keybearer.base.errors import KeybearerError

__all__ = ["StepBudget", "unhurried"]

_PAUSE_STEPS = 500
"""Steps between two pauses: a few milliseconds."""

_T = TypeVar("_T")


class StepBudget:
    """What the parts of one request may cost together.

    Args:
        most: steps that are allowed.
        refusal: makes what is raised beyond them.
    """

    def __init__(self, most: int, refusal: Callable[[], KeybearerError]) -> None:
        self._most = most
        self._refusal = refusal
        self._taken = 0
        self._pause = _PAUSE_STEPS

    @property
    def left(self) -> int:
        """How many steps may still be taken."""
        return self._most - self._taken

    def take(self, steps: int = 1) -> bool:
        """Count steps; return whether it is time for a pause.

        Raises:
            KeybearerError: what `refusal` makes: there were too many.
        """
        self._taken += steps
        if self._taken > self._most:
            raise self._refusal()
        if self._taken < self._pause:
            return False
        self._pause = self._taken + _PAUSE_STEPS
        return True


async def unhurried(work: Generator[None, None, _T]) -> _T:
    """Run the work to its end, and other requests at each of its pauses; return what it returns."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: _T = done.value
            return result
        await asyncio.sleep(0)
