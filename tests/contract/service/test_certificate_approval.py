"""Approval of certificate requests over HTTP, and every move of a request's status (interface.md 2.5 and 3)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from keybearer.pki.certificates import parse_certificate
from keybearer.pki.keys import load_private_key
from support.issuing_house import ALL, PKI, REQUESTS, IssuingHouse, csr_of
from support.rows import each_row
from support.service_fixtures import Client, Service
from tools.local.waiting import eventually

pytestmark = pytest.mark.every_database

POLICIES = f"{PKI}/approval-policies"
APPROVALS = f"{PKI}/approval-requests"


@pytest.fixture
def house(service: Service) -> IssuingHouse:
    return IssuingHouse.build(service)


def _member(service: Service, house: IssuingHouse, role: str = "member") -> tuple[Client, str]:
    identity = service.create_identity(roles={house.project_id: role})
    return service.client(service.login(identity)), identity.identity_id


@pytest.fixture
def requester(service: Service, house: IssuingHouse) -> Client:
    return _member(service, house)[0]


def test_a_request_waits_until_it_is_approved(house: IssuingHouse, requester: Client) -> None:
    house.approval_policy()
    asked = house.issue({"commonName": "a"}, client=requester)
    assert (asked["status"], asked["certificate"]) == ("pending_approval", None)
    [listed] = house.search(status="pending_approval")["certificateRequests"]
    assert listed["id"] == asked["certificateRequestId"]
    assert listed["pendingMessage"]
    waiting = house.request(asked["certificateRequestId"])
    assert (waiting["status"], waiting["certificate"], waiting["privateKey"]) == (
        "pending_approval",
        None,
        None,
    )
    answer = house.vote(listed["approvalRequestId"], "approve", comment="fine")
    assert (answer["status"], answer["certificateRequestStatus"]) == ("approved", "issued")
    assert [(vote["verdict"], vote["comment"]) for vote in answer["votes"]] == [("approve", "fine")]
    done = house.request(asked["certificateRequestId"])
    read = parse_certificate(done["certificate"])
    assert load_private_key(done["privateKey"]).public_key == read.public_key
    [listed] = house.search(status="issued")["certificateRequests"]
    assert "pendingMessage" not in listed
    house.vote(listed["approvalRequestId"], "approve", status=400)


def test_a_csr_waits_as_well(house: IssuingHouse, requester: Client) -> None:
    house.approval_policy()
    asked = house.issue({"ttl": "2h"}, csr=csr_of("a.example.com"), client=requester)
    house.vote(house.approval_id(asked["certificateRequestId"]), "approve")
    done = house.request(asked["certificateRequestId"])
    assert (done["status"], done["privateKey"]) == ("issued", None)
    read = parse_certificate(done["certificate"])
    assert (read.not_after - read.not_before).total_seconds() <= 2 * 3600 + 301


def test_a_rejected_request_stays_without_certificate(house: IssuingHouse, requester: Client) -> None:
    house.approval_policy()
    asked = house.issue({"commonName": "a"}, client=requester)
    answer = house.vote(house.approval_id(asked["certificateRequestId"]), "reject", comment="not ours")
    assert (answer["status"], answer["certificateRequestStatus"]) == ("rejected", "rejected")
    done = house.request(asked["certificateRequestId"])
    assert (done["status"], done["certificate"]) == ("rejected", None)
    assert "not ours" in done["errorMessage"]


def test_several_must_agree_and_one_may_reject(
    service: Service, house: IssuingHouse, requester: Client
) -> None:
    voters = [_member(service, house, "admin")[0] for _ in range(2)]
    house.approval_policy(requiredApprovals=2)
    asked = house.issue({"commonName": "a"}, client=requester)
    approval = house.approval_id(asked["certificateRequestId"])
    assert house.vote(approval, "approve", client=voters[0])["status"] == "pending"
    assert "before" in house.vote(approval, "approve", client=voters[0], status=400)["message"]
    assert house.request(asked["certificateRequestId"])["status"] == "pending_approval"
    assert house.vote(approval, "approve", client=voters[1])["certificateRequestStatus"] == "issued"
    second = house.issue({"commonName": "b"}, client=requester)
    approval = house.approval_id(second["certificateRequestId"])
    house.vote(approval, "approve", client=voters[0])
    assert house.vote(approval, "reject", client=voters[1])["certificateRequestStatus"] == "rejected"


def test_only_approvers_are_heard(service: Service, house: IssuingHouse, requester: Client) -> None:
    approver, approver_id = _member(service, house)
    house.approval_policy(approverIds=[approver_id])
    asked = house.issue({"commonName": "a"}, client=requester)
    approval = house.approval_id(asked["certificateRequestId"])
    assert "approvers" in house.vote(approval, "approve", status=403)["message"]
    assert house.vote(approval, "approve", client=approver)["certificateRequestStatus"] == "issued"


def test_who_may_not_approve_is_refused(service: Service, house: IssuingHouse, requester: Client) -> None:
    house.approval_policy()
    asked = house.issue({"commonName": "a"}, client=requester)
    approval = house.approval_id(asked["certificateRequestId"])
    other, _ = _member(service, house)
    assert house.vote(approval, "approve", client=other, status=403)["error"] == "PermissionDenied"
    assert house.request(asked["certificateRequestId"])["status"] == "pending_approval"


def test_nobody_approves_what_he_asked_for_unless_the_policy_says_so(house: IssuingHouse) -> None:
    policy = house.approval_policy()
    asked = house.issue({"commonName": "a"})
    approval = house.approval_id(asked["certificateRequestId"])
    assert "yourself" in house.vote(approval, "approve", status=403)["message"]
    house.client.json("PATCH", f"{POLICIES}/{policy['id']}", json={"allowSelfApproval": True})
    # Requests that wait keep the terms they were made on.
    house.vote(approval, "approve", status=403)
    second = house.issue({"commonName": "b"})
    answer = house.vote(house.approval_id(second["certificateRequestId"]), "approve")
    assert answer["certificateRequestStatus"] == "issued"


def test_who_bypasses_and_whom_no_policy_binds_is_issued_to_at_once(
    service: Service, house: IssuingHouse, requester: Client
) -> None:
    machine, machine_id = _member(service, house)
    policy = house.approval_policy(bypassIdentityIds=[machine_id])
    assert house.issue({"commonName": "a"}, client=machine)["status"] == "issued"
    assert house.issue({"commonName": "a"}, client=requester)["status"] == "pending_approval"
    house.client.json("PATCH", f"{POLICIES}/{policy['id']}", json={"enabled": False})
    assert house.issue({"commonName": "a"}, client=requester)["status"] == "issued"
    house.client.json("DELETE", f"{POLICIES}/{policy['id']}")
    house.client.json("GET", f"{POLICIES}/{policy['id']}", status=404)


def test_what_the_policy_forbids_meanwhile_fails(house: IssuingHouse, requester: Client) -> None:
    house.approval_policy()
    asked = house.issue({"commonName": "a", "altNames": [{"value": "a.example.com"}]}, client=requester)
    rules = {"sans": [{"type": "dns_name", "allowed": ["*.example.org"]}]}
    house.client.json("PATCH", f"{PKI}/certificate-policies/{house.policy_id}", json=rules)
    answer = house.vote(house.approval_id(asked["certificateRequestId"]), "approve")
    assert (answer["status"], answer["certificateRequestStatus"]) == ("approved", "failed")
    assert "a.example.com" in house.request(asked["certificateRequestId"])["errorMessage"]


def test_a_deleted_profile_lets_what_waits_fail(house: IssuingHouse, requester: Client) -> None:
    house.approval_policy()
    asked = house.issue({"commonName": "a"}, client=requester)
    approval = house.approval_id(asked["certificateRequestId"])
    house.client.json("DELETE", f"{PKI}/certificate-profiles/{house.profile_id}")
    assert house.vote(approval, "approve")["certificateRequestStatus"] == "failed"
    assert "deleted" in house.request(asked["certificateRequestId"])["errorMessage"]


def test_a_request_that_waits_is_cancelled(house: IssuingHouse, requester: Client) -> None:
    house.approval_policy()
    asked = house.issue({"commonName": "a"}, client=requester)["certificateRequestId"]
    approval = house.approval_id(asked)
    assert requester.json("POST", f"{REQUESTS}/{asked}/cancel") == {"status": "failed", "cancelled": True}
    assert house.request(asked)["errorMessage"].startswith("Cancelled by ")
    assert house.client.json("GET", f"{APPROVALS}/{approval}")["approvalRequest"]["status"] == "cancelled"
    house.vote(approval, "approve", status=400)
    assert requester.json("POST", f"{REQUESTS}/{asked}/cancel") == {"status": "failed", "cancelled": False}


def test_a_request_that_nobody_approves_in_time_is_rejected(house: IssuingHouse, requester: Client) -> None:
    house.approval_policy(requestTtl="1s")
    asked = house.issue({"commonName": "a"}, client=requester)["certificateRequestId"]
    approval = house.approval_id(asked)

    end = house.client.json("GET", f"{APPROVALS}/{approval}")["approvalRequest"]["expiresAt"]
    eventually(lambda: datetime.now(UTC) > datetime.fromisoformat(end), awaited="the end of its time")
    assert "expired" in house.vote(approval, "approve", status=400)["message"]
    done = house.request(asked)
    assert (done["status"], done["errorMessage"]) == ("rejected", "Approval request expired")
    assert house.client.json("GET", f"{APPROVALS}/{approval}")["approvalRequest"]["status"] == "expired"


def test_a_renewal_needs_agreement_too(house: IssuingHouse, requester: Client) -> None:
    former = house.issue({"commonName": "a"})["certificate"]["certificateId"]
    house.approval_policy()
    answer = requester.json("POST", f"{ALL}/{former}/renew", json={})
    assert (answer["certificate"], answer["certificateId"]) == (None, None)
    house.vote(house.approval_id(answer["certificateRequestId"]), "approve")
    done = house.request(answer["certificateRequestId"])
    assert done["status"] == "issued"
    assert done["certificateId"] in requester.json("POST", f"{ALL}/{former}/renew", status=400)["message"]


@each_row(
    ("body", "status"),
    [
        pytest.param({"requiredApprovals": 0}, 422, id="none required"),
        pytest.param({"requiredApprovals": 101}, 422, id="too many required"),
        pytest.param({"approverIds": [str(uuid4())], "requiredApprovals": 2}, 400, id="more than there are"),
        pytest.param({"approverIds": ["me"]}, 422, id="no uuid"),
        pytest.param({"requestTtl": "never"}, 422, id="no duration"),
        pytest.param({"profileId": str(uuid4())}, 404, id="no such profile"),
    ],
)
def test_policies_that_cannot_be(house: IssuingHouse, body: dict[str, Any], status: int) -> None:
    house.client.json("POST", POLICIES, json={"profileId": house.profile_id, **body}, status=status)


def test_a_profile_has_one_policy_at_most(house: IssuingHouse) -> None:
    policy = house.approval_policy(requestTtl="2d")
    assert policy["requestTtlSeconds"] == 2 * 86400
    house.client.json("POST", POLICIES, json={"profileId": house.profile_id}, status=400)
    changed = house.client.json(
        "PATCH", f"{POLICIES}/{policy['id']}", json={"requestTtl": None, "name": "new"}
    )
    assert changed["approvalPolicy"]["requestTtlSeconds"] is None
    listed = house.client.json("GET", POLICIES, params={"projectId": house.project_id})["approvalPolicies"]
    assert [one["name"] for one in listed] == ["new"]


def test_nobody_goes_around_an_approval_by_another_profile(house: IssuingHouse, requester: Client) -> None:
    profiles = f"{PKI}/certificate-profiles"
    guarded = f"{profiles}/{house.profile_id}"
    wanted = {
        "projectId": house.project_id,
        "slug": f"s-{uuid4().hex[:12]}",
        "certificatePolicyId": house.policy_id,
        "caId": house.authority_id,
    }
    elsewhere = house.authority()
    policy = house.approval_policy()
    binding = f"{PKI}/certificate-policies/{house.policy_id}/binding"
    house.client.json("PATCH", binding, json={"profilesBoundBy": "members"})
    assert "need approval" in requester.json("POST", profiles, json=wanted, status=403)["message"]
    other = requester.json("POST", profiles, json={**wanted, "caId": elsewhere})["certificateProfile"]["id"]
    for method, path, body in (
        ("PATCH", f"{profiles}/{other}", {"caId": house.authority_id}),
        ("PATCH", guarded, {"caId": elsewhere}),
        ("DELETE", guarded, None),
    ):
        refused = requester.json(method, path, json=body, status=403)
        assert (refused["error"], refused["details"][0]["subject"]) == (
            "PermissionDenied",
            "certificate-approvals",
        )
        assert "need approval" in refused["message"]
    requester.json("PATCH", guarded, json={"description": "mine", "caId": house.authority_id})
    house.client.json("PATCH", f"{profiles}/{other}", json={"caId": house.authority_id})
    house.client.json("PATCH", f"{POLICIES}/{policy['id']}", json={"enabled": False})
    requester.json("POST", profiles, json={**wanted, "slug": f"s-{uuid4().hex[:12]}"})
    requester.json("DELETE", guarded)


def test_who_is_to_agree_sees_what_the_certificate_would_say(service: Service) -> None:
    house = IssuingHouse.build(service, rules={"basicConstraints": {"isCA": "allowed"}})
    house.approval_policy()
    house.issue(
        {
            "commonName": "below",
            "organization": "O",
            "basicConstraints": {"isCA": True, "pathLength": 0},
            "extendedKeyUsages": ["client_auth"],
            "ttl": "2h",
        }
    )
    params = {"projectId": house.project_id}
    [shown] = house.client.json("GET", APPROVALS, params=params)["approvalRequests"]
    seen = ("subject", "keyAlgorithm", "keyUsages", "extendedKeyUsages", "basicConstraints", "ttlSeconds")
    assert {name: shown[name] for name in seen} == {
        "subject": "CN=below,O=O",
        "keyAlgorithm": "EC_prime256v1",
        "keyUsages": ["crl_sign", "digital_signature", "key_cert_sign"],
        "extendedKeyUsages": ["client_auth"],
        "basicConstraints": {"isCA": True, "pathLength": 0},
        "ttlSeconds": 7200,
    }
    assert (shown["notBefore"], shown["notAfter"]) == (None, None)


def test_who_may_agree_to_their_own_is_in_the_audit_log(house: IssuingHouse) -> None:
    policy = house.approval_policy(requestTtl="1d")
    twice = {"approverIds": [policy["profileId"]] * 2, "requiredApprovals": 2}
    house.client.json("PATCH", f"{POLICIES}/{policy['id']}", json=twice, status=400)
    house.client.json("PATCH", f"{POLICIES}/{policy['id']}", json={"allowSelfApproval": True})
    params = {"projectId": house.project_id}
    lines = house.client.json("GET", "/api/v1/organization/audit-logs", params=params)["auditLogs"]
    told = lines[0]["event"]["metadata"]
    assert (told["allowSelfApproval"], told["requestTtlSeconds"]) == (True, 86400)


def test_approval_requests_are_listed(service: Service, house: IssuingHouse, requester: Client) -> None:
    house.approval_policy()
    asked = house.issue({"commonName": "a"}, client=requester)["certificateRequestId"]
    params = {"projectId": house.project_id, "status": "pending", "profileId": house.profile_id}
    page = house.client.json("GET", APPROVALS, params=params)
    assert [one["certificateRequestId"] for one in page["approvalRequests"]] == [asked]
    stranger = service.client(service.login(service.create_identity()))
    stranger.json("GET", APPROVALS, params=params, status=403)
    house.client.json("GET", f"{APPROVALS}/{uuid4()}", status=404)
    requester.json("POST", POLICIES, json={"profileId": house.profile_id}, status=403)
