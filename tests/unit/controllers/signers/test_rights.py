"""keybearer.controllers.signers.rights."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from keybearer.controllers.signers.rights import BundleRights
from keybearer.kube.errors import UnavailableError
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.virtual_loop import in_virtual_time

_BOTH = {"create clustertrustbundles", "attest signers"}


class World:
    def __init__(self) -> None:
        self.gateway = FakeGateway()
        self.calls = 0
        self.rights = BundleRights(self.gateway.review_own_access, SteadyChance(), self._granted)

    def is_granted(self) -> bool:
        return self.rights.granted

    def _granted(self) -> None:
        assert self.rights.granted
        self.calls += 1


@asynccontextmanager
async def running(world: World) -> AsyncIterator[None]:
    task = asyncio.create_task(world.rights.run(), name="rights")
    await asyncio.sleep(0.1)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@in_virtual_time
async def test_rights_are_asked_for_at_once_and_no_more_while_they_are_there() -> None:
    world = World()
    world.gateway.own_rights |= _BOTH
    async with running(world):
        assert world.is_granted()
        await asyncio.sleep(600)

    assert world.calls == 1
    assert world.gateway.own_reviews == ["create clustertrustbundles", "attest signers"]


@in_virtual_time
async def test_half_of_them_is_not_enough_and_what_is_granted_later_is_noticed() -> None:
    world = World()
    world.gateway.own_rights.add("create clustertrustbundles")
    async with running(world):
        assert not world.is_granted()
        world.gateway.own_rights |= _BOTH
        await asyncio.sleep(75)
        assert world.is_granted()

    assert world.calls == 1


@in_virtual_time
async def test_what_was_lost_is_asked_for_again_a_minute_later() -> None:
    world = World()
    world.gateway.own_rights |= _BOTH
    async with running(world):
        world.rights.lost()
        await asyncio.sleep(10)
        assert not world.is_granted()
        await asyncio.sleep(75)
        assert world.is_granted()

    assert world.calls == 2


@in_virtual_time
async def test_an_api_server_that_is_away_is_asked_again_soon() -> None:
    world = World()
    world.gateway.own_rights |= _BOTH
    world.gateway.fail("review", "own", UnavailableError("away"))
    async with running(world):
        assert not world.is_granted()
        await asyncio.sleep(10)
        assert world.is_granted()
