"""keybearer.controllers.issuance.timing."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.effect_budget import Ledger, free_at, issues_limit, spend
from keybearer.controllers.issuance.timing import (
    is_too_early,
    next_attempt,
    poll_interval,
    renewal_time,
    spread,
    time_there,
)

_START = datetime(2026, 3, 1, tzinfo=UTC)
_LIFE = timedelta(days=90)


@pytest.mark.parametrize(
    ("renew_before", "due"),
    [
        pytest.param(None, timedelta(days=60), id="two thirds of its lifetime"),
        pytest.param(timedelta(days=10), timedelta(days=80), id="what the manifest says"),
        pytest.param(timedelta(), timedelta(days=60), id="nothing said"),
        pytest.param(timedelta(days=60), timedelta(days=30), id="two thirds of its lifetime before its end"),
        pytest.param(timedelta(days=90), timedelta(days=30), id="not before a third of it"),
        pytest.param(timedelta(days=900), timedelta(days=30), id="not even for more than it lives"),
    ],
)
def test_it_is_renewed_when_due_or_up_to_15_percent_earlier(
    renew_before: timedelta | None, due: timedelta
) -> None:
    latest = renewal_time(_START, _START + _LIFE, renew_before, 0.0)
    earliest = renewal_time(_START, _START + _LIFE, renew_before, 1.0)

    assert latest == _START + due
    assert abs(earliest - (_START + max(due * 0.85, _LIFE / 3))) < timedelta(seconds=1)


@given(
    life=st.integers(1, 10**9),
    before=st.none() | st.integers(0, 10**9),
    share=st.floats(0, 1, exclude_max=True),
)
def test_it_is_never_renewed_late_nor_before_it_is_valid(life: int, before: int | None, share: float) -> None:
    ends = _START + timedelta(seconds=life)
    renew_before = None if before is None else timedelta(seconds=before)
    at = renewal_time(_START, ends, renew_before, share)

    assert _START <= at <= ends
    if not is_too_early(renew_before, timedelta(seconds=life)):
        assert at <= ends - (renew_before or timedelta()) + timedelta(seconds=1)


@given(
    ttl=st.integers(60, 10**8),
    backdated=st.integers(0, 10**8),
    before=st.none() | st.integers(0, 10**9),
    share=st.floats(0, 1, exclude_max=True),
    parts=st.integers(0, 999_999),
)
def test_a_third_of_its_time_passes_after_the_issue_and_a_tenth_of_its_lifetime(
    ttl: int, backdated: int, before: int | None, share: float, parts: int
) -> None:
    issued_at = _START + timedelta(microseconds=parts)
    begins, ends = _START - timedelta(seconds=backdated), _START + timedelta(seconds=ttl)
    renew_before = None if before is None else timedelta(seconds=before)

    at = renewal_time(begins, ends, renew_before, share, issued_at)

    assert at - issued_at >= (ends - issued_at) / 3 - timedelta(microseconds=2)
    assert at - issued_at >= (ends - begins) / 10 - timedelta(microseconds=2)


def test_renewals_are_never_more_than_three_in_a_lifetime_and_stay_within_the_budget() -> None:
    for ttl in (timedelta(hours=1), timedelta(hours=2), timedelta(days=1)):
        now, issues = _START, list[datetime]()
        ledger: Ledger = ()
        limit = issues_limit(ttl)
        while now < _START + 20 * ttl:
            assert free_at(ledger, limit, now) is None
            ledger = spend(ledger, limit, now)
            issues.append(now)
            now = renewal_time(now - timedelta(minutes=5), now + ttl, ttl * 2 / 3, 0.99, now)
        assert max(sum(at <= one < at + ttl for one in issues) for at in issues) <= 3


@pytest.mark.parametrize(
    ("ahead", "seen"),
    [(None, 0), (timedelta(seconds=60), 0), (timedelta(seconds=-60), 0), (timedelta(seconds=61), 61)],
)
def test_the_clock_of_the_service_counts_where_it_differs_by_more_than_a_minute(
    ahead: timedelta | None, seen: int
) -> None:
    assert time_there(_START, ahead) == _START + timedelta(seconds=seen)


def test_ten_thousand_that_end_together_are_renewed_spread_and_none_late() -> None:
    ends = _START + _LIFE
    times = sorted(renewal_time(_START, ends, None, spread("uid", f"c{number}")) for number in range(10_000))

    assert times[0] >= _START + timedelta(days=51)
    assert times[-1] <= _START + timedelta(days=60)
    # Nine days of 216 hours: about 46 in each, and no hour has the double.
    per_hour = Counter((at - _START) // timedelta(hours=1) for at in times)
    assert max(per_hour.values()) < 92
    # At a rate of one in ten seconds, which a small service does as well, a simulated queue never falls far behind.
    free_at = times[0]
    for at in times:
        free_at = max(free_at, at) + timedelta(seconds=10)
    assert free_at <= ends - timedelta(days=29)


def test_a_share_stays_the_same_and_differs_between_objects_and_names() -> None:
    assert spread("a", "b") == spread("a", "b")
    assert len({spread("a", "b"), spread("a", "c"), spread("d", "b")}) == 3
    assert all(0 <= spread("uid", str(number)) < 1 for number in range(1000))


def test_attempts_begin_after_a_minute_and_end_at_32_hours() -> None:
    waits = [next_attempt(_START, failures, Random(1)) - _START for failures in range(1, 20)]  # noqa: S311

    assert timedelta(seconds=47) <= waits[0] <= timedelta(minutes=1)
    assert all(wait <= timedelta(hours=32) for wait in waits)
    assert waits[-1] >= timedelta(hours=25)


def test_a_refusal_by_a_person_is_respected_for_an_hour_or_so() -> None:
    assert next_attempt(_START, 1, Random(1), rejected=True) - _START >= timedelta(minutes=50)  # noqa: S311


def test_an_open_request_is_looked_at_less_and_less() -> None:
    waits = [poll_interval(timedelta(seconds=waited)).total_seconds() for waited in (0, 8, 60, 10**6)]

    assert waits == [1, 2, 15, 120]
