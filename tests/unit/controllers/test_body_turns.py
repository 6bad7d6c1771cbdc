from __future__ import annotations

import asyncio

import pytest

from keybearer.controllers.body_turns import BodyTurn, BodyTurns
from unit.controllers.fakes.virtual_loop import in_virtual_time, settle

_LARGE = 1024 * 1024


class Crowd:
    """Bodies that are taken in until a test says otherwise."""

    def __init__(self) -> None:
        self.inside: list[str] = []
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def enter(self, turn: BodyTurn, name: str, length: int | None = _LARGE) -> None:
        self._tasks[name] = asyncio.create_task(self._hold(turn, name, length))
        await settle()

    async def _hold(self, turn: BodyTurn, name: str, length: int | None) -> None:
        async with turn(length):
            self.inside.append(name)
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self.inside.remove(name)

    async def leave(self, name: str) -> None:
        self._tasks[name].cancel()
        await settle()


@pytest.mark.parametrize("length", [_LARGE, None], ids=["large", "of a length that nobody says"])
@in_virtual_time
async def test_one_session_never_holds_all_turns(length: int | None) -> None:
    turns, crowd = BodyTurns(), Crowd()
    slow = turns.for_session()
    for name in ("a1", "a2", "a3", "a4", "a5"):
        await crowd.enter(slow, name, length)
    assert crowd.inside == ["a1", "a2"]

    await crowd.enter(turns.for_session(), "b1", length)
    assert crowd.inside == ["a1", "a2", "b1"]

    await crowd.leave("a1")
    assert crowd.inside == ["a2", "b1", "a3"]


@in_virtual_time
async def test_a_few_large_bodies_are_taken_in_at_once_over_all_sessions() -> None:
    turns, crowd = BodyTurns(), Crowd()
    for number in range(6):
        await crowd.enter(turns.for_session(), str(number))
    assert crowd.inside == ["0", "1", "2", "3"]

    await crowd.leave("1")
    assert crowd.inside == ["0", "2", "3", "4"]


@in_virtual_time
async def test_a_small_body_waits_for_nobody() -> None:
    turns, crowd = BodyTurns(), Crowd()
    for number in range(6):
        await crowd.enter(turns.for_session(), str(number))
    await crowd.enter(turns.for_session(), "small", 64 * 1024)

    assert "small" in crowd.inside
