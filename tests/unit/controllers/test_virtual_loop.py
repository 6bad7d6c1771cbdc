"""The loop that other tests here stand on."""

from __future__ import annotations

import asyncio

import pytest

from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time


@in_virtual_time
async def test_hours_pass_at_once_and_in_order() -> None:
    woken: list[float] = []

    async def sleep(hours: float) -> None:
        await asyncio.sleep(hours * 3600)
        woken.append(hours)

    async with asyncio.TaskGroup() as group:
        for hours in (3, 1, 2):
            group.create_task(sleep(hours))

    assert woken == [1, 2, 3]
    assert LoopClock().monotonic() == pytest.approx(1000 + 3 * 3600)


@in_virtual_time
async def test_no_time_passes_while_a_thread_works() -> None:
    async with asyncio.timeout(1):
        assert await asyncio.to_thread(sum, range(100_000)) == 4_999_950_000

    assert LoopClock().monotonic() == 1000


def test_a_wait_for_nothing_fails_in_place_of_hanging() -> None:
    @in_virtual_time
    async def stuck() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(AssertionError, match="never happens"):
        stuck()
