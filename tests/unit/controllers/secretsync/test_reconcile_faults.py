"""Objects that are gone, refusals, lost Leases, and what takes too long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.work import Lane, WorkItem
from keybearer.controllers.workers import RECONCILE_DEADLINE, RunResult
from keybearer.kube.errors import (
    ForbiddenError,
    InvalidError,
    KubeError,
    LeaseLostError,
    NotFoundError,
    UnavailableError,
)
from support.canary import Canary
from unit.controllers.fakes.source_session import OUTAGE, FakeSession
from unit.controllers.fakes.targets import SYNC, UID, b64
from unit.controllers.fakes.two_keys import STATUS, TWO
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import World, new_world, secret


def _replace(world: World) -> None:
    body = world.gateway.find("SecretSync", "web")
    assert body is not None
    body["metadata"]["uid"] = "another-uid"


class TestGone:
    @pytest.mark.parametrize("go", [World.drop, _replace], ids=["deleted", "deleted and created anew"])
    @in_virtual_time
    async def test_an_object_whose_deletion_no_watch_reported_is_forgotten_at_its_status(
        self, go: Callable[[World], None]
    ) -> None:
        async with new_world(FakeSession(TWO)) as world:
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
        async with new_world(FakeSession(TWO)) as world:
            target = world.put_sync().target
            await world.reconcile()
            world.drop()
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
        async with new_world(FakeSession(TWO, seconds=20)) as world:
            world.put_sync()
            running = asyncio.create_task(world.reconcile())
            await asyncio.sleep(5)
            world.drop()
            world.objects.end(SYNC, UID)
            world.gatherer.forget(SYNC)
            result = await running
            await asyncio.sleep(3600)

            assert result == RunResult()
            assert world.written() == []
            assert (len(world.sources), len(world.session.asked)) == (0, 1)
            assert world.watches["Secret"].followed == {}

    @in_virtual_time
    async def test_an_object_of_which_nothing_is_known_is_no_work(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            assert await world.reconcile() == RunResult()
            assert world.written() == []


class TestFaults:
    @in_virtual_time
    async def test_the_text_of_an_unexpected_error_reaches_neither_status_nor_log_nor_event(
        self, canary: Canary, capsys: pytest.CaptureFixture[str]
    ) -> None:
        async with new_world(FakeSession(TWO)) as world:

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
            assert Path(__file__).name in log, "the log tells where"

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
        async with new_world(FakeSession(TWO)) as world:
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
        async with new_world(FakeSession(TWO)) as world:
            world.gateway.fail(verb, kind, LeaseLostError("the Lease was lost"))
            world.put_sync()
            with pytest.raises(LeaseLostError):
                await world.reconcile()

            assert STATUS not in world.written()

    @in_virtual_time
    async def test_a_status_that_can_not_be_written_is_tried_again_and_the_target_is_not_written_twice(
        self,
    ) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.gateway.fail("apply_status", "SecretSync", UnavailableError("no answer"))
            world.put_sync()
            assert (await world.reconcile()).failed
            assert await world.reconcile() == RunResult()

            assert world.written() == ["create Secret team-a/web", STATUS]

    @in_virtual_time
    async def test_a_spec_that_can_not_be_read_is_described_and_its_values_are_not(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync(refreshInterval="cnry-soon", target={"kind": "cnry-kind"})
            await world.reconcile()

            assert world.condition("Stalled") == ("True", "SpecInvalid")
            assert "spec.refreshInterval" in world.message()
            assert "spec.target.kind" in world.message()
            assert "cnry" not in world.message()

    @in_virtual_time
    async def test_a_status_that_a_stranger_wrote_is_found_out_anew(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync()
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            body["status"] = {"conditions": "cnry-nonsense", "target": 5}
            world.see(body)
            await world.reconcile()

            assert world.condition() == ("True", "Synced")

    @in_virtual_time
    async def test_a_secret_with_a_name_longer_than_a_status_takes_is_a_problem_of_its_own(self) -> None:
        one = replace(TWO.secrets[0], key="N" * 600)
        async with new_world(FakeSession(replace(TWO, secrets=(one,)))) as world:
            world.put_sync()
            await world.reconcile()

            assert world.condition("Stalled") == ("True", "InvalidKey")
            assert len(world.status["keys"][0]["key"]) == 512

    @in_virtual_time
    async def test_a_pinned_version_that_can_not_be_read_for_now_is_tried_again(self) -> None:
        session = FakeSession(TWO)
        session.versions["K0", 3] = OUTAGE
        async with new_world(session) as world:
            keys = {"items": [{"key": "K0", "version": 3}]}
            world.put_sync(source={"projectId": "shop", "environment": "dev", "keys": keys})
            result = await world.reconcile()

            assert result.failed, "no poll of the source would bring it back"
            assert world.condition("Reconciling") == ("True", "ServiceUnavailable")

    @in_virtual_time
    async def test_what_takes_too_long_is_named_before_the_run_is_given_up(self) -> None:
        session = FakeSession(TWO)
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
        async with new_world(FakeSession(TWO, seconds=500)) as world:
            world.put_sync()
            async with asyncio.timeout(RECONCILE_DEADLINE.total_seconds()):
                await world.reconcile()

            assert world.message() == "reading shop/dev:/ takes longer than 40 s; it is tried again"

    @in_virtual_time
    async def test_an_identity_that_is_missing_stalls_and_is_acted_on_when_it_comes(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.gateway.remove("Secret", "login")
            world.put_sync()
            await world.reconcile()
            assert world.condition("Stalled") == ("True", "IdentityNotFound")

            world.gateway.put(secret("login", {"accessToken": "cnry-token"}))
            world.watches["Secret"].on_change(frozenset({SYNC}))
            assert world.called == [("web", Lane.URGENT)]
            await world.reconcile()
            assert world.condition() == ("True", "Synced")
