"""Tools of the operating system that the system tier runs; what is absent is named in the last line of the run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import NoReturn

import pytest

__all__ = ["SystemTool", "not_run", "pytest_unconfigure", "system_tool"]

SystemTool = Callable[[str], str]
_ABSENT = pytest.StashKey[set[str]]()


@pytest.fixture(scope="session")
def system_tool(request: pytest.FixtureRequest) -> SystemTool:
    """Return a function that gives the path of a tool, or skips the test and notes the absence."""

    def find(name: str) -> str:
        found = shutil.which(name)
        if found is None:
            not_run(request.config, name, f"{name} is not installed")
        return found

    return find


def not_run(config: pytest.Config, what: str, why: str) -> NoReturn:
    """Skip the test, and name in the last line of the run what was not run."""
    config.stash.setdefault(_ABSENT, set()).add(what)
    pytest.skip(why)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say, after everything else, which tools were absent."""
    absent = config.stash.get(_ABSENT, set())
    if absent:
        print(f"NOT RUN: {', '.join(sorted(absent))}")  # noqa: T201 - the last line of the run
