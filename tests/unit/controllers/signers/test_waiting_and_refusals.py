"""Requests that wait or are refused, and certificates that are not handed over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage, RequestStatus
from keybearer.client import ProfileDefaults
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.kube.errors import (
    InvalidError,
)
from support.signing_objects import (
    certificate_request,
    request_pem,
)
from tools.local.kube_api import Body
from unit.controllers.fakes.asked_signatures import (
    APPROVED,
    DENIED,
    PEM,
    kubernetes,
    manager,
    pod,
)
from unit.controllers.fakes.signing_world import NAMESPACE, SigningWorld, condition


@pytest.mark.parametrize(
    ("kind", "make"),
    [("Failed", lambda: kubernetes(username="eve")), ("Denied", lambda: pod("team-b"))],
    ids=["signing request", "pod"],
)
async def test_a_refusal_is_told_once_and_is_the_end(
    world: SigningWorld, kind: str, make: Callable[[], Body]
) -> None:
    body = await world.sign(make())

    assert condition(body, kind) is not None
    assert len(world.requests) == 0
    assert len(world.told) == 1
    assert world.told[0].type_ == "Warning"


async def test_a_denied_request_of_cert_manager_has_failed_at_an_instant(world: SigningWorld) -> None:
    body = await world.sign(manager(status=DENIED))

    assert condition(body, "Ready") == ("False", "Denied")
    assert datetime.fromisoformat(body["status"]["failureTime"]) == world.clock.now()
    assert condition(body, "Denied") == ("True", "No")


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (RequestStatus.PENDING_APPROVAL, "PendingApproval"),
        (RequestStatus.PENDING, "Pending"),
        (RequestStatus.PENDING_VALIDATION, "PendingValidation"),
    ],
)
@pytest.mark.parametrize("end", [RequestStatus.ISSUED, RequestStatus.FAILED, RequestStatus.REJECTED])
async def test_what_the_service_has_to_decide_is_awaited_and_told(
    world: SigningWorld, status: RequestStatus, reason: str, end: RequestStatus
) -> None:
    world.service.status = status
    body = await world.sign(manager())
    assert condition(body, "Ready") == ("False", "Pending")
    assert body["status"]["conditions"][-1]["message"].startswith(
        f"{reason}: request request-1 of the service"
    )
    writes = len(world.gateway.writes)
    found = world.watch(body)
    assert found is not None
    result = await world.run(found)
    assert result.requeue_after is not None, "it is looked at again"
    assert len(world.gateway.writes) == writes, "what was told is not told again"

    world.service.decide(end, "because")
    await world.run(found)

    body = world.object(body)
    assert condition(body, "Ready") == (
        ("True", "Issued") if end is RequestStatus.ISSUED else ("False", "Failed")
    )
    assert ("failureTime" in body["status"]) is (end is not RequestStatus.ISSUED)
    assert len(world.service.orders) == 1
    assert world.counted("CertificateRequest", end.value) == 1
    assert world.counted("CertificateRequest", status.value) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"mode": "Suspended"}, "ProfileSuspended", id="suspended"),
        pytest.param({"mode": "Plan"}, "ProfilePlan", id="planning"),
        pytest.param({"status": {}}, "ProfileNotReady", id="not in the service yet"),
        pytest.param({"deleting": True}, "ProfileNotFound", id="on its way out"),
    ],
)
async def test_a_profile_that_issues_nothing_keeps_requests_waiting_until_it_does(
    world: SigningWorld, change: Body, message: str
) -> None:
    world.profile(**change)
    body = await world.sign(manager())

    assert condition(body, "Ready") == ("False", "Pending")
    assert body["status"]["conditions"][-1]["message"].startswith(message)
    assert world.service.orders == []

    world.profile()
    key = world.watch(body)
    assert key is not None
    await world.run(key)
    assert condition(world.object(body), "Ready") == ("True", "Issued")


async def test_a_profile_that_the_service_has_under_another_name_signs_nothing_yet(
    world: SigningWorld,
) -> None:
    """The spec was changed, and what the status shows is of the one before."""
    world.profile(slug="strict")
    body = await world.sign(manager())

    assert body["status"]["conditions"][-1]["message"].startswith("ProfileNotReady")
    assert world.service.orders == []


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"mode": "Suspended"}, id="suspended"),
        pytest.param({"status": {}}, id="not in the service yet"),
        pytest.param(None, id="none"),
    ],
)
async def test_who_may_not_use_a_profile_learns_nothing_of_it(
    world: SigningWorld, change: Body | None
) -> None:
    if change is None:
        profile = next(iter(world.objects))
        world.objects.end(profile.key, profile.uid)
    else:
        world.profile(**change)

    body = await world.sign(kubernetes(username="eve"))

    assert condition(body, "Failed") == ("True", "SignNotAllowed")
    assert [one.reason for one in world.told] == ["SignNotAllowed"]


async def test_reasons_that_take_turns_are_told_once_each(world: SigningWorld) -> None:
    world.service.status = RequestStatus.PENDING_APPROVAL
    key = world.show(manager())
    assert key is not None
    for mode in ("Apply", "Suspended") * 3:
        world.profile(mode=mode)
        await world.run(key)

    assert [one.reason for one in world.told] == ["PendingApproval", "ProfileSuspended"]
    assert world.counted("CertificateRequest", "pending_approval") == 1


async def test_a_missing_profile_keeps_requests_waiting(world: SigningWorld) -> None:
    body = await world.sign(certificate_request(NAMESPACE, "other", PEM, profile="other", status=APPROVED))

    assert body["status"]["conditions"][-1]["message"].startswith("ProfileNotFound")


async def test_requests_of_a_profile_are_looked_at_when_it_changes(world: SigningWorld) -> None:
    world.profile(status={})
    await world.sign(manager())
    before = len(world.queued)

    for receiver_key in {one.profile for one in map(world.requests.get, world.queued) if one is not None}:
        world.requests.profile_changed(receiver_key)

    assert len(world.queued) == before + 1


async def test_our_own_answers_don_t_call_for_another_look(world: SigningWorld) -> None:
    world.service.status = RequestStatus.PENDING
    await world.sign(manager())

    assert len(world.queued) == 1


async def test_a_refusal_of_the_service_is_the_end(world: SigningWorld) -> None:
    def refuse(what: str) -> None:
        if what == "issue":
            raise StalledError("RequestRefused", "the service refuses: the policy allows no such name")

    world.service.before = refuse
    body = await world.sign(kubernetes())

    assert condition(body, "Failed") == ("True", "RequestRefused")


@pytest.mark.parametrize(
    "error",
    [
        StalledError("PermissionDenied", "the identity may not"),
        StalledError("CredentialsRejected", "the service refuses the credentials"),
        WaitingError("ServiceUnavailable", "the service fails"),
    ],
    ids=lambda error: error.reason,
)
async def test_what_may_come_right_is_no_end(world: SigningWorld, error: Exception) -> None:
    def refuse(what: str) -> None:
        if what == "issue":
            raise error

    world.service.before = refuse
    body = await world.sign(manager())
    assert condition(body, "Ready") == ("False", "Pending")

    world.service.before = lambda _: None
    key = world.watch(body)
    assert key is not None
    while (result := await world.run(key)).requeue_after is not None:
        world.clock.seconds += result.requeue_after.total_seconds()
    assert condition(world.object(body), "Ready") == ("True", "Issued")


_WRONG = {
    "another name": lambda one: replace(one, alternative_names=()),
    "an authority": lambda one: replace(
        one, is_ca=True, key_usages=frozenset({KeyUsage.KEY_CERT_SIGN, KeyUsage.DIGITAL_SIGNATURE})
    ),
    "a usage too many": lambda one: replace(
        one, extended_key_usages=(ExtendedKeyUsage.SERVER_AUTH, ExtendedKeyUsage.CLIENT_AUTH)
    ),
    "a usage too few": lambda one: replace(one, extended_key_usages=()),
    "too long": lambda one: replace(one, not_after=one.not_after + timedelta(hours=2)),
    "not valid yet": lambda one: replace(
        one, not_before=one.not_before + timedelta(days=1), not_after=one.not_after + timedelta(days=1)
    ),
}


@pytest.mark.parametrize("wrong", _WRONG)
async def test_a_certificate_that_isn_t_what_was_asked_for_is_revoked_and_not_handed_over(
    world: SigningWorld, wrong: str
) -> None:
    world.service.alter = _WRONG[wrong]
    body = await world.sign(kubernetes(expirationSeconds=86_400))

    assert "certificate" not in body["status"]
    assert condition(body, "Failed") == ("True", "NotConformant")
    assert world.service.revoked == ["certificate-1"]


async def test_what_the_api_server_doesn_t_take_is_revoked_and_failed(world: SigningWorld) -> None:
    world.gateway.fail("merge_patch", "PodCertificateRequest", InvalidError("refused fields: status"))
    body = await world.sign(pod())

    assert condition(body, "Failed") == ("True", "NotConformant")
    assert world.service.revoked == ["certificate-1"]


async def test_a_pods_request_that_waited_too_long_fails(world: SigningWorld) -> None:
    world.service.status = RequestStatus.PENDING_APPROVAL
    body = await world.sign(pod())
    assert "status" not in body, "the API server lets a signer write nothing but the end"
    world.clock.seconds += 600
    world.service.decide(RequestStatus.ISSUED)
    found = world.watch(body)
    assert found is not None
    await world.run(found)

    assert condition(world.object(body), "Failed") == ("True", "NotConformant")
    assert world.service.revoked == ["certificate-1"]


async def test_a_pod_gets_nothing_from_a_profile_without_names(world: SigningWorld) -> None:
    world.service.profile = replace(world.service.profile, defaults=ProfileDefaults(ttl_days=3))
    body = await world.sign(pod())

    assert condition(body, "Failed") == ("True", "NoNames")
    assert world.service.orders == []


async def test_cert_manager_may_get_more_usages_than_it_wished_for(world: SigningWorld) -> None:
    world.service.extended = (ExtendedKeyUsage.SERVER_AUTH, ExtendedKeyUsage.CLIENT_AUTH)
    body = await world.sign(manager())

    assert condition(body, "Ready") == ("True", "Issued")


async def test_an_rsa_key_is_signed_too(world: SigningWorld) -> None:
    body = await world.sign(manager(pem=request_pem("web", algorithm=KeyAlgorithm.RSA_2048)))

    assert condition(body, "Ready") == ("True", "Issued")
