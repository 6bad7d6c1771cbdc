"""A target that somebody else keeps changing: how often it is put right, and what is said of it meanwhile."""

from __future__ import annotations

import asyncio

from keybearer.kube.errors import ForbiddenError
from unit.controllers.fakes.source_session import FakeSession, listing
from unit.controllers.fakes.targets import b64
from unit.controllers.fakes.two_keys import DATA, STATUS, TWO
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import World, new_world

_REPAIRED = "apply Secret team-a/web"


def _meddle(world: World) -> None:
    """Somebody sets a planned label to another value; the watch shows it."""
    body = world.gateway.find("Secret", "web")
    assert body is not None
    body["metadata"]["labels"]["team"] = "b"
    body["metadata"]["resourceVersion"] += "1"
    body["metadata"]["managedFields"].append(
        {"manager": "meddler", "operation": "Update", "time": "2026-03-01T12:00:00Z", "fieldsV1": {}}
    )
    world.watch_targets()


@in_virtual_time
async def test_a_fight_is_told_once_and_costs_few_writes_until_it_ends() -> None:
    async with new_world(FakeSession(TWO)) as world:
        world.put_sync(target={"labels": {"team": "a"}})
        await world.reconcile()
        world.watch_targets()
        world.written()
        begun = asyncio.get_running_loop().time()
        while asyncio.get_running_loop().time() < begun + 600:
            _meddle(world)
            await world.reconcile()
            world.echo()
            await asyncio.sleep(1)
        written = world.written()

        assert set(written) == {_REPAIRED, STATUS}
        assert written.count(STATUS) == 1
        assert 20 <= written.count(_REPAIRED) <= 30
        assert world.condition() == ("False", "TargetContested")
        assert world.condition("BudgetUsed") == ("True", "TargetContested")
        assert 'by field manager "meddler" each time' in world.message()
        told = [one.reason for one in world.recorder.told]
        assert told.count("TargetContested") == 1
        assert 'keybearer_effects_delayed_total{effect="repair"}' in world.shown()

        result = await world.reconcile()
        while result.requeue_after is not None:
            await asyncio.sleep(result.requeue_after.total_seconds())
            result = await world.reconcile()
            world.echo()

        assert world.condition() == ("True", "Synced")
        assert world.condition("BudgetUsed") is None
        assert world.data() == DATA


@in_virtual_time
async def test_a_fight_costs_as_few_writes_where_no_status_can_be_written() -> None:
    """Of a spec that no status says was carried out, the writer alone knows what it wrote."""
    async with new_world(FakeSession(TWO)) as world:
        world.put_sync(target={"labels": {"team": "x"}})
        await world.reconcile()
        world.put_sync(target={"labels": {"team": "a"}})
        world.gateway.fail("apply_status", "SecretSync", ForbiddenError("not now"), times=1000)
        world.written()
        for _ in range(300):
            await world.reconcile()
            _meddle(world)
            await asyncio.sleep(1)

        assert 15 <= world.written().count(_REPAIRED) <= 31


@in_virtual_time
async def test_changes_of_the_source_and_of_the_spec_are_not_counted() -> None:
    readings = [listing("cnry-0", f"cnry-{number}") for number in range(40)]
    async with new_world(FakeSession(*readings)) as world:
        world.put_sync(refreshInterval="10s")
        await world.reconcile()
        for number in range(39):
            if number % 2:
                world.put_sync(refreshInterval="10s", target={"labels": {"team": f"t{number}"}})
            await asyncio.sleep(15)
            await world.reconcile()
            world.echo()
            assert world.condition() == ("True", "Synced")

        assert world.data() == {"K0": b64("cnry-0"), "K1": b64("cnry-39")}


@in_virtual_time
async def test_labels_and_annotations_of_others_cost_nothing() -> None:
    async with new_world(FakeSession(TWO)) as world:
        world.put_sync(target={"labels": {"team": "a"}})
        await world.reconcile()
        world.watch_targets()
        world.written()
        body = world.gateway.find("Secret", "web")
        assert body is not None
        body["metadata"]["labels"]["theirs"] = "x"
        body["metadata"].setdefault("annotations", {})["theirs"] = "x"
        world.watch_targets()
        world.gateway.reads.clear()
        await world.reconcile()

        assert world.written() == []
        assert world.gateway.reads == []
