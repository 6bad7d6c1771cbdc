"""A Secret of a certificate that somebody else keeps changing or deleting: how often it is repaired, what is said."""

from __future__ import annotations

import base64
import copy
from collections.abc import Callable

import pytest

from keybearer.kube.errors import ForbiddenError
from tools.local.kube_api import Body
from unit.controllers.fakes.profile_world import ProfileWorld, certificate, issued_world

_SECRET = "Secret team-a/front"
_KEYRING = "Secret team-a/web.certificate-keys"
_QUIET_SECONDS = 900.0


@pytest.fixture
async def world() -> ProfileWorld:
    """A world with a certificate that is good for long."""
    world = await issued_world()
    world.writes()
    return world


def _change(world: ProfileWorld) -> None:
    body = copy.deepcopy(world.gateway.find("Secret", "front"))
    assert body is not None
    body["data"]["tls.crt"] = base64.b64encode(b"theirs").decode()
    world.gateway.put(body)


def _delete(world: ProfileWorld) -> None:
    if world.gateway.find("Secret", "front") is not None:
        world.remove_secret("front")


@pytest.mark.parametrize("meddle", [_change, _delete])
async def test_a_fight_costs_few_writes_is_told_and_ends(
    world: ProfileWorld, meddle: Callable[[ProfileWorld], None]
) -> None:
    for _ in range(600):
        meddle(world)
        await world.reconcile()
        world.pass_time(1)
    written = world.writes()

    assert 16 <= sum(_SECRET in one for one in written) <= 30
    assert sum(_KEYRING in one for one in written) == 0
    assert world.ready == ("False", "TargetContested")
    used = next(one for one in world.status["conditions"] if one["type"] == "BudgetUsed")
    assert (used["status"], used["reason"]) == ("True", "TargetContested")
    assert "each time it was put right, since " in used["message"]
    assert world.service.calls.count("issue") == 1
    assert [one.reason for one in world.recorder.told].count("TargetContested") == 1

    for _ in range(3):
        world.pass_time(_QUIET_SECONDS)
        await world.reconcile()

    assert world.ready == ("True", "Issued")
    assert not [one for one in world.status["conditions"] if one["type"] == "BudgetUsed"]
    assert world.stored("front")[0].serial == world.entry("front")["serialNumber"]


@pytest.mark.parametrize("meddle", [_change, _delete])
@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"renewBefore": "480h"}, id="the certificate stays"),
        pytest.param({"attributes": certificate("back")["attributes"]}, id="another certificate"),
    ],
)
async def test_a_fight_costs_as_few_writes_where_no_status_can_be_written(
    world: ProfileWorld, edit: Body, meddle: Callable[[ProfileWorld], None]
) -> None:
    """Of a spec that no status says was carried out, the writer alone knows what it wrote."""
    world.put(certificate("front") | edit)
    world.gateway.fail("apply_status", "CertificateProfile", ForbiddenError("not now"), times=1000)
    await world.reconcile()
    world.writes()
    orders = world.service.calls.count("issue")
    for _ in range(300):
        meddle(world)
        await world.reconcile()
        world.pass_time(1)
    written = world.writes()

    assert 15 <= sum(_SECRET in one for one in written) <= 31
    assert sum(_KEYRING in one for one in written) == 0
    assert world.service.calls.count("issue") == orders


async def test_a_changed_spec_is_written_though_somebody_fights(world: ProfileWorld) -> None:
    for _ in range(16):
        _change(world)
        await world.reconcile()
    assert world.ready == ("False", "TargetContested")

    world.put(certificate("front") | {"attributes": certificate("back")["attributes"]})
    await world.reconcile()

    assert str(world.stored("front")[0].subject) == "CN=back.example.com"


async def test_a_keyring_that_somebody_keeps_deleting_is_rebuilt_as_often_as_the_budget_says(
    world: ProfileWorld,
) -> None:
    for _ in range(100):
        if world.gateway.find("Secret", "web.certificate-keys") is not None:
            world.remove_secret("web.certificate-keys")
        await world.reconcile()
        world.pass_time(5)

    assert 15 <= sum(_KEYRING in one for one in world.writes()) <= 30
    assert world.entry("front")["certificateRevision"] == 1


async def test_all_secrets_that_are_deleted_at_once_are_back_at_once(world: ProfileWorld) -> None:
    names = [f"c{number}" for number in range(40)]
    world.put(*map(certificate, names))
    await world.reconcile()
    for name in names:
        world.remove_secret(name)

    await world.reconcile()

    assert [name for name in names if world.gateway.find("Secret", name) is None] == []
    assert world.ready == ("True", "Issued")
