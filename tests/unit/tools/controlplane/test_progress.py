"""A build shows a live line in a terminal, and plain lines elsewhere."""

from __future__ import annotations

import io
import os
import pty
import re
from contextlib import suppress

import pytest

from tools.controlplane.progress import Build, BuildProgress, announcement

_BUILD = Build("kube-apiserver", 2, 4, 230)


def test_the_line_says_which_program_of_how_many_and_both_times() -> None:
    assert _BUILD.line(83.9) == "building kube-apiserver (2 of 4): 1:23, usually at most 3:50"


def test_a_build_that_nobody_measured_says_no_usual_time() -> None:
    assert Build("hello", 1, 1).line(600) == "building hello (1 of 1): 10:00"


def test_the_start_says_what_is_compiled_that_it_is_once_and_how_long_it_takes() -> None:
    assert announcement(["etcd", "kubectl"], "/cache", "4 to 8") == (
        "compiling 2 Go programs once (etcd, kubectl); /cache keeps them. This takes 4 to 8 minutes on two cores."
    )
    assert announcement(["helm"], "/cache", "") == "compiling a Go program once (helm); /cache keeps them."


def test_where_there_is_no_terminal_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    written = io.StringIO()
    with BuildProgress(_BUILD, written) as progress:
        assert progress.interval_seconds == 30
        assert written.getvalue() == ""
        progress.update(30.2)
    assert written.getvalue() == "control plane: building kube-apiserver: 30 s\n"


def test_a_terminal_that_cannot_redraw_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert _drawn(30) == "control plane: building kube-apiserver: 30 s\r\n"


def test_a_terminal_shows_one_line_that_is_redrawn_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    drawn = _drawn(1, 2)
    times = re.findall(r"(\d:\d\d), usually at most 3:50", drawn)
    assert list(dict.fromkeys(times)) == ["0:00", "0:01", "0:02"]
    assert drawn.endswith("\x1b[2K"), "the line is removed"
    assert drawn.rindex("\x1b[?25h") > drawn.rindex("\x1b[?25l"), "the cursor is shown"


def test_a_narrow_terminal_cuts_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    shown = re.sub(r"\x1b\[[?\d]*[A-Za-z]", "", _drawn(1)).split("\r")
    assert max(len(line.strip("\n")) for line in shown) == 40


def test_the_cursor_is_visible_while_a_build_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    until_the_build_ends = _drawn(1).partition("0:01")[0]
    assert until_the_build_ends.rindex("\x1b[?25h") > until_the_build_ends.rindex("\x1b[?25l")


def _drawn(*seconds: float) -> str:
    """Return what a terminal gets from a build that is updated after so many seconds."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal, BuildProgress(_BUILD, terminal) as progress:
        for one in seconds:
            progress.update(one)
    drawn = b""
    with os.fdopen(ours, "rb", buffering=0) as screen, suppress(OSError):  # EIO after the last byte
        while more := screen.read(4096):
            drawn += more
    return drawn.decode()
