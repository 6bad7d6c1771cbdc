"""The budget of effects: what it lets pass at once, what waits, and for how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.effect_budget import (
    LEDGER_MAX,
    REPAIRS,
    RESTARTS,
    EffectBudgets,
    Ledger,
    Limit,
    Spent,
    free_at,
    issues_limit,
    put_right,
    spend,
    used,
)
from unit.controllers.fakes.hand_clock import HandClock

_START = datetime(2026, 11, 26, 12, tzinfo=UTC)
_LIMITS = (REPAIRS, RESTARTS, issues_limit(timedelta(hours=1)), issues_limit(timedelta(minutes=2)))


def _as_often_as_allowed(limit: Limit, waits: list[float]) -> tuple[list[datetime], list[timedelta], Ledger]:
    """Cause the effect as soon as it may be, each time a little later; return when, the pauses and the ledger."""
    now, times, pauses = _START, list[datetime](), list[timedelta]()
    ledger: Ledger = ()
    for wait in waits:
        now += timedelta(seconds=wait)
        free = free_at(ledger, limit, now)
        if free is not None:
            pauses.append(free - now)
            now = free
        ledger = spend(ledger, limit, now)
        times.append(now)
    return times, pauses, ledger


class TestCounting:
    @given(
        st.sampled_from(_LIMITS),
        st.lists(st.floats(min_value=0, max_value=400, allow_nan=False), min_size=1, max_size=200),
    )
    def test_no_window_has_more_than_the_limit(self, limit: Limit, waits: list[float]) -> None:
        times, _, ledger = _as_often_as_allowed(limit, waits)

        for first, begin in enumerate(times):
            assert sum(begin <= time < begin + limit.window for time in times[first:]) <= limit.count
        assert len(ledger) <= LEDGER_MAX

    @given(st.lists(st.floats(min_value=0, max_value=30, allow_nan=False), min_size=1, max_size=200))
    def test_repairs_never_pause_for_more_than_five_minutes(self, waits: list[float]) -> None:
        _, pauses, _ = _as_often_as_allowed(REPAIRS, waits)

        assert max(pauses, default=timedelta()) <= timedelta(minutes=5)

    def test_fifteen_repairs_are_made_at_once_and_the_next_after_growing_pauses(self) -> None:
        times, pauses, _ = _as_often_as_allowed(REPAIRS, [0] * 19)

        assert times[14] == _START
        assert [pause.total_seconds() for pause in pauses] == [5, 10, 20, 40]

    def test_a_budget_is_whole_again_when_its_window_has_passed(self) -> None:
        _, _, ledger = _as_often_as_allowed(REPAIRS, [0] * 15)

        assert used(ledger, REPAIRS, _START + timedelta(seconds=599)) == 15
        assert used(ledger, REPAIRS, _START + timedelta(seconds=600)) == 0

    def test_what_a_wrong_clock_noted_for_later_ends_with_the_window(self) -> None:
        far = _START + timedelta(hours=17)
        ledger: Ledger = (Spent(since=far, last=far, count=6),)
        limit = issues_limit(timedelta(days=90))

        free = free_at(ledger, limit, _START)

        assert free == _START + limit.window
        assert sum(one.count for one in spend(ledger, limit, _START)) == 7


class TestIssuesLimit:
    @pytest.mark.parametrize(
        ("lifetime", "count"),
        [
            (timedelta(days=90), 6),
            (timedelta(hours=1), 6),
            (timedelta(minutes=30), 6),
            (timedelta(minutes=10), 18),
            (timedelta(minutes=1), 180),
            (timedelta(), 6),
        ],
    )
    def test_is_six_or_three_per_lifetime_in_an_hour(self, lifetime: timedelta, count: int) -> None:
        assert issues_limit(lifetime).count == count


class TestEffectBudgets:
    def test_objects_and_effects_have_budgets_of_their_own(self) -> None:
        budgets = EffectBudgets(HandClock())

        assert budgets.take("one", RESTARTS) is None
        assert budgets.take("one", RESTARTS) is not None
        assert budgets.take("other", RESTARTS) is None
        assert budgets.take("one", REPAIRS) is None

    def test_is_free_again_after_its_wait_and_each_delay_is_told(self) -> None:
        clock, delayed = HandClock(), list[str]()
        budgets = EffectBudgets(clock, delayed.append)
        budgets.take("one", RESTARTS)
        budgets.take("one", RESTARTS)

        clock.seconds += budgets.wait("one", RESTARTS).total_seconds()

        assert delayed == ["restart"]
        assert budgets.take("one", RESTARTS) is None

    def test_a_clock_that_is_put_back_holds_nothing_up_for_longer_than_the_window(self) -> None:
        clock = HandClock()
        budgets = EffectBudgets(clock)
        budgets.take("one", RESTARTS)
        clock.seconds -= 17 * 3600
        assert budgets.take("one", RESTARTS) is not None

        clock.seconds += budgets.wait("one", RESTARTS).total_seconds()

        assert budgets.take("one", RESTARTS) is None

    def test_what_was_not_caused_is_given_back(self) -> None:
        budgets = EffectBudgets(HandClock())
        budgets.take("one", RESTARTS)

        budgets.give_back("one", RESTARTS)

        assert budgets.take("one", RESTARTS) is None

    def test_what_counts_no_more_can_be_given_back_all_the_same(self) -> None:
        clock = HandClock()
        budgets = EffectBudgets(clock)
        budgets.take("one", RESTARTS)
        clock.seconds += RESTARTS.window.total_seconds() + 1
        budgets.take("other", RESTARTS)

        budgets.give_back("one", RESTARTS)

        assert budgets.take("one", RESTARTS) is None

    def test_an_overrun_lasts_until_nothing_was_spent_for_longer_than_the_longest_pause(self) -> None:
        clock = HandClock()
        budgets = EffectBudgets(clock)
        for _ in range(16):
            assert budgets.overrun("one", REPAIRS) is None
            budgets.take("one", REPAIRS, "somebody")
        begun = budgets.overrun("one", REPAIRS)
        assert begun is not None
        assert begun.why == "somebody"

        for _ in range(20):
            clock.seconds += budgets.wait("one", REPAIRS).total_seconds()
            assert budgets.take("one", REPAIRS, "somebody else") is None
            goes_on = budgets.overrun("one", REPAIRS)
            assert goes_on is not None
            assert (goes_on.since, goes_on.why) == (begun.since, begun.why)
        clock.seconds += REPAIRS.longest_pause.total_seconds() * 1.2 + 1

        assert budgets.overrun("one", REPAIRS) is None

    def test_what_counts_no_more_is_not_held(self) -> None:
        clock = HandClock()
        budgets = EffectBudgets(clock)
        objects = [f"object {number}" for number in range(10)]
        for name in objects:
            budgets.take(name, RESTARTS)
        clock.seconds += 120
        budgets.take("another", RESTARTS)

        # What was still held would count again under a clock that is put back.
        clock.seconds -= 119

        assert [budgets.take(name, RESTARTS) for name in objects] == [None] * 10
        assert budgets.take("another", RESTARTS) is not None


def test_what_a_wrong_clock_noted_ends_with_the_window_once_it_is_put_right() -> None:
    later = _START + timedelta(hours=17)
    limit = Limit("issue", 1, timedelta(hours=1))
    ledger = put_right(spend((), limit, later), _START)

    assert free_at(ledger, limit, _START) == _START + timedelta(hours=1)
    assert free_at(ledger, limit, _START + timedelta(hours=1)) is None
    assert put_right(ledger, _START) is ledger
