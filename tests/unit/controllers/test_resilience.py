from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.backoff import Backoff
from keybearer.controllers.resilience import CircuitBreaker, ConcurrencyLimit, TokenBucket
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time

_BACKOFF = Backoff(floor=timedelta(seconds=5), ceiling=timedelta(seconds=30), jitter=0)


class TestTokenBucket:
    @in_virtual_time
    async def test_a_burst_goes_through_at_once_and_the_rest_at_the_rate_in_order(self) -> None:
        bucket = TokenBucket(LoopClock(), rate=10, burst=3)
        through: list[tuple[int, float]] = []

        async def call(number: int) -> None:
            await bucket.take()
            through.append((number, round(asyncio.get_running_loop().time() - 1000, 3)))

        await asyncio.gather(*(call(number) for number in range(6)))

        assert through == [(0, 0), (1, 0), (2, 0), (3, 0.1), (4, 0.2), (5, 0.3)]

    @in_virtual_time
    async def test_rest_fills_it_up_to_the_burst_and_no_further(self) -> None:
        bucket = TokenBucket(LoopClock(), rate=10, burst=2)
        await asyncio.sleep(3600)
        for _ in range(2):
            await bucket.take()
        before = asyncio.get_running_loop().time()
        await bucket.take()

        assert asyncio.get_running_loop().time() - before == pytest.approx(0.1)

    @in_virtual_time
    async def test_a_cancelled_caller_leaves_its_place_to_the_next(self) -> None:
        bucket = TokenBucket(LoopClock(), rate=1, burst=1)
        await bucket.take()
        first, second = (asyncio.create_task(bucket.take()) for _ in range(2))
        await asyncio.sleep(0.5)
        first.cancel()
        await second

        assert asyncio.get_running_loop().time() - 1000 == pytest.approx(1.0)


@given(
    maximum=st.integers(min_value=1, max_value=64),
    latencies=st.lists(st.sampled_from([0.0, 0.001, 0.005, 0.2, 10.0]), max_size=40),
)
def test_a_concurrency_limit_stays_within_its_bounds_whatever_it_sees(
    maximum: int, latencies: list[float]
) -> None:
    limit = ConcurrencyLimit(maximum=maximum)
    for seconds in latencies:
        for _ in range(30):
            assert min(2, maximum) <= limit.observe(seconds, limit.limit) <= maximum


class TestCircuitBreaker:
    clock: HandClock
    breaker: CircuitBreaker

    @pytest.fixture(autouse=True)
    def _new(self) -> None:
        self.clock = HandClock()
        self.breaker = CircuitBreaker(self.clock, _BACKOFF, threshold=3, rng=SteadyChance())

    def fail(self, times: int) -> None:
        for _ in range(times):
            self.breaker.failed()

    def test_fewer_failures_than_the_threshold_hold_nothing_back(self) -> None:
        self.fail(2)

        assert self.breaker.admit()
        assert self.breaker.wait() == timedelta()

    def test_a_success_between_them_begins_the_count_anew(self) -> None:
        self.fail(2)
        self.breaker.succeeded()
        self.fail(2)

        assert self.breaker.admit()

    def test_too_many_in_a_row_hold_all_calls_back_for_a_while(self) -> None:
        self.fail(3)

        assert not self.breaker.admit()
        assert self.breaker.wait() == timedelta(seconds=5)
        self.clock.seconds += 4.9
        assert not self.breaker.admit()

    def test_then_one_probe_goes_out_and_the_others_wait_for_what_it_finds(self) -> None:
        self.fail(3)
        self.clock.seconds += 5

        assert [self.breaker.admit() for _ in range(3)] == [True, False, False]
        self.breaker.succeeded()
        assert all(self.breaker.admit() for _ in range(3))
        assert self.breaker.wait() == timedelta()

    def test_each_failed_probe_makes_the_next_wait_longer_up_to_the_ceiling(self) -> None:
        self.fail(3)
        waits = []
        for _ in range(5):
            waits.append(self.breaker.wait().total_seconds())
            self.clock.seconds += waits[-1]
            assert self.breaker.admit()
            self.breaker.failed()

        assert waits == [5, 10, 20, 30, 30]

    def test_a_probe_that_never_comes_back_is_followed_by_another(self) -> None:
        self.fail(3)
        self.clock.seconds += 5
        assert self.breaker.admit()
        self.clock.seconds += 5

        assert self.breaker.admit()
