"""Processes that are killed at a step, and answers that were lost: each revision has one certificate."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keybearer.controllers.issuance.service import Order, OrderAnswer
from keybearer.controllers.outcome import WaitingError
from keybearer.kube.errors import LeaseLostError
from unit.controllers.fakes.certificate_service import Killed, KillingAt
from unit.controllers.fakes.profile_world import ProfileWorld, certificate

_STEPS = ["before", "after"]
_CALLS = ["create_profile", "issue", "requests_of", "bundle"]
_WRITES = [
    ("create", "Secret"),
    ("apply_status", "CertificateProfile"),
    ("merge_patch", "CertificateProfile"),
]


class TestExactlyOnce:
    """The operator is killed at a step; when it is back, there is exactly one certificate per revision."""

    @pytest.mark.parametrize("shown", [True, False], ids=["secrets shown", "no secret shown yet"])
    @pytest.mark.parametrize("at_once", [True, False])
    @pytest.mark.parametrize("nth", [1, 2, 3])
    @pytest.mark.parametrize("when", _STEPS)
    @pytest.mark.parametrize("call", _CALLS)
    async def test_killed_around_a_call(
        self, world: ProfileWorld, call: str, when: str, nth: int, *, at_once: bool, shown: bool
    ) -> None:
        world.service.at_once, world.shows_secrets = at_once, shown
        setattr(world.service, when, KillingAt(nth, call))
        await _until_ready(world)

        assert len(world.service.issued_for("front")) == 1
        assert len(world.service.issued_for("back")) == 1

    @pytest.mark.parametrize("shown", [True, False], ids=["secrets shown", "no secret shown yet"])
    @pytest.mark.parametrize("nth", [1, 2, 3, 4])
    @pytest.mark.parametrize(("verb", "kind"), _WRITES)
    async def test_killed_before_a_write(
        self, world: ProfileWorld, verb: str, kind: str, nth: int, *, shown: bool
    ) -> None:
        world.shows_secrets = shown
        world.gateway.before = KillingAt(nth, verb, kind)
        await _until_ready(world)

        assert len(world.service.issued_for("front")) == 1
        assert len(world.service.issued_for("back")) == 1

    async def test_what_was_noted_before_a_crash_is_found_though_no_watch_has_shown_it(
        self, world: ProfileWorld
    ) -> None:
        def kill(name: str) -> None:
            if name == "issue":
                raise Killed

        world.service.after = kill
        world.put(certificate("front"))
        with pytest.raises(Killed):
            await world.reconcile()
        noted = world.keyring
        world.service.after = lambda _: None
        world.shows_secrets = False
        world.restart()
        world.service.calls.clear()

        await world.reconcile()

        assert world.ready == ("True", "Issued"), world.message
        assert world.keyring == noted
        assert "issue" not in world.service.calls
        assert "requests_of" in world.service.calls

    async def test_nothing_is_asked_for_by_who_leads_no_more(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        world.gateway.leads = False

        with pytest.raises(LeaseLostError):
            await world.reconcile()

        assert "issue" not in world.service.calls

    async def test_an_answer_that_never_came_is_looked_for_before_it_is_asked_again(
        self, world: ProfileWorld
    ) -> None:
        answered = False

        def lose(name: str) -> None:
            nonlocal answered
            if name == "issue" and not answered:
                answered = True
                raise WaitingError("ServiceUnavailable", "timed out")

        world.service.after = lose
        world.put(certificate("front"))
        assert (await world.reconcile()).failed

        await world.reconcile()

        assert world.ready == ("True", "Issued"), world.message
        assert len(world.service.issued_for("front")) == 1

    async def test_what_may_still_be_under_way_is_not_sent_again_at_once(self, world: ProfileWorld) -> None:
        def lose(name: str) -> None:
            if name == "issue":
                raise WaitingError("ServiceUnavailable", "timed out")

        world.service.before = lose
        world.put(certificate("front"))
        await world.reconcile()
        world.service.before = lambda _: None
        world.service.calls.clear()

        result = await world.reconcile()
        assert "issue" not in world.service.calls
        assert result.requeue_after is not None
        assert result.requeue_after <= timedelta(seconds=31)

        world.pass_time(result.requeue_after.total_seconds())
        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message

    @pytest.mark.parametrize("restarted", [False, True], ids=["the same process", "another process"])
    @pytest.mark.parametrize("frozen_seconds", [10, 3600])
    async def test_what_a_frozen_service_takes_up_when_it_goes_on_is_not_ordered_twice(
        self, world: ProfileWorld, frozen_seconds: float, *, restarted: bool
    ) -> None:
        issue, held = world.service.issue, list[Order]()

        async def stand_still(order: Order) -> OrderAnswer:
            held.append(order)
            world.service.issue = issue  # type: ignore[method-assign]
            raise WaitingError("ServiceUnavailable", "timed out")

        world.service.issue = stand_still  # type: ignore[method-assign]
        world.put(certificate("front"))
        assert (await world.reconcile()).failed
        world.pass_time(frozen_seconds)
        if restarted:
            world.restart()
        # Both lie before the service when it goes on, and the look is answered first.
        early = await world.reconcile()
        await issue(held.pop())
        assert early.requeue_after is not None

        world.pass_time(early.requeue_after.total_seconds())
        await world.reconcile()

        assert world.ready == ("True", "Issued"), world.message
        assert len(world.service.issued_for("front")) == 1


async def _until_ready(world: ProfileWorld) -> None:
    world.put(certificate("front"), certificate("back"))
    for _ in range(12):
        try:
            await world.reconcile()
        except Killed:
            world.restart()
        else:
            if world.status.get("conditions") and world.ready == ("True", "Issued"):
                return
        world.pass_time(40)
    pytest.fail(world.message)
