"""A folded table loses nothing: each row runs, and each that fails is reported by its name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import iscoroutinefunction, signature

import pytest

from support.rows import each_row


class Recorded:
    """Stands in for the fixture `subtests`."""

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}
        self.passed: list[str] = []

    @contextmanager
    def test(self, name: str) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            self.failed[name] = str(error).splitlines()[0]
        else:
            self.passed.append(name)


@each_row(("one", "other"), [(1, 1), (1, 2), pytest.param(3, 4, id="three is four")])
def compare(one: int, *, other: int) -> None:
    assert one == other, f"{one}, {other}"


@each_row("number", [1, 2, 3], ids=lambda number: f"number {number}")
async def is_even(offset: int, number: int) -> None:
    assert (number + offset) % 2 == 0, "odd"


def test_every_row_runs_and_each_that_fails_is_named() -> None:
    recorded = Recorded()
    compare(subtests=recorded)
    assert recorded.passed == ["(1, 1)"]
    assert recorded.failed == {"(1, 2)": "1, 2", "three is four": "3, 4"}


async def test_rows_of_a_coroutine_share_its_fixtures() -> None:
    recorded = Recorded()
    assert iscoroutinefunction(is_even)
    await is_even(subtests=recorded, offset=1)
    assert (recorded.passed, list(recorded.failed)) == (["number 1", "number 3"], ["number 2"])


def test_pytest_is_asked_for_the_fixtures_and_not_for_the_columns() -> None:
    assert list(signature(compare).parameters) == ["subtests"]
    assert list(signature(is_even).parameters) == ["offset", "subtests"]


def test_a_table_without_rows_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="no rows"):
        each_row("number", [])


def test_rows_have_names_of_their_own() -> None:
    with pytest.raises(ValueError, match="twice: 1"):
        each_row("number", [1, 1])
