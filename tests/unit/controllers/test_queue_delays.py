"""Keys come back when their delay or backoff is over, unless they are triggered or forgotten before."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest

from keybearer.controllers.work import Lane
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.virtual_queue import key, new_queue, run_one, taken


@in_virtual_time
async def test_a_delayed_key_runs_when_its_delay_is_over_and_not_before() -> None:
    queue = new_queue()
    queue.add_after(key("db"), timedelta(seconds=30))
    assert len(queue) == 0

    await asyncio.sleep(29.9)
    assert await taken(queue) is None
    await asyncio.sleep(0.2)
    item = await taken(queue)
    assert item is not None
    assert (item.key, item.lane, round(item.since)) == (key("db"), Lane.REFRESH, 1030)


@pytest.mark.parametrize("order", [(10, 60), (60, 10)], ids=["nearer first", "nearer last"])
@in_virtual_time
async def test_of_two_delays_the_nearer_wins_and_both_are_one_run(order: tuple[int, int]) -> None:
    queue = new_queue()
    for seconds in order:
        queue.add_after(key("db"), timedelta(seconds=seconds))

    assert (await queue.take()).since == pytest.approx(1010)
    queue.done(key("db"))
    await asyncio.sleep(3600)
    assert await taken(queue) is None


@in_virtual_time
async def test_a_trigger_overtakes_a_delay() -> None:
    queue = new_queue()
    queue.add_after(key("db"), timedelta(seconds=30), Lane.CHANGE)
    queue.add(key("db"), Lane.URGENT)
    await run_one(queue)

    await asyncio.sleep(3600)
    assert await taken(queue) is None


@in_virtual_time
async def test_a_negative_delay_is_due_at_once() -> None:
    queue = new_queue()
    queue.add_after(key("db"), timedelta(seconds=-5))

    assert (await queue.take()).since == 1000.0


@in_virtual_time
async def test_failures_back_off_each_longer_than_the_last_and_success_begins_anew() -> None:
    queue = new_queue()
    queue.add(key("db"), Lane.URGENT)
    ends = []
    for _ in range(10):
        ends.append((await queue.take()).since)
        queue.done(key("db"), failed=True)
    waits = [round(later - earlier) for earlier, later in pairwise(ends)]

    assert waits == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    assert queue.failures(key("db")) == 10
    queue.done((await queue.take()).key)
    assert queue.failures(key("db")) == 0


@in_virtual_time
async def test_a_wanted_return_that_is_nearer_than_the_backoff_is_kept() -> None:
    queue = new_queue()
    queue.add(key("db"), Lane.URGENT)
    await queue.take()
    queue.done(key("db"), failed=True, requeue_after=timedelta(seconds=2))

    assert (await queue.take()).since == pytest.approx(1002)


@in_virtual_time
async def test_a_forgotten_key_runs_no_more_however_it_waited() -> None:
    queue = new_queue()
    queue.add(key("waiting"), Lane.CHANGE)
    queue.add_after(key("delayed"), timedelta(seconds=5))
    queue.add(key("running"), Lane.URGENT)
    await queue.take()
    queue.add(key("running"), Lane.URGENT)
    for name in ("waiting", "delayed", "running"):
        queue.forget(key(name))
    queue.done(key("running"))

    await asyncio.sleep(60)
    assert await taken(queue) is None
    assert queue.depth() == dict.fromkeys(Lane, 0)


@in_virtual_time
async def test_a_hot_loop_of_delays_that_triggers_overtake_leaves_little_behind() -> None:
    queue = new_queue()
    for _ in range(5000):
        queue.add(key("db"), Lane.URGENT)
        await queue.take()
        queue.done(key("db"), requeue_after=timedelta(hours=1))

    assert len(queue._delays._heap) < 600
