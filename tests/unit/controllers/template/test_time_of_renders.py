from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from keybearer.controllers.template import sandbox_server
from keybearer.controllers.template.confinement import processor_seconds
from keybearer.controllers.template.protocol import WALL_FACTOR
from tools.local.waiting import eventually

_PID = 7


@pytest.fixture
def child() -> Iterator[sandbox_server._Child]:
    """Yield a render of two seconds that began at 100 s."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield sandbox_server._Child(theirs, 2.0, 100.0)


def _took(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(sandbox_server, "processor_seconds", {_PID: seconds}.__getitem__)


def test_a_render_that_waits_for_the_processor_is_given_the_rest_of_its_time(
    monkeypatch: pytest.MonkeyPatch, child: sandbox_server._Child
) -> None:
    _took(monkeypatch, 0.25)
    assert not child.has_had_its_time(_PID, 102.0)
    assert child.deadline == 103.75, "it can't have had two seconds before that"
    _took(monkeypatch, 1.99)
    assert not child.has_had_its_time(_PID, 103.75)
    assert child.deadline == 103.75 + sandbox_server._LOOK_SECONDS, "the server doesn't look without pause"
    _took(monkeypatch, 2.0)
    assert child.has_had_its_time(_PID, 103.8)


def test_before_its_deadline_nobody_looks_what_a_render_took(child: sandbox_server._Child) -> None:
    assert not child.has_had_its_time(_PID, 101.9)


def test_a_render_that_never_gets_its_time_ends_by_the_clock(
    monkeypatch: pytest.MonkeyPatch, child: sandbox_server._Child
) -> None:
    _took(monkeypatch, 0.5)
    latest = 100 + WALL_FACTOR * 2.0
    assert not child.has_had_its_time(_PID, latest - 0.1)
    assert child.deadline == latest
    assert child.has_had_its_time(_PID, latest)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such clock")
def test_the_time_of_a_child_is_what_the_processor_worked_for_it() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            eventually(lambda: processor_seconds(busy.pid) > 0.2, awaited="work of the processor")
        finally:
            busy.kill()
        os.waitid(os.P_PID, busy.pid, os.WEXITED | os.WNOWAIT)
        took = processor_seconds(busy.pid)
        assert took > 0.2, "a child that has ended is asked after before it is reaped"
    assert busy.returncode == -signal.SIGKILL
