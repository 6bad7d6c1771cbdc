"""How often a certificate is asked for, whatever makes it needed, and by whose clock."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from keybearer.base.certificate_terms import RequestStatus, RevocationReason
from keybearer.controllers.certificateprofile.status import CertificateProfileStatus
from unit.controllers.fakes.certificate_service import Killed
from unit.controllers.fakes.profile_world import DAY, ProfileWorld, certificate
from unit.controllers.fakes.targets import Body

_HOUR = 3600.0
_AHEAD = timedelta(hours=17)


def _condition(world: ProfileWorld, kind: str) -> Body | None:
    return next((one for one in world.status["conditions"] if one["type"] == kind), None)


def _in_an_hour(world: ProfileWorld) -> int:
    """The most that were asked for within an hour."""
    at = [one.state.created_at for one in world.service.kept.values()]
    asked = [one for one in at if one is not None]
    return max(sum(first <= one <= first + timedelta(hours=1) for one in asked) for first in asked)


def _changed(number: int) -> Body:
    changed = certificate("front")
    changed["attributes"]["organization"] = f"Example {number}"
    return changed


async def _fight(world: ProfileWorld, seconds: float) -> None:
    """People change the spec by turns, every few seconds."""
    for number in range(int(seconds / 20)):
        world.put(_changed(int(world.clock.seconds) + number))
        world.pass_time(20)
        await world.reconcile()


async def test_a_spec_that_is_changed_over_and_over_is_followed_so_often_and_told(
    world: ProfileWorld,
) -> None:
    await _fight(world, _HOUR)

    assert world.service.calls.count("issue") == 6
    used = _condition(world, "BudgetUsed")
    assert used is not None
    assert (used["status"], used["reason"]) == ("True", "IssueBudgetUsed")
    assert used["message"] == (
        "front: it is asked for as often as it may be since 2026-03-01T12:02:00Z, the last time for the need "
        "SpecChanged; not again before 2026-03-01T13:02:00Z"
    )
    assert world.ready == ("False", "IssueBudgetUsed")
    delayed = world.metrics.registry.get_sample_value
    assert delayed("keybearer_effects_delayed_total", {"effect": "issue"}) == 1

    since = used["lastTransitionTime"]
    await _fight(world, 3 * _HOUR)
    assert _in_an_hour(world) <= 6
    used = _condition(world, "BudgetUsed")
    assert used is not None
    assert used["lastTransitionTime"] == since

    world.pass_time(2 * _HOUR)
    await world.reconcile()
    world.pass_time(2 * _HOUR)
    await world.reconcile()
    assert world.ready == ("True", "Issued"), world.message
    assert _condition(world, "BudgetUsed") is None


async def test_a_change_and_a_revocation_are_not_delayed_within_the_budget(world: ProfileWorld) -> None:
    world.put(certificate("front"))
    await world.reconcile()
    for number in range(2):
        world.put(_changed(number))
        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message
    await world.service.revoke(world.entry("front")["certificateId"], RevocationReason.KEY_COMPROMISE)
    world.pass_time(301)
    await world.reconcile()
    assert world.entry("front")["need"] == "Revoked"
    world.remove_secret("front")
    world.remove_secret("web.certificate-keys")
    await world.reconcile()
    assert world.entry("front")["need"] == "KeyLost"
    assert world.ready == ("True", "Issued"), world.message
    assert world.service.calls.count("issue") == 5


@pytest.mark.parametrize("lost", ["status", "keyring", "nothing"])
async def test_restarts_and_the_loss_of_either_copy_give_no_more(world: ProfileWorld, lost: str) -> None:
    for number in range(20):
        world.put(_changed(number))
        world.pass_time(60)
        world.restart()
        await world.reconcile()
        body = world.gateway.find("CertificateProfile", "web")
        assert body is not None
        if lost == "status":
            body["status"] = {}
        if lost == "keyring":
            world.remove_secret("web.certificate-keys")

    assert world.service.calls.count("issue") == 6


@pytest.mark.parametrize("step", ["before", "after"])
async def test_a_kill_around_the_order_loses_no_count(world: ProfileWorld, step: str) -> None:
    def kill(name: str) -> None:
        if name == "issue":
            raise Killed

    for number in range(20):
        world.put(_changed(number))
        world.pass_time(60)
        setattr(world.service, step, kill if number % 2 else lambda _: None)
        try:
            await world.reconcile()
        except Killed:
            world.restart()

    assert 3 <= len(world.service.kept) <= 6


async def test_a_failure_that_is_asked_again_is_told_as_what_it_is(world: ProfileWorld) -> None:
    world.service.status = RequestStatus.FAILED
    world.put(certificate("front"))
    for _ in range(120):
        await world.reconcile()
        world.pass_time(30)

    assert world.ready == ("False", "RequestFailed")
    assert _in_an_hour(world) <= 6


class TestRenewal:
    """By time."""

    @pytest.fixture(params=["86399s", "86699s", "200h"])
    def renew_before(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    async def test_one_whose_lifetime_the_service_shortens_is_renewed_after_a_third(
        self, world: ProfileWorld, renew_before: str
    ) -> None:
        short = certificate("front", renewBefore=renew_before)
        short["attributes"]["ttl"] = "24h"  # stored before the CRD refused it, or as the service has it
        world.put(short)
        for _ in range(24 * 12):
            await world.reconcile()
            world.pass_time(300)

        assert world.service.calls.count("issue") <= 3
        assert world.ready == ("False", "RenewBeforeTooLong")
        assert "lower renewBefore" in world.message
        assert world.told_ready() == {"front": 1.0}

    async def test_one_at_two_thirds_is_taken(self, world: ProfileWorld) -> None:
        short = certificate("front", renewBefore="16h")
        short["attributes"]["ttl"] = "24h"
        world.put(short)
        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message
        begun = world.clock.now()
        at = datetime.fromisoformat(world.entry("front")["renewalTime"])
        assert timedelta(hours=8) <= at - begun <= timedelta(hours=8, minutes=1)

    async def test_what_an_older_version_noted_too_early_is_put_right(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        body = world.gateway.find("CertificateProfile", "web")
        assert body is not None
        entry = body["status"]["certificateRequests"][0]
        entry["renewalTime"] = entry["notBefore"]
        del entry["issues"]
        world.restart()

        await world.reconcile()

        assert world.service.calls.count("issue") == 1
        assert world.ready == ("True", "Issued"), world.message


class TestClocks:
    """The operator's clock is wrong: what is decided by time goes by the service's."""

    @pytest.fixture(params=[_AHEAD, -_AHEAD], ids=["17 h ahead", "17 h behind"])
    def wrong(self, world: ProfileWorld, request: pytest.FixtureRequest) -> timedelta:
        by: timedelta = request.param
        world.service.now = lambda: world.clock.now() - by
        world.service.ahead = -by
        return by

    @pytest.mark.parametrize("ttl", ["1h", "12h", "24h"])
    async def test_nothing_is_issued_too_early(self, world: ProfileWorld, wrong: timedelta, ttl: str) -> None:
        short = certificate("front")
        short["attributes"]["ttl"] = ttl
        world.put(short)
        for number in range(30):
            await world.reconcile()
            if number % 10 == 0:
                world.restart()
            world.pass_time(30)

        assert world.service.calls.count("issue") == 1
        assert world.ready == ("True", "Issued"), world.message
        told = _condition(world, "ClockInSync")
        assert told is not None
        assert (told["status"], told["reason"]) == ("False", "ClockDiffers")
        assert (
            f"17 h 0 min {'ahead of' if wrong > timedelta() else 'behind'} the service's" in told["message"]
        )

    @pytest.mark.usefixtures("wrong")
    async def test_it_is_renewed_when_the_service_has_come_to_it(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        world.pass_time(60 * DAY)
        await world.reconcile()
        assert world.service.calls.count("issue") == 2

    @pytest.mark.usefixtures("wrong")
    async def test_a_clock_that_is_put_right_holds_nothing_back(self, world: ProfileWorld) -> None:
        for number in range(8):
            world.put(_changed(number))
            await world.reconcile()
        world.service.ahead = timedelta()
        world.service.now = world.clock.now
        await world.reconcile()
        world.pass_time(_HOUR + 1)
        world.put(_changed(9))
        await world.reconcile()
        assert world.ready == ("True", "Issued"), world.message
        assert str(world.stored("front")[0].subject) == "CN=front.example.com,O=Example 9"
        assert _condition(world, "ClockInSync") is None

    @pytest.mark.parametrize("restarts", [False, True])
    async def test_replicas_of_a_service_whose_clocks_differ_give_no_more_than_the_budget(
        self, world: ProfileWorld, *, restarts: bool
    ) -> None:
        """What is counted is counted by our clock: each look by another clock would forget the ones before."""
        short = certificate("front")
        short["attributes"]["ttl"] = "1h"
        world.put(short)
        for number in range(120):
            world.service.ahead = timedelta(hours=2) if number % 3 == 2 else timedelta()
            await world.reconcile()
            world.pass_time(10)
            if restarts and number % 7 == 0:
                world.restart()

        assert world.service.calls.count("issue") <= 6
        assert _condition(world, "BudgetUsed") is not None

    async def test_nothing_is_decided_by_time_before_the_service_has_told_its_own(
        self, world: ProfileWorld
    ) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        world.service.calls.clear()
        world.service.ahead = None

        await world.reconcile()

        assert "find_profile" in world.service.calls


def test_a_status_of_an_older_version_is_read() -> None:
    before = {
        "certificateRequests": [{"name": "front", "secretName": "front", "revision": 3}],
        "lostKeys": {"since": "2026-03-01T12:00:00Z", "minted": 2},
    }
    status = CertificateProfileStatus.model_validate(before)
    assert status.lost_keys is not None
    assert status.lost_keys.minted == 2
    assert status.certificate_requests[0].issues == ()
