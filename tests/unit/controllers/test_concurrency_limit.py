"""How many bulk writes are under way at once follows the latency of writes; urgent ones are never held back."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

import pytest

from keybearer.base.clock import SystemClock
from keybearer.controllers.resilience import ConcurrencyLimit, WriteGate, urgent_work
from keybearer.kube.errors import KubeError
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


def _wide_gate() -> WriteGate:
    """Return a gate with four places."""
    limit = ConcurrencyLimit(minimum=4, maximum=4)
    return WriteGate(LoopClock(), limit)


@in_virtual_time
async def test_bulk_writes_have_half_of_their_places_while_an_urgent_run_is_young() -> None:
    gate, done = _wide_gate(), list[float]()
    async with asyncio.TaskGroup() as group:
        with gate.run(urgent=True):
            for _ in range(4):
                group.create_task(_writes(gate, 0.01, done))
            await asyncio.sleep(0.03)
    assert done == pytest.approx([0.01, 0.01, 0.02, 0.02])


@in_virtual_time
async def test_an_urgent_write_is_given_way_for_longer_and_its_end_lets_the_others_in() -> None:
    gate, done = _wide_gate(), list[float]()
    async with asyncio.TaskGroup() as group:
        with gate.run(urgent=True):
            async with gate.write():
                for _ in range(4):
                    group.create_task(_writes(gate, 0.15, done))
                await asyncio.sleep(0.1)
    assert done == pytest.approx([0.15, 0.15, 0.25, 0.25])


@pytest.mark.parametrize("writing", [False, True], ids=["a run that waits", "a write that hangs"])
@in_virtual_time
async def test_what_is_urgent_but_takes_long_holds_bulk_writes_back_no_longer(
    writing: bool,  # noqa: FBT001 - a case
) -> None:
    gate, done = _wide_gate(), list[float]()
    moment = 0.251 if writing else 0.051
    async with asyncio.TaskGroup() as group:
        with gate.run(urgent=True):
            async with gate.write() if writing else nullcontext():
                for _ in range(4):
                    group.create_task(_writes(gate, 10, done))
                await asyncio.sleep(60)
    assert done == pytest.approx([10, 10, 10 + moment, 10 + moment])


@in_virtual_time
async def test_an_api_server_without_a_queue_loses_half_of_its_bulk_writes_at_most() -> None:
    gate, done = _wide_gate(), list[float]()

    async def edit_without_end() -> None:
        while True:
            with gate.run(urgent=True):
                await asyncio.sleep(0.04)

    editing = asyncio.create_task(edit_without_end())
    async with asyncio.TaskGroup() as group:
        for _ in range(400):
            group.create_task(_writes(gate, 0.01, done))
    editing.cancel()
    assert done[-1] == pytest.approx(2.0, abs=0.05), "two at once instead of four"


@in_virtual_time
async def test_refusals_that_come_at_once_say_nothing_of_the_queue() -> None:
    limit = ConcurrencyLimit(maximum=_MAXIMUM)
    gate = WriteGate(LoopClock(), limit)
    _drive(limit, capacity=1000, shortest=0.02, writes=200)
    reached = gate.limit
    for _ in range(200):
        with gate.run(urgent=False), pytest.raises(KubeError):
            async with gate.write():
                raise KubeError("refused")
    assert gate.limit == reached == _MAXIMUM


async def test_what_is_urgent_about_a_run_ends_with_it() -> None:
    gate = WriteGate(SystemClock(), ConcurrencyLimit(maximum=1))
    urgent_work.set(True)
    with gate.run(urgent=False):
        assert not urgent_work.get()
    assert urgent_work.get()
