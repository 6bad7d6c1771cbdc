"""Looking up values one by one, some at a time."""

from __future__ import annotations

import asyncio

import pytest

from keybearer.destinations.engine.looking_up import each
from keybearer.destinations.remote import RemoteDeniedError


async def test_every_name_is_looked_up_once_and_not_all_at_a_time() -> None:
    seen: list[str] = []
    most, now = 0, 0

    async def look_up(name: str) -> None:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        seen.append(name)
        now -= 1

    names = [str(number) for number in range(50)]
    await each(names, look_up)
    assert sorted(seen) == sorted(names)
    assert 1 < most <= 8


async def test_the_first_that_fails_ends_the_others_and_is_raised_itself() -> None:
    seen: list[str] = []

    async def look_up(name: str) -> None:
        if name == "3":
            raise RemoteDeniedError("no")
        await asyncio.sleep(0)
        seen.append(name)

    with pytest.raises(RemoteDeniedError, match="no"):
        await each((str(number) for number in range(1000)), look_up)
    assert len(seen) < 20
