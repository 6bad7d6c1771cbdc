"""Who is still trusted by a trust bundle though it signs no more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from keybearer.client import CertificateAttributes
from keybearer.controllers.certificateprofile.authorities import former_authorities
from keybearer.controllers.certificateprofile.status import AuthorityStatus, FormerAuthority
from keybearer.controllers.issuance.service import Order
from keybearer.controllers.outcome import WaitingError
from unit.controllers.fakes.certificate_service import new_authority
from unit.controllers.fakes.profile_world import ProfileWorld, certificate

_NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_DAY = timedelta(days=1)
_OLD = AuthorityStatus(key="old", not_after=_NOW + 100 * _DAY, anchors="old root")
_NEW = AuthorityStatus(key="new", not_after=_NOW + 900 * _DAY, anchors="new root")
_KEPT = FormerAuthority(key="old", until=_NOW + _DAY, anchors="old root")


@pytest.mark.parametrize(
    ("last", "until"),
    [
        pytest.param(_NOW + 30 * _DAY, _NOW + 30 * _DAY, id="until the last certificate has ended"),
        pytest.param(_NOW + 300 * _DAY, _NOW + 100 * _DAY, id="never longer than it is valid itself"),
        pytest.param(None, _NOW + 100 * _DAY, id="as long as it is valid where nobody can tell"),
    ],
)
def test_an_authority_that_signs_no_more_is_trusted(last: datetime | None, until: datetime) -> None:
    assert former_authorities((), [_OLD], [_NEW], last, _NOW) == (
        FormerAuthority(key="old", until=until, anchors="old root"),
    )


@pytest.mark.parametrize(
    ("before", "dropped", "present", "now"),
    [
        pytest.param((), [_OLD], [_NEW], _NOW, id="nothing of it is valid any more"),
        pytest.param((_KEPT,), [], [_NEW], _NOW + _DAY, id="its time is over"),
        pytest.param((_KEPT,), [], [_OLD], _NOW, id="it signs again"),
        pytest.param(
            (),
            [_OLD],
            [_NEW.model_copy(update={"anchors": "old root"})],
            _NOW - _DAY,
            id="its root is trusted anyway",
        ),
    ],
)
def test_and_not_for_longer(
    before: tuple[FormerAuthority, ...],
    dropped: list[AuthorityStatus],
    present: list[AuthorityStatus],
    now: datetime,
) -> None:
    assert former_authorities(before, dropped, present, _NOW, now) == ()


def test_those_that_last_longest_are_kept_where_they_are_too_many() -> None:
    before = [
        FormerAuthority(key=f"k{number}", until=_NOW + number * _DAY, anchors=f"root {number}")
        for number in range(1, 12)
    ]

    kept = former_authorities(before, (), [_NEW], None, _NOW)

    assert [one.key for one in kept] == [f"k{number}" for number in range(11, 3, -1)]


def _former(world: ProfileWorld) -> list[tuple[str, str]]:
    return [(one["anchors"], one["until"]) for one in world.status.get("formerAuthorities", [])]


async def _issue_for_a_pod(world: ProfileWorld, days: int) -> None:
    """A signer has a certificate issued that the profile keeps no record of."""
    attributes = CertificateAttributes(common_name="pod", ttl=f"{days}d")
    await world.service.issue(
        Order("profile-1", None, None, attributes, {"keybearer.dev/certificate": "pod"})
    )


async def test_the_old_root_stays_until_the_last_certificate_of_a_pod_has_ended() -> None:
    world = ProfileWorld()
    world.put()
    await world.reconcile()
    await _issue_for_a_pod(world, 5)
    ended = world.clock.now() + 5 * _DAY
    old = world.service.issuer.certificate.pem
    world.pass_time(301)
    world.service.issuer = new_authority("New Root", world.clock.now())

    await world.reconcile()

    assert [one["anchors"] for one in world.status["authorities"]] == [world.service.issuer.certificate.pem]
    assert _former(world) == [(old, ended.strftime("%Y-%m-%dT%H:%M:%SZ"))]
    world.pass_time(301)
    await world.reconcile()
    assert len(_former(world)) == 1
    assert world.service.calls.count("ends_of") == 1

    world.pass_time(5 * 86_400)
    await world.reconcile()
    assert _former(world) == []


async def test_after_a_wave_what_was_issued_before_it_counts() -> None:
    world = ProfileWorld()
    world.put(certificate("front"))
    await world.reconcile()
    began = world.clock.now()
    world.service.issuer = new_authority("New Root", world.clock.now())
    world.pass_time(301)
    for _ in range(4):
        await world.reconcile()
        world.pass_time(61)

    assert "wave" not in world.status
    # The certificate that was replaced may still be in the memory of who read it: 90 days from its beginning.
    assert [until for _, until in _former(world)] == [(began + 90 * _DAY).strftime("%Y-%m-%dT%H:%M:%SZ")]


@pytest.mark.parametrize("away", [True, False], ids=["the service is away", "certificates may not be listed"])
async def test_where_the_service_cannot_tell_the_old_root_stays_as_long_as_it_is_valid(*, away: bool) -> None:
    world = ProfileWorld()
    world.put()
    await world.reconcile()
    ends = world.service.issuer.certificate.not_after
    world.service.issuer = new_authority("New Root", world.clock.now())
    world.pass_time(301)

    def fail(name: str) -> None:
        if name == "ends_of":
            raise WaitingError("ServiceUnavailable", "timed out")

    world.service.lists = False
    if away:
        world.service.before = fail
    await world.reconcile()

    assert [until for _, until in _former(world)] == [ends.strftime("%Y-%m-%dT%H:%M:%SZ")]
