"""How many bulk reconciles run at once follows the latency of writes; urgent ones are never held back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keybearer.base.backoff import Backoff
from keybearer.base.clock import SystemClock
from keybearer.controllers.queue import Lane, WorkKey, WorkQueue
from keybearer.controllers.resilience import ConcurrencyLimit

_MAXIMUM = 32


def _drive(limit: ConcurrencyLimit, *, capacity: float, shortest: float, writes: int = 3000) -> list[int]:
    """Let a server that works off `capacity` writes in `shortest` seconds answer; return the limits on the way."""
    return [
        limit.observe(shortest * max(1.0, limit.limit / capacity), in_use=limit.limit) for _ in range(writes)
    ]


@pytest.mark.parametrize("capacity", [2, 4, 8])
def test_a_busy_server_is_kept_busy_with_a_short_queue(capacity: int) -> None:
    settled = _drive(ConcurrencyLimit(maximum=_MAXIMUM), capacity=capacity, shortest=0.004)[500:]
    assert sum(settled) / len(settled) <= capacity + 4
    assert max(settled) <= max(2 * capacity, 4)
    busy = sum(limit >= capacity for limit in settled)
    assert busy > 0.95 * len(settled)


def test_a_server_that_is_far_away_and_idle_gets_all_there_is() -> None:
    reached = _drive(ConcurrencyLimit(maximum=_MAXIMUM), capacity=1000, shortest=0.03)
    assert reached.count(_MAXIMUM) > 0.9 * len(reached)


def test_a_limit_that_is_not_reached_is_not_raised() -> None:
    limit = ConcurrencyLimit(maximum=_MAXIMUM)
    for _ in range(900):
        limit.observe(0.003, in_use=1)
    assert limit.limit == 2


def test_a_server_that_became_slower_is_not_strangled_for_ever() -> None:
    limit = ConcurrencyLimit(maximum=_MAXIMUM)
    _drive(limit, capacity=1000, shortest=0.001)
    assert _drive(limit, capacity=1000, shortest=0.05, writes=500)[-1] <= 4
    recovered = _drive(limit, capacity=1000, shortest=0.05, writes=5000)[2500:]
    assert recovered.count(_MAXIMUM) > 0.9 * len(recovered)


@pytest.mark.parametrize("maximum", [1, 2, 3])
def test_the_limit_stays_within_a_small_maximum(maximum: int) -> None:
    limits = _drive(ConcurrencyLimit(maximum=maximum), capacity=1000, shortest=0.1)
    assert max(limits) == maximum


async def test_urgent_keys_pass_a_bulk_that_is_at_its_limit() -> None:
    queue = WorkQueue(SystemClock(), Backoff(timedelta(seconds=5), timedelta(minutes=5)))
    queue.bulk_limit = 1
    first, second, urgent = (WorkKey("SecretSync", "team", name) for name in ("first", "second", "urgent"))
    queue.add(first, Lane.FIRST)
    queue.add(second, Lane.FIRST)
    assert (await queue.take()).key == first
    queue.add(urgent, Lane.URGENT)
    assert (await queue.take()).key == urgent
    queue.done(urgent)
    assert queue.bulk_running == 1
    queue.done(first)
    assert (await queue.take()).key == second
    queue.done(second)
    assert queue.bulk_running == 0
