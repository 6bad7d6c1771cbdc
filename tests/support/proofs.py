"""What tests on nodes proved, said at the end of a run: a sentence each, its time, and what was observed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest
from _pytest.terminal import TerminalReporter

__all__ = ["Observe", "observe", "pytest_terminal_summary"]

Observe = Callable[[str], None]

_PLACE = "tests/system/node/"
_FIGURE = "observed"


@pytest.fixture
def observe(record_property: Callable[[str, object], None]) -> Observe:
    """Return a function that takes what a test observed, a line each, for the end of the run."""

    def take(line: str) -> None:
        record_property(_FIGURE, line)

    return take


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """List what was proved, and how long it took with and without what was set up for it."""
    proved = [one for one in _reports(terminalreporter, "passed") if one.when == "call"]
    if not proved:
        return
    whole = sum(one.duration for one in _reports(terminalreporter, "", "passed", "failed", "error"))
    terminalreporter.section("proved on nodes")
    for one in proved:
        terminalreporter.write_line(f"{one.duration:5.0f} s  {_sentence(one)}")
        for name, line in one.user_properties:
            if name == _FIGURE:
                terminalreporter.write_line(f"         {line}")
    between = whole - sum(one.duration for one in proved)
    terminalreporter.write_line(f"{between:5.0f} s  setting up for these, and clearing away")


def _reports(reporter: TerminalReporter, *outcomes: str) -> Iterator[pytest.TestReport]:
    for outcome in outcomes:
        found: Iterable[object] = reporter.stats.get(outcome, ())
        for one in found:
            if isinstance(one, pytest.TestReport) and one.nodeid.startswith(_PLACE):
                yield one


def _sentence(report: pytest.TestReport) -> str:
    return report.nodeid.rpartition("::")[2].removeprefix("test_").replace("_", " ")
