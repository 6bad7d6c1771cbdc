"""Beginning an operation anew when another change met it.

The database refuses one of two changes that met and undoes its whole unit, so that nothing is wrong with what was
asked. A unit can't be repeated by itself: what is written follows from what was read, and decided, before. So the
operation is repeated as a whole, by whoever knows where it begins, and only while no unit of it was committed.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from datetime import timedelta
from typing import TypeVar

from keybearer.base.backoff import Backoff
from keybearer.base.logs import get_logger
from keybearer.store.failures import RaceError

__all__ = ["note_commit", "repeated"]

_T = TypeVar("_T")
_ATTEMPTS = 6
_BACKOFF = Backoff(floor=timedelta(milliseconds=10), ceiling=timedelta(milliseconds=200), jitter=1.0)
"""At most 0.4 s in all; from nothing on, so that those who met spread."""
_RNG = random.Random()  # noqa: S311 - jitter, not cryptography
_log = get_logger(__name__)


class _Attempt:
    """Whether something of it was committed, or may have been."""

    __slots__ = ("committed",)

    def __init__(self) -> None:
        self.committed = False


_current: ContextVar[_Attempt | None] = ContextVar("keybearer.attempt", default=None)


def note_commit() -> None:
    """Say that a unit was committed, or may have been: the operation around it isn't begun anew any more."""
    attempt = _current.get()
    if attempt is not None:
        attempt.committed = True


async def repeated(operation: Callable[[], Awaitable[_T]]) -> _T:
    """Return what the operation returns; it is begun anew, a few times, when another change met it.

    Raises:
        RaceError: others met it each time, or after a unit of it was committed.
    """
    tries = 0
    while True:
        tries += 1
        attempt = _Attempt()
        token = _current.set(attempt)
        try:
            return await operation()
        except RaceError:
            if attempt.committed or tries == _ATTEMPTS:
                raise
        finally:
            _current.reset(token)
        _log.debug("begun_anew_after_a_race", tries=tries)
        await asyncio.sleep(_BACKOFF.delay(tries, _RNG).total_seconds())
