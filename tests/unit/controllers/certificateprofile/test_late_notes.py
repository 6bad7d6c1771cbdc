"""A note of an order reaches the API server late: it takes the place of no other, and nothing is issued twice."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import ParamSpec

import pytest

from keybearer.controllers.certificateprofile.targets import keyring_name
from keybearer.controllers.issuance.service import Order, OrderAnswer
from keybearer.controllers.outcome import WaitingError
from keybearer.kube.errors import KubeError, UnavailableError
from keybearer.kube.resources import JsonObject, ObjectKey
from unit.controllers.fakes.profile_world import DAY, KEY, ProfileWorld, certificate

_P = ParamSpec("_P")
_KEYRING = keyring_name(KEY.name)
_UNDER_WAY_SECONDS = 31.0
_ROTATION = pytest.mark.parametrize("rotation", ["Never", "Always"])
_RESTARTED = pytest.mark.parametrize("restarted", [False, True], ids=["the same process", "another process"])


class _DelayedWrites:
    """What lies between operator and API server: holds up writes of the keyring, whose sender gives up.

    Attributes:
        holds: how many of the next writes are held up.
        overtaken: what was held up arrives right before the next write.
    """

    def __init__(self, world: ProfileWorld) -> None:
        self.holds, self.overtaken = 0, False
        self._late: list[Callable[[], Awaitable[JsonObject]]] = []
        gateway = world.gateway
        for verb in ("create", "apply", "merge_patch"):
            setattr(gateway, verb, self._before(getattr(gateway, verb)))

    async def deliver(self) -> None:
        """Let arrive what was held up, the first one last; nobody waits for the answers any more."""
        while self._late:
            with contextlib.suppress(KubeError):
                await self._late.pop()()

    def _before(self, write: Callable[_P, Awaitable[JsonObject]]) -> Callable[_P, Awaitable[JsonObject]]:
        async def held_up(*args: _P.args, **kwargs: _P.kwargs) -> JsonObject:
            _, key, *_ = args
            if not isinstance(key, ObjectKey) or key.name != _KEYRING:
                return await write(*args, **kwargs)
            if self.holds:
                self.holds -= 1
                self._late.append(partial(write, *args, **kwargs))
                raise UnavailableError("no answer within 10 s")
            if self.overtaken:
                await self.deliver()
            return await write(*args, **kwargs)

        return held_up


async def _due(world: ProfileWorld, rotation: str) -> None:
    """A certificate was issued, and is to be renewed."""
    world.put(certificate("front", privateKey={"rotationPolicy": rotation}))
    await world.reconcile()
    assert world.ready == ("True", "Issued")
    world.pass_time(61 * DAY)


def _hold_order(world: ProfileWorld) -> list[Order]:
    """The next order stays on its way, and its sender gives up."""
    issue, held = world.service.issue, list[Order]()

    async def hold(order: Order) -> OrderAnswer:
        held.append(order)
        world.service.issue = issue  # type: ignore[method-assign]
        raise WaitingError("ServiceUnavailable", "timed out")

    world.service.issue = hold  # type: ignore[method-assign]
    return held


async def _until_renewed(world: ProfileWorld) -> None:
    for _ in range(4):
        await world.reconcile()
        if world.entry("front")["certificateRevision"] == 2:
            break
        world.pass_time(_UNDER_WAY_SECONDS)
    assert world.ready == ("True", "Issued"), world.message
    assert len(world.service.issued_for("front")) == 2
    assert world.stored("front")[0].serial == world.entry("front")["serialNumber"]


@_ROTATION
@_RESTARTED
@pytest.mark.parametrize("late", [1, 2])
async def test_one_that_comes_after_another_was_noted_and_sent(
    world: ProfileWorld, rotation: str, late: int, *, restarted: bool
) -> None:
    await _due(world, rotation)
    delayed, held = _DelayedWrites(world), _hold_order(world)
    delayed.holds = late
    for _ in range(late):
        assert (await world.reconcile()).failed
        assert held == []
    await world.reconcile()
    (order,), noted = held, world.keyring

    await delayed.deliver()
    if restarted:
        world.restart()
    await world.reconcile()
    await world.service.issue(order)

    world.pass_time(_UNDER_WAY_SECONDS)
    await _until_renewed(world)
    assert world.keyring == noted


@_ROTATION
@pytest.mark.parametrize("is_there", [True, False], ids=["keyring there", "keyring deleted"])
async def test_one_that_another_process_sent_and_that_comes_between_look_and_note(
    world: ProfileWorld, rotation: str, *, is_there: bool
) -> None:
    """The other process had its answer and sent its order; ours has read the keyring before the note arrived."""
    await _due(world, rotation)
    if not is_there:
        world.remove_secret(_KEYRING)
    delayed = _DelayedWrites(world)
    delayed.holds, delayed.overtaken = 1, True
    assert (await world.reconcile()).failed
    world.restart()

    assert (await world.reconcile()).failed

    assert world.service.calls.count("issue") == 1, "nothing may be sent beside what is noted"
    noted = world.keyring
    assert noted.attempts["front"].revision == 2
    assert (await world.reconcile()).requeue_after is not None
    assert world.keyring == noted
    await _until_renewed(world)


@_RESTARTED
async def test_the_first_one_of_all(world: ProfileWorld, *, restarted: bool) -> None:
    world.put(certificate("front"))
    delayed, held = _DelayedWrites(world), _hold_order(world)
    delayed.holds = 1
    assert (await world.reconcile()).failed
    await world.reconcile()
    (order,), noted = held, world.keyring

    await delayed.deliver()
    if restarted:
        world.restart()
    await world.reconcile()
    await world.service.issue(order)
    world.pass_time(_UNDER_WAY_SECONDS)
    await world.reconcile()

    assert world.keyring == noted
    assert world.ready == ("True", "Issued"), world.message
    assert len(world.service.issued_for("front")) == 1


async def test_what_somebody_else_changes_beside_it_only_puts_off_the_note(world: ProfileWorld) -> None:
    await _due(world, "Never")
    touched = False

    def touch(verb: str, kind: str) -> None:
        nonlocal touched
        keyring = world.gateway.find("Secret", _KEYRING)
        if kind == "Secret" and verb == "merge_patch" and keyring is not None and not touched:
            touched = True
            keyring["metadata"].setdefault("annotations", {})["team"] = "a"
            world.gateway.put(keyring)

    world.gateway.before = touch
    assert (await world.reconcile()).failed
    assert world.ready == ("False", "TargetConflict")
    assert "it is tried again" in world.message

    await _until_renewed(world)


async def test_one_that_is_somebody_elses_is_told_as_that(world: ProfileWorld) -> None:
    await _due(world, "Never")
    world.remove_secret(_KEYRING)
    meta: JsonObject = {"namespace": KEY.namespace, "name": _KEYRING}
    world.gateway.put({"kind": "Secret", "metadata": meta, "type": "Opaque", "data": {"mine": "bWluZQ=="}})

    await world.reconcile()

    assert world.ready == ("False", "TargetConflict"), world.message
    assert set(world.data(_KEYRING)) == {"mine"}
    assert world.service.calls.count("issue") == 1
