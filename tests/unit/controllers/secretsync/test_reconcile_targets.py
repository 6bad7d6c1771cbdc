"""Targets that are renamed, of somebody else, or written once; and those that change meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from keybearer.kube.errors import (
    UnavailableError,
)
from unit.controllers.fakes.source_session import FakeSession, listing
from unit.controllers.fakes.targets import SYNC, Body, b64
from unit.controllers.fakes.two_keys import DATA, OTHER_TWO, STATUS, TWO
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import new_world, secret


class TestTargets:
    @in_virtual_time
    async def test_a_renamed_target_is_written_before_the_old_one_goes(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.written()
            world.put_sync(target={"name": "renamed"})
            await world.reconcile()

            assert world.written() == [
                STATUS,
                "create Secret team-a/renamed",
                "delete Secret team-a/web",
                STATUS,
            ]
            assert world.status["target"]["name"] == "renamed"
            assert "movingTo" not in world.status

    @pytest.mark.parametrize("then", ["web", "third"])
    @in_virtual_time
    async def test_a_rename_that_was_cut_off_before_another_one_leaves_no_target_behind(
        self, then: str
    ) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.put_sync(target={"name": "renamed"})
            world.gateway.fail("apply_status", "SecretSync", UnavailableError("no answer"), after=1)
            await world.reconcile()
            assert world.data("renamed") == DATA
            world.echo()
            world.put_sync(target={"name": then})
            await world.reconcile()

            assert world.data(then) == DATA
            assert world.data("renamed") is None
            assert (world.data("web") is None) == (then != "web")
            assert "movingTo" not in world.status

    @in_virtual_time
    async def test_a_foreign_target_is_not_touched_and_watched_for_its_end(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.gateway.put(secret("web", {"THEIRS": "cnry-t"}))
            world.put_sync()
            result = await world.reconcile()

            assert result.failed
            assert world.condition("Stalled") == ("True", "TargetConflict")
            assert world.data() == {"THEIRS": b64("cnry-t")}
            assert "web" in {key.name for key in world.watches["Secret"].followed[SYNC]}

    @in_virtual_time
    async def test_workloads_restart_when_data_changed_not_when_it_was_first_written(self) -> None:
        deployment: Body = {
            "kind": "Deployment",
            "metadata": {"namespace": "team-a", "name": "api"},
            "spec": {},
        }
        async with new_world(FakeSession(TWO, OTHER_TWO)) as world:
            world.gateway.put(deployment)
            workloads = [{"kind": "Deployment", "name": "api"}, {"kind": "StatefulSet", "name": "missing"}]
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": workloads})
            await world.reconcile()
            assert world.written() == ["create Secret team-a/web", STATUS]
            await asyncio.sleep(15)
            await world.reconcile()

            assert world.written() == [
                "apply Secret team-a/web",
                "merge_patch Deployment team-a/api",
                STATUS,
            ]
            restarted = world.gateway.find("Deployment", "api")
            assert restarted is not None
            template = restarted["spec"]["template"]["metadata"]["annotations"]
            assert template == {"keybearer.dev/restarted-for": f"web:{world.status['target']['fingerprint']}"}

    @in_virtual_time
    async def test_a_restart_that_failed_is_done_again_although_the_target_is_as_planned(self) -> None:
        deployment: Body = {
            "kind": "Deployment",
            "metadata": {"namespace": "team-a", "name": "api"},
            "spec": {},
        }
        async with new_world(FakeSession(TWO, OTHER_TWO)) as world:
            world.gateway.put(deployment)
            world.put_sync(
                refreshInterval="10s", target={"rolloutRestart": [{"kind": "Deployment", "name": "api"}]}
            )
            await world.reconcile()
            world.gateway.fail("merge_patch", "Deployment", UnavailableError("patch Deployment: no answer"))
            await asyncio.sleep(15)
            result = await world.reconcile()
            assert result.failed
            assert world.condition() == ("False", "WorkloadNotRestarted")
            world.written()
            await world.reconcile()

            assert world.written() == ["merge_patch Deployment team-a/api", STATUS]
            assert world.condition() == ("True", "Synced")

    @in_virtual_time
    async def test_create_once_leaves_the_target_to_others_after_the_first_write(self) -> None:
        async with new_world(FakeSession(TWO, OTHER_TWO)) as world:
            world.put_sync(mode="CreateOnce", refreshInterval="10s")
            await world.reconcile()
            body = world.gateway.find("Secret", "web")
            assert body is not None
            body["data"] = {"MINE": b64("cnry-mine")}
            body["metadata"]["labels"] = {}
            world.gateway.put(body)
            await asyncio.sleep(15)
            await world.reconcile()

            assert world.data() == {"MINE": b64("cnry-mine")}
            assert world.condition() == ("True", "Synced")
            assert world.message() == "Secret web was written once, and is left alone: mode is CreateOnce"

    @in_virtual_time
    async def test_create_once_calls_no_key_synced_that_it_never_wrote(self) -> None:
        async with new_world(FakeSession(listing("cnry-0"), TWO)) as world:
            world.put_sync(mode="CreateOnce", refreshInterval="10s")
            await world.reconcile()
            await asyncio.sleep(15)
            await world.reconcile()

            assert [key["key"] for key in world.status["keys"]] == ["K0"]
            assert world.status["target"]["keys"] == 1

    @in_virtual_time
    async def test_create_once_judges_a_target_of_another_name_as_one_it_never_wrote(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync(mode="CreateOnce")
            await world.reconcile()
            world.gateway.put(secret("theirs", {"A": "cnry-t"}))
            world.put_sync(mode="CreateOnce", target={"name": "theirs"})
            await world.reconcile()

            assert world.condition("Stalled") == ("True", "TargetConflict")
            assert world.data("web") == DATA


class TestRaces:
    @in_virtual_time
    async def test_a_target_that_appears_meanwhile_is_looked_at_and_not_touched(self) -> None:
        async with new_world(FakeSession(TWO)) as world:

            def appear(verb: str, kind: str) -> None:
                if (verb, kind) == ("create", "Secret") and world.data() is None:
                    world.gateway.put(secret("web", {"THEIRS": "cnry-t"}))

            world.gateway.before = appear
            world.put_sync()
            await world.reconcile()

            assert world.data() == {"THEIRS": b64("cnry-t")}
            assert world.condition("Stalled") == ("True", "TargetConflict")

    @in_virtual_time
    async def test_a_target_that_somebody_keeps_writing_is_tried_a_few_times_and_later_again(self) -> None:
        async with new_world(FakeSession(TWO, listing("cnry-0"))) as world:
            world.put_sync(refreshInterval="10s", guard={"maxDeletions": 50})
            await world.reconcile()
            world.written()
            edits = 0

            def meddle(verb: str, kind: str) -> None:
                nonlocal edits
                if (verb, kind) == ("merge_patch", "Secret"):
                    edits += 1
                    body = world.gateway.find("Secret", "web")
                    assert body is not None
                    world.gateway.put(body)

            world.gateway.before = meddle
            await asyncio.sleep(15)
            result = await world.reconcile()

            assert edits == 4
            assert result.failed
            assert world.condition("Reconciling") == ("True", "TargetConflict")
            assert world.data() == DATA

    @in_virtual_time
    async def test_drift_that_the_watch_shows_before_our_write_is_answered_is_not_painted_over(self) -> None:
        async with new_world(FakeSession(TWO)) as world:

            def edit(verb: str, kind: str) -> None:
                del verb
                if kind == "SecretSync" and world.data() == DATA:
                    return

            world.put_sync()
            create = world.gateway.create

            async def create_slowly(*args: object, **kwargs: object) -> object:
                answer = await create(*args, **kwargs)  # type: ignore[arg-type]
                body = world.gateway.find("Secret", "web")
                assert body is not None
                body["data"]["K0"] = b64("cnry-edited")
                world.gateway.put(body)
                world.watch_targets()  # the watch is faster than the answer
                return answer

            world.gateway.before = edit
            world.gateway.create = create_slowly  # type: ignore[method-assign,assignment]
            await world.reconcile()
            assert world.data() == {**DATA, "K0": b64("cnry-edited")}
            await world.reconcile()

            assert world.data() == DATA

    @in_virtual_time
    async def test_a_target_deleted_between_look_and_write_is_looked_at_once_more(self) -> None:
        async with new_world(FakeSession(TWO, listing("cnry-0"))) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()

            def vanish(verb: str, kind: str) -> None:
                if (verb, kind) == ("merge_patch", "Secret"):
                    world.gateway.remove("Secret", "web")

            world.gateway.before = vanish
            await asyncio.sleep(15)
            await world.reconcile()

            assert world.data() == {"K0": b64("cnry-0")}
