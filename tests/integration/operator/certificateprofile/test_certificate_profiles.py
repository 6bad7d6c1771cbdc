"""CertificateProfiles against a real cluster and a real service."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

import pytest

from keybearer.pki.certificates import parse_certificate
from keybearer.pki.chains import verify_chain
from keybearer.pki.keys import load_private_key
from support.certificate_objects import Certificates, certificate, open_certificates
from support.mounting_pods import mounting_pod, refreshed_at, until_refreshed
from support.operator_fixtures import Installation
from support.secretsync_objects import condition
from support.tenant import Tenant
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_ISSUES_AN_HOUR = 6
_REPAIRS_AT_ONCE = 15
_THEIRS = base64.b64encode(b"cnry-theirs").decode()


@pytest.fixture
def certificates(tenant: Tenant, installation: Installation) -> Certificates:
    return open_certificates(tenant, installation)


def test_a_certificate_is_issued_by_the_authority_and_stored_as_tls_secret(
    certificates: Certificates,
) -> None:
    certificates.create("web", certificate("front"))

    found = certificates.until_reason("web", "Issued")

    secret = certificates.tenant.secret("front")
    assert secret is not None
    assert secret["type"] == "kubernetes.io/tls"
    data = certificates.data("front")
    assert data is not None
    leaf, *above = certificates.stored("front")
    root = parse_certificate(data["ca.crt"].decode())
    assert root == parse_certificate(certificates.root)
    verify_chain(leaf, above, [root], datetime.now(UTC))
    assert load_private_key(data["tls.key"]).public_key == leaf.public_key
    (request,) = certificates.requests()
    entry = found["status"]["certificateRequests"][0]
    assert (entry["id"], entry["status"]) == (request["id"], "issued")
    assert (entry["certificateId"], entry["serialNumber"]) == (request["certificateId"], leaf.serial)
    assert found["status"]["issued"] == "1/1"


def test_the_service_makes_the_key_where_it_is_told_to(certificates: Certificates) -> None:
    certificates.create("web", certificate("front", privateKey={"generatedBy": "Service"}))

    certificates.until_reason("web", "Issued")

    data = certificates.data("front")
    assert data is not None
    assert load_private_key(data["tls.key"]).public_key == certificates.stored("front")[0].public_key


def test_what_the_policy_forbids_is_told_in_the_services_words(certificates: Certificates) -> None:
    bad = certificate("front")
    bad["attributes"]["altNames"] = [{"value": "evil.example.org"}]
    certificates.create("web", bad)

    certificates.until_reason("web", "RequestRefused", saying="evil.example.org")
    assert certificates.tenant.secret("front") is None

    certificates.edit("web", certificates=[certificate("front")])
    certificates.until_reason("web", "Issued")


def test_plan_mode_shows_violations_and_issues_nothing(certificates: Certificates) -> None:
    bad = certificate("front")
    bad["attributes"]["altNames"] = [{"value": "evil.example.org"}]
    certificates.create("web", bad, mode="Plan")

    found = certificates.until_reason("web", "PolicyViolated", saying="evil.example.org")

    assert found["status"]["plan"][0]["action"] == "Issue"
    assert certificates.requests() == []


def test_an_edited_secret_is_restored_and_a_deleted_one_comes_back_without_another_certificate(
    certificates: Certificates,
) -> None:
    certificates.create("web", certificate("front"))
    certificates.until_reason("web", "Issued")
    tenant, before = certificates.tenant, certificates.data("front")

    tenant.api.patch("Secret", tenant.namespace, "front", {"data": {"ca.crt": "bm9uc2Vuc2U="}})
    eventually(lambda: certificates.data("front") == before, awaited="the Secret as it was")
    tenant.api.delete("Secret", tenant.namespace, "front")
    eventually(lambda: certificates.data("front") == before, awaited="the Secret once more")

    assert len(certificates.requests()) == 1


def test_a_person_has_it_renewed(certificates: Certificates) -> None:
    certificates.create("web", certificate("front"))
    certificates.until_reason("web", "Issued")
    first = certificates.entry("web", "front")["serialNumber"]

    certificates.ask("web", "renew")

    eventually(
        lambda: certificates.entry("web", "front")["serialNumber"] != first, awaited="another certificate"
    )
    assert certificates.stored("front")[0].serial == certificates.entry("web", "front")["serialNumber"]


def test_pods_that_mount_a_renewed_certificate_are_annotated_where_it_says_so(
    certificates: Certificates,
) -> None:
    certificates.create("web", certificate("front", refreshMounts=True), certificate("back"))
    certificates.until_reason("web", "Issued")
    before = {name: certificates.entry("web", name)["serialNumber"] for name in ("front", "back")}
    for name in before:
        mounting_pod(certificates.tenant, name, secret=name)

    certificates.ask("web", "renew")

    until_refreshed(certificates.tenant, "front")
    eventually(
        lambda: all(certificates.entry("web", name)["serialNumber"] != old for name, old in before.items()),
        awaited="a renewal of both",
    )
    assert refreshed_at(certificates.tenant, "back") is None


def test_renewals_that_a_person_keeps_asking_for_end_with_the_budget_of_issues(
    certificates: Certificates,
) -> None:
    certificates.create("web", certificate("front"))
    certificates.until_reason("web", "Issued")

    for _ in range(1, _ISSUES_AN_HOUR):
        before = certificates.entry("web", "front")["serialNumber"]
        certificates.ask("web", "renew")
        certificates.until(
            "web",
            lambda found: found["status"]["certificateRequests"][0]["serialNumber"] != before,  # noqa: B023 - called at once
            "a renewal",
        )
    certificates.ask("web", "renew")
    held = certificates.until(
        "web", lambda found: condition(found, "BudgetUsed") is not None, "the end of the budget"
    )

    used = condition(held, "BudgetUsed")
    assert used is not None
    assert (used["status"], used["reason"]) == ("True", "IssueBudgetUsed")
    assert held["status"]["issued"] == "1/1"
    assert certificates.count_requests() == _ISSUES_AN_HOUR


def test_a_fight_over_the_secret_of_a_certificate_is_slowed_down_and_told(certificates: Certificates) -> None:
    certificates.create("web", certificate("front"))
    certificates.until_reason("web", "Issued")
    tenant = certificates.tenant
    whole = certificates.data("front")

    for _ in range(_REPAIRS_AT_ONCE):
        tenant.api.patch("Secret", tenant.namespace, "front", {"data": {"tls.crt": _THEIRS}})
        eventually(lambda: certificates.data("front") == whole, awaited="a repair")
    tenant.api.patch("Secret", tenant.namespace, "front", {"data": {"tls.crt": _THEIRS}})

    told = certificates.until_reason("web", "TargetContested", saying="it is put right less often")
    used = condition(told, "BudgetUsed")
    assert used is not None
    assert (used["status"], used["reason"]) == ("True", "TargetContested")
    eventually(lambda: certificates.data("front") == whole, awaited="the next repair, after a pause")
    assert certificates.count_requests() == 1


def test_another_spec_brings_another_certificate(certificates: Certificates) -> None:
    certificates.create("web", certificate("front"))
    certificates.until_reason("web", "Issued")

    other = certificate("back") | {"name": "front"}
    certificates.edit("web", certificates=[other])
    certificates.until(
        "web",
        lambda found: (
            found["status"]["certificateRequests"][0].get("need") == "SpecChanged"
            and found["status"]["issued"] == "1/1"
        ),
        "a change",
    )

    assert str(certificates.stored("front")[0].subject) == "CN=back.example.com"


def test_the_end_of_the_object_revokes_and_takes_the_profile_along(certificates: Certificates) -> None:
    certificates.create("web", certificate("front", revokeOnDelete=True))
    found = certificates.until_reason("web", "Issued")
    profile = found["status"]["profile"]["id"]
    tenant = certificates.tenant

    tenant.api.delete("CertificateProfile", tenant.namespace, "web")
    tenant.until_gone("CertificateProfile", "web")

    (request,) = certificates.requests()
    assert request["certificate"]["status"] == "revoked"
    listed = certificates.admin.send(
        "GET", f"/api/v1/cert-manager/certificate-profiles?projectId={tenant.project.id}"
    )["certificateProfiles"]
    assert profile not in [one["id"] for one in listed]
    tenant.until_gone("Secret", "front")


def test_an_existing_profile_is_used_by_its_slug(certificates: Certificates) -> None:
    body = {
        "projectId": certificates.tenant.project.id,
        "slug": "by-hand",
        "certificatePolicyId": certificates.policy_id,
        "caId": certificates.authority_id,
        "description": "by hand",
        "defaults": {"ttlDays": 10, "organization": "Example"},
    }
    certificates.admin.send("POST", "/api/v1/cert-manager/certificate-profiles", body)
    plain = certificate("front")
    del plain["attributes"]["ttl"]

    certificates.create("web", plain, existing=True, slug="by-hand", policyRef=None, caRef=None)
    found = certificates.until_reason("web", "Issued")

    leaf = certificates.stored("front")[0]
    assert "O=Example" in str(leaf.subject)
    assert (leaf.not_after - leaf.not_before).days == 10
    # Nothing to take back in the service; what stands for the authority in the cluster is another's to remove.
    assert "keybearer.dev/cleanup" not in found["metadata"].get("finalizers", ())


def test_fifty_certificates_cost_one_request_each(certificates: Certificates) -> None:
    certificates.create("web", *(certificate(f"c{number}") for number in range(50)))

    certificates.until("web", lambda found: found.get("status", {}).get("issued") == "50/50", "all fifty")

    assert len(certificates.requests()) == 50


def _await_approval(certificates: Certificates) -> str:
    """A certificate waits for approval; return the id of the approval request."""
    certificates.create("web")
    profile = certificates.until_reason("web", "Issued")["status"]["profile"]["id"]
    certificates.admin.send("POST", "/api/v1/cert-manager/approval-policies", {"profileId": profile})
    certificates.edit("web", certificates=[certificate("front")])
    certificates.until_reason("web", "PendingApproval")
    assert certificates.entry("web", "front")["status"] == "pending_approval"
    assert certificates.tenant.secret("front") is None
    (request,) = certificates.requests()
    return str(request["approvalRequestId"])


def test_what_is_approved_comes_into_its_secret(certificates: Certificates) -> None:
    approval = _await_approval(certificates)

    certificates.admin.send("POST", f"/api/v1/cert-manager/approval-requests/{approval}/approve", {})

    certificates.until_reason("web", "Issued")
    assert certificates.stored("front")[0].serial == certificates.entry("web", "front")["serialNumber"]


def test_what_is_rejected_is_told_and_not_asked_again_at_once(certificates: Certificates) -> None:
    approval = _await_approval(certificates)

    path = f"/api/v1/cert-manager/approval-requests/{approval}/reject"
    certificates.admin.send("POST", path, {"comment": "not in this project"})

    found = certificates.until_reason("web", "RequestRejected")
    assert found["status"]["certificateRequests"][0]["status"] == "rejected"
    assert certificates.tenant.secret("front") is None
    assert len(certificates.requests()) == 1


def test_what_is_cancelled_has_failed(certificates: Certificates) -> None:
    _await_approval(certificates)
    (request,) = certificates.requests()

    path = f"/api/v1/cert-manager/certificates/certificate-requests/{request['id']}/cancel"
    certificates.admin.send("POST", path, {})

    certificates.until_reason("web", "RequestFailed", saying="ancelled")


def test_an_authority_that_was_renewed_with_its_key_brings_no_wave(
    certificates: Certificates,
) -> None:
    certificates.create("web", certificate("front"))
    certificates.until_reason("web", "Issued")
    first = certificates.entry("web", "front")["serialNumber"]
    tenant = certificates.tenant

    path = f"/api/v1/cert-manager/ca/internal/{certificates.authority_id}/renew"
    ends = (datetime.now(UTC) + timedelta(days=3500)).strftime("%Y-%m-%dT%H:%M:%SZ")
    certificates.admin.send("POST", path, {"type": "existing", "notAfter": ends})
    certificates.ask("web", "sync")

    # The key is the same, so that what it signed is still good: nothing is issued anew.
    certificates.until(
        "web", lambda found: found["status"].get("lastHandledRequestedAt") is not None, "an answer"
    )
    assert certificates.entry("web", "front")["serialNumber"] == first
    assert tenant.secret("front") is not None
