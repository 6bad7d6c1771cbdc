"""Keys that stay at renewals, until a certificate of theirs is revoked as compromised: then never again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keybearer.base.certificate_terms import RequestStatus, RevocationReason
from keybearer.controllers.outcome import WaitingError
from unit.controllers.fakes.profile_world import DAY, ProfileWorld, certificate

_NEVER = {"rotationPolicy": "Never"}
_COMPROMISE = RevocationReason.KEY_COMPROMISE


@pytest.fixture
async def key(world: ProfileWorld) -> bytes:
    """A certificate is issued whose key is to stay; return the key."""
    world.put(certificate("front", privateKey=_NEVER))
    await world.reconcile()
    return world.data("front")["tls.key"]


async def _revoke(world: ProfileWorld, certificate_id: str, reason: RevocationReason) -> None:
    await world.service.revoke(certificate_id, reason)


def _current(world: ProfileWorld) -> str:
    return str(world.entry("front")["certificateId"])


@pytest.mark.parametrize("restarted", [False, True], ids=["while it runs", "while the operator was down"])
@pytest.mark.parametrize("is_there", [True, False], ids=["Secret there", "Secret deleted"])
@pytest.mark.parametrize("reason", [_COMPROMISE, RevocationReason.UNSPECIFIED])
async def test_a_compromised_key_is_replaced(
    world: ProfileWorld, key: bytes, reason: RevocationReason, *, is_there: bool, restarted: bool
) -> None:
    await _revoke(world, _current(world), reason)
    if not is_there:
        world.remove_secret("front")
    if restarted:
        world.restart()
    world.pass_time(301)

    await world.reconcile()

    assert world.ready == ("True", "Issued"), world.message
    assert world.entry("front")["need"] == "Revoked"
    assert world.data("front")["tls.key"] != key
    assert world.service.calls.count("issue") == 2


async def test_what_was_superseded_keeps_its_key(world: ProfileWorld, key: bytes) -> None:
    await _revoke(world, _current(world), RevocationReason.SUPERSEDED)
    world.pass_time(301)

    await world.reconcile()

    assert world.entry("front")["need"] == "Revoked"
    assert world.data("front")["tls.key"] == key


async def test_a_new_key_is_made_though_the_spec_changed_as_well(world: ProfileWorld, key: bytes) -> None:
    await _revoke(world, _current(world), _COMPROMISE)
    changed = certificate("front", privateKey=_NEVER)
    changed["attributes"]["organization"] = "Example"
    world.put(changed)

    await world.reconcile()

    assert world.entry("front")["need"] == "SpecChanged"
    assert world.data("front")["tls.key"] != key


async def test_a_revocation_that_no_comparison_has_seen_yet_counts_at_a_renewal(
    world: ProfileWorld, key: bytes
) -> None:
    world.pass_time(60 * DAY - 100)
    await world.reconcile()
    world.service.calls.clear()
    await _revoke(world, _current(world), _COMPROMISE)
    world.ask("renew", "now")

    await world.reconcile()

    assert world.data("front")["tls.key"] != key


async def test_the_key_is_given_up_when_a_former_certificate_of_it_is_revoked(
    world: ProfileWorld, key: bytes
) -> None:
    former = _current(world)
    world.pass_time(60 * DAY)
    await world.reconcile()
    assert world.data("front")["tls.key"] == key
    await _revoke(world, former, _COMPROMISE)
    world.pass_time(60 * DAY)

    await world.reconcile()

    assert len(world.service.issued_for("front")) == 3
    assert world.data("front")["tls.key"] != key


async def test_the_key_is_given_up_though_another_profile_is_to_issue_by_now(
    world: ProfileWorld, key: bytes
) -> None:
    await _revoke(world, _current(world), _COMPROMISE)
    assert world.service.profile is not None
    world.service.profile = replace(world.service.profile, id="profile-2", slug="second")
    world.put(
        certificate("front", privateKey=_NEVER), slug="second", existing=True, policyRef=None, caRef=None
    )

    await world.reconcile()

    assert world.ready == ("True", "Issued"), world.message
    assert world.entry("front")["need"] == "SpecChanged"
    assert world.data("front")["tls.key"] != key


async def test_later_renewals_keep_the_new_key(world: ProfileWorld, key: bytes) -> None:
    await _revoke(world, _current(world), _COMPROMISE)
    world.pass_time(301)
    await world.reconcile()
    other = world.data("front")["tls.key"]

    for _ in range(3):
        world.pass_time(60 * DAY)
        world.restart()
        await world.reconcile()

    assert len(world.service.issued_for("front")) == 5
    assert world.data("front")["tls.key"] == other
    assert other != key


@pytest.mark.parametrize("then", [RequestStatus.PENDING_APPROVAL, RequestStatus.ISSUED])
async def test_a_request_that_waits_with_the_key_is_given_up(
    world: ProfileWorld, key: bytes, then: RequestStatus
) -> None:
    world.service.status = RequestStatus.PENDING_APPROVAL
    world.pass_time(60 * DAY)
    await world.reconcile()
    (waiting,) = [one for one in world.service.kept.values() if not one.state.status.is_final]
    await _revoke(world, _current(world), _COMPROMISE)
    world.service.status = RequestStatus.ISSUED
    world.service.settle(then)
    world.pass_time(301)

    await world.reconcile()

    assert world.data("front")["tls.key"] != key
    assert world.service.cancelled == [waiting.state.id]
    assert world.ready == ("True", "Issued"), world.message


async def test_nothing_is_asked_for_while_nobody_can_tell_whether_the_key_is_good(
    world: ProfileWorld, key: bytes
) -> None:
    await _revoke(world, _current(world), _COMPROMISE)
    world.pass_time(301)

    def away(name: str) -> None:
        if name == "revocation_reason":
            raise WaitingError("ServiceUnavailable", "timed out")

    world.service.before = away
    assert (await world.reconcile()).failed
    assert world.service.calls.count("issue") == 1

    world.service.before = lambda _: None
    await world.reconcile()
    assert world.data("front")["tls.key"] != key


class TestKeyring:
    """The Secret of keys alone is deleted."""

    @pytest.mark.parametrize("restarted", [False, True])
    async def test_it_is_rebuilt_from_the_secret_that_holds_the_key(
        self, world: ProfileWorld, *, restarted: bool
    ) -> None:
        world.put(certificate("front"), certificate("back"))
        await world.reconcile()
        keys = dict(world.keyring.keys)
        world.remove_secret("web.certificate-keys")
        if restarted:
            world.restart()

        await world.reconcile()

        assert world.keyring.keys == keys
        assert world.service.calls.count("issue") == 2
        world.writes()
        await world.reconcile()
        assert world.writes() == []

    async def test_a_key_that_is_to_stay_stays_without_it(self, world: ProfileWorld, key: bytes) -> None:
        world.remove_secret("web.certificate-keys")
        world.pass_time(60 * DAY)

        await world.reconcile()

        assert len(world.service.issued_for("front")) == 2
        assert world.data("front")["tls.key"] == key

    async def test_a_secret_that_is_deleted_later_comes_back_with_its_key(self, world: ProfileWorld) -> None:
        world.put(certificate("front"))
        await world.reconcile()
        before = world.data("front")
        world.remove_secret("web.certificate-keys")
        await world.reconcile()
        world.remove_secret("front")

        await world.reconcile()

        assert world.data("front") == before
        assert world.service.calls.count("issue") == 1
