"""Waiting until what the service was asked for is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from keybearer.cli.failures import CommandError, ExitStatus

__all__ = ["wait_until_over"]

T = TypeVar("T")


def wait_until_over(
    subject: str,
    begun: T,
    read: Callable[[], T],
    under_way: Callable[[T], str | None],
    tell: Callable[[str], None],
    later: str,
    *,
    patience: timedelta,
    every_seconds: float,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> T:
    """Return it as it is once it is over, however it ended.

    Args:
        subject: what errors call it, such as `sync push`.
        begun: as it was at first.
        read: asks the service how it is now.
        under_way: returns its status while it goes on, and None once it is over.
        tell: is given each new status.
        later: the command that looks at it later.
        patience: how long to wait at most.
        every_seconds: how long to wait between two looks.
        sleep: waits, in seconds.
        monotonic: tells lengths of time, in seconds.

    Raises:
        CommandError: it isn't over by then; it goes on by itself.
    """
    until, state, told = monotonic() + patience.total_seconds(), begun, None
    while (status := under_way(state)) is not None:
        if status != told:
            tell(f"{subject}: {status}")
            told = status
        if monotonic() >= until:
            raise CommandError(
                f"{subject} is still {status} after {patience.total_seconds():.0f} s; it goes on by itself",
                ExitStatus.UNAVAILABLE,
                f"Look at it later: {later}",
            )
        sleep(every_seconds)
        state = read()
    return state
