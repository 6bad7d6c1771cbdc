"""Ends a command in good order when a signal asks it to."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["StopRequested", "stop_on_signals"]


class StopRequested(BaseException):
    """Unwinds from wherever a signal arrives, through the clean-up of everything started."""


def stop_on_signals() -> None:
    """From now on SIGINT and SIGTERM raise StopRequested, once, in the main thread."""
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, _stop_once)


def _stop_once(_signal_number: int, _frame: FrameType | None) -> None:
    # A second Ctrl-C must not interrupt the clean-up that the first one began.
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, signal.SIG_IGN)
    raise StopRequested
