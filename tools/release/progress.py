"""Progress for people, on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from tools.controlplane.progress import report as report_of

__all__ = ["report", "step"]


report = partial(report_of, of="release")


@contextmanager
def step(doing: str) -> Iterator[None]:
    """Say what the block does, and at its end how long it took."""
    report(doing)
    started = time.monotonic()
    yield
    report(f"{doing}: done in {time.monotonic() - started:.0f} s")
