"""From what a source holds to the target and the status: what one run writes, and what it asks for."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from keybearer.controllers.work import Lane
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import (
    ForbiddenError,
)
from tools.local.marks import find_mark
from unit.controllers.fakes.source_session import DENIED, OUTAGE, FakeSession
from unit.controllers.fakes.targets import b64
from unit.controllers.fakes.two_keys import DATA, OTHER_TWO, STATUS, TWO
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import new_world, secret


class TestHappyPath:
    @in_virtual_time
    async def test_a_first_sync_costs_two_writes_and_no_read_of_the_target(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync()
            result = await world.reconcile()

            assert result == RunResult()
            assert world.written() == ["create Secret team-a/web", STATUS]
            assert world.gateway.reads == ["Secret team-a/login"]
            assert world.data() == DATA
            assert world.condition() == ("True", "Synced")
            assert world.status["target"]["keys"] == 2
            assert [key["key"] for key in world.status["keys"]] == ["K0", "K1"]
            assert world.status["observedGeneration"] == 1
            assert world.recorder.told == [], "a first sync that goes well has its status to say so"
            assert find_mark(world.shown()) is None

    @in_virtual_time
    async def test_a_second_run_writes_nothing_and_reads_nothing(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
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
        async with new_world(FakeSession(TWO)) as before:
            before.put_sync()
            await before.reconcile()
            objects = before.gateway.objects
        async with new_world(FakeSession(TWO)) as world:
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
        async with new_world(FakeSession(TWO, OTHER_TWO)) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()
            world.written()
            await asyncio.sleep(15)
            assert world.called == [("web", Lane.CHANGE)]
            await world.reconcile()

            assert world.written() == ["apply Secret team-a/web", STATUS]
            assert world.data() == {"K0": b64("cnry-0"), "K1": b64("cnry-changed")}
            (told,) = world.recorder.told
            assert (told.reason, told.message) == ("TargetWritten", "Secret web: changed K1")

    @in_virtual_time
    async def test_while_a_change_has_to_reach_other_targets_the_status_waits_for_a_run_of_its_own(
        self,
    ) -> None:
        async with new_world(FakeSession(TWO, OTHER_TWO)) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()
            before = world.status
            world.written()
            await asyncio.sleep(15)
            world.others_changed = True
            first = await world.reconcile(Lane.CHANGE)
            world.watch_targets()

            assert world.written() == ["apply Secret team-a/web"]
            assert first == RunResult(requeue_after=timedelta())
            assert await world.reconcile(Lane.REFRESH) == RunResult()
            assert world.written() == [STATUS]
            assert world.status["target"]["fingerprint"] != before["target"]["fingerprint"]
            assert len(world.recorder.told) == 1

    @in_virtual_time
    async def test_an_outage_is_told_at_once_whatever_waits(self) -> None:
        async with new_world(FakeSession(TWO, OUTAGE)) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()
            await asyncio.sleep(40)
            world.others_changed = True
            await world.reconcile(Lane.CHANGE)

            assert world.condition() == ("False", "ServiceUnavailable")

    @in_virtual_time
    async def test_drift_is_repaired_and_the_status_has_nothing_new_to_say(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
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
            assert world.data() == DATA

    @in_virtual_time
    async def test_a_deleted_target_is_created_again(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.gateway.remove("Secret", "web")
            world.observed.drop(world.put_sync().target)
            await world.reconcile()

            assert world.data() == DATA

    @in_virtual_time
    async def test_a_target_whose_end_the_watch_showed_is_created_without_a_look(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            target = world.put_sync().target
            await world.reconcile()
            world.gateway.remove("Secret", "web")
            world.observed.drop(target)
            world.observed.mark_gone(target)
            world.gateway.reads.clear()
            await world.reconcile()

            assert world.data() == DATA
            assert "Secret team-a/web" not in world.gateway.reads
            assert not world.observed.take_end(target)

    @in_virtual_time
    async def test_a_foreign_object_in_the_place_of_one_whose_end_was_seen_is_left_alone(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
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
        async with new_world(FakeSession(TWO)) as world:
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
        async with new_world(FakeSession(TWO)) as world:
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
            assert world.data() == DATA

    @in_virtual_time
    async def test_a_request_that_is_none_is_handled_as_a_sync_and_said_to_be_unknown(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.ask("nonsense", "1")
            await world.reconcile()

            (told,) = world.recorder.told
            assert (told.type_, told.reason) == ("Warning", "RequestUnknown")
            assert "'nonsense' is none of approve-plan," in told.message
            assert world.status["lastHandledRequestedAt"] == "1"

    @in_virtual_time
    async def test_without_a_destination_a_removal_of_others_names_is_refused_and_said_to_be(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.ask("remove-foreign", "1")
            await world.reconcile()

            (told,) = world.recorder.told
            assert (told.type_, told.reason) == ("Warning", "RequestRefused")
            assert told.message == (
                "keybearer.dev/request remove-foreign: there is no spec.destination that names could be removed "
                "from; nothing was removed"
            )
            assert world.status["lastHandledRequestedAt"] == "1"

    @in_virtual_time
    async def test_keys_that_clash_are_counted_where_one_looks_first(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
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
        async with new_world(FakeSession(TWO, OUTAGE)) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()
            world.written()
            await asyncio.sleep(40)
            assert world.called == [("web", Lane.REFRESH)]
            result = await world.reconcile()

            assert result == RunResult(), "the source itself tries again"
            assert world.written() == [STATUS]
            assert world.condition() == ("False", "ServiceUnavailable")
            assert world.message().endswith("the last good target stays")
            assert world.status["target"]["name"] == "web"
            assert world.data() == DATA

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
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.written()
            world.put_sync(mode="Suspended")
            await world.reconcile()
            await asyncio.sleep(3600)

            assert world.written() == [STATUS]
            assert world.condition() == ("True", "Synced")
            assert world.condition("Reconciling") == ("False", "Suspended")
            assert len(world.session.asked) == 1, "its source is not polled any more"

    @in_virtual_time
    async def test_a_suspension_is_told_once_and_so_is_its_end(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.put_sync(mode="Suspended")
            for _ in range(3):
                await world.reconcile()
            assert [one.reason for one in world.recorder.told] == ["Suspended"]
            world.put_sync()
            await world.reconcile()

            assert [one.reason for one in world.recorder.told] == ["Suspended", "Synced"]
