"""What could have certificates issued without end: lifetimes that the service shortens, and a clock that is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaos.lone_scene import open_scene
from support import shifted_clock
from support.certificate_objects import Certificates, certificate, certificates_of
from tools.local.kube_api import Body
from tools.local.marks import find_mark
from tools.local.operator_process import OperatorProcess
from tools.local.waiting import PATIENCE_SECONDS, TEST_SECONDS, eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_AHEAD_SECONDS = 17 * 3600
_PROFILES = {0: 50, _AHEAD_SECONDS: 500}
"""By how many seconds the clock is wrong. Issues are counted for each certificate: the crowd is there once."""
_WITHIN = 10 * PATIENCE_SECONDS
_ROUNDS = 1  # each costs as many looks as there are profiles; a loop shows in the first


@dataclass(frozen=True)
class _Scene:
    certificates: Certificates
    operator: OperatorProcess
    is_wrong: bool
    profiles: int

    def names(self) -> list[str]:
        return [f"p{number}" for number in range(self.profiles)]

    def statuses(self) -> list[Body]:
        tenant = self.certificates.tenant
        return [one.get("status", {}) for one in tenant.api.list("CertificateProfile", tenant.namespace)]

    def until_all(self, reason: str, need: str) -> None:
        """Each has this reason, its certificate for that need is stored."""

        def holds(status: Body) -> bool:
            reasons = [one["reason"] for one in status.get("conditions", ()) if one["type"] == "Ready"]
            needs = [one.get("need") for one in status.get("certificateRequests", ())]
            return (reasons, needs, status.get("issued")) == ([reason], [need], "1/1")

        eventually(lambda: all(map(holds, self.statuses())), awaited=f"{reason} of all", within=_WITHIN)

    def look(self, round_: int, *, after_restart: bool = False) -> None:
        """Each is looked at anew, with whatever is due; by a new process if asked, which then looks only once."""
        at = f"round-{round_}"
        if after_restart:
            self.operator.kill()
        patch: Body = {
            "metadata": {"annotations": {"keybearer.dev/request": "sync", "keybearer.dev/requestedAt": at}}
        }
        tenant = self.certificates.tenant
        for name in self.names():
            tenant.api.patch("CertificateProfile", tenant.namespace, name, patch)
        if after_restart:
            self.operator.start()
        eventually(
            lambda: all(one.get("lastHandledRequestedAt") == at for one in self.statuses()),
            awaited="a look at each",
            within=_WITHIN,
        )


@pytest.fixture(params=_PROFILES, ids=["clock right", "17 h ahead"])
def scene(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[_Scene]:
    """An operator of its own, whose clock is wrong by so many seconds."""
    ahead: int = request.param
    wrong = [sys.executable, shifted_clock.__file__, str(ahead)]
    with open_scene(tmp_path, program=wrong if ahead else ()) as lone:
        certificates = certificates_of(lone.tenant, lone.admin)
        yield _Scene(certificates, lone.operator, bool(ahead), _PROFILES[ahead])
    assert find_mark("".join(log.read_text() for log in tmp_path.glob("*.log"))) is None


# 500 profiles, each reconciled four times: two minutes alone on two processors, five beside another worker.
@pytest.mark.timeout(2 * TEST_SECONDS)
def test_lifetimes_that_the_service_shortens_below_renew_before_issue_no_more_than_the_change(
    scene: _Scene,
) -> None:
    certificates = scene.certificates
    body: Body = {
        "projectId": certificates.tenant.project.id,
        "slug": "shared",
        "certificatePolicyId": certificates.policy_id,
        "caId": certificates.authority_id,
        "defaults": {"ttlDays": 30},
    }
    path = "/api/v1/cert-manager/certificate-profiles"
    profile = certificates.admin.send("POST", path, body)["certificateProfile"]["id"]
    plain = certificate("front", renewBefore="86399s")
    del plain["attributes"]["ttl"]
    for name in scene.names():
        one = {**plain, "secretName": f"front-{name}"}
        certificates.create(name, one, existing=True, slug="shared", policyRef=None, caRef=None)
    scene.until_all("Issued", "First")
    assert certificates.count_requests() == scene.profiles

    # A second more than renewBefore is left, and each certificate says it began five minutes ago.
    certificates.admin.send("PATCH", f"{path}/{profile}", {"defaults": {"ttlDays": 1}})
    scene.look(0)
    scene.until_all("RenewBeforeTooLong", "SpecChanged")
    for round_ in range(1, _ROUNDS + 1):
        scene.look(round_)
    scene.look(_ROUNDS + 1, after_restart=True)

    assert certificates.count_requests() == 2 * scene.profiles
    told = [
        {one["type"]: (one["status"], one["reason"]) for one in status["conditions"]}.get("ClockInSync")
        for status in scene.statuses()
    ]
    assert set(told) == {("False", "ClockDiffers") if scene.is_wrong else None}


def test_a_key_compromised_while_the_operator_was_down_is_not_used_again(scene: _Scene) -> None:
    certificates = scene.certificates
    certificates.create("web", certificate("front", privateKey={"rotationPolicy": "Never"}))
    certificates.until_reason("web", "Issued")
    before = certificates.data("front")
    scene.operator.kill()
    certificates.revoke(certificates.entry("web", "front")["certificateId"], "KEY_COMPROMISE")

    scene.operator.start()

    certificates.until(
        "web", lambda found: found["status"]["certificateRequests"][0]["need"] == "Revoked", "another one"
    )
    after = certificates.data("front")
    assert before is not None
    assert after is not None
    assert after["tls.key"] != before["tls.key"]
