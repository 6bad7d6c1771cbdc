"""The canary: secret values in tests carry a mark, and after each test every outlet is searched for it.

Captured output, logs and tracebacks of a passing test are searched by themselves. What lives elsewhere (log
files of processes, Events, statuses, metrics) is added by fixtures through `Canary.watch`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

import pytest

from tools.local.marks import find_mark

__all__ = ["Canary", "canary"]


@dataclass
class Canary:
    """Outlets that one test watches."""

    outlets: list[tuple[str, Callable[[], str]]] = field(default_factory=list)

    def watch(self, name: str, read: Callable[[], str]) -> None:
        """Search what `read` returns when the test has ended."""
        self.outlets.append((name, read))

    def leaks(self) -> list[str]:
        """Return one line for each outlet that shows a mark."""
        found = ((name, find_mark(read())) for name, read in self.outlets)
        return [f"{name} shows a marked value: ...{where}..." for name, where in found if where]


@pytest.fixture
def canary() -> Iterator[Canary]:
    """Yield the canary of this test; the test fails when a watched outlet shows a marked value."""
    watch = Canary()
    yield watch
    leaks = watch.leaks()
    assert not leaks, "\n".join(leaks)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a passing test whose captured output, log or error shows a marked value."""
    report = yield
    if report.passed and call.when != "setup" and not item.get_closest_marker("shows_secrets"):
        for title, text in report.sections:
            where = find_mark(text)
            if where:
                report.outcome = "failed"
                report.longrepr = f"{title} of {call.when} shows a marked value: ...{where}..."
    return report
