"""An event loop on which time passes at once: it jumps to the next timer whenever nothing else can run.

For code that waits by `asyncio.sleep`, `call_later` or `asyncio.timeout`. A test in which every task waits for
something that can't happen fails at once, in place of hanging.
"""

from __future__ import annotations

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import ParamSpec

__all__ = ["LoopClock", "VirtualLoop", "in_virtual_time", "settle"]

P = ParamSpec("P")

_ROUNDS = 30
"""Turns of the loop that let tasks run on until each of them waits."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its time begins at 1,000 s."""

    def __init__(self) -> None:
        self.elapsed = 0.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Return the virtual time."""
        return 1000.0 + self.elapsed


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise AssertionError("all tasks wait for something that never happens")
        self._loop.elapsed += timeout
        return ready


class LoopClock:
    """All three clocks of `keybearer.base.clock.Clock`, on the running loop's time."""

    wall = datetime(2026, 3, 1, 12, tzinfo=UTC)
    """What the wall clock shows when the loop's time is 1,000 s."""

    def now(self) -> datetime:
        return self.wall + timedelta(seconds=self.monotonic() - 1000)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    def boottime(self) -> float:
        return self.monotonic()


def in_virtual_time(test: Callable[P, Coroutine[object, object, None]]) -> Callable[P, None]:
    """Run the test on a loop of its own whose time is virtual."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run


async def settle() -> None:
    """Let every task run on until it waits; no time passes."""
    for _ in range(_ROUNDS):
        await asyncio.sleep(0)
