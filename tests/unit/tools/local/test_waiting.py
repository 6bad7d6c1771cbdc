"""How often a wait looks."""

from __future__ import annotations

from tools.local.waiting import pause_seconds


def test_what_comes_soon_is_seen_soon() -> None:
    assert pause_seconds(look=0.002, waited=0.5) == 0.03


def test_costly_looks_leave_the_processor_to_what_is_awaited() -> None:
    assert pause_seconds(look=0.1, waited=0.5) == 0.1 * 4


def test_what_takes_long_is_looked_for_less_often_but_not_less_than_every_two_seconds() -> None:
    assert pause_seconds(look=0.002, waited=10) == 10 * 0.05
    assert pause_seconds(look=0.002, waited=90) == 2
    assert pause_seconds(look=7, waited=7) == 2
