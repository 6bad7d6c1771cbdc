"""Who may bind profiles to a certificate policy, and authorities that sign by profiles of one policy alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support.issuing_house import csr_of
from support.pki_house import Pki, later, pki_of
from support.rows import each_row
from support.service_fixtures import Client, Service

pytestmark = pytest.mark.every_database

Json = dict[str, Any]


@pytest.fixture
def pki(service: Service) -> Pki:
    return pki_of(service)


@pytest.fixture
def member(service: Service, pki: Pki) -> Pki:
    """Return what a member of the project may do."""
    return replace(pki, client=_client(service, pki, "member"))


def _client(service: Service, pki: Pki, role: str) -> Client:
    return service.client(service.login(service.create_identity(roles={pki.project_id: role})))


def bind(pki: Pki, policy: Json, *, status: int = 200, **changes: object) -> Json:
    answer = pki.call("PATCH", f"/certificate-policies/{policy['id']}/binding", status=status, json=changes)
    found: Json = answer["binding"] if status == 200 else answer
    return found


def binding(pki: Pki, policy: Json) -> Json:
    found: Json = pki.call("GET", f"/certificate-policies/{policy['id']}/binding")["binding"]
    return found


class TestWhoBinds:
    def test_a_new_policy_is_for_admins(self, pki: Pki) -> None:
        assert binding(pki, pki.policy()) == {"profilesBoundBy": "admins", "caIds": []}

    def test_a_member_makes_no_profile_of_it_and_learns_the_command(self, pki: Pki, member: Pki) -> None:
        policy, authority = pki.policy(), pki.authority()

        refusal = member.profile(status=403, certificatePolicyId=policy["id"], caId=authority["id"])

        assert refusal["error"] == "PermissionDenied"
        assert refusal["details"][0]["action"] == "bind"
        assert refusal["details"][0]["subject"] == "certificate-policies"
        command = f"keybearer policies bind {policy['name']} --profiles-by members --project {pki.project_id}"
        assert command in refusal["message"]

    def test_a_member_makes_profiles_of_one_that_is_for_members(self, pki: Pki, member: Pki) -> None:
        policy, authority = pki.policy(), pki.authority()
        bound = bind(pki, policy, profilesBoundBy="members")
        assert bound == {"profilesBoundBy": "members", "caIds": []}

        made = member.profile(certificatePolicyId=policy["id"], caId=authority["id"])

        assert made["certificatePolicyId"] == policy["id"]

    def test_a_member_gives_no_profile_a_looser_policy(self, pki: Pki, member: Pki) -> None:
        strict = pki.policy(sans=[{"type": "dns_name", "allowed": ["*.example.com"]}])
        profile, loose = pki.profile(certificatePolicyId=strict["id"]), pki.policy()
        path, body = f"/certificate-profiles/{profile['id']}", {"certificatePolicyId": loose["id"]}

        member.call("PATCH", path, status=403, json=body)
        # To take a profile away from a policy is as much as to bind it.
        bind(pki, loose, profilesBoundBy="members")
        member.call("PATCH", path, status=403, json=body)
        pki.call("PATCH", path, json=body)

    def test_a_member_gives_no_profile_another_authority(self, pki: Pki, member: Pki) -> None:
        """Else what is allowed for one authority would be signed by another."""
        loose, authority = pki.profile(), pki.authority()
        path, body = f"/certificate-profiles/{loose['id']}", {"caId": authority["id"]}

        refusal = member.call("PATCH", path, status=403, json=body)
        assert refusal["details"][0]["action"] == "bind"
        pki.call("PATCH", path, json=body)
        member.call("PATCH", path, json={**body, "description": "of the web"})

    def test_a_member_does_where_the_policy_leaves_it_to_members(self, pki: Pki, member: Pki) -> None:
        policy, authority = pki.policy(), pki.authority()
        profile = pki.profile(certificatePolicyId=policy["id"])
        bind(pki, policy, profilesBoundBy="members")
        member.call("PATCH", f"/certificate-profiles/{profile['id']}", json={"caId": authority["id"]})

    def test_profiles_keep_what_they_have(self, pki: Pki, member: Pki) -> None:
        profile = pki.profile()
        path = f"/certificate-profiles/{profile['id']}"

        member.call(
            "PATCH",
            path,
            json={"certificatePolicyId": profile["certificatePolicyId"], "description": "of the web"},
        )
        assert member.issue(profile["id"])["status"] == "issued"

    @each_row("role", ["member", "viewer"])
    def test_only_who_may_edit_policies_says_who_binds(self, service: Service, pki: Pki, role: str) -> None:
        policy = pki.policy()
        one = replace(pki, client=_client(service, pki, role))
        bind(one, policy, status=403, profilesBoundBy="members")
        assert binding(one, policy)["profilesBoundBy"] == "admins"

    def test_the_change_is_in_the_audit_log(self, pki: Pki) -> None:
        policy = pki.policy()
        bind(pki, policy, profilesBoundBy="members")
        answer = pki.client.json("GET", "/api/v1/organization/audit-logs?limit=20")
        [event] = [
            line["event"]
            for line in answer["auditLogs"]
            if line["event"]["type"] == "update-certificate-policy-binding"
            and line["event"]["metadata"]["certificatePolicyId"] == policy["id"]
        ]
        assert event["metadata"]["profilesBoundBy"] == "members"


class TestAuthoritiesOfOnePolicy:
    def test_an_authority_signs_by_profiles_of_its_policy_alone(self, pki: Pki) -> None:
        policy, authority = pki.policy(), pki.authority()
        assert bind(pki, policy, caIds=[authority["id"]])["caIds"] == [authority["id"]]

        profile = pki.profile(certificatePolicyId=policy["id"], caId=authority["id"])
        assert pki.issue(profile["id"])["status"] == "issued"
        refusal = pki.profile(status=400, caId=authority["id"])
        assert policy["name"] in refusal["message"]

    def test_a_profile_of_another_policy_is_not_given_it(self, pki: Pki) -> None:
        policy, authority, other = pki.policy(), pki.authority(), pki.profile()
        bind(pki, policy, caIds=[authority["id"]])
        path = f"/certificate-profiles/{other['id']}"
        pki.call("PATCH", path, status=400, json={"caId": authority["id"]})
        pki.call("PATCH", path, json={"caId": authority["id"], "certificatePolicyId": policy["id"]})
        pki.call("PATCH", path, status=400, json={"certificatePolicyId": pki.policy()["id"]})

    def test_profiles_that_are_of_others_issue_nothing_from_then_on(self, pki: Pki) -> None:
        policy, authority = pki.policy(), pki.authority()
        other = pki.profile(caId=authority["id"])
        assert pki.issue(other["id"])["status"] == "issued"

        bind(pki, policy, caIds=[authority["id"]])

        refusal = pki.issue(other["id"], status=400)
        assert "bound to another certificate policy" in refusal["message"]
        bind(pki, policy, caIds=[])
        assert pki.issue(other["id"])["status"] == "issued"

    def test_a_request_that_waited_is_not_signed_either(self, service: Service, pki: Pki) -> None:
        policy, authority = pki.policy(), pki.authority()
        other = pki.profile(caId=authority["id"])
        pki.call("POST", "/approval-policies", json={"profileId": other["id"]})
        requester = replace(pki, client=_client(service, pki, "member"))
        asked = requester.issue(other["id"])
        assert asked["status"] == "pending_approval"
        bind(pki, policy, caIds=[authority["id"]])

        body = {"projectId": pki.project_id, "limit": 10}
        found = pki.call("POST", "/certificates/certificate-requests/search", json=body)
        [approval] = [one["approvalRequestId"] for one in found["certificateRequests"]]
        pki.call("POST", f"/approval-requests/{approval}/approve", json={})

        done = pki.call("GET", f"/certificates/certificate-requests/{asked['certificateRequestId']}")
        assert (done["status"], done["certificate"]) == ("failed", None)

    def test_subscribers_and_intermediates_are_not_signed(self, pki: Pki) -> None:
        policy, authority = pki.policy(), pki.authority()
        subscriber = {
            "projectId": pki.project_id,
            "caId": authority["id"],
            "name": "db",
            "commonName": "db.example.com",
            "ttl": "1d",
        }
        pki.client.json("POST", "/api/v1/pki/subscribers", json=subscriber)
        below = pki.authority(type="intermediate", commonName="Below")
        bind(pki, policy, caIds=[authority["id"]])

        answer = pki.client.json(
            "POST",
            "/api/v1/pki/subscribers/db/issue-certificate",
            json={"projectId": pki.project_id},
            status=400,
        )
        assert "bound to a certificate policy" in answer["message"]
        body = {"notAfter": later(365), "parentCaId": authority["id"]}
        pki.call("POST", f"/ca/internal/{below['id']}/certificate", status=400, json=body)
        signed = {"csr": csr_of(common_name="Elsewhere"), "notAfter": later(365)}
        pki.call("POST", f"/ca/internal/{authority['id']}/sign-intermediate", status=400, json=signed)

    def test_its_own_certificate_is_renewed(self, pki: Pki) -> None:
        policy, authority = pki.policy(), pki.authority()
        bind(pki, policy, caIds=[authority["id"]])
        pki.call(
            "POST",
            f"/ca/internal/{authority['id']}/renew",
            json={"notAfter": later(3650), "type": "existing"},
        )

    def test_an_authority_has_one_policy(self, pki: Pki) -> None:
        first, second, authority = pki.policy(), pki.policy(), pki.authority()
        bind(pki, first, caIds=[authority["id"]])
        refusal = bind(pki, second, status=400, caIds=[authority["id"]])
        assert first["name"] in refusal["message"]

    def test_it_is_one_of_the_project(self, service: Service, pki: Pki) -> None:
        elsewhere = pki_of(service).authority()
        bind(pki, pki.policy(), status=404, caIds=[elsewhere["id"]])

    def test_a_policy_with_authorities_is_not_deleted(self, pki: Pki) -> None:
        policy, authority = pki.policy(), pki.authority()
        bind(pki, policy, caIds=[authority["id"]])
        refusal = pki.call("DELETE", f"/certificate-policies/{policy['id']}", status=400)
        assert authority["name"] in refusal["message"]
        bind(pki, policy, caIds=[])
        pki.call("DELETE", f"/certificate-policies/{policy['id']}")

    def test_an_authority_that_is_gone_is_bound_no_more(self, pki: Pki) -> None:
        policy, authority = pki.policy(), pki.authority()
        bind(pki, policy, caIds=[authority["id"]])
        pki.call("DELETE", f"/ca/internal/{authority['id']}")
        assert binding(pki, policy)["caIds"] == []
