"""A signal ends a command that waits for the other end of a pipe, also if it comes just before the command waits."""

from __future__ import annotations

import ctypes
import operator
import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import pytest

from keybearer.cli.interruptible import Interruptible, ended_by_signals


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    both = os.pipe()
    yield both
    for one in both:
        os.close(one)


def read(pipe: tuple[int, int], woken: int) -> None:
    Interruptible(pipe[0], woken).read(1)


def write(pipe: tuple[int, int], woken: int) -> None:
    os.set_blocking(pipe[1], False)
    with suppress(BlockingIOError):
        while os.write(pipe[1], bytes(select.PIPE_BUF)):
            pass
    os.set_blocking(pipe[1], True)
    Interruptible(pipe[1], woken).write(b"and one more")


@pytest.mark.parametrize("waits", [read, write])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_just_before_it_waits_ends_it(
    pipe: tuple[int, int],
    waits: Callable[[tuple[int, int], int], None],
    number: signal.Signals,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raised = partial(ctypes.CDLL(None)["raise"], int(number))
    wait = select.select

    def after_the_signal(readable: list[int], writable: list[int], failed: list[int]) -> object:
        # One step of Python: it looks for signals before the first of the two calls, and not between them.
        return list(map(operator.call, [raised, partial(wait, readable, writable, failed)]))[1]

    former = signal.getsignal(number)
    monkeypatch.setattr(select, "select", after_the_signal)
    with ended_by_signals() as woken, pytest.raises(SystemExit) as ended:
        waits(pipe, woken)
    assert ended.value.code == 128 + number
    assert signal.getsignal(number) is former
