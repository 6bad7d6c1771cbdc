"""Waits for what other programs do: by condition, with a deadline, and with a word for what never came."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["PATIENCE_SECONDS", "NotInTimeError", "eventually"]

T = TypeVar("T")

PATIENCE_SECONDS = 100.0
"""What usually takes a second may take this long on a machine that does other things as well.

Kubernetes' collector of garbage learns of new kinds each half minute only, and may miss one of these turns.
"""
_POLL_SECONDS = 0.03


class NotInTimeError(AssertionError):
    """What was awaited did not come."""


def eventually(
    probe: Callable[[], T | None],
    *,
    awaited: str,
    within: float = PATIENCE_SECONDS,
    told: Callable[[], str] = str,
) -> T:
    """Return the first answer of the probe that is neither None nor False.

    Args:
        probe: looks once.
        awaited: completes "within 100 s there was not ...".
        within: seconds.
        told: what to tell besides when it never came; never a value of a secret.

    Raises:
        NotInTimeError: it never came.
    """
    deadline = time.monotonic() + within
    while True:
        found = probe()
        if found is not None and found is not False:
            return found
        if time.monotonic() > deadline:
            raise NotInTimeError(f"within {within:g} s there was not {awaited}. {told()}")
        time.sleep(_POLL_SECONDS)
