from __future__ import annotations

from datetime import timedelta

import pytest

from keybearer.controllers.sessions import TIMEOUT
from keybearer.controllers.underway import UNDER_WAY, UnknownOrders
from keybearer.store.engines import Bounds
from unit.controllers.fakes.hand_clock import HandClock

_MOMENT = timedelta(seconds=1)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def orders(clock: HandClock) -> UnknownOrders:
    return UnknownOrders(clock)


def test_an_order_that_the_service_may_still_carry_out_is_under_way() -> None:
    assert Bounds().wait + TIMEOUT <= UNDER_WAY


@pytest.mark.parametrize("frozen_seconds", [0, 3600], ids=["at once", "after an hour"])
def test_the_wait_counts_from_the_first_look_that_finds_nothing(
    clock: HandClock, orders: UnknownOrders, frozen_seconds: float
) -> None:
    orders.begun("web", "1")
    clock.seconds += frozen_seconds

    first = orders.missed("web", "1", inherited=False)
    assert first is not None
    assert UNDER_WAY <= first < UNDER_WAY + _MOMENT

    clock.seconds += (UNDER_WAY - _MOMENT).total_seconds()
    second = orders.missed("web", "1", inherited=False)
    assert second is not None
    assert _MOMENT <= second < 2 * _MOMENT

    clock.seconds += second.total_seconds()
    assert orders.missed("web", "1", inherited=False) is None


def test_what_was_refused_is_ordered_again_at_once(orders: UnknownOrders) -> None:
    orders.begun("web", "1")
    orders.ended("web", "1")

    assert orders.missed("web", "1", inherited=True) is None


def test_what_nobody_can_have_ordered_is_ordered_at_once(orders: UnknownOrders) -> None:
    assert orders.missed("web", "1", inherited=False) is None


def test_orders_of_the_same_wait_each_for_itself(orders: UnknownOrders) -> None:
    orders.begun("web", "1")
    orders.begun("web", "2")
    orders.ended("web", "2")

    assert orders.missed("web", "1", inherited=True) is not None
    assert orders.missed("web", "2", inherited=True) is None


@pytest.mark.parametrize("whole", [False, True], ids=["found", "forgotten"])
def test_of_what_is_over_nothing_is_remembered(orders: UnknownOrders, *, whole: bool) -> None:
    orders.begun("web", "1")
    if whole:
        orders.forget("web")
    else:
        orders.found("web", "1")

    assert orders.missed("web", "1", inherited=False) is None
    assert orders.missed("web", "1", inherited=True) is not None
