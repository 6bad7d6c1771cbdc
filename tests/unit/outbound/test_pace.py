"""What answers say of the pace of one place, without a request."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from keybearer.destinations.remote import Limits, RemoteAnswer
from keybearer.outbound.pace import Pace

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LIMITS = Limits(unsaid_wait=timedelta(minutes=1))
WELL = RemoteAnswer(200, {}, b"")
SLOW_DOWN = RemoteAnswer(429, {}, b"")


def minutes_left(pace: Pace, at: float) -> float:
    return pace.delay(LIMITS, at, is_write=False) / timedelta(minutes=1)


def test_answers_to_requests_that_were_under_way_together_are_one_limit() -> None:
    pace = Pace()
    for _ in range(10):
        pace.hear(SLOW_DOWN, LIMITS, NOW, 0, is_write=True)
    assert minutes_left(pace, 0) == 1
    pace.hear(SLOW_DOWN, LIMITS, NOW, 60, is_write=True)
    assert minutes_left(pace, 60) == 2


def test_an_answer_to_a_request_that_was_sent_before_the_limit_says_nothing_of_it() -> None:
    pace = Pace()
    pace.hear(SLOW_DOWN, LIMITS, NOW, 0, is_write=True)
    pace.hear(WELL, LIMITS, NOW, 1, is_write=True)
    assert minutes_left(pace, 0) == 1
    pace.hear(SLOW_DOWN, LIMITS, NOW, 60, is_write=True)
    assert minutes_left(pace, 60) == 2


def test_a_remote_that_fails_after_a_limit_has_not_answered_well() -> None:
    pace = Pace()
    pace.hear(SLOW_DOWN, LIMITS, NOW, 0, is_write=True)
    pace.hear(RemoteAnswer(500, {}, b""), LIMITS, NOW, 60, is_write=True)
    pace.hear(SLOW_DOWN, LIMITS, NOW, 60, is_write=True)
    assert minutes_left(pace, 60) == 2


def test_a_reading_that_is_answered_well_does_not_end_a_limit_of_writes() -> None:
    pace = Pace()
    for n in range(7):
        at = 10_000 * n
        pace.hear(WELL, LIMITS, NOW, at, is_write=False)
        pace.hear(SLOW_DOWN, LIMITS, NOW, at, is_write=True)
        assert minutes_left(pace, at) == min(2**n, 60)
    pace.hear(WELL, LIMITS, NOW, 100_000, is_write=True)
    pace.hear(SLOW_DOWN, LIMITS, NOW, 100_000, is_write=True)
    assert minutes_left(pace, 100_000) == 1


def test_short_waits_that_no_answer_tells_stay_as_they_are() -> None:
    pace, limits = Pace(), Limits()
    for at in range(20):
        pace.hear(SLOW_DOWN, limits, NOW, at, is_write=False)
        assert pace.delay(limits, at, is_write=False) == timedelta(seconds=1)
