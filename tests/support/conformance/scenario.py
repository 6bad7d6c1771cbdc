"""What a scenario is: a coroutine whose name says what a destination does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from support.conformance.remote_under_test import RemoteUnderTest
from support.conformance.scene import Scene

__all__ = ["Scenario", "numbered", "row"]


def _any(_: RemoteUnderTest) -> bool:
    return True


@dataclass(frozen=True)
class Scenario:
    """What every destination does.

    Attributes:
        run: fails where the destination of the scene doesn't do it.
        concerns: whether a destination has what it is about.
        is_long: whether it belongs to the deep tests.
    """

    run: Callable[[Scene], Awaitable[None]]
    concerns: Callable[[RemoteUnderTest], bool] = _any
    is_long: bool = False

    def __str__(self) -> str:
        return self.run.__name__.replace("_", " ")


def row(given: object, name: str, scenario: Scenario) -> object:
    """Return the parameters of a test that runs a scenario with what is given, named by both."""
    marks = [pytest.mark.deep] if scenario.is_long else []
    return pytest.param(given, scenario, id=f"{name}: {scenario}", marks=marks)


def numbered(count: int, *, width: int = 3, mark: str = "") -> dict[str, str]:
    """Return so many secrets."""
    return {f"KEY_{number:0{width}}": f"cnry-{mark}{number}" for number in range(count)}
