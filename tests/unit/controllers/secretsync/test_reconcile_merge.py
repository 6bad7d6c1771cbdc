"""Keys merged into the Secret of somebody else."""

from __future__ import annotations

import pytest

from unit.controllers.fakes.source_session import FakeSession
from unit.controllers.fakes.targets import UID, Body, b64
from unit.controllers.fakes.two_keys import DATA, STATUS, TWO
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import new_world, secret


class TestMerge:
    target = {"name": "shared", "creationPolicy": "Merge"}  # noqa: RUF012 - read only

    @in_virtual_time
    async def test_keys_are_merged_under_a_manager_of_the_objects_own(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.gateway.put(secret("shared", {"THEIRS": "cnry-t"}))
            world.put_sync(target=self.target)
            await world.reconcile()

            assert world.data("shared") == {"THEIRS": b64("cnry-t"), **DATA}
            (merge,) = (write for write in world.gateway.writes if write.kind == "Secret")
            assert merge.manager == f"keybearer/{UID}"
            assert world.condition() == ("True", "Synced")

    @pytest.mark.parametrize(
        "theirs", [{}, {"THEIRS": "cnry-t"}], ids=["an empty Secret", "one with other keys"]
    )
    @in_virtual_time
    async def test_a_complete_merge_is_written_once(self, theirs: dict[str, str]) -> None:
        async with new_world(FakeSession(TWO)) as world:
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
        async with new_world(FakeSession(TWO)) as world:
            world.gateway.put(secret("shared", {}))
            world.put_sync(target=self.target)
            await world.reconcile()

            assert world.written() == [
                "merge_patch SecretSync team-a/web",
                "apply Secret team-a/shared",
                STATUS,
            ]
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            assert body["metadata"]["finalizers"] == ["keybearer.dev/cleanup"]

    @pytest.mark.parametrize(("writes", "reason"), [(2, "Synced"), (3, "ClusterUnavailable")])
    @in_virtual_time
    async def test_a_finalizer_is_set_beside_others_who_write_the_object(
        self, writes: int, reason: str
    ) -> None:
        async with new_world(FakeSession(TWO)) as world:
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
        async with new_world(FakeSession(TWO)) as world:
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
        async with new_world(FakeSession(TWO)) as world:
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

            assert world.data("shared") == DATA

    @in_virtual_time
    async def test_a_field_that_another_manager_holds_stalls_by_its_name(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            body = secret("shared", {}, labels={"team": "theirs"})
            owned: Body = {"f:metadata": {"f:labels": {"f:team": {}}}}
            body["metadata"]["managedFields"] = [{"manager": "helm", "fieldsV1": owned}]
            world.gateway.put(body)
            world.put_sync(target={**self.target, "labels": {"team": "ours"}})
            await world.reconcile()

            assert world.condition("Stalled") == ("True", "TargetConflict")
            assert world.data("shared") == {}
