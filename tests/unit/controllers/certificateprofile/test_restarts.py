"""Workloads that follow certificates: those that don't exist, and restarts that wait or were missed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from unit.controllers.fakes.profile_world import DAY, ProfileWorld, certificate
from unit.controllers.fakes.targets import Body

_SHOP = {"kind": "Deployment", "name": "shop"}
_SLIP = {"kind": "Deployment", "name": "shoop"}


def _deploy(world: ProfileWorld, name: str = "shop") -> None:
    created = world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata: Body = {"namespace": "team-a", "name": name, "creationTimestamp": created}
    world.gateway.put({"kind": "Deployment", "metadata": metadata, "spec": {}})


def _restarts(world: ProfileWorld) -> int:
    found = sum(str(one).startswith("merge_patch Deployment") for one in world.gateway.writes)
    world.gateway.writes.clear()
    return found


def _restarted_for(world: ProfileWorld) -> str | None:
    body = world.gateway.find("Deployment", "shop")
    assert body is not None
    template = body["spec"].get("template")
    return None if template is None else template["metadata"]["annotations"]["keybearer.dev/restarted-for"]


def _workload(world: ProfileWorld) -> Body:
    (found,) = world.status["workloads"]
    assert isinstance(found, dict)
    return found


async def test_a_missing_workload_is_named_until_it_appears(world: ProfileWorld) -> None:
    world.put(certificate("front", rolloutRestart=[_SLIP]))
    result = await world.reconcile()

    assert world.ready == ("True", "Issued")
    assert world.message.endswith(
        "; Deployment shoop of rolloutRestart doesn't exist: correct the name, or create it"
    )
    assert _workload(world)["missingSince"]
    assert result.requeue_after == timedelta(seconds=30)

    world.pass_time(31)
    _deploy(world, "shoop")
    await world.reconcile()
    assert "doesn't exist" not in world.message
    assert "missingSince" not in _workload(world)
    assert _restarts(world) == 0


@pytest.mark.parametrize("restarted", [False, True], ids=["the same process", "another process"])
async def test_a_missed_restart_follows_once_when_the_name_is_corrected(
    world: ProfileWorld, *, restarted: bool
) -> None:
    _deploy(world)
    world.put(certificate("front", rolloutRestart=[_SLIP]), certificate("back"))
    await world.reconcile()
    world.pass_time(61 * DAY)
    await world.reconcile()
    assert world.entry("front")["restartDue"] is True
    assert _restarts(world) == 0
    if restarted:
        world.restart()
    world.pass_time(61)
    world.put(certificate("front", rolloutRestart=[_SHOP]), certificate("back"))
    await world.reconcile()

    assert _restarts(world) == 1
    assert _restarted_for(world) == f"front:{world.stored('front')[0].serial}"
    assert "restartDue" not in world.entry("front")
    world.pass_time(61)
    await world.reconcile()
    assert _restarts(world) == 0


async def test_a_workload_that_is_newer_than_the_certificate_needs_no_restart(world: ProfileWorld) -> None:
    world.put(certificate("front", rolloutRestart=[_SLIP]))
    await world.reconcile()
    world.pass_time(61 * DAY)
    await world.reconcile()
    world.pass_time(61)
    _deploy(world)
    world.put(certificate("front", rolloutRestart=[_SHOP]))
    await world.reconcile()

    assert _restarts(world) == 0
    assert "restartDue" not in world.entry("front")


async def test_a_second_certificate_within_a_minute_waits_and_the_object_stays_ready(
    world: ProfileWorld,
) -> None:
    _deploy(world)
    world.put(certificate("front", rolloutRestart=[_SHOP]))
    await world.reconcile()
    world.pass_time(61 * DAY)
    await world.reconcile()
    assert _restarts(world) == 1
    world.pass_time(10)
    world.ask("renew", "2026-03-01T00:00:00Z")
    result = await world.reconcile()

    assert _restarts(world) == 0
    assert world.ready == ("True", "Issued")
    assert "; Deployment shop is restarted at " in world.message
    assert "diagnosis" not in world.status
    assert world.entry("front")["restartDue"] is True
    assert not result.failed
    assert result.requeue_after == timedelta(seconds=50)
    world.pass_time(50)
    await world.reconcile()
    assert _restarts(world) == 1
    assert _restarted_for(world) == f"front:{world.stored('front')[0].serial}"
    assert "restartDue" not in world.entry("front")
    assert "is restarted at" not in world.message


async def test_a_restart_that_an_earlier_version_left_to_do_is_done(world: ProfileWorld) -> None:
    _deploy(world)
    world.put(certificate("front", rolloutRestart=[_SHOP]))
    await world.reconcile()
    body = world.gateway.find("CertificateProfile", "web")
    assert body is not None
    del body["status"]["workloads"]
    body["status"]["certificateRequests"][0]["restartDue"] = True
    world.restart()
    await world.reconcile()

    assert _restarts(world) == 1
    assert "restartDue" not in world.entry("front")


async def test_the_status_of_an_earlier_version_owes_nothing_and_is_not_written(world: ProfileWorld) -> None:
    _deploy(world)
    world.put(certificate("front", rolloutRestart=[_SHOP]))
    await world.reconcile()
    body = world.gateway.find("CertificateProfile", "web")
    assert body is not None
    del body["status"]["workloads"]
    world.restart()
    world.gateway.writes.clear()
    await world.reconcile()

    assert world.gateway.writes == []
