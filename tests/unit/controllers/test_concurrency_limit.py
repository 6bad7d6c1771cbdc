"""How many bulk writes are under way at once follows the latency of writes; urgent ones are never held back."""

from __future__ import annotations

import asyncio

import pytest

from keybearer.base.clock import SystemClock
from keybearer.controllers.resilience import ConcurrencyLimit, WriteGate, urgent_work
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time

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


async def _in_gate(
    gate: WriteGate, entered: list[str], name: str, leave: asyncio.Event, *, urgent: bool
) -> None:
    with gate.run(urgent=urgent):
        async with gate.write():
            entered.append(name)
            await leave.wait()


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_urgent_writes_pass_a_line_of_bulk_writes_that_go_in_turn() -> None:
    gate, entered, leave = WriteGate(SystemClock(), ConcurrencyLimit(maximum=2)), list[str](), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(_in_gate(gate, entered, f"bulk-{number}", leave, urgent=False))
        group.create_task(_in_gate(gate, entered, "urgent", leave, urgent=True))
        await _settle()
        assert sorted(entered) == ["bulk-0", "bulk-1", "urgent"]
        leave.set()
    assert entered[3:] == ["bulk-2", "bulk-3"]


async def test_a_bulk_write_that_is_given_up_leaves_its_place_to_the_next() -> None:
    gate, entered, leave = WriteGate(SystemClock(), ConcurrencyLimit(maximum=1)), list[str](), asyncio.Event()
    tasks = [
        asyncio.create_task(_in_gate(gate, entered, name, leave, urgent=False))
        for name in ("first", "given up", "last")
    ]
    await _settle()
    tasks[1].cancel()
    tasks[0].cancel()
    await _settle()
    assert entered == ["first", "last"]
    leave.set()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _writes(gate: WriteGate, seconds: float, done: list[float]) -> None:
    with gate.run(urgent=False):
        async with gate.write():
            await asyncio.sleep(seconds)
        done.append(asyncio.get_running_loop().time() - 1000)


@in_virtual_time
async def test_bulk_writes_go_one_by_one_while_an_urgent_run_is_young() -> None:
    gate, done = WriteGate(LoopClock(), ConcurrencyLimit(maximum=2)), list[float]()
    async with asyncio.TaskGroup() as group:
        with gate.run(urgent=True):
            for _ in range(4):
                group.create_task(_writes(gate, 0.05, done))
            await asyncio.sleep(0.12)
    assert done == pytest.approx([0.05, 0.1, 0.15, 0.17])


@in_virtual_time
async def test_an_urgent_run_that_takes_long_holds_bulk_writes_back_no_longer() -> None:
    gate, done = WriteGate(LoopClock(), ConcurrencyLimit(maximum=2)), list[float]()
    async with asyncio.TaskGroup() as group:
        with gate.run(urgent=True):
            for _ in range(6):
                group.create_task(_writes(gate, 0.1, done))
            await asyncio.sleep(60)
    assert done == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4, 0.5])


async def test_what_is_urgent_about_a_run_ends_with_it() -> None:
    gate = WriteGate(SystemClock(), ConcurrencyLimit(maximum=1))
    urgent_work.set(True)
    with gate.run(urgent=False):
        assert not urgent_work.get()
    assert urgent_work.get()
