"""Workers wake for what they may take, keep to the shares of namespaces, and end with the queue."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.queue import Shares, WorkQueue
from keybearer.controllers.work import Lane, WorkItem
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time, settle
from unit.controllers.fakes.virtual_queue import EXACT, key, new_queue, taken


@in_virtual_time
async def test_a_cancelled_worker_hands_its_wake_up_on() -> None:
    queue = new_queue()
    first, second = (asyncio.create_task(queue.take()) for _ in range(2))
    await settle()
    queue.add(key("db"), Lane.URGENT)
    first.cancel()  # it was woken, and doesn't live to see it
    await settle()

    assert first.cancelled()
    assert (await second).key == key("db")


@in_virtual_time
async def test_a_worker_cancelled_while_idle_takes_no_wake_up_with_it() -> None:
    queue = new_queue()
    first, second = (asyncio.create_task(queue.take()) for _ in range(2))
    await settle()
    first.cancel()
    await settle()
    queue.add(key("db"), Lane.URGENT)

    assert (await second).key == key("db")


@in_virtual_time
async def test_as_many_workers_wake_as_keys_come() -> None:
    queue = new_queue()
    workers = [asyncio.create_task(queue.take()) for _ in range(4)]
    await settle()
    for name in "abc":
        queue.add(key(name), Lane.URGENT)
    await settle()

    assert [worker.done() for worker in workers] == [True, True, True, False]
    workers[3].cancel()


@in_virtual_time
async def test_a_worker_kept_for_urgent_keys_takes_nothing_else() -> None:
    queue = new_queue()
    kept = asyncio.create_task(queue.take(urgent_only=True))
    await settle()
    queue.add(key("first"), Lane.FIRST)
    await settle()
    assert not kept.done()
    queue.add(key("edited"), Lane.URGENT)

    assert (await kept).key == key("edited")
    assert (await queue.take()).key == key("first")


@in_virtual_time
async def test_an_urgent_key_wakes_a_kept_worker_before_another() -> None:
    queue = new_queue()
    other = asyncio.create_task(queue.take())
    kept = asyncio.create_task(queue.take(urgent_only=True))
    await settle()
    queue.add(key("edited"), Lane.URGENT)
    queue.add(key("first"), Lane.FIRST)

    assert ((await kept).key, (await other).key) == (key("edited"), key("first"))


@in_virtual_time
async def test_without_a_kept_worker_at_leisure_an_urgent_key_wakes_any() -> None:
    queue = new_queue()
    other = asyncio.create_task(queue.take())
    await settle()
    queue.add(key("edited"), Lane.URGENT)

    assert (await other).key == key("edited")


@in_virtual_time
async def test_closing_ends_a_kept_worker_too() -> None:
    queue = new_queue()
    kept = asyncio.create_task(queue.take(urgent_only=True))
    await settle()
    queue.close()
    await settle()

    assert kept.cancelled()


@in_virtual_time
async def test_a_worker_that_took_what_woke_another_wakes_the_next() -> None:
    queue = new_queue()
    plain = [asyncio.create_task(queue.take()) for _ in range(2)]
    kept = asyncio.create_task(queue.take(urgent_only=True))
    await settle()
    queue.add(key("first"), Lane.FIRST)
    queue.add(key("edited"), Lane.URGENT)  # the plain worker that was woken for the other key takes this one
    await settle()

    done = [task.result().key for task in (*plain, kept) if task.done()]
    assert sorted(one.name for one in done) == ["edited", "first"]
    for task in (*plain, kept):
        task.cancel()


@in_virtual_time
async def test_a_namespace_has_no_more_keys_in_work_than_its_share() -> None:
    queue = WorkQueue(LoopClock(), EXACT, SteadyChance(), shares=Shares(urgent=1, other=2))
    for name in "abc":
        queue.add(key(name, "big"), Lane.FIRST)
    queue.add(key("a", "small"), Lane.REFRESH)

    assert [(await queue.take()).key for _ in range(3)] == [
        key("a", "big"),
        key("b", "big"),
        key("a", "small"),
    ]
    assert await taken(queue) is None
    waiting = asyncio.create_task(queue.take())
    await settle()
    queue.done(key("a", "small"))
    await settle()
    assert not waiting.done(), "the end of another namespace's key makes no room"
    queue.done(key("a", "big"))
    assert (await waiting).key == key("c", "big")


@in_virtual_time
async def test_an_urgent_key_never_waits_for_the_bulk_of_its_own_namespace() -> None:
    queue = WorkQueue(LoopClock(), EXACT, SteadyChance(), shares=Shares(urgent=1, other=1))
    for name in "ab":
        queue.add(key(name), Lane.FIRST)
    await queue.take()
    queue.add(key("drifted"), Lane.URGENT)
    queue.add(key("edited"), Lane.URGENT)

    assert (await queue.take()).key == key("drifted")
    assert await taken(queue) is None, "of urgent keys a namespace has its share as well"
    queue.done(key("drifted"))
    assert (await queue.take()).key == key("edited")


@in_virtual_time
async def test_a_share_that_becomes_free_wakes_a_kept_worker_for_an_urgent_key() -> None:
    queue = WorkQueue(LoopClock(), EXACT, SteadyChance(), shares=Shares(urgent=1, other=1))
    queue.add(key("a"), Lane.URGENT)
    queue.add(key("b"), Lane.URGENT)
    await queue.take()
    kept = asyncio.create_task(queue.take(urgent_only=True))
    await settle()
    queue.done(key("a"))

    assert (await kept).key == key("b")


_PLAIN, _KEPT = 3, 2
_STEPS = st.one_of(
    st.tuples(st.sampled_from("abc"), st.sampled_from("12345"), st.sampled_from(list(Lane))),
    st.integers(min_value=0, max_value=_PLAIN + _KEPT - 1),
)


@given(steps=st.lists(st.tuples(_STEPS, st.booleans()), max_size=40))
def test_no_worker_is_idle_while_a_key_waits_that_it_may_take(
    steps: list[tuple[tuple[str, str, Lane] | int, bool]],
) -> None:
    @in_virtual_time
    async def run() -> None:
        shares = Shares(urgent=1, other=2)
        queue = WorkQueue(LoopClock(), EXACT, SteadyChance(), shares=shares)
        leave = [asyncio.Event() for _ in range(_PLAIN + _KEPT)]
        held: dict[int, WorkItem] = {}

        async def work(number: int) -> None:
            while True:
                held[number] = item = await queue.take(urgent_only=number >= _PLAIN)
                await leave[number].wait()
                leave[number].clear()
                del held[number]
                queue.done(item.key)

        workers = [asyncio.create_task(work(number)) for number in range(_PLAIN + _KEPT)]
        await settle()
        for step, settles in steps:
            if isinstance(step, int):
                if step in held:
                    leave[step].set()
            else:
                namespace, name, lane = step
                queue.add(key(name, namespace), lane)
            if settles:
                await settle()
        await settle()
        _judge_idle(queue, held, shares)
        for worker in workers:
            worker.cancel()

    run()


def _judge_idle(queue: WorkQueue, held: dict[int, WorkItem], shares: Shares) -> None:
    running = Counter((item.key.namespace, item.lane is Lane.URGENT) for item in held.values())
    idle_plain = any(number not in held for number in range(_PLAIN))
    idle_kept = any(number not in held for number in range(_PLAIN, _PLAIN + _KEPT))
    for waiting, (lane, _) in queue._waiting.items():
        urgent = lane is Lane.URGENT
        share = shares.urgent if urgent else shares.other
        may_run = running[waiting.namespace, urgent] < share
        assert not (may_run and (idle_plain or (urgent and idle_kept))), waiting


@in_virtual_time
async def test_draining_waits_for_what_runs_and_gives_out_nothing_more() -> None:
    queue = new_queue()
    queue.add(key("running"), Lane.URGENT)
    await queue.take()
    queue.add(key("waiting"), Lane.URGENT)
    queue.add_after(key("delayed"), timedelta(seconds=1))
    draining = asyncio.create_task(queue.drain())
    await asyncio.sleep(5)

    assert not draining.done()
    queue.add(key("running"), Lane.URGENT)
    queue.done(key("running"), failed=True)
    await draining
    with pytest.raises(asyncio.CancelledError):
        await queue.take()
    assert (len(queue), queue.running) == (0, 0)


@in_virtual_time
async def test_closing_ends_the_workers_that_wait() -> None:
    queue = new_queue()
    workers = [asyncio.create_task(queue.take()) for _ in range(3)]
    await settle()
    queue.close()
    await settle()

    assert all(worker.cancelled() for worker in workers)


@in_virtual_time
async def test_an_idle_queue_drains_at_once_and_takes_nothing_afterwards() -> None:
    queue = new_queue()
    await queue.drain()
    queue.add(key("db"), Lane.URGENT)
    queue.add_after(key("db"), timedelta(seconds=1))

    assert len(queue) == 0
    with pytest.raises(asyncio.CancelledError):
        await queue.take()


@in_virtual_time
async def test_it_rests_when_nothing_waits_and_nothing_runs() -> None:
    queue = new_queue()
    await queue.rest()
    queue.add(key("db"), Lane.FIRST)
    resting = asyncio.create_task(queue.rest())
    await settle()
    assert not resting.done()
    item = await queue.take()
    queue.add(item.key, Lane.FIRST)
    queue.done(item.key)
    await settle()
    assert not resting.done()
    queue.forget(item.key)
    await resting
