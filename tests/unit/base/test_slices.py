from __future__ import annotations

import asyncio

import pytest

from keybearer.base.slices import SLICE, in_slices


@pytest.mark.parametrize("count", [0, 1, SLICE, SLICE + 1, 3 * SLICE])
async def test_slices_hold_everything_once_and_in_order(count: int) -> None:
    slices = [some async for some in in_slices(range(count))]

    assert [item for some in slices for item in some] == list(range(count))
    assert all(0 < len(some) <= SLICE for some in slices)


async def test_others_have_a_turn_between_two_slices() -> None:
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(take_turns())
    seen = [turns async for _ in in_slices(range(4 * SLICE))]
    other.cancel()

    assert seen == [0, 1, 2, 3]
