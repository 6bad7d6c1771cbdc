"""Progress for people, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["report", "step"]


def report(message: str) -> None:
    """One line, visible at once."""
    sys.stderr.write(f"release: {message}\n")
    sys.stderr.flush()


@contextmanager
def step(doing: str) -> Iterator[None]:
    """Say what the block does, and at its end how long it took."""
    report(doing)
    started = time.monotonic()
    yield
    report(f"{doing}: done in {time.monotonic() - started:.0f} s")
