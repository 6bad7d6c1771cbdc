"""The garbage collector of a process that runs for months over tens of thousands of objects."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_at_rest", "spare_the_collector"]


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Collect nothing meanwhile: what modules make on import stays, and looking through it takes a quarter of it."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def spare_the_collector() -> None:
    """Keep it off what lives as long as the process: a full collection looked through modules for 0.15 s."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def leave_out_httpx_main() -> None:
    """Keep httpx from loading a command line of its own, with what that draws: half of the time httpx takes to load.

    It is not for programs that use the library, which does without it where what it draws isn't installed.
    """
    if "httpx" not in sys.modules:
        sys.modules["httpx._main"] = None  # type: ignore[assignment] # in Python's words: can't be imported
