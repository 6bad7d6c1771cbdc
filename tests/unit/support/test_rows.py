"""A folded table loses nothing: each row runs, and each that fails is named."""

from __future__ import annotations

from inspect import iscoroutinefunction, signature

import pytest

from support.rows import each_row, every_row

ran: list[object] = []


@each_row(("one", "other"), [(1, 2), (1, 1), pytest.param(3, 4, id="three is four"), (5, 5)])
def compare(one: int, *, other: int) -> None:
    ran.append((one, other))
    assert one == other, f"{one}, {other}"


@each_row("number", [1, 2, 3], ids=lambda number: f"number {number}")
async def is_even(offset: int, number: int) -> None:
    ran.append(number)
    assert (number + offset) % 2 == 0, "odd"


@each_row("one", [1, 2])
@each_row("other", [1, 2])
def compare_all(one: int, other: int) -> None:
    ran.append((one, other))
    assert one <= other, "more"


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


def first_lines(failure: BaseException) -> list[str]:
    """Return what is said of each row, without what pytest adds to an assertion."""
    return [line for line in str(failure).splitlines() if line.startswith("-") or "rows fail" in line]


def test_every_row_runs_and_each_that_fails_is_named() -> None:
    with pytest.raises(AssertionError) as failure:
        compare()
    assert ran == [(1, 2), (1, 1), (3, 4), (5, 5)]
    said = first_lines(failure.value)
    assert said[0] == "2 rows fail:"
    assert [line.partition(": ")[0] for line in said[1:]] == ["- (1, 2)", "- three is four"]
    assert "AssertionError at test_rows.py:" in said[1]
    assert said[1].endswith(": 1, 2")


async def test_rows_of_a_coroutine_share_its_fixtures() -> None:
    assert iscoroutinefunction(is_even)
    with pytest.raises(AssertionError, match="1 rows fail:\n- number 2"):
        await is_even(offset=1)
    assert ran == [1, 2, 3]


def test_two_tables_make_every_combination() -> None:
    with pytest.raises(AssertionError, match="1 rows fail:\n- 2, 1"):
        compare_all()
    assert ran == [(1, 1), (1, 2), (2, 1), (2, 2)]


def fail(error: BaseException) -> None:
    raise error


def broken_table(*, ends: bool) -> None:
    with every_row() as row:
        with row("error"):
            fail(KeyError("gone"))
        with row("no error"):
            fail(pytest.fail.Exception("there is none"))
        if ends:
            raise ZeroDivisionError


def test_a_row_also_fails_by_an_error_and_where_an_expected_one_is_missing() -> None:
    with pytest.raises(AssertionError, match=r"2 rows fail:\n- error: KeyError .*\n- no error: Failed"):
        broken_table(ends=False)


def test_what_ends_the_table_tells_of_the_rows_before() -> None:
    with pytest.raises(ZeroDivisionError) as failure:
        broken_table(ends=True)
    assert "- error: KeyError" in failure.value.__notes__[0]


def test_pytest_is_asked_for_the_fixtures_and_not_for_the_columns() -> None:
    assert list(signature(compare).parameters) == []
    assert list(signature(is_even).parameters) == ["offset"]


def test_a_table_without_rows_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="no rows"):
        each_row("number", [])


def test_rows_have_names_of_their_own() -> None:
    with pytest.raises(ValueError, match="twice: 1"):
        each_row("number", [1, 1])


def test_combinations_of_two_tables_have_names_of_their_own() -> None:
    with pytest.raises(ValueError, match="twice: x, y, z"):

        @each_row("one", ["x", "x, y"], ids=str)
        @each_row("other", ["y, z", "z"], ids=str)
        def compare(one: str, other: str) -> None:
            raise AssertionError(one, other)


def rows_that_raise(*errors: BaseException) -> None:
    with every_row() as row:
        for number, error in enumerate(errors):
            with row(str(number)):
                raise error


def test_a_row_that_skips_hides_no_other() -> None:
    with pytest.raises(AssertionError, match="2 rows fail"):
        rows_that_raise(AssertionError("wrong"), pytest.skip.Exception("not here"))


def test_the_timeout_of_the_test_ends_the_table() -> None:
    timeout = pytest.fail.Exception("Timeout (>300.0s) from pytest-timeout.")
    with pytest.raises(pytest.fail.Exception, match="pytest-timeout"):
        rows_that_raise(timeout, AssertionError("the next row ran"))


def test_marks_of_a_row_are_refused() -> None:
    with pytest.raises(ValueError, match="use parametrize"):
        each_row("number", [pytest.param(1, marks=pytest.mark.deep)])
