"""Waits for what other programs do: by condition, with a deadline, and with a word for what never came."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

__all__ = [
    "GRACE",
    "PATIENCE",
    "PATIENCE_SECONDS",
    "PROBE_SECONDS",
    "TEST_SECONDS",
    "NotInTimeError",
    "eventually",
]

T = TypeVar("T")

_VARIABLE = "KEYBEARER_TEST_PATIENCE"
_DEFAULT_SECONDS = "100"
_POLL_SECONDS = 0.03


def _patience() -> float:
    """Return the setting.

    Raises:
        ValueError: it is no finite number above 0.
    """
    text = os.environ.get(_VARIABLE, _DEFAULT_SECONDS)  # noqa: TID251 - a setting of the tests, read here only
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ValueError(f"{_VARIABLE}={text} is not a number of seconds above 0. Correct it, or unset it")
    return seconds


PATIENCE_SECONDS = _patience()
"""What usually takes a second may take this long on a machine that does other things as well.

Kubernetes' collector of garbage learns of new kinds each half minute only, and may miss one of these turns.
"""
PATIENCE = timedelta(seconds=PATIENCE_SECONDS)
PROBE_SECONDS = PATIENCE_SECONDS / 20
"""One question to a program that may hang; who asks will ask again."""
GRACE = PATIENCE / 10
"""For a program to end by itself, where nothing is lost when it is killed then."""
TEST_SECONDS = 3 * PATIENCE_SECONDS
"""How long a test may take, together with the start and end of its fixtures."""


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
