"""What the service says of a request, as status.certificateRequests shows it."""

from __future__ import annotations

import orjson
import pytest

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.certificateprofile.status import CertificateProfileStatus
from unit.controllers.fakes.profile_world import ProfileWorld, certificate

_APPROVAL, _PENDING, _VALIDATION = (
    RequestStatus.PENDING_APPROVAL,
    RequestStatus.PENDING,
    RequestStatus.PENDING_VALIDATION,
)
_ISSUED, _FAILED, _REJECTED = RequestStatus.ISSUED, RequestStatus.FAILED, RequestStatus.REJECTED
_REASONS = {
    _APPROVAL: "PendingApproval",
    _PENDING: "Pending",
    _VALIDATION: "PendingValidation",
    _ISSUED: "Issued",
    _FAILED: "RequestFailed",
    _REJECTED: "RequestRejected",
}

# Every way that interface.md section 2.5 knows from a request that was made to its end.
_WAYS = [
    (_APPROVAL, _ISSUED),
    (_APPROVAL, _FAILED),
    (_APPROVAL, _REJECTED),
    (_APPROVAL, _PENDING, _ISSUED),
    (_APPROVAL, _PENDING, _FAILED),
    (_APPROVAL, _PENDING, _VALIDATION, _ISSUED),
    (_APPROVAL, _PENDING, _VALIDATION, _FAILED),
    (_PENDING, _ISSUED),
    (_PENDING, _FAILED),
    (_PENDING, _VALIDATION, _ISSUED),
    (_PENDING, _VALIDATION, _FAILED),
    (_PENDING, _VALIDATION, _PENDING, _ISSUED),
]


@pytest.mark.parametrize("way", _WAYS, ids=" to ".join)
@pytest.mark.parametrize("restarts", [False, True], ids=["one process", "a process for each step"])
async def test_each_step_of_a_request_is_shown(way: tuple[RequestStatus, ...], *, restarts: bool) -> None:
    world = ProfileWorld()
    world.service.status = way[0]
    world.put(certificate("front"))
    await world.reconcile()
    shown = [_shown(world)]
    for status in way[1:]:
        if restarts:
            world.restart()
        world.pass_time(120)
        world.service.settle(status, f"now {status.value}")
        await world.reconcile()
        shown.append(_shown(world))

    assert shown == [(status.value, _REASONS[status]) for status in way]
    assert world.service.calls.count("issue") == 1
    has_secret = world.gateway.find("Secret", "front") is not None
    assert has_secret is (way[-1] is _ISSUED)
    if way[-1] is not _ISSUED:
        assert world.entry("front")["message"] == f"now {way[-1].value}"
        assert f"now {way[-1].value}" in world.message


def _shown(world: ProfileWorld) -> tuple[str, str]:
    return world.entry("front")["status"], world.ready[1]


def test_a_status_that_names_serial_numbers_of_revocations_is_still_read() -> None:
    revocation = {"certificateId": "c1", "serialNumber": "0a", "since": "2026-03-01T12:00:00Z"}

    status = CertificateProfileStatus.model_validate_json(orjson.dumps({"revocations": [revocation]}))

    assert [one.certificate_id for one in status.revocations] == ["c1"]
