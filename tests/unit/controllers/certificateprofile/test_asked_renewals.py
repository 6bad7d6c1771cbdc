"""A renewal that a person asked for is carried to its end, though the request is answered when it has begun."""

from __future__ import annotations

import pytest

from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.kube.errors import UnavailableError
from unit.controllers.fakes.certificate_service import Killed, KillingAt
from unit.controllers.fakes.profile_world import ProfileWorld, issued_world

_LONG = 3600.0
"""Longer than anything that is waited for before an order is sent again."""
_WRITES = pytest.mark.parametrize(
    "verb", [pytest.param("merge_patch", id="of the keyring"), pytest.param("apply", id="of the certificate")]
)


@pytest.fixture
async def world() -> ProfileWorld:
    """A world whose certificate is good for long, and which a person wants renewed."""
    world = await issued_world()
    world.ask("renew", "today")
    return world


@pytest.mark.parametrize("when", ["before", "after"])
async def test_after_a_call_that_failed(world: ProfileWorld, when: str) -> None:
    failures = iter([WaitingError("ServiceUnavailable", "away")])

    def fail(name: str) -> None:
        if name == "issue" and (failure := next(failures, None)) is not None:
            raise failure

    setattr(world.service, when, fail)
    await _renew(world)


async def test_after_a_refusal_that_ends(world: ProfileWorld) -> None:
    refusals = iter([StalledError("RequestRefused", "another request is being worked on")])

    def refuse(name: str) -> None:
        if name == "issue" and (refusal := next(refusals, None)) is not None:
            raise refusal

    world.service.before = refuse
    await world.reconcile()
    assert world.ready == ("True", "Issued")
    assert world.entry("front")["reason"] == "RequestRefused"

    await world.reconcile()
    assert world.entry("front")["reason"] == "RequestRefused"

    await _renew(world)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_after_a_kill_around_a_call(world: ProfileWorld, when: str) -> None:
    setattr(world.service, when, KillingAt(1, "issue"))
    await _renew(world)


@_WRITES
async def test_after_a_write_that_failed(world: ProfileWorld, verb: str) -> None:
    world.gateway.fail(verb, "Secret", UnavailableError("away"))
    await _renew(world)


@_WRITES
async def test_after_a_kill_before_a_write(world: ProfileWorld, verb: str) -> None:
    killing = KillingAt(1, verb, "Secret")
    world.gateway.before = killing
    await _renew(world)
    assert killing.left <= 0


async def _renew(world: ProfileWorld) -> None:
    for _ in range(6):
        try:
            await world.reconcile()
        except Killed:
            world.restart()
        world.pass_time(_LONG)
    assert world.entry("front")["certificateRevision"] == 2
    assert world.entry("front")["revision"] == 2
    assert world.entry("front")["need"] == "Asked"
    assert len(world.service.issued_for("front")) == 2
    assert world.ready == ("True", "Issued")
