"""An event loop on which time passes at once: it jumps to the next timer whenever nothing else can run.

For code that waits by `asyncio.sleep`, `call_later` or `asyncio.timeout`. A test in which every task waits for
something that can't happen fails at once, in place of hanging. While a thread works, time stands still.
"""

from __future__ import annotations

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from datetime import UTC, datetime, timedelta
from typing import ParamSpec, TypeVar, TypeVarTuple, Unpack

from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["LoopClock", "VirtualLoop", "in_virtual_time", "settle"]

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_ROUNDS = 30
"""Turns of the loop that let tasks run on until each of them waits."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its time begins at 1,000 s."""

    def __init__(self) -> None:
        self.elapsed = 0.0
        self.threads = 0
        """Calls that threads work on."""
        self.had_threads = False
        super().__init__(_JumpingSelector(self))

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """Run in a thread, and let no time pass before it has ended."""
        running = super().run_in_executor(executor, func, *args)
        self.threads += 1
        self.had_threads = True
        running.add_done_callback(self._thread_ended)
        return running

    def _thread_ended(self, _: object) -> None:
        self.threads -= 1

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
        if self._loop.threads or (timeout is None and self._loop.had_threads):
            ready = super().select(PATIENCE_SECONDS)  # of real time, for a thread to end
            if ready:
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
