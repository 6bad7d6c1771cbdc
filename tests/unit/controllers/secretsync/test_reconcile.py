from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from keybearer.controllers.queue import Lane, WorkItem
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.workers import RECONCILE_DEADLINE, RunResult
from keybearer.kube.errors import (
    ForbiddenError,
    InvalidError,
    KubeError,
    LeaseLostError,
    NotFoundError,
    UnavailableError,
)
from support.canary import Canary, find_mark
from unit.controllers.fakes.source_session import DENIED, OUTAGE, FakeSession, listing
from unit.controllers.fakes.targets import SYNC, UID, Body, b64
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import World, new_world, secret

_TWO = listing("cnry-0", "cnry-1")
_OTHER_TWO = listing("cnry-0", "cnry-changed")
_DATA = {"K0": b64("cnry-0"), "K1": b64("cnry-1")}
_STATUS = "apply_status SecretSync team-a/web"


class TestHappyPath:
    @in_virtual_time
    async def test_a_first_sync_costs_two_writes_and_no_read_of_the_target(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            result = await world.reconcile()

            assert result == RunResult()
            assert world.written() == ["create Secret team-a/web", _STATUS]
            assert world.gateway.reads == ["Secret team-a/login"]
            assert world.data() == _DATA
            assert world.condition() == ("True", "Synced")
            assert world.status["target"]["keys"] == 2
            assert [key["key"] for key in world.status["keys"]] == ["K0", "K1"]
            assert world.status["observedGeneration"] == 1
            assert world.recorder.told == [], "a first sync that goes well has its status to say so"
            assert find_mark(world.shown()) is None

    @in_virtual_time
    async def test_a_second_run_writes_nothing_and_reads_nothing(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.watch_targets()
            world.written()
            world.gateway.reads.clear()
            await asyncio.sleep(7)
            for _ in range(3):
                await world.reconcile()

            assert world.written() == []
            assert world.gateway.reads == []
            assert len(world.session.asked) == 1

    @in_virtual_time
    async def test_a_restart_writes_nothing_and_reads_no_target(self) -> None:
        async with new_world(FakeSession(_TWO)) as before:
            before.put_sync()
            await before.reconcile()
            objects = before.gateway.objects
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.objects = objects
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            world.see(body)
            world.watch_targets()
            await world.reconcile()

            assert world.written() == []
            assert world.gateway.reads == ["Secret team-a/login"]

    @in_virtual_time
    async def test_a_change_of_the_source_is_written_with_its_status(self) -> None:
        async with new_world(FakeSession(_TWO, _OTHER_TWO)) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()
            world.written()
            await asyncio.sleep(15)
            assert world.called == [("web", Lane.CHANGE)]
            await world.reconcile()

            assert world.written() == ["apply Secret team-a/web", _STATUS]
            assert world.data() == {"K0": b64("cnry-0"), "K1": b64("cnry-changed")}
            (told,) = world.recorder.told
            assert (told.reason, told.message) == ("TargetWritten", "Secret web: changed K1")

    @in_virtual_time
    async def test_drift_is_repaired_and_the_status_has_nothing_new_to_say(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.written()
            body = world.gateway.find("Secret", "web")
            assert body is not None
            body["data"] |= {"K0": b64("cnry-edited"), "EXTRA": b64("cnry-extra")}
            world.gateway.put(body)
            world.watch_targets()
            await world.reconcile()

            assert world.written() == ["merge_patch Secret team-a/web"]
            assert world.data() == _DATA

    @in_virtual_time
    async def test_a_deleted_target_is_created_again(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.gateway.remove("Secret", "web")
            world.observed.drop(world.put_sync().target)
            await world.reconcile()

            assert world.data() == _DATA

    @in_virtual_time
    async def test_a_target_whose_end_the_watch_showed_is_created_without_a_look(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            target = world.put_sync().target
            await world.reconcile()
            world.gateway.remove("Secret", "web")
            world.observed.drop(target)
            world.observed.mark_gone(target)
            world.gateway.reads.clear()
            await world.reconcile()

            assert world.data() == _DATA
            assert "Secret team-a/web" not in world.gateway.reads
            assert not world.observed.take_end(target)

    @in_virtual_time
    async def test_a_foreign_object_in_the_place_of_one_whose_end_was_seen_is_left_alone(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            target = world.put_sync().target
            await world.reconcile()
            world.gateway.remove("Secret", "web")
            world.observed.drop(target)
            world.observed.mark_gone(target)
            world.gateway.put(secret("web", {"FOREIGN": "cnry-foreign"}))
            await world.reconcile()

            assert world.data() == {"FOREIGN": b64("cnry-foreign")}
            assert world.condition() == ("False", "TargetConflict")
            assert {key["state"] for key in world.status["keys"]} == {"Pending"}

            world.written()
            world.gateway.before = lambda verb, kind: asked.append(f"{verb} {kind}")
            asked: list[str] = []
            await world.reconcile()
            assert asked == ["get Secret"], "the end that was seen is used once"

    @in_virtual_time
    async def test_a_first_sync_that_met_a_foreign_object_looks_before_it_posts_again(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.put(secret("web", {"FOREIGN": "cnry-foreign"}))
            world.put_sync()
            await world.reconcile()
            asked: list[str] = []
            world.gateway.before = lambda verb, kind: asked.append(f"{verb} {kind}")
            await world.reconcile()

            assert asked == ["get Secret"]

    @pytest.mark.parametrize("written_before", [True, False])
    @in_virtual_time
    async def test_a_refused_create_is_followed_by_a_look_which_may_adopt(
        self, *, written_before: bool
    ) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            target = world.put_sync(target={"adopt": True}).target
            if written_before:
                await world.reconcile()
                world.gateway.remove("Secret", "web")
                world.observed.drop(target)
                world.observed.mark_gone(target)
            world.gateway.put(secret("web", {"K0": "cnry-foreign"}))
            # Quotas are counted before the API server notices that the object exists.
            world.gateway.fail("create", "Secret", ForbiddenError("exceeded quota: secrets"), times=9)
            await world.reconcile()

            assert world.condition() == ("True", "Synced")
            assert world.data() == _DATA

    @in_virtual_time
    async def test_an_object_that_is_gone_leaves_no_expectation(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            target = world.put_sync().target
            await world.reconcile()
            seen = world.observed.get(target)
            assert seen is not None
            world.observed.drop(target)
            world.observed.mark_gone(target)
            world.gateway.remove("Secret", "web")
            world.gateway.remove("SecretSync", "web")
            await world.reconcile()

            assert world.objects.get(SYNC) is None
            assert not world.observed.is_expected(seen)
            assert not world.observed.take_end(target)

    @in_virtual_time
    async def test_a_request_that_is_none_is_handled_as_a_sync_and_said_to_be_unknown(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.ask("nonsense", "1")
            await world.reconcile()

            (told,) = world.recorder.told
            assert (told.type_, told.reason) == ("Warning", "RequestUnknown")
            assert "'nonsense' is none of sync," in told.message
            assert world.status["lastHandledRequestedAt"] == "1"

    @in_virtual_time
    async def test_keys_that_clash_are_counted_where_one_looks_first(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            keys = {"rename": [{"from": "/K.*/", "to": "SAME"}]}
            world.put_sync(source={"projectSlug": "shop", "environment": "dev", "keys": keys})
            await world.reconcile()

            assert world.message() == (
                "1 key of dev:/ is in Secret web; 1 more would have the same names, see status.keys"
            )
            assert [key["state"] for key in world.status["keys"]] == ["Overridden", "Synced"]
            assert world.status["keysTotal"] == 1

    @in_virtual_time
    async def test_an_outage_keeps_the_last_good_target_and_says_so(self) -> None:
        async with new_world(FakeSession(_TWO, OUTAGE)) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()
            world.written()
            await asyncio.sleep(40)
            assert world.called == [("web", Lane.REFRESH)]
            result = await world.reconcile()

            assert result == RunResult(), "the source itself tries again"
            assert world.written() == [_STATUS]
            assert world.condition() == ("False", "ServiceUnavailable")
            assert world.message().endswith("the last good target stays")
            assert world.status["target"]["name"] == "web"
            assert world.data() == _DATA

    @in_virtual_time
    async def test_a_source_that_was_never_read_waits_or_stalls_without_a_retry_of_its_own(self) -> None:
        for failure, tone in ((OUTAGE, "Reconciling"), (DENIED, "Stalled")):
            async with new_world(FakeSession(failure)) as world:
                world.put_sync()
                result = await world.reconcile()

                assert result == RunResult()
                assert world.condition(tone) == ("True", failure.reason)
                assert world.data() is None

    @in_virtual_time
    async def test_a_suspended_object_reads_and_writes_nothing(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.written()
            world.put_sync(mode="Suspended")
            await world.reconcile()
            await asyncio.sleep(3600)

            assert world.written() == [_STATUS]
            assert world.condition() == ("True", "Synced")
            assert world.condition("Reconciling") == ("False", "Suspended")
            assert len(world.session.asked) == 1, "its source is not polled any more"

    @in_virtual_time
    async def test_a_suspension_is_told_once_and_so_is_its_end(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.put_sync(mode="Suspended")
            for _ in range(3):
                await world.reconcile()
            assert [one.reason for one in world.recorder.told] == ["Suspended"]
            world.put_sync()
            await world.reconcile()

            assert [one.reason for one in world.recorder.told] == ["Suspended", "Synced"]


class TestPlanAndGuard:
    @in_virtual_time
    async def test_plan_mode_writes_only_what_was_approved(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync(mode="Plan")
            result = await world.reconcile()
            assert result == RunResult()
            assert world.written() == [_STATUS]
            assert world.status["plan"]["add"] == ["K0", "K1"]
            assert {key["state"] for key in world.status["keys"]} == {"Pending"}

            world.ask("approve-plan", "1")
            await world.reconcile()
            assert world.data() == _DATA
            assert "plan" not in world.status
            assert world.status["lastHandledRequestedAt"] == "1"

    @in_virtual_time
    async def test_an_approval_of_another_plan_shows_the_new_one(self) -> None:
        async with new_world(FakeSession(_TWO, listing("cnry-0", "cnry-1", "cnry-2"))) as world:
            world.put_sync(mode="Plan")
            await world.reconcile()
            world.ask("approve-plan", "1")
            await world.reconcile()

            assert world.data() is None
            assert world.status["plan"]["add"] == ["K0", "K1", "K2"]
            assert world.status["lastHandledRequestedAt"] == "1"

    @in_virtual_time
    async def test_the_guard_holds_until_it_is_released_once(self) -> None:
        async with new_world(FakeSession(listing("cnry-0", "cnry-1", "cnry-2"), listing("cnry-0"))) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()
            await asyncio.sleep(15)
            result = await world.reconcile()
            assert result == RunResult(), "nothing is to be gained by trying again"
            assert world.condition("Guarded") == ("True", "Guarded")
            assert world.status["plan"]["remove"] == ["K1", "K2"]
            assert len(world.data() or {}) == 3

            world.ask("release-guard", "1")
            await world.reconcile()
            assert world.data() == {"K0": b64("cnry-0")}
            assert world.condition("Guarded") is None

    @in_virtual_time
    async def test_a_release_is_used_up_even_when_nothing_was_guarded(self) -> None:
        shrunk = listing("cnry-0")
        session = FakeSession(listing("cnry-0", "cnry-1", "cnry-2"))
        async with new_world(session) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()
            world.ask("release-guard", "1")
            await world.reconcile()
            assert world.status["lastHandledRequestedAt"] == "1"
            session.then(shrunk)
            await asyncio.sleep(15)
            await world.reconcile()

            assert world.condition("Guarded") == ("True", "Guarded")

    @in_virtual_time
    async def test_a_plan_that_was_approved_retires_the_old_target_too(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.put_sync(mode="Plan", target={"name": "renamed"})
            await world.reconcile()
            assert world.data("renamed") is None
            world.ask("approve-plan", "1")
            await world.reconcile()

            assert world.data("renamed") == _DATA
            assert world.data("web") is None


class TestTargets:
    @in_virtual_time
    async def test_a_renamed_target_is_written_before_the_old_one_goes(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.written()
            world.put_sync(target={"name": "renamed"})
            await world.reconcile()

            assert world.written() == [
                _STATUS,
                "create Secret team-a/renamed",
                "delete Secret team-a/web",
                _STATUS,
            ]
            assert world.status["target"]["name"] == "renamed"
            assert "movingTo" not in world.status

    @pytest.mark.parametrize("then", ["web", "third"])
    @in_virtual_time
    async def test_a_rename_that_was_cut_off_before_another_one_leaves_no_target_behind(
        self, then: str
    ) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.put_sync(target={"name": "renamed"})
            world.gateway.fail("apply_status", "SecretSync", UnavailableError("no answer"), after=1)
            await world.reconcile()
            assert world.data("renamed") == _DATA
            world.echo()
            world.put_sync(target={"name": then})
            await world.reconcile()

            assert world.data(then) == _DATA
            assert world.data("renamed") is None
            assert (world.data("web") is None) == (then != "web")
            assert "movingTo" not in world.status

    @in_virtual_time
    async def test_a_foreign_target_is_not_touched_and_watched_for_its_end(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
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
        async with new_world(FakeSession(_TWO, _OTHER_TWO)) as world:
            world.gateway.put(deployment)
            workloads = [{"kind": "Deployment", "name": "api"}, {"kind": "StatefulSet", "name": "missing"}]
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": workloads})
            await world.reconcile()
            assert world.written() == ["create Secret team-a/web", _STATUS]
            await asyncio.sleep(15)
            await world.reconcile()

            assert world.written() == [
                "apply Secret team-a/web",
                "merge_patch Deployment team-a/api",
                _STATUS,
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
        async with new_world(FakeSession(_TWO, _OTHER_TWO)) as world:
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

            assert world.written() == ["merge_patch Deployment team-a/api", _STATUS]
            assert world.condition() == ("True", "Synced")

    @in_virtual_time
    async def test_create_once_leaves_the_target_to_others_after_the_first_write(self) -> None:
        async with new_world(FakeSession(_TWO, _OTHER_TWO)) as world:
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
        async with new_world(FakeSession(listing("cnry-0"), _TWO)) as world:
            world.put_sync(mode="CreateOnce", refreshInterval="10s")
            await world.reconcile()
            await asyncio.sleep(15)
            await world.reconcile()

            assert [key["key"] for key in world.status["keys"]] == ["K0"]
            assert world.status["target"]["keys"] == 1

    @in_virtual_time
    async def test_create_once_judges_a_target_of_another_name_as_one_it_never_wrote(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync(mode="CreateOnce")
            await world.reconcile()
            world.gateway.put(secret("theirs", {"A": "cnry-t"}))
            world.put_sync(mode="CreateOnce", target={"name": "theirs"})
            await world.reconcile()

            assert world.condition("Stalled") == ("True", "TargetConflict")
            assert world.data("web") == _DATA


class TestMerge:
    target = {"name": "shared", "creationPolicy": "Merge"}  # noqa: RUF012 - read only

    @in_virtual_time
    async def test_keys_are_merged_under_a_manager_of_the_objects_own(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.put(secret("shared", {"THEIRS": "cnry-t"}))
            world.put_sync(target=self.target)
            await world.reconcile()

            assert world.data("shared") == {"THEIRS": b64("cnry-t"), **_DATA}
            (merge,) = (write for write in world.gateway.writes if write.kind == "Secret")
            assert merge.manager == f"keybearer/{UID}"
            assert world.condition() == ("True", "Synced")

    @pytest.mark.parametrize(
        "theirs", [{}, {"THEIRS": "cnry-t"}], ids=["an empty Secret", "one with other keys"]
    )
    @in_virtual_time
    async def test_a_complete_merge_is_written_once(self, theirs: dict[str, str]) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.put(secret("shared", theirs))
            world.put_sync(target=self.target)
            await world.reconcile()
            world.written()
            for _ in range(3):
                world.echo()
                await world.reconcile()

            assert world.written() == []

    @in_virtual_time
    async def test_the_finalizer_stands_before_the_first_key_is_merged(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.put(secret("shared", {}))
            world.put_sync(target=self.target)
            await world.reconcile()

            assert world.written() == [
                "merge_patch SecretSync team-a/web",
                "apply Secret team-a/shared",
                _STATUS,
            ]
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            assert body["metadata"]["finalizers"] == ["keybearer.dev/cleanup"]

    @pytest.mark.parametrize(("writes", "reason"), [(2, "Synced"), (3, "ClusterUnavailable")])
    @in_virtual_time
    async def test_a_finalizer_is_set_beside_others_who_write_the_object(
        self, writes: int, reason: str
    ) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            left = writes

            def meddle(verb: str, kind: str) -> None:
                nonlocal left
                if (verb, kind) == ("merge_patch", "SecretSync") and left:
                    left -= 1
                    body = world.gateway.find("SecretSync", "web")
                    assert body is not None
                    body["metadata"]["finalizers"] = ["theirs"]
                    world.gateway.put(body)

            world.gateway.put(secret("shared", {}))
            world.put_sync(target=self.target)
            world.gateway.before = meddle
            await world.reconcile()

            condition = world.condition()
            assert condition is not None
            assert condition[1] == reason
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            assert "theirs" in body["metadata"]["finalizers"]

    @in_virtual_time
    async def test_keys_that_another_target_had_are_not_ours_in_this_one(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.put(secret("shared", {}))
            world.put_sync(target=self.target)
            await world.reconcile()
            world.gateway.put(secret("other", {"K0": "cnry-theirs"}))
            world.put_sync(target={**self.target, "name": "other"})
            await world.reconcile()

            assert world.data("other") == {"K0": b64("cnry-theirs")}
            assert world.condition("Stalled") == ("True", "TargetConflict")

    @in_virtual_time
    async def test_a_merged_key_that_somebody_changed_is_ours_again(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.put(secret("shared", {}))
            world.put_sync(target=self.target)
            await world.reconcile()
            body = world.gateway.find("Secret", "shared")
            assert body is not None
            body["data"]["K0"] = b64("cnry-theirs")
            owned = body["metadata"]["managedFields"][0]["fieldsV1"]["f:data"]
            theirs = {"manager": "kubectl", "fieldsV1": {"f:data": {"f:K0": owned.pop("f:K0")}}}
            body["metadata"]["managedFields"].append(theirs)
            world.gateway.put(body)
            await world.reconcile()

            assert world.data("shared") == _DATA

    @in_virtual_time
    async def test_a_field_that_another_manager_holds_stalls_by_its_name(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            body = secret("shared", {}, labels={"team": "theirs"})
            owned: Body = {"f:metadata": {"f:labels": {"f:team": {}}}}
            body["metadata"]["managedFields"] = [{"manager": "helm", "fieldsV1": owned}]
            world.gateway.put(body)
            world.put_sync(target={**self.target, "labels": {"team": "ours"}})
            await world.reconcile()

            assert world.condition("Stalled") == ("True", "TargetConflict")
            assert world.data("shared") == {}


class TestRaces:
    @in_virtual_time
    async def test_a_target_that_appears_meanwhile_is_looked_at_and_not_touched(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:

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
        async with new_world(FakeSession(_TWO, listing("cnry-0"))) as world:
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
            assert world.data() == _DATA

    @in_virtual_time
    async def test_drift_that_the_watch_shows_before_our_write_is_answered_is_not_painted_over(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:

            def edit(verb: str, kind: str) -> None:
                del verb
                if kind == "SecretSync" and world.data() == _DATA:
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
            assert world.data() == {**_DATA, "K0": b64("cnry-edited")}
            await world.reconcile()

            assert world.data() == _DATA

    @in_virtual_time
    async def test_a_target_deleted_between_look_and_write_is_looked_at_once_more(self) -> None:
        async with new_world(FakeSession(_TWO, listing("cnry-0"))) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()

            def vanish(verb: str, kind: str) -> None:
                if (verb, kind) == ("merge_patch", "Secret"):
                    world.gateway.remove("Secret", "web")

            world.gateway.before = vanish
            await asyncio.sleep(15)
            await world.reconcile()

            assert world.data() == {"K0": b64("cnry-0")}


def _drop(world: World) -> None:
    world.gateway.remove("SecretSync", "web")


def _replace(world: World) -> None:
    body = world.gateway.find("SecretSync", "web")
    assert body is not None
    body["metadata"]["uid"] = "another-uid"


class TestGone:
    @pytest.mark.parametrize("go", [_drop, _replace], ids=["deleted", "deleted and created anew"])
    @in_virtual_time
    async def test_an_object_whose_deletion_no_watch_reported_is_forgotten_at_its_status(
        self, go: Callable[[World], None]
    ) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            await world.reconcile()
            go(world)
            world.gateway.remove("Secret", "web")
            world.observed.drop(world.objects.get(SYNC).target)  # type: ignore[union-attr]
            before = world.status if go is _replace else None
            result = await world.reconcile()
            await asyncio.sleep(3600)

            assert result == RunResult()
            assert world.objects.get(SYNC) is None
            assert (len(world.sources), len(world.session.asked)) == (0, 1), "its source is polled no more"
            assert world.watches["Secret"].followed == {}
            assert world.data() is None, "what was created again for a dead owner is taken back"
            if before is not None:
                assert world.status == before, "the new object's status is its own"

    @in_virtual_time
    async def test_a_target_in_the_place_of_one_that_was_taken_back_is_not_deleted(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            target = world.put_sync().target
            await world.reconcile()
            _drop(world)
            world.gateway.remove("Secret", "web")
            world.observed.drop(target)

            def replace_it(verb: str, kind: str) -> None:
                if (verb, kind) == ("delete", "Secret"):
                    world.gateway.put(secret("web", {"FOREIGN": "cnry-foreign"}))

            world.gateway.before = replace_it
            await world.reconcile()

            assert world.objects.get(SYNC) is None
            assert world.data() == {"FOREIGN": b64("cnry-foreign")}

    @in_virtual_time
    async def test_an_object_that_goes_while_its_source_is_read_leaves_no_subscription(self) -> None:
        async with new_world(FakeSession(_TWO, seconds=20)) as world:
            world.put_sync()
            running = asyncio.create_task(world.reconcile())
            await asyncio.sleep(5)
            _drop(world)
            world.objects.drop(SYNC)
            world.gatherer.forget(SYNC)
            result = await running
            await asyncio.sleep(3600)

            assert result == RunResult()
            assert world.written() == []
            assert (len(world.sources), len(world.session.asked)) == (0, 1)
            assert world.watches["Secret"].followed == {}

    @in_virtual_time
    async def test_an_object_of_which_nothing_is_known_is_no_work(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            assert await world.reconcile() == RunResult()
            assert world.written() == []


class TestFaults:
    @in_virtual_time
    async def test_the_text_of_an_unexpected_error_reaches_neither_status_nor_log_nor_event(
        self, canary: Canary, capsys: pytest.CaptureFixture[str]
    ) -> None:
        async with new_world(FakeSession(_TWO)) as world:

            async def fail(*_: object, **__: object) -> object:
                value = "cnry-db-password"
                raise RuntimeError(f"cannot encode {value}")

            world.gateway.create = fail  # type: ignore[method-assign,assignment]
            world.put_sync()
            result = await world.reconcile()
            log = capsys.readouterr().out

            canary.watch("status and Events", world.shown)
            canary.watch("log", lambda: log)
            assert result.failed
            assert world.condition("Reconciling") == ("True", "InternalError")
            assert world.message() == (
                "an unexpected RuntimeError; the operator's log tells more under reconcile_id reconcile-1"
            )
            assert "reconcile-1" in log
            world.written()
            await world.reconciler.reconcile(WorkItem(SYNC, Lane.URGENT, 0.0), "reconcile-2")
            assert world.written() == [], "the same again is no news"
            assert "test_reconcile.py" in log, "the log tells where"

    @pytest.mark.parametrize(
        ("error", "tone", "reason"),
        [
            pytest.param(
                UnavailableError("no answer"), "Reconciling", Reason.CLUSTER_UNAVAILABLE, id="no answer"
            ),
            pytest.param(InvalidError("refused fields: x"), "Stalled", Reason.TARGET_REFUSED, id="invalid"),
            pytest.param(ForbiddenError("exceeded quota: q"), "Stalled", Reason.TARGET_REFUSED, id="a quota"),
            pytest.param(
                ForbiddenError("the namespace is being deleted", namespace_terminating=True),
                "Reconciling",
                Reason.NAMESPACE_TERMINATING,
                id="a namespace that goes",
            ),
            pytest.param(
                NotFoundError("not found"),
                "Reconciling",
                Reason.CLUSTER_UNAVAILABLE,
                id="a namespace that is gone",
            ),
        ],
    )
    @in_virtual_time
    async def test_what_the_api_server_refuses_is_told(
        self, error: KubeError, tone: str, reason: Reason
    ) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.fail("create", "Secret", error, times=4)
            world.put_sync()
            result = await world.reconcile()

            assert result.failed
            assert world.condition(tone) == ("True", reason)

    @pytest.mark.parametrize(
        ("verb", "kind"), [("create", "Secret"), ("apply_status", "SecretSync")], ids=["target", "status"]
    )
    @in_virtual_time
    async def test_a_lost_lease_ends_the_run_at_once(self, verb: str, kind: str) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.fail(verb, kind, LeaseLostError("the Lease was lost"))
            world.put_sync()
            with pytest.raises(LeaseLostError):
                await world.reconcile()

            assert _STATUS not in world.written()

    @in_virtual_time
    async def test_a_status_that_can_not_be_written_is_tried_again_and_the_target_is_not_written_twice(
        self,
    ) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.fail("apply_status", "SecretSync", UnavailableError("no answer"))
            world.put_sync()
            assert (await world.reconcile()).failed
            assert await world.reconcile() == RunResult()

            assert world.written() == ["create Secret team-a/web", _STATUS]

    @in_virtual_time
    async def test_a_spec_that_can_not_be_read_is_described_and_its_values_are_not(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync(refreshInterval="cnry-soon", target={"kind": "cnry-kind"})
            await world.reconcile()

            assert world.condition("Stalled") == ("True", "SpecInvalid")
            assert "spec.refreshInterval" in world.message()
            assert "spec.target.kind" in world.message()
            assert "cnry" not in world.message()

    @in_virtual_time
    async def test_a_status_that_a_stranger_wrote_is_found_out_anew(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync()
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            body["status"] = {"conditions": "cnry-nonsense", "target": 5}
            world.see(body)
            await world.reconcile()

            assert world.condition() == ("True", "Synced")

    @in_virtual_time
    async def test_a_secret_with_a_name_longer_than_a_status_takes_is_a_problem_of_its_own(self) -> None:
        one = replace(_TWO.secrets[0], key="N" * 600)
        async with new_world(FakeSession(replace(_TWO, secrets=(one,)))) as world:
            world.put_sync()
            await world.reconcile()

            assert world.condition("Stalled") == ("True", "InvalidKey")
            assert len(world.status["keys"][0]["key"]) == 512

    @in_virtual_time
    async def test_a_pinned_version_that_can_not_be_read_for_now_is_tried_again(self) -> None:
        session = FakeSession(_TWO)
        session.versions["K0", 3] = OUTAGE
        async with new_world(session) as world:
            keys = {"items": [{"key": "K0", "version": 3}]}
            world.put_sync(source={"projectId": "shop", "environment": "dev", "keys": keys})
            result = await world.reconcile()

            assert result.failed, "no poll of the source would bring it back"
            assert world.condition("Reconciling") == ("True", "ServiceUnavailable")

    @in_virtual_time
    async def test_what_takes_too_long_is_named_before_the_run_is_given_up(self) -> None:
        session = FakeSession(_TWO)
        session.version_seconds = 9.0
        async with new_world(session) as world:
            items = [{"key": f"K{number}", "version": 1} for number in range(64)]
            world.put_sync(source={"projectId": "shop", "environment": "dev", "keys": {"items": items}})
            async with asyncio.timeout(RECONCILE_DEADLINE.total_seconds()):
                result = await world.reconcile()

            assert result.failed
            assert world.condition("Reconciling") == ("True", "TimedOut")
            assert world.message() == (
                "reading the versions that keys.items pin of dev:/ takes longer than 40 s; it is tried again"
            )

    @in_virtual_time
    async def test_a_source_that_takes_too_long_is_named(self) -> None:
        async with new_world(FakeSession(_TWO, seconds=500)) as world:
            world.put_sync()
            async with asyncio.timeout(RECONCILE_DEADLINE.total_seconds()):
                await world.reconcile()

            assert world.message() == "reading shop/dev:/ takes longer than 40 s; it is tried again"

    @in_virtual_time
    async def test_an_identity_that_is_missing_stalls_and_is_acted_on_when_it_comes(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.remove("Secret", "login")
            world.put_sync()
            await world.reconcile()
            assert world.condition("Stalled") == ("True", "IdentityNotFound")

            world.gateway.put(secret("login", {"accessToken": "cnry-token"}))
            world.watches["Secret"].on_change(frozenset({SYNC}))
            assert world.called == [("web", Lane.URGENT)]
            await world.reconcile()
            assert world.condition() == ("True", "Synced")


class TestCleanUp:
    target = {"name": "shared", "creationPolicy": "Merge"}  # noqa: RUF012 - read only

    async def _merged(self, world: World, **spec: object) -> None:
        """Merge, then let somebody delete the SecretSync, ten minutes ago less one second."""
        world.gateway.put(secret("shared", {"THEIRS": "cnry-t"}))
        world.put_sync(target=self.target, **spec)
        await world.reconcile()
        body = world.gateway.find("SecretSync", "web")
        assert body is not None
        deleted_at = (world.clock.now() - timedelta(seconds=599)).strftime("%Y-%m-%dT%H:%M:%SZ")
        body["metadata"]["deletionTimestamp"] = deleted_at
        world.see(body)
        world.written()

    @in_virtual_time
    async def test_merged_keys_are_taken_back_and_the_object_may_go(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            await self._merged(world)
            assert await world.reconcile() == RunResult()

            assert world.written() == ["apply Secret team-a/shared", "merge_patch SecretSync team-a/web"]
            assert world.data("shared") == {"THEIRS": b64("cnry-t")}
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            assert body["metadata"].get("finalizers", []) == []

    @in_virtual_time
    async def test_keys_that_are_to_be_retained_stay(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            await self._merged(world)
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            body["spec"]["target"]["onDelete"] = "Retain"
            world.see(body)
            await world.reconcile()

            assert world.written() == ["merge_patch SecretSync team-a/web"]
            assert world.data("shared") == {"THEIRS": b64("cnry-t"), **_DATA}

    @in_virtual_time
    async def test_a_rename_that_was_cut_off_leaves_keys_in_neither_target(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.put(secret("shared", {"THEIRS": "cnry-t"}))
            world.gateway.put(secret("other", {"THEIRS": "cnry-t"}))
            world.put_sync(target=self.target)
            await world.reconcile()
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            body["spec"]["target"]["name"] = "other"
            body["metadata"]["generation"] = 2
            world.see(body)
            world.gateway.fail("apply_status", "SecretSync", UnavailableError("no answer"), after=1)
            await world.reconcile()
            assert world.data("other") == {"THEIRS": b64("cnry-t"), **_DATA}

            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            body["metadata"]["deletionTimestamp"] = world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
            world.see(body)
            assert await world.reconcile() == RunResult()

            assert world.data("other") == {"THEIRS": b64("cnry-t")}
            assert world.data("shared") == {"THEIRS": b64("cnry-t")}

    @in_virtual_time
    async def test_before_the_deadline_a_failure_is_tried_again_at_the_deadline_at_the_latest(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            await self._merged(world)
            world.gateway.fail("apply", "Secret", UnavailableError("no answer"))
            result = await world.reconcile()

            assert result.failed
            assert result.requeue_after is not None
            assert timedelta() < result.requeue_after <= timedelta(seconds=1)
            assert world.written() == []

    @in_virtual_time
    async def test_after_the_deadline_the_object_goes_and_what_is_left_is_named(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            await self._merged(world)
            await asyncio.sleep(1)
            world.gateway.fail("apply", "Secret", ForbiddenError("no right to patch"))
            assert await world.reconcile() == RunResult()

            assert world.written() == ["merge_patch SecretSync team-a/web"]
            (told,) = (one for one in world.recorder.told if one.reason == "Orphaned")
            assert told.message == "keys merged into Secret shared are left behind: no right to patch"
            assert (
                world.metrics.registry.get_sample_value("keybearer_orphans_total", {"kind": "SecretSync"})
                == 1
            )

    @in_virtual_time
    async def test_a_deadline_of_zero_waits_for_nothing(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            await self._merged(world, deletionDeadline=0)
            world.gateway.fail("apply", "Secret", UnavailableError("no answer"))
            await world.reconcile()

            assert world.written() == ["merge_patch SecretSync team-a/web"]

    @in_virtual_time
    async def test_an_overdue_object_whose_finalizer_can_not_be_removed_backs_off(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            await self._merged(world)
            await asyncio.sleep(60)
            world.gateway.fail("merge_patch", "SecretSync", UnavailableError("no answer"))

            assert await world.reconcile() == RunResult(failed=True)

    @in_virtual_time
    async def test_a_spec_that_can_not_be_read_any_more_holds_nothing_up(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            await self._merged(world)
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            body["spec"] = {"nonsense": True}
            world.see(body)
            await world.reconcile()

            assert world.data("shared") == {"THEIRS": b64("cnry-t")}

    @in_virtual_time
    async def test_an_object_that_went_while_it_was_cleaned_up_is_no_error(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            await self._merged(world)
            _drop(world)

            assert await world.reconcile() == RunResult()
            assert world.objects.get(SYNC) is None

    @in_virtual_time
    async def test_without_the_finalizer_there_is_nothing_to_do(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.put_sync(metadata={"deletionTimestamp": "2026-03-01T12:00:00Z"})
            await world.reconcile()

            assert world.written() == []

    @in_virtual_time
    async def test_a_lost_lease_leaves_everything_to_the_other_replica(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            await self._merged(world)
            await asyncio.sleep(3600)
            world.gateway.fail("apply", "Secret", LeaseLostError("the Lease was lost"))
            with pytest.raises(LeaseLostError):
                await world.reconcile()

            assert world.written() == []

    @in_virtual_time
    async def test_retaining_from_now_on_takes_the_finalizer_off_and_others_keep_theirs(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.put(secret("shared", {}))
            world.put_sync(target=self.target, metadata={"finalizers": ["theirs"]})
            await world.reconcile()
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            assert body["metadata"]["finalizers"] == ["theirs", "keybearer.dev/cleanup"]
            world.put_sync(target={**self.target, "onDelete": "Retain"})
            await world.reconcile()

            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            assert body["metadata"]["finalizers"] == ["theirs"]
