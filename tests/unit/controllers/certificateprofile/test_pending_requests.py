"""Requests that the service keeps open, refuses, or lets come to nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.outcome import StalledError
from unit.controllers.fakes.profile_world import ProfileWorld, certificate


class TestPending:
    @pytest.mark.parametrize(
        ("status", "reason"),
        [
            (RequestStatus.PENDING_APPROVAL, "PendingApproval"),
            (RequestStatus.PENDING, "Pending"),
            (RequestStatus.PENDING_VALIDATION, "PendingValidation"),
        ],
    )
    async def test_an_open_request_is_shown_and_stored_once_it_is_issued(
        self, world: ProfileWorld, status: RequestStatus, reason: str
    ) -> None:
        world.service.status = status
        world.put(certificate("front"))

        result = await world.reconcile()

        assert world.ready == ("False", reason)
        assert world.entry("front")["status"] == status.value
        assert result.requeue_after is not None
        assert result.requeue_after <= timedelta(seconds=2)

        world.service.settle(RequestStatus.ISSUED)
        await world.reconcile()

        assert world.ready == ("True", "Issued")
        assert world.service.calls.count("issue") == 1

    @pytest.mark.parametrize(
        ("status", "reason", "at_least"),
        [
            (RequestStatus.FAILED, "RequestFailed", 40),
            (RequestStatus.REJECTED, "RequestRejected", 2900),
        ],
    )
    async def test_what_came_to_nothing_is_asked_for_again_later_by_another_request(
        self, world: ProfileWorld, status: RequestStatus, reason: str, at_least: float
    ) -> None:
        world.service.status = RequestStatus.PENDING_APPROVAL
        world.put(certificate("front"))
        await world.reconcile()
        world.service.settle(status, "no such host")

        await world.reconcile()
        assert world.ready == ("False", reason)
        assert "no such host" in world.message
        assert world.entry("front")["failures"] == 1
        assert world.service.calls.count("issue") == 1

        world.service.status = RequestStatus.ISSUED
        world.pass_time(at_least)
        await world.reconcile()
        assert world.service.calls.count("issue") == 1
        assert world.ready == ("False", reason)

        world.pass_time(at_least)
        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message
        assert world.entry("front")["revision"] == 2
        assert "failures" not in world.entry("front")

    async def test_a_person_who_asks_does_not_wait_for_the_next_attempt(self, world: ProfileWorld) -> None:
        world.service.status = RequestStatus.FAILED
        world.put(certificate("front"))
        await world.reconcile()
        await world.reconcile()
        assert world.ready == ("False", "RequestFailed")
        world.service.status = RequestStatus.ISSUED

        world.ask("sync", "now")
        await world.reconcile()

        assert world.ready == ("True", "Issued"), world.message

    async def test_another_spec_takes_the_place_of_an_open_request_at_once(self, world: ProfileWorld) -> None:
        world.service.status = RequestStatus.PENDING_APPROVAL
        world.put(certificate("front"))
        await world.reconcile()
        world.service.status = RequestStatus.ISSUED

        world.put({**certificate("front"), "attributes": {"commonName": "other.example.com", "ttl": "30d"}})
        await world.reconcile()

        assert world.ready == ("True", "Issued"), world.message
        assert world.service.cancelled == ["request-1"]
        assert str(world.stored("front")[0].subject) == "CN=other.example.com"

    async def test_a_refusal_backs_off_and_keeps_its_revision(self, world: ProfileWorld) -> None:
        def refuse(name: str) -> None:
            if name == "issue":
                raise StalledError("RequestRefused", "the policy forbids it")

        world.service.before = refuse
        world.put(certificate("front"))
        await world.reconcile()
        assert world.ready == ("False", "RequestRefused")
        assert "the policy forbids it" in world.message
        await world.reconcile()
        assert world.service.calls.count("issue") == 1

        world.service.before = lambda _: None
        world.pass_time(61)
        await world.reconcile()

        assert world.ready == ("True", "Issued")
        assert world.entry("front")["revision"] == 1

    async def test_waits_grow_up_to_32_hours(self, world: ProfileWorld) -> None:
        world.service.status = RequestStatus.FAILED
        world.put(certificate("front"))
        waits: list[float] = []
        for _ in range(14):
            await world.reconcile()  # asks
            await world.reconcile()  # sees that it failed
            result = await world.reconcile()
            assert result.requeue_after is not None
            at = world.entry("front")["nextAttemptTime"]
            due = world.clock.now().fromisoformat(at)
            waits.append((due - world.clock.now()).total_seconds())
            world.pass_time(waits[-1] + 1)
        assert waits[0] <= 60
        assert waits[-1] <= 32 * 3600
        assert waits[-1] >= 0.8 * 32 * 3600 - 1
