from __future__ import annotations

import io

import pytest
from rich.console import Console

from tools.soak.progress import Screen


def test_a_terminal_shows_the_phase_and_the_present_figures() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with Screen(console) as screen:
        screen.phase("changes", 600)
        screen.show(30, {"freshness": "p50 0.2 s"})
        screen.show(60, {"freshness": "p50 0.3 s"})

    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "changes" in shown
    assert "p50 0.3 s" in shown


def test_a_log_gets_a_line_for_each_phase_and_now_and_then_one_with_figures() -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=100)
    with Screen(console) as screen:
        screen.phase("first sync")
        screen.phase("changes", 600)
        for second in range(20):
            screen.show(second, {"freshness": "p50 0.2 s", "wrong": ""})

    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert [line.split(maxsplit=2)[2] for line in lines[:2]] == ["first sync", "changes"]
    assert lines[2:] == ["changes: 0 s: freshness p50 0.2 s"]


@pytest.mark.parametrize("terminal", [True, False])
def test_the_screen_is_given_back_when_something_fails(*, terminal: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)

    def fail() -> None:
        with Screen(console):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        fail()
    with Screen(console) as another:
        another.phase("changes")  # a console takes one living display at a time
