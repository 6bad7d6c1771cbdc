"""Changes that wait for somebody: plans to approve, and deletions that the guard holds."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from keybearer.controllers.conditions import Tone
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.secretsync.conclusion import DestinationOutcome
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import PushStatus, SecretSyncStatus
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import UnavailableError
from unit.controllers.fakes.source_session import FakeSession, listing
from unit.controllers.fakes.targets import b64
from unit.controllers.fakes.two_keys import DATA, STATUS, TWO
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import new_world


class TestPlanAndGuard:
    @in_virtual_time
    async def test_plan_mode_writes_only_what_was_approved(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync(mode="Plan")
            result = await world.reconcile()
            assert result == RunResult()
            assert world.written() == [STATUS]
            assert world.status["plan"]["add"] == ["K0", "K1"]
            assert {key["state"] for key in world.status["keys"]} == {"Pending"}

            world.ask("approve-plan", "1")
            await world.reconcile()
            assert world.data() == DATA
            assert "plan" not in world.status
            assert world.status["lastHandledRequestedAt"] == "1"

    @in_virtual_time
    async def test_an_approval_of_another_plan_shows_the_new_one(self) -> None:
        async with new_world(FakeSession(TWO, listing("cnry-0", "cnry-1", "cnry-2"))) as world:
            world.put_sync(mode="Plan")
            await world.reconcile()
            world.ask("approve-plan", "1")
            await world.reconcile()

            assert world.data() is None
            assert world.status["plan"]["add"] == ["K0", "K1", "K2"]
            assert world.status["lastHandledRequestedAt"] == "1"

    @in_virtual_time
    async def test_an_approval_is_of_the_spec_whose_plan_was_shown(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync(mode="Plan")
            await world.reconcile()
            world.put_sync(mode="Plan", target={"name": "another"})
            world.ask("approve-plan", "1")
            await world.reconcile()

            assert world.data("another") is None
            assert world.status["lastHandledRequestedAt"] == "1"
            world.ask("approve-plan", "2")
            await world.reconcile()
            assert world.data("another") == DATA

    @pytest.mark.parametrize("kind", ["approve-plan", "release-guard"])
    @in_virtual_time
    async def test_what_lets_the_plan_of_the_target_pass_lets_nothing_else_pass(
        self, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The destination's plan may have the same names, and was not shown: the target's is told first."""
        told: list[str | None] = []

        async def asked(
            _seen: ObservedObject,
            _spec: SecretSyncSpec,
            _previous: SecretSyncStatus,
            request: PendingRequest | None,
            **_: float,
        ) -> DestinationOutcome:
            told.append(None if request is None else request.kind)
            return DestinationOutcome(
                Tone.HELD, Reason.GUARDED, "held", None, PushStatus(), timedelta(minutes=5)
            )

        shrinks = kind == "release-guard"
        session = FakeSession(
            listing("cnry-0", "cnry-1", "cnry-2"), *([listing("cnry-0")] if shrinks else [])
        )
        async with new_world(session) as world:
            monkeypatch.setattr(world.reconciler._destinations, "bring_about", asked)
            pushed = {
                "destination": "external-infisical",
                "connectionRef": {"name": "store"},
                "destinationConfig": {"projectId": "far", "environment": "dev", "secretPath": "/"},
                "refreshInterval": "10s",
            }
            world.put_sync(mode="Apply" if shrinks else "Plan", **pushed)
            await world.reconcile()
            await asyncio.sleep(15)
            await world.reconcile()
            assert world.condition() == ("False", "Guarded" if shrinks else "Planned")
            told.clear()
            for at in ("1", "2"):
                world.ask(kind, at)
                await world.reconcile()

            assert len(world.data() or {}) == (1 if shrinks else 3)
            assert told == ["sync", kind]

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
    async def test_what_goes_is_noted_before_it_goes_so_that_no_run_that_is_cut_off_forgets_it(self) -> None:
        shrunk = listing("cnry-0", "cnry-1")
        async with new_world(FakeSession(listing("cnry-0", "cnry-1", "cnry-2"), shrunk)) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()
            await asyncio.sleep(15)
            world.gateway.fail("apply_status", "SecretSync", UnavailableError("no answer"), after=1)
            assert (await world.reconcile()).failed

            assert len(world.data() or {}) == 2
            assert [one["names"] for one in world.status["target"]["removals"]] == [["K2"]]

    @in_virtual_time
    async def test_nothing_goes_that_can_not_be_noted(self) -> None:
        shrunk = listing("cnry-0", "cnry-1")
        async with new_world(FakeSession(listing("cnry-0", "cnry-1", "cnry-2"), shrunk)) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()
            await asyncio.sleep(15)
            world.gateway.fail("apply_status", "SecretSync", UnavailableError("no answer"))
            assert (await world.reconcile()).failed
            assert len(world.data() or {}) == 3

            assert await world.reconcile() == RunResult()
            assert len(world.data() or {}) == 2
            assert [one["names"] for one in world.status["target"]["removals"]] == [["K2"]]

    @in_virtual_time
    async def test_what_was_noted_and_did_not_go_is_still_one_change(self) -> None:
        shrunk = listing("cnry-0", "cnry-1")
        async with new_world(FakeSession(listing("cnry-0", "cnry-1", "cnry-2"), shrunk)) as world:
            world.put_sync(refreshInterval="10s")
            await world.reconcile()
            await asyncio.sleep(15)
            world.gateway.fail("merge_patch", "Secret", UnavailableError("no answer"))
            assert (await world.reconcile()).failed
            assert len(world.data() or {}) == 3
            await asyncio.sleep(15)
            assert await world.reconcile() == RunResult()

            assert len(world.data() or {}) == 2
            assert [(one["of"], one["names"]) for one in world.status["target"]["removals"]] == [(3, ["K2"])]

    @in_virtual_time
    async def test_a_plan_that_was_approved_retires_the_old_target_too(self) -> None:
        async with new_world(FakeSession(TWO)) as world:
            world.put_sync()
            await world.reconcile()
            world.put_sync(mode="Plan", target={"name": "renamed"})
            await world.reconcile()
            assert world.data("renamed") is None
            world.ask("approve-plan", "1")
            await world.reconcile()

            assert world.data("renamed") == DATA
            assert world.data("web") is None
