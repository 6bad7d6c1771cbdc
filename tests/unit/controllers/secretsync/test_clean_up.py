"""What is taken back before a deleted object may go."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import (
    ForbiddenError,
    LeaseLostError,
    UnavailableError,
)
from unit.controllers.fakes.source_session import FakeSession
from unit.controllers.fakes.targets import SYNC, b64
from unit.controllers.fakes.two_keys import DATA, TWO
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import World, new_world, secret


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
        async with new_world(FakeSession(TWO)) as world:
            await self._merged(world)
            assert await world.reconcile() == RunResult()

            assert world.written() == ["apply Secret team-a/shared", "merge_patch SecretSync team-a/web"]
            assert world.data("shared") == {"THEIRS": b64("cnry-t")}
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            assert body["metadata"].get("finalizers", []) == []

    @in_virtual_time
    async def test_keys_that_are_to_be_retained_stay(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            await self._merged(world)
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            body["spec"]["target"]["onDelete"] = "Retain"
            world.see(body)
            await world.reconcile()

            assert world.written() == ["merge_patch SecretSync team-a/web"]
            assert world.data("shared") == {"THEIRS": b64("cnry-t"), **DATA}

    @in_virtual_time
    async def test_a_rename_that_was_cut_off_leaves_keys_in_neither_target(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
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
            assert world.data("other") == {"THEIRS": b64("cnry-t"), **DATA}

            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            body["metadata"]["deletionTimestamp"] = world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
            world.see(body)
            assert await world.reconcile() == RunResult()

            assert world.data("other") == {"THEIRS": b64("cnry-t")}
            assert world.data("shared") == {"THEIRS": b64("cnry-t")}

    @in_virtual_time
    async def test_before_the_deadline_a_failure_is_tried_again_at_the_deadline_at_the_latest(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            await self._merged(world)
            world.gateway.fail("apply", "Secret", UnavailableError("no answer"))
            result = await world.reconcile()

            assert result.failed
            assert result.requeue_after is not None
            assert timedelta() < result.requeue_after <= timedelta(seconds=1)
            assert world.written() == ["apply_status SecretSync team-a/web"]
            assert world.condition() == ("False", "ClusterUnavailable")

    @in_virtual_time
    async def test_after_the_deadline_the_object_goes_and_what_is_left_is_named(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            await self._merged(world)
            await asyncio.sleep(1)
            world.gateway.fail("apply", "Secret", ForbiddenError("no right to patch"))
            assert await world.reconcile() == RunResult()

            assert world.written() == ["merge_patch SecretSync team-a/web"]
            (told,) = (one for one in world.recorder.told if one.reason == "Orphaned")
            assert told.message == "what was merged into Secret shared is left behind: no right to patch"
            assert (
                world.metrics.registry.get_sample_value("keybearer_orphans_total", {"kind": "SecretSync"})
                == 1
            )

    @in_virtual_time
    async def test_a_deadline_of_zero_waits_for_nothing(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            await self._merged(world, deletionDeadline=0)
            world.gateway.fail("apply", "Secret", UnavailableError("no answer"))
            await world.reconcile()

            assert world.written() == ["merge_patch SecretSync team-a/web"]

    @in_virtual_time
    async def test_an_overdue_object_whose_finalizer_can_not_be_removed_backs_off(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            await self._merged(world)
            await asyncio.sleep(60)
            world.gateway.fail("merge_patch", "SecretSync", UnavailableError("no answer"))

            assert await world.reconcile() == RunResult(failed=True)

    @in_virtual_time
    async def test_a_spec_that_can_not_be_read_any_more_holds_nothing_up(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            await self._merged(world)
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            body["spec"] = {"nonsense": True}
            world.see(body)
            await world.reconcile()

            assert world.data("shared") == {"THEIRS": b64("cnry-t")}

    @in_virtual_time
    async def test_an_object_that_went_while_it_was_cleaned_up_is_no_error(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            await self._merged(world)
            world.drop()

            assert await world.reconcile() == RunResult()
            assert world.objects.get(SYNC) is None

    @in_virtual_time
    async def test_without_the_finalizer_there_is_nothing_to_do(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync(metadata={"deletionTimestamp": "2026-03-01T12:00:00Z"})
            await world.reconcile()

            assert world.written() == []

    @in_virtual_time
    async def test_a_lost_lease_leaves_everything_to_the_other_replica(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            await self._merged(world)
            await asyncio.sleep(3600)
            world.gateway.fail("apply", "Secret", LeaseLostError("the Lease was lost"))
            with pytest.raises(LeaseLostError):
                await world.reconcile()

            assert world.written() == []

    @in_virtual_time
    async def test_retaining_from_now_on_takes_the_finalizer_off_and_others_keep_theirs(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
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
