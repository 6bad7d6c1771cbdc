from __future__ import annotations

import asyncio

from keybearer.controllers.template.turns import FairTurns
from unit.controllers.fakes.virtual_loop import in_virtual_time, settle


class Crowd:
    """Who holds a turn, by name; the first letter is the tenant."""

    def __init__(self, at_once: int = 2) -> None:
        self.turns = FairTurns(at_once)
        self.inside: list[str] = []
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def enter(self, *names: str) -> None:
        for name in names:
            self._tasks[name] = asyncio.create_task(self._hold(name))
            await settle()

    async def _hold(self, name: str) -> None:
        async with self.turns.turn(name[0]):
            self.inside.append(name)
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self.inside.remove(name)

    async def leave(self, *names: str) -> None:
        for name in names:
            self._tasks[name].cancel()
        await settle()


@in_virtual_time
async def test_a_tenant_alone_may_hold_all_turns() -> None:
    crowd = Crowd()
    await crowd.enter("a1", "a2", "a3")

    assert crowd.inside == ["a1", "a2"]


@in_virtual_time
async def test_a_tenant_holds_no_second_turn_while_another_waits() -> None:
    crowd = Crowd()
    await crowd.enter("a1", "a2", "a3", "a4", "b1", "b2")
    await crowd.leave("a1")
    assert crowd.inside == ["a2", "b1"], "b came last, and a holds one"

    await crowd.leave("b1")
    assert crowd.inside == ["a2", "b2"]

    await crowd.leave("a2")
    assert crowd.inside == ["b2", "a3"]


@in_virtual_time
async def test_tenants_that_hold_nothing_take_turns() -> None:
    crowd = Crowd(at_once=1)
    await crowd.enter("x1", "a1", "a2", "a3", "b1", "b2", "c1")
    order = []
    for _ in range(6):
        await crowd.leave(crowd.inside[0])
        order.append(crowd.inside[0])

    assert order == ["a1", "b1", "c1", "a2", "b2", "a3"]


@in_virtual_time
async def test_who_gives_up_waiting_holds_nobody_up() -> None:
    crowd = Crowd(at_once=1)
    await crowd.enter("x1", "a1", "b1")
    await crowd.leave("a1")
    await crowd.leave("x1")
    assert crowd.inside == ["b1"]

    await crowd.leave("b1")
    await crowd.enter("c1")
    assert crowd.inside == ["c1"]


@in_virtual_time
async def test_a_turn_that_is_given_to_one_who_is_just_leaving_goes_on_to_the_next() -> None:
    crowd = Crowd(at_once=1)
    await crowd.enter("x1", "a1", "b1")
    # Both at once: the end of x1 gives its turn to a1 before a1 hears that it is cancelled.
    await crowd.leave("x1", "a1")

    assert crowd.inside == ["b1"]
