"""Triggers of one key become one run, and lanes and namespaces take turns."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from keybearer.controllers.work import Lane, WorkItem
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.virtual_queue import key, new_queue, run_one, taken


@in_virtual_time
async def test_many_triggers_of_a_waiting_key_are_one_run() -> None:
    queue = new_queue()
    for lane in (Lane.REFRESH, Lane.CHANGE, Lane.REFRESH, Lane.URGENT, Lane.FIRST):
        queue.add(key("db"), lane)

    assert len(queue) == 1
    assert (await taken(queue)) == WorkItem(key("db"), Lane.URGENT, 1000.0)
    queue.done(key("db"))
    assert await taken(queue) is None


@in_virtual_time
async def test_triggers_during_a_run_make_one_more_run_that_waited_since_the_first_of_them() -> None:
    queue = new_queue()
    queue.add(key("db"), Lane.URGENT)
    await queue.take()
    await asyncio.sleep(3)
    queue.add(key("db"), Lane.REFRESH)
    await asyncio.sleep(3)
    queue.add(key("db"), Lane.CHANGE)

    assert await taken(queue) is None, "two workers must never have one key"
    queue.done(key("db"))
    assert await taken(queue) == WorkItem(key("db"), Lane.CHANGE, 1003.0)


@in_virtual_time
async def test_a_trigger_during_a_failing_run_is_not_held_up_by_the_backoff() -> None:
    queue = new_queue()
    queue.add(key("db"), Lane.URGENT)
    await queue.take()
    queue.add(key("db"), Lane.CHANGE)
    queue.done(key("db"), failed=True)

    item = await taken(queue)
    assert item is not None
    assert queue.failures(key("db")) == 1
    queue.done(key("db"))
    await asyncio.sleep(3600)
    assert await taken(queue) is None, "the backoff that was overtaken must not make another run"


@in_virtual_time
async def test_a_key_that_moves_up_keeps_the_time_since_which_it_waited() -> None:
    queue = new_queue()
    queue.add(key("db"), Lane.REFRESH)
    await asyncio.sleep(7)
    queue.add(key("db"), Lane.URGENT)

    assert await taken(queue) == WorkItem(key("db"), Lane.URGENT, 1000.0)


@in_virtual_time
async def test_more_urgent_lanes_go_first_and_namespaces_take_turns_in_a_lane() -> None:
    queue = new_queue()
    for name in ("1", "2", "3"):
        queue.add(key(name, "big"), Lane.CHANGE)
    queue.add(key("1", "small"), Lane.CHANGE)
    queue.add(key("late", "small"), Lane.URGENT)

    order = [await run_one(queue) for _ in range(5)]

    assert order == [
        key("late", "small"),
        key("1", "big"),
        key("1", "small"),
        key("2", "big"),
        key("3", "big"),
    ]


@in_virtual_time
async def test_a_namespace_loses_no_turn_to_a_key_of_its_own_that_moved_up() -> None:
    queue = new_queue()
    queue.add(key("1", "a"), Lane.CHANGE)
    queue.add(key("2", "a"), Lane.CHANGE)
    queue.add(key("1", "b"), Lane.CHANGE)
    queue.add(key("1", "a"), Lane.URGENT)

    assert [await run_one(queue) for _ in range(3)] == [key("1", "a"), key("2", "a"), key("1", "b")]


@pytest.mark.parametrize("hot", [Lane.URGENT, Lane.FIRST], ids=lambda lane: f"{lane.name} is hot")
@in_virtual_time
async def test_no_lane_starves_under_a_hot_loop(hot: Lane) -> None:
    queue = new_queue()
    served: Counter[Lane] = Counter()
    for lane in Lane:
        queue.add(key(lane.name), lane)
    for _ in range(240):
        item = await queue.take()
        served[item.lane] += 1
        queue.add(item.key, item.lane)
        queue.done(item.key)
        queue.add(key("loop", "rude"), hot)

    assert all(served[lane] >= 10 for lane in Lane), served
    assert served[Lane.URGENT] == max(served.values())


@in_virtual_time
async def test_one_tenants_thousand_keys_hold_up_another_by_one_turn_only() -> None:
    queue = new_queue()
    for number in range(1000):
        queue.add(key(str(number), "rude"), Lane.URGENT)
    queue.add(key("mine", "polite"), Lane.URGENT)

    assert [await run_one(queue) for _ in range(2)] == [key("0", "rude"), key("mine", "polite")]


@in_virtual_time
async def test_a_lower_lane_alone_with_the_hot_one_gets_every_eighth_turn() -> None:
    queue = new_queue()
    queue.add(key("refresh"), Lane.REFRESH)
    lanes = []
    for number in range(80):
        queue.add(key(f"hot-{number}"), Lane.URGENT)
        item = await queue.take()
        lanes.append(item.lane)
        if item.lane is Lane.REFRESH:
            queue.add(item.key, Lane.REFRESH)
        queue.done(item.key)

    assert lanes.count(Lane.REFRESH) == 10
