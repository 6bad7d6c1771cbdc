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
    "pause_seconds",
]

T = TypeVar("T")

_VARIABLE = "KEYBEARER_TEST_PATIENCE"
_DEFAULT_SECONDS = "100"
_PAUSE_MIN_SECONDS = 0.03
_PAUSE_MAX_SECONDS = 2.0
_PAUSES_PER_LOOK = 4
_LATENESS = 0.05


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


def pause_seconds(*, look: float, waited: float) -> float:
    """Return how long to wait before the next look: what looks often takes the processor from what is awaited.

    Args:
        look: seconds that the last one took; looks are a fifth of the time at most, unless they take long.
        waited: seconds since the first; what comes is seen later by a twentieth of that at most.
    """
    pause = max(_PAUSE_MIN_SECONDS, _PAUSES_PER_LOOK * look, _LATENESS * waited)
    return min(_PAUSE_MAX_SECONDS, pause)


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
    began = time.monotonic()
    while True:
        looked = time.monotonic()
        found = probe()
        if found is not None and found is not False:
            return found
        now = time.monotonic()
        if now - began > within:
            raise NotInTimeError(f"within {within:g} s there was not {awaited}. {told()}")
        time.sleep(pause_seconds(look=now - looked, waited=now - began))
