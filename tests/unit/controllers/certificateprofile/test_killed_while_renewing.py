"""The operator is killed at every step of a renewal: there is one certificate per revision, and always a good one."""

from __future__ import annotations

from collections import Counter

import pytest

from keybearer.pki.keys import load_private_key
from unit.controllers.fakes.certificate_service import Killed, KillingAt
from unit.controllers.fakes.profile_world import DAY, ProfileWorld, certificate

_LONG = 3600.0
"""Longer than anything that is waited for before an order is sent again."""


@pytest.fixture
async def world() -> ProfileWorld:
    """A world whose certificates are due."""
    world = ProfileWorld()
    world.put(
        certificate("front"),
        certificate("back", privateKey={"rotationPolicy": "Never"}),
        certificate("side", privateKey={"generatedBy": "Service"}),
    )
    await world.reconcile()
    assert world.ready == ("True", "Issued")
    world.pass_time(61 * DAY)
    return world


_CALLS = [
    *(("issue", when, nth) for when in ("before", "after") for nth in (1, 2, 3)),
    ("requests_of", "before", 1),
    *(("bundle", "before", nth) for nth in (1, 2, 3)),
]


@pytest.mark.parametrize(("call", "when", "nth"), _CALLS)
async def test_around_a_call_of_the_service(world: ProfileWorld, call: str, when: str, nth: int) -> None:
    world.service.at_once = call != "bundle"
    killing = KillingAt(nth, call)
    setattr(world.service, when, killing)
    await _renew(world)

    assert killing.left <= 0
    _judge(world)


_WRITES = [
    ("merge_patch", "Secret", 1),
    *(("apply", "Secret", nth) for nth in (1, 2, 3)),
    ("apply_status", "CertificateProfile", 1),
]


@pytest.mark.parametrize(("verb", "kind", "nth"), _WRITES)
async def test_before_a_write(world: ProfileWorld, verb: str, kind: str, nth: int) -> None:
    killing = KillingAt(nth, verb, kind)
    world.gateway.before = killing
    await _renew(world)

    assert killing.left <= 0
    _judge(world)


async def _renew(world: ProfileWorld) -> None:
    for _ in range(12):
        try:
            await world.reconcile()
        except Killed:
            world.restart()
        else:
            if {one["certificateRevision"] for one in world.status["certificateRequests"]} == {2}:
                return
        for name in ("front", "back", "side"):
            assert (
                load_private_key(world.data(name)["tls.key"]).public_key == world.stored(name)[0].public_key
            )
        world.pass_time(_LONG)
    pytest.fail(world.message)


def _judge(world: ProfileWorld) -> None:
    orders = Counter(
        (one.metadata["keybearer.dev/certificate"], one.metadata["keybearer.dev/revision"].partition("-")[0])
        for one in world.service.kept.values()
    )
    assert orders == {(name, revision): 1 for name in ("front", "back", "side") for revision in ("1", "2")}
    assert world.ready == ("True", "Issued")
    for name in ("front", "back", "side"):
        assert world.stored(name)[0].serial == world.entry(name)["serialNumber"]
