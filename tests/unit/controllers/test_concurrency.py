"""Steps that run at the same time, and tasks that end with the lead."""

from __future__ import annotations

import asyncio
import gc

import pytest

from keybearer.controllers.concurrency import Concurrency, leading_tasks
from keybearer.kube.errors import LeaseLostError, UnavailableError
from unit.controllers.fakes.virtual_loop import in_virtual_time


async def _raise(error: Exception, *, after: float) -> None:
    await asyncio.sleep(after)
    raise error


@in_virtual_time
async def test_all_who_share_it_share_its_bound() -> None:
    shared, under_way, most = Concurrency(3), 0, 0

    async def step() -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(1)
        under_way -= 1

    await asyncio.gather(shared.run(step() for _ in range(7)), shared.run([step()]))
    assert most == 3


@in_virtual_time
async def test_each_step_runs_to_its_end_and_the_first_error_in_their_order_is_raised() -> None:
    done: list[bool] = []

    async def last() -> None:
        await asyncio.sleep(3)
        done.append(True)

    steps = (_raise(UnavailableError("first"), after=2), _raise(UnavailableError("second"), after=1), last())
    with pytest.raises(UnavailableError, match="first"):
        await Concurrency(8).run(steps)
    assert done


@in_virtual_time
async def test_a_lost_lease_comes_before_other_errors() -> None:
    steps = (_raise(UnavailableError("down"), after=1), _raise(LeaseLostError("another leads"), after=2))
    with pytest.raises(LeaseLostError):
        await Concurrency(8).run(steps)


@in_virtual_time
async def test_steps_that_have_not_begun_are_dropped_without_a_warning_when_they_are_cancelled() -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(Concurrency(1).run(asyncio.sleep(9) for _ in range(3)), 1)
    gc.collect()


async def _lead_until(*errors: Exception) -> None:
    async with leading_tasks() as tasks:
        for error in errors:
            tasks.create_task(_raise(error, after=1), name="work")


@in_virtual_time
async def test_two_lost_leases_end_tasks_with_one_error_that_is_no_group() -> None:
    lost = LeaseLostError("another leads")
    with pytest.raises(LeaseLostError, match="another leads"):
        await _lead_until(lost, lost)


@in_virtual_time
async def test_another_error_beside_a_lost_lease_is_not_hidden() -> None:
    lost, fault = LeaseLostError("another leads"), ValueError("a fault")
    with pytest.raises(BaseExceptionGroup) as caught:
        await _lead_until(lost, fault)
    assert set(caught.value.exceptions) == {lost, fault}
