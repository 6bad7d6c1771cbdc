from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from keybearer.base.backoff import Backoff
from keybearer.controllers.queue import Lane, Shares, WorkItem, WorkKey, WorkQueue
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.virtual_loop import LoopClock, VirtualLoop, in_virtual_time, settle

_EXACT = Backoff(floor=timedelta(seconds=5), ceiling=timedelta(minutes=5), jitter=0)


def key(name: str, namespace: str = "team-a") -> WorkKey:
    return WorkKey("SecretSync", namespace, name)


def new_queue() -> WorkQueue:
    return WorkQueue(LoopClock(), _EXACT, SteadyChance())


async def taken(queue: WorkQueue) -> WorkItem | None:
    """Return what a worker would get now, or None where it would have to wait; no time passes."""
    taking = asyncio.create_task(queue.take())
    await settle()
    if taking.done():
        return taking.result()
    taking.cancel()
    await settle()
    return None


async def run_one(queue: WorkQueue) -> WorkKey | None:
    item = await taken(queue)
    if item is None:
        return None
    queue.done(item.key)
    return item.key


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

    assert len(queue._delayed) < 600


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
    queue = WorkQueue(LoopClock(), _EXACT, SteadyChance(), shares=Shares(urgent=1, other=2))
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
    queue = WorkQueue(LoopClock(), _EXACT, SteadyChance(), shares=Shares(urgent=1, other=1))
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
    queue = WorkQueue(LoopClock(), _EXACT, SteadyChance(), shares=Shares(urgent=1, other=1))
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
        queue = WorkQueue(LoopClock(), _EXACT, SteadyChance(), shares=shares)
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


_NAMESPACES = ("a", "b")
_KEYS = [key(name, namespace) for namespace in _NAMESPACES for name in ("1", "2", "3")]


class QueueMachine(RuleBasedStateMachine):
    """The queue against a model that knows nothing of order but lanes: sets of keys, and instants."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualLoop()
        with self._on_loop():
            self.queue = new_queue()
        self.waiting: dict[WorkKey, Lane] = {}
        self.running: dict[WorkKey, Lane | None] = {}
        self.due: dict[WorkKey, tuple[float, Lane]] = {}

    def teardown(self) -> None:
        with self._on_loop():
            self.queue.close()
        self.loop.close()

    @contextmanager
    def _on_loop(self) -> Iterator[None]:
        """Let code that asks for the running loop find ours, without running it."""
        asyncio._set_running_loop(self.loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)

    @rule(key=st.sampled_from(_KEYS), lane=st.sampled_from(list(Lane)))
    def add(self, key: WorkKey, lane: Lane) -> None:
        with self._on_loop():
            self.queue.add(key, lane)
        self._model_add(key, lane)

    def _model_add(self, key: WorkKey, lane: Lane) -> None:
        self.due.pop(key, None)
        if key in self.running:
            again = self.running[key]
            self.running[key] = lane if again is None else min(again, lane)
        else:
            self.waiting[key] = min(self.waiting.get(key, lane), lane)

    @rule(
        key=st.sampled_from(_KEYS),
        seconds=st.integers(min_value=1, max_value=50),
        lane=st.sampled_from(list(Lane)),
    )
    def add_after(self, key: WorkKey, seconds: int, lane: Lane) -> None:
        with self._on_loop():
            self.queue.add_after(key, timedelta(seconds=seconds), lane)
        self._model_add_after(key, seconds, lane)

    def _model_add_after(self, key: WorkKey, seconds: float, lane: Lane) -> None:
        due = self.loop.time() + seconds
        if key not in self.due or due < self.due[key][0]:
            self.due[key] = (due, lane)

    @rule(seconds=st.integers(min_value=0, max_value=40))
    def let_time_pass(self, seconds: int) -> None:
        self.loop.run_until_complete(asyncio.sleep(seconds))
        self.loop.run_until_complete(asyncio.sleep(0))  # timers of this very instant
        for key, (due, lane) in list(self.due.items()):
            if due <= self.loop.time():
                self._model_add(key, lane)

    @precondition(lambda self: self.waiting)
    @rule()
    def take(self) -> None:
        item = self.loop.run_until_complete(self.queue.take())
        assert item.key not in self.running, "a key is never worked on twice at a time"
        assert self.waiting.pop(item.key) is item.lane
        self.running[item.key] = None

    @precondition(lambda self: self.running)
    @rule(data=st.data(), failed=st.booleans())
    def done(self, data: st.DataObject, failed: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
        key = data.draw(st.sampled_from(sorted(self.running, key=str)))
        with self._on_loop():
            self.queue.done(key, failed=failed)
            failures = self.queue.failures(key)
        again = self.running.pop(key)
        if failed:
            self._model_add_after(key, _EXACT.delay(failures, SteadyChance()).total_seconds(), Lane.REFRESH)
        if again is not None:
            self._model_add(key, again)

    @rule(key=st.sampled_from(_KEYS))
    def forget(self, key: WorkKey) -> None:
        self.queue.forget(key)
        self.waiting.pop(key, None)
        self.due.pop(key, None)
        if key in self.running:
            self.running[key] = None

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        assert len(self.queue) == len(self.waiting)
        assert self.queue.running == len(self.running)
        assert self.queue.depth() == {
            lane: sum(one is lane for one in self.waiting.values()) for lane in Lane
        }


TestQueueAgainstAModel = QueueMachine.TestCase
TestQueueAgainstAModel.settings = settings(max_examples=40, stateful_step_count=40)
