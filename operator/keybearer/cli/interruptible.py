"""Reading and writing that a signal ends at once, whoever is at the other end of the pipe."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

__all__ = ["Interruptible", "ended_by_signals"]

_SIGNAL_STATUS = 128
"""With the signal's number, the status of a program that a signal ended; as in shells."""


@contextmanager
def ended_by_signals() -> Iterator[int]:
    """Let a signal that ends the program end it by SystemExit, so that nothing is left behind.

    Yields:
        A descriptor that has something to read as soon as such a signal has come, for `Interruptible`.
    """

    def end(number: int, _: FrameType | None) -> NoReturn:
        sys.exit(_SIGNAL_STATUS + number)

    woken, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    former_wakes = signal.set_wakeup_fd(wakes)
    former = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield woken
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(former_wakes)
        os.close(woken)
        os.close(wakes)


class Interruptible(RawIOBase):
    """A file, pipe or socket, without a buffer.

    Python looks for signals between two of its own steps. A signal that comes after the last look and before the
    call that waits would be noticed when that call ends, which may be never. So every wait here is for the
    descriptor and for signals together.

    Args:
        descriptor: stays open if this is closed, unless `is_own`.
        woken: what `ended_by_signals` yields.
    """

    def __init__(self, descriptor: int, woken: int, *, is_own: bool = False) -> None:
        self._descriptor = descriptor
        self._woken = woken
        self._is_own = is_own

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill the buffer with what there is, and return how many bytes that is; 0 at the end."""
        self._wait([self._descriptor], [])
        return os.readv(self._descriptor, [buffer])

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all of it, and return how many bytes that is."""
        left = memoryview(data)
        while left:
            self._wait([], [self._descriptor])
            # A pipe that is ready takes as much without waiting (POSIX, pipe.h).
            left = left[os.write(self._descriptor, left[: select.PIPE_BUF]) :]
        return len(memoryview(data))

    def _wait(self, readable: list[int], writable: list[int]) -> None:
        """Return when the descriptor is ready; between two looks the handler of a signal raises."""
        ready: set[int] = set()
        while self._descriptor not in ready:
            read_from, write_to, _ = select.select([*readable, self._woken], writable, [])
            ready = {*read_from, *write_to}

    def close(self) -> None:
        """Close the descriptor, if it is its own."""
        if self._is_own and not self.closed:
            os.close(self._descriptor)
        super().close()
