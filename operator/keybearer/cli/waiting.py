"""Waiting until what the service was asked for is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from keybearer.cli.failures import CommandError

__all__ = ["wait_until_over"]

T = TypeVar("T")


def wait_until_over(
    begun: T,
    read: Callable[[], T],
    under_way: Callable[[T], str | None],
    tell: Callable[[str], None],
    too_late: Callable[[str], CommandError],
    *,
    every_seconds: float,
    until: float,
    sleep: Callable[[float], None],
    monotonic: Callable[[], float],
) -> T:
    """Return it as it is once it is over, however it ended.

    Args:
        begun: as it was at first.
        read: asks the service how it is now.
        under_way: returns its status while it goes on, and None once it is over.
        tell: is given each new status.
        too_late: makes the error of a status that it still has in the end.
        every_seconds: how long to wait between two looks.
        until: when to give up, as `monotonic` tells it.
        sleep: waits, in seconds.
        monotonic: tells lengths of time, in seconds.

    Raises:
        CommandError: it isn't over by then; it goes on by itself.
    """
    state, told = begun, None
    while (status := under_way(state)) is not None:
        if status != told:
            tell(status)
            told = status
        if monotonic() >= until:
            raise too_late(status)
        sleep(every_seconds)
        state = read()
    return state
