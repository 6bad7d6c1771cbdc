"""A leader that is killed, stands still, stops, or loses its credentials: one leads, and only that one writes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from chaos.leader_scene import (
    LEASE_SECONDS,
    RENEW_DEADLINE,
    RETRY_SECONDS,
    TAKEOVER_SECONDS,
    LeaderScene,
    Replica,
)
from support.secretsync_objects import condition
from support.service_proxy import is_login, listing_of
from support.tenant import IDENTITY
from tools.local.secrets_service import Login
from tools.local.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_SHORT_SECONDS = 3.0
"""Of a pause that the Lease outlasts."""
_PAUSES = 3
"""Tried for one that is as short on a machine that stands still as well."""
_REQUESTS_AT_REST = 100
"""Within `_REST_SECONDS`, by both operators: some for the Lease, and what is left of starting again."""
_REST_SECONDS = 3.0
_TOKEN_SECONDS = 0.3 * PATIENCE_SECONDS
"""Long enough for an operator to start and to lead: four seconds on a machine that has nothing else to do."""
_TOKEN_CACHE_SECONDS = 10.0
"""For so long the API server remembers that it has accepted a token."""
_ACCESS_TOKEN_SECONDS = 4

_LOGINS = 3

Record = Callable[[str, object], None]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LeaderScene]:
    """Yield a cluster of their own: its API server is stopped."""
    with LeaderScene(tmp_path_factory.mktemp("leaders")) as made:
        yield made


@pytest.fixture
def _alone(scene: LeaderScene) -> Iterator[None]:
    """No operator of other tests runs, and none of this one is left to them."""
    scene.end_all()
    yield
    scene.end_all()


def test_when_the_leader_is_killed_the_other_takes_over_and_every_secret_follows(
    scene: LeaderScene, record_property: Record
) -> None:
    first, second = scene.pair()
    scene.until_followed(scene.change())

    first.operator.kill()
    began = time.monotonic()
    newest = scene.change()
    scene.tenant.api.delete("Secret", scene.tenant.namespace, "s0")
    took = scene.until_leads(second)
    scene.until_followed(newest)

    record_property("takeover_seconds", round(took, 1))
    record_property("followed_seconds", round(time.monotonic() - began, 1))
    assert_fenced(scene, first, second)
    # The Lease was left to run out, and was taken as soon as it had: that is all that the wait was for. By looks,
    # not by the clock: a machine that stands still makes fewer of them.
    waited = (
        scene.took_lease(second).received_at - scene.audit.lease_kept_by(first.credential)[-1].received_at
    )
    assert timedelta(seconds=LEASE_SECONDS) <= waited
    assert scene.looks_before_taking(first, second) <= LEASE_SECONDS // RETRY_SECONDS + 2


def test_a_leader_that_stood_still_writes_nothing_when_it_wakes_up(scene: LeaderScene) -> None:
    first, second = scene.pair()
    scene.until_followed(scene.change())
    with scene.proxy.holding(listing_of(scene.tenant.project.id)) as hold:
        scene.change()
        hold.wait_caught()
        first.operator.freeze()
        # What the first has asked for is old news when it gets to read it.
        hold.release()
    newest = scene.change()
    scene.until_leads(second)
    # The first will hear of a Secret to repair, of new values, and of a SecretSync that is new.
    scene.tenant.api.delete("Secret", scene.tenant.namespace, "s1")
    scene.add("made-meanwhile")
    scene.until_followed(newest)
    scene.tenant.until_ready("made-meanwhile")

    first.operator.thaw()
    first.operator.wait_ended()

    assert '"operator_failed"' in first.operator.log()
    assert_fenced(scene, first, second)
    assert scene.follows(newest)
    assert second.operator.leads


def test_a_pause_that_the_lease_outlasts_changes_nothing(scene: LeaderScene) -> None:
    for _ in range(_PAUSES):
        first, second = scene.pair()
        scene.until_followed(scene.change())
        before = scene.transitions()

        first.operator.freeze()
        # The pause is what is tested; nothing is waited for.
        time.sleep(_SHORT_SECONDS)
        newest = scene.change()
        first.operator.thaw()
        scene.until_followed(newest)

        if first.operator.leads:
            break
        # The machine made the pause longer than a Lease: no other reason is one.
        first.operator.wait_ended()
        assert scene.unrenewed_at_end(first) >= RENEW_DEADLINE
    else:
        pytest.fail(f"a pause of {_SHORT_SECONDS} s became longer than the Lease, {_PAUSES} times")

    assert not second.operator.leads
    assert scene.transitions() == before
    assert scene.audit.lease_kept_by(second.credential) == []
    assert scene.audit.changes_of(second.credential) == []


def test_a_leader_that_is_told_to_stop_hands_over_at_once(
    scene: LeaderScene, record_property: Record
) -> None:
    first, second = scene.pair()
    scene.until_followed(scene.change())

    began = time.monotonic()
    first.operator.ask_to_stop()
    newest = scene.change()
    took = scene.until_leads(second)
    scene.until_followed(newest)
    first.operator.wait_ended()

    record_property("handover_seconds", round(took, 1))
    record_property("followed_seconds", round(time.monotonic() - began, 1))
    assert '"operator_stopped"' in first.operator.log()
    assert_fenced(scene, first, second)
    assert scene.looks_before_taking(first, second) <= 1, "the first look at what was released takes it"


def test_an_api_server_that_restarts_leaves_one_leader_and_loses_nothing(scene: LeaderScene) -> None:
    first, second = scene.pair()
    scene.until_followed(scene.change())

    scene.plane.kill_api_server()
    newest = scene.change()
    scene.plane.start_api_server()
    scene.tenant.api.delete("Secret", scene.tenant.namespace, "s2")
    scene.until_followed(newest)

    # Where it took long to start, the first can't know that it still leads, and has ended.
    second.operator.check()
    eventually(lambda: one_leads(first, second), awaited="one leader", within=TAKEOVER_SECONDS)
    if second.operator.leads:
        assert_fenced(scene, first, second)
    assert_at_rest(scene, first, second)


@pytest.mark.usefixtures("_alone")
def test_a_token_that_expires_is_followed_by_the_one_that_has_taken_its_place(scene: LeaderScene) -> None:
    mounted = scene.mount()
    old, old_credential = mounted.rotate(seconds=_TOKEN_SECONDS)
    expires = time.monotonic() + _TOKEN_SECONDS
    replica = scene.start_in_pod("in-a-pod", mounted, old_credential)
    eventually(lambda: replica.operator.leads, awaited="a leader")
    scene.until_followed(scene.change())
    failures = troubles(replica)

    _, new_credential = mounted.rotate(seconds=3600)
    eventually(
        lambda: mounted.refuses(old),
        awaited="an end of the old token",
        within=expires - time.monotonic() + _TOKEN_CACHE_SECONDS + PATIENCE_SECONDS,
    )
    newest = scene.change()
    scene.tenant.api.delete("Secret", scene.tenant.namespace, "s3")
    scene.add("after-the-old-token")
    scene.until_followed(newest)

    assert replica.operator.leads
    assert scene.transitions() == 0
    assert troubles(replica) == failures
    assert any(one.changes for one in scene.audit.of(new_credential))
    eventually(lambda: scene.audit.lease_kept_by(new_credential) != [], awaited="a Lease that it keeps")


@pytest.fixture
def short_login(scene: LeaderScene) -> Iterator[Login]:
    """Yield what operators log in with during this test, for a few seconds each time."""
    tenant = scene.tenant
    login = scene.admin.new_login(tenant.project.id, accessTokenTTL=_ACCESS_TOKEN_SECONDS)
    tenant.api.patch("Secret", tenant.namespace, IDENTITY, {"stringData": login.as_secret()})
    yield login
    tenant.api.patch("Secret", tenant.namespace, IDENTITY, {"stringData": tenant.login.as_secret()})


@pytest.mark.usefixtures("_alone")
def test_an_access_token_of_the_service_that_expires_fails_no_reconcile(
    scene: LeaderScene, short_login: Login
) -> None:
    tenant = scene.tenant
    replica = scene.start("short-tokens")
    scene.until_followed(scene.change())
    for number in range(20):
        tenant.until_ready(f"s{number}")
    before, failures, mark = _ready_since(scene), troubles(replica), scene.proxy.mark()

    while len(scene.proxy.requests(is_login(short_login.client_id), since=mark)) < _LOGINS:
        scene.until_followed(scene.change())

    assert troubles(replica) == failures
    assert _ready_since(scene) == before
    refused = [one for one in scene.proxy.requests(since=mark) if one.status >= 400]
    assert all(one.status == 401 for one in refused), refused


def assert_fenced(scene: LeaderScene, first: Replica, second: Replica) -> None:
    """The API server has had no change from the first since the second took the Lease."""
    taken = scene.took_lease(second)
    changes = scene.audit.changes_of(first.credential)
    assert changes, "the first has never changed anything: that it stopped shows nothing"
    assert [str(one) for one in changes if one.answered_at > taken.received_at] == []
    later = [
        one for one in scene.audit.lease_kept_by(first.credential) if one.received_at > taken.received_at
    ]
    assert [str(one) for one in later] == []
    early = [one for one in scene.audit.changes_of(second.credential) if one.received_at < taken.received_at]
    assert [str(one) for one in early] == []


def one_leads(*replicas: Replica) -> bool:
    return [one.operator.leads for one in replicas].count(True) == 1


def assert_at_rest(scene: LeaderScene, *replicas: Replica) -> None:
    """Exactly one leads for a while, and nobody asks for more than it takes to wait."""

    def asked() -> int:
        return sum(len(scene.audit.of(one.credential)) for one in replicas)

    before, began = asked(), time.monotonic()
    # How it goes on is what is tested: there is no condition to wait for.
    while time.monotonic() < began + _REST_SECONDS:
        assert one_leads(*replicas)
        time.sleep(0.2)
    # A machine that stands still makes the while longer, in which as much more is asked.
    while_seconds = time.monotonic() - began
    assert asked() - before <= _REQUESTS_AT_REST * while_seconds / _REST_SECONDS


def troubles(replica: Replica) -> dict[str, float]:
    """How often reconciles have ended otherwise than well, by reason."""
    found = {}
    for line in replica.operator.metrics().splitlines():
        name, _, value = line.rpartition(" ")
        if name.startswith("keybearer_outcomes_total{") and 'reason="Synced"' not in name:
            found[name] = float(value)
    return found


def _ready_since(scene: LeaderScene) -> dict[str, object]:
    return {
        sync["metadata"]["name"]: (condition(sync, "Ready") or {})["lastTransitionTime"]
        for sync in scene.tenant.api.list("SecretSync", scene.tenant.namespace)
    }
