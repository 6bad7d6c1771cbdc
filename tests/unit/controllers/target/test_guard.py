"""keybearer.controllers.target.guard: how much may go at once, and within a window."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.target.guard import (
    REMOVAL_NAMES_MAX,
    REMOVALS_MAX,
    GuardRules,
    Removal,
    remember,
    share_of_removed,
)

_NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_DAY = timedelta(hours=24)


def names(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"K{number:03}" for number in range(first, last))


def needs_release(
    remove: tuple[str, ...], before: int, max_deletions: int = 50, *past: Removal, there: tuple[str, ...] = ()
) -> bool:
    rules = GuardRules(max_deletions, _DAY)
    return share_of_removed(remove, before, rules, past=past, there=there, now=_NOW).needs_release


@pytest.mark.parametrize(
    ("remove", "before", "max_deletions", "held"),
    [
        pytest.param(0, 10, 0, False, id="nothing goes"),
        pytest.param(1, 10, 0, True, id="one goes and none may"),
        pytest.param(5, 10, 50, False, id="half may go"),
        pytest.param(6, 10, 50, True, id="more than half goes"),
        pytest.param(1, 1, 99, True, id="the only one goes"),
        pytest.param(10, 10, 100, True, id="all go though the percentage lets them"),
        pytest.param(0, 0, 0, False, id="nothing is there"),
    ],
)
def test_more_than_the_percentage_or_all_at_once_needs_a_release(
    remove: int, before: int, max_deletions: int, *, held: bool
) -> None:
    assert needs_release(names(0, remove), before, max_deletions) is held


@given(st.integers(1, 500), st.integers(0, 100))
def test_all_at_once_always_needs_a_release_and_nothing_never_does(before: int, max_deletions: int) -> None:
    assert needs_release(names(0, before), before, max_deletions)
    assert not needs_release((), before, max_deletions)


def test_what_went_key_by_key_within_the_window_counts() -> None:
    past = tuple(
        Removal(_NOW - timedelta(minutes=step), 10 - step, names(step, step + 1)) for step in range(5)
    )
    assert needs_release(names(7, 8), 5, 50, *past)
    assert not needs_release(names(7, 8), 5, 60, *past)


def test_what_went_before_the_window_counts_no_more() -> None:
    past = Removal(_NOW - _DAY, 10, names(0, 5))
    assert not needs_release(names(7, 8), 5, 50, past)
    assert needs_release(names(7, 8), 5, 50, Removal(_NOW - _DAY + timedelta(seconds=1), 10, names(0, 5)))


def test_a_window_of_nothing_remembers_nothing() -> None:
    rules = GuardRules(50, timedelta(0))
    past = (Removal(_NOW, 10, names(0, 5)),)
    assert not share_of_removed(names(7, 8), 5, rules, past=past, there=(), now=_NOW).needs_release


def test_a_name_that_came_back_counts_once() -> None:
    past = tuple(Removal(_NOW - timedelta(minutes=step), 10, ("K001",)) for step in range(1, 9))
    assert not needs_release(("K001",), 10, 10, *past)
    assert not needs_release(("K002",), 10, 10, *past, there=("K001",))
    assert needs_release(("K002",), 10, 10, *past)


def test_names_that_take_the_place_of_others_step_by_step_don_t_hide_what_went() -> None:
    # Ten of a hundred are renamed at a time: there are always a hundred.
    past: tuple[Removal, ...] = ()
    for step in range(5):
        gone = names(step * 10, step * 10 + 10)
        assert not needs_release(gone, 100, 50, *past)
        past = remember(past, Removal(_NOW, 100, gone), _DAY)
    assert needs_release(names(50, 60), 100, 50, *past)


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 40)), max_size=60))
def test_what_is_remembered_stays_bounded_and_forgets_no_name_of_the_window(
    changes: list[tuple[int, int]],
) -> None:
    past: tuple[Removal, ...] = ()
    everything: set[str] = set()
    for first, count in changes:
        gone = names(first, first + count)
        everything |= set(gone)
        past = remember(past, Removal(_NOW, 1000, gone), _DAY)
    assert len(past) <= REMOVALS_MAX
    assert sum(len(one.names) for one in past) <= REMOVALS_MAX * REMOVAL_NAMES_MAX
    told = share_of_removed(("NEW",), 1000, GuardRules(50, _DAY), past=past, there=(), now=_NOW)
    assert told.removed >= len(everything) + 1
    assert all(len(one.names) <= REMOVAL_NAMES_MAX for one in past)


def test_what_is_older_than_the_window_is_forgotten_with_the_next_removal() -> None:
    old = Removal(_NOW - _DAY, 10, ("OLD",))
    new = Removal(_NOW, 9, ("NEW",))
    assert remember((old,), new, _DAY) == (new,)


@pytest.mark.parametrize(
    ("noted", "new", "remembered"),
    [
        pytest.param((4, ("K1",)), (4, ("K1",)), [("K1",)], id="as it was noted"),
        pytest.param((4, ("K1",)), (4, ("K1", "K2")), [("K1", "K2")], id="more goes by now"),
        pytest.param((4, ("K1", "K2")), (4, ("K1",)), [("K1", "K2"), ("K1",)], id="less goes by now"),
        pytest.param((9, ("K1",)), (4, ("K1",)), [("K1",), ("K1",)], id="there were more names then"),
    ],
)
def test_a_change_that_was_noted_and_not_made_is_remembered_once(
    noted: tuple[int, tuple[str, ...]], new: tuple[int, tuple[str, ...]], remembered: list[tuple[str, ...]]
) -> None:
    past = (Removal(_NOW - timedelta(minutes=1), *noted),)
    assert [one.names for one in remember(past, Removal(_NOW, *new), _DAY)] == remembered


def test_what_is_counted_without_a_name_is_never_taken_for_a_repetition() -> None:
    past = (Removal(_NOW - timedelta(minutes=1), 4, ("K1",), omitted=1),)
    assert len(remember(past, Removal(_NOW, 4, ("K1",)), _DAY)) == 2
