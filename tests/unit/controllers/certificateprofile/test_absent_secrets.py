"""Many Secrets that aren't there are found out by one list of names, whether one profile asks for them or many do."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from keybearer.base.clock import Clock
from keybearer.controllers.certificateprofile.absent_secrets import AbsentSecrets
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.observed_targets import ObservedStore
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.recreation import Recreation
from keybearer.kube.errors import UnavailableError
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import FINGERPRINTER


class _World:
    """Counts the lists that are read."""

    def __init__(self) -> None:
        self.clock, self.gateway, self.lists = HandClock(), FakeGateway(), 0
        self.gateway.before = self._count
        self.put("foreign")
        budgets = EffectBudgets(self.clock)
        writer = TargetWriter(self.gateway, ObservedStore(), FINGERPRINTER, Recreation(self.gateway), budgets)
        self._absent = AbsentSecrets(cast("Clock", self.clock), writer)
        self.forget = self._absent.forget
        self.started = self.clock.seconds
        self.clock.seconds += 1

    def _count(self, verb: str, kind: str) -> None:
        self.lists += (verb, kind) == ("list", "Secret")

    def put(self, name: str) -> None:
        self.gateway.put({"kind": "Secret", "metadata": {"namespace": "team-a", "name": name}})

    async def among(self, *names: str, since: float | None = None, namespace: str = "team-a") -> set[str]:
        keys = [TargetKey("Secret", namespace, name) for name in names]
        absent = await self._absent.among(keys, since=self.started if since is None else since)
        return {key.name for key in absent}

    async def seven_ask(self) -> None:
        for number in range(7):
            assert await self.among(f"front-{number}") == set(), "few are looked for one by one"
        assert self.lists == 0


@pytest.fixture
def world() -> _World:
    return _World()


async def test_of_many_that_one_profile_asks_for_a_list_tells(world: _World) -> None:
    names = [f"front-{number}" for number in range(8)]
    assert await world.among(*names, "foreign") == set(names)
    assert world.lists == 1


async def test_of_many_that_many_profiles_ask_for_one_list_tells(world: _World) -> None:
    await world.seven_ask()
    found = await asyncio.gather(*(world.among(f"shop-{number}", "foreign") for number in range(20)))
    assert found == [{f"shop-{number}"} for number in range(20)]
    assert world.lists == 1


async def test_nobody_is_looked_for_where_nobody_is_asked_for(world: _World) -> None:
    assert await world.among() == set()
    assert world.lists == 0


async def test_each_namespace_counts_alone(world: _World) -> None:
    await world.seven_ask()
    assert await world.among("shop", namespace="team-b") == set()
    assert world.lists == 0


async def test_what_was_asked_for_long_ago_does_not_count(world: _World) -> None:
    await world.seven_ask()
    world.clock.seconds += 6
    assert await world.among("shop") == set()
    assert world.lists == 0


async def test_a_list_from_before_what_led_here_does_not_count(world: _World) -> None:
    await world.seven_ask()
    assert await world.among("shop") == {"shop"}
    world.put("mail")
    world.clock.seconds += 1
    assert await world.among("mail", since=world.clock.seconds) == set()
    world.clock.seconds += 1
    names = [f"mail-{number}" for number in range(8)]
    assert await world.among(*names, "mail", since=world.clock.seconds - 1) == set(names)
    assert world.lists == 2


@pytest.mark.parametrize("ends", ["by time", "by what was found"])
async def test_a_list_counts_no_longer_than_it_is_believed(world: _World, ends: str) -> None:
    await world.seven_ask()
    assert await world.among("shop") == {"shop"}
    world.put("mail")
    if ends == "by time":
        world.clock.seconds += 5
    else:
        world.forget("team-a")
    assert await world.among("mail") == set()


@pytest.mark.parametrize(("later", "lists"), [(6, 2), (11, 1)])
async def test_what_still_waits_since_before_a_list_is_worth_the_next_list(
    world: _World, later: int, lists: int
) -> None:
    await world.seven_ask()
    assert await world.among("shop") == {"shop"}
    world.clock.seconds += later
    await world.among("mail")
    assert world.lists == lists


async def test_a_list_that_failed_is_read_again(world: _World) -> None:
    await world.seven_ask()
    world.gateway.fail("list", "Secret", UnavailableError("list Secrets: down"))
    with pytest.raises(UnavailableError):
        await world.among("shop")
    assert await world.among("shop") == {"shop"}
