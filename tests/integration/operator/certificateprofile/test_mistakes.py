"""What is wrong with a CertificateProfile: each with a reason, while the certificate of before stays."""

from __future__ import annotations

import pytest

from support.admission import refused_creation
from support.certificate_objects import ISSUER, Certificates, certificate, open_certificates
from support.issuing_house import csr_of
from support.operator_fixtures import Installation
from support.secretsync_objects import condition, message_of, secret
from support.service_proxy import ServiceRequest
from support.tenant import IDENTITY, Tenant
from tools.local.kube_api import Body
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_PROFILES = "/api/v1/cert-manager/certificate-profiles"
_REQUESTS = "/api/v1/cert-manager/certificates/certificate-requests/search"


@pytest.fixture
def certificates(tenant: Tenant, installation: Installation) -> Certificates:
    return open_certificates(tenant, installation)


def _is_told(certificates: Certificates, name: str, reason: str, *saying: str, stalled: bool = True) -> Body:
    """It has the reason, as a matter of a person or of time, with all these words."""
    told = certificates.until_reason(name, reason, saying=saying[0])
    kind = "Stalled" if stalled else "Reconciling"
    assert (condition(told, kind) or {}).get("status") == "True"
    for word in saying:
        assert word in message_of(told)
    return told


def _profile(certificates: Certificates, slug: str) -> None:
    """A person has made a profile of that slug."""
    body = {
        "projectId": certificates.tenant.project.id,
        "slug": slug,
        "certificatePolicyId": certificates.policy_id,
        "caId": certificates.authority_id,
    }
    certificates.admin.send("POST", _PROFILES, body)


def test_what_is_wrong_with_the_spec_is_told_and_what_was_issued_stays(certificates: Certificates) -> None:
    tenant = certificates.tenant
    certificates.create("web", certificate("front"))
    certificates.until_reason("web", "Issued")
    before = certificates.data("front")
    policy = {"name": "other", "projectId": tenant.project.id, "validity": {"max": "365d"}}
    certificates.admin.send("POST", "/api/v1/cert-manager/certificate-policies", policy)
    _profile(certificates, f"by-hand-{tenant.namespace}")
    front, good = certificate("front"), certificates.manifest("web", certificate("front"))["spec"]
    password = {"passwordRef": {"name": "passwords", "key": "p12"}}
    csr = {"name": "front", "csr": {"secretKeyRef": {"name": "csr", "key": "tls.csr"}}}
    keyring = {**certificate("back"), "secretName": "web.certificate-keys"}
    for changes, reason, saying in (
        (
            {"certificates": [front, keyring]},
            "SpecInvalid",
            ("certificate back", "choose another secretName"),
        ),
        (
            {"policyRef": {"name": "other"}},
            "ImmutableField",
            ("the policy of profile", "can't become other", "put policyRef back"),
        ),
        ({"policyRef": {"name": "nobody"}}, "PolicyNotFound", ("no policy", "correct policyRef")),
        (
            {"projectId": None, "projectSlug": "no-such-project"},
            "ProjectNotFound",
            ("project no-such-project doesn't exist", "correct projectSlug"),
        ),
        ({"caRef": {"name": "nobody"}}, "AuthorityNotFound", ("no authority", "correct caRef")),
        ({"slug": f"by-hand-{tenant.namespace}"}, "ProfileRefused", ("refuses to change profile", "lready")),
        ({"certificates": [csr]}, "CsrInvalid", ("Secret " + tenant.namespace + "/csr", "create it")),
        (
            {"certificates": [{**front, "keystores": {"pkcs12": password}}]},
            "KeystorePasswordNotFound",
            ("/passwords doesn't exist", "create it"),
        ),
    ):
        certificates.edit("web", **changes)
        _is_told(certificates, "web", reason, *saying)
        assert certificates.data("front") == before
        certificates.edit("web", **{name: good.get(name) for name in changes})
        certificates.until_reason("web", "Issued")
        assert certificates.data("front") == before

    certificates.edit("web", certificates=[{**front, "keystores": {"pkcs12": password}}])
    certificates.until_reason("web", "KeystorePasswordNotFound")
    tenant.api.create(secret(tenant.namespace, "passwords", {"p12": "cnry-password"}))
    certificates.until_reason("web", "Issued")
    eventually(lambda: "keystore.p12" in (certificates.data("front") or {}), awaited="a keystore")


@pytest.mark.parametrize("whose", [ISSUER, IDENTITY], ids=["its own", "another object's"])
def test_a_certificate_does_not_take_an_identity(certificates: Certificates, whose: str) -> None:
    tenant = certificates.tenant
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("reader")
    tenant.until_ready("reader")
    tenant.api.create(secret(tenant.namespace, "csr", {"tls.csr": csr_of("front.example.com")}))
    before = tenant.secret(whose)
    csr = {"secretKeyRef": {"name": "csr", "key": "tls.csr"}}
    front = {"name": "front", "csr": csr, "attributes": {"ttl": "30d"}}
    certificates.create("web", {**front, "secretName": whose, "adopt": True})

    user = "this object" if whose == ISSUER else "SecretSync reader"
    told = _is_told(
        certificates,
        "web",
        "TargetConflict",
        f"Secret {whose} is the identity Secret of {user}",
        "choose another secretName",
    )
    assert told["status"]["diagnosis"]["about"] == "spec.certificates[].secretName"
    assert tenant.secret(whose) == before
    assert certificates.requests() == []
    certificates.edit("web", certificates=[front])
    certificates.until_reason("web", "Issued")


def test_a_profile_of_others_is_used_or_taken_over_only_as_asked(certificates: Certificates) -> None:
    slug = f"by-hand-{certificates.tenant.namespace}"
    certificates.create("user", certificate("front"), existing=True, slug=slug, policyRef=None, caRef=None)
    certificates.create("maker", certificate("back"), slug=slug, mode="Suspended")
    _is_told(certificates, "user", "ProfileNotFound", f"no profile {slug}", "correct slug")
    assert certificates.tenant.secret("front") is None

    _profile(certificates, slug)
    certificates.edit("maker", mode="Apply")
    _is_told(certificates, "maker", "ProfileConflict", f"a profile {slug}", "adopt: true to take it over")
    assert certificates.tenant.secret("back") is None

    certificates.ask("user", "sync")
    certificates.until_reason("user", "Issued")
    certificates.edit("maker", adopt=True)
    certificates.until_reason("maker", "Issued")


def test_lost_keys_are_made_up_for_as_often_as_the_budget_says(certificates: Certificates) -> None:
    tenant = certificates.tenant

    def lose() -> None:
        # Suspended meanwhile: each of the two is rebuilt from the other, if the operator is quick enough.
        certificates.edit("web", mode="Suspended")
        certificates.until(
            "web",
            lambda found: any(one["reason"] == "Suspended" for one in found["status"]["conditions"]),
            "an operator that leaves it alone",
        )
        tenant.api.delete("Secret", tenant.namespace, "web.certificate-keys")
        tenant.api.delete("Secret", tenant.namespace, "front")
        certificates.edit("web", mode=None)

    certificates.create("web", certificate("front"), hourlyMintBudget=1)
    certificates.until_reason("web", "Issued")
    first = certificates.entry("web", "front")["serialNumber"]
    lose()
    certificates.until(
        "web",
        lambda found: (
            found["status"]["certificateRequests"][0]["serialNumber"] != first
            and found["status"]["issued"] == "1/1"
        ),
        "another certificate",
    )
    lose()

    _is_told(
        certificates, "web", "MintBudgetUsed", "front: its key was lost", "hourlyMintBudget", stalled=False
    )
    assert len(certificates.requests()) == 2
    certificates.edit("web", hourlyMintBudget=2)
    certificates.until_reason("web", "Issued")
    assert len(certificates.requests()) == 3


def _looks_for_requests(request: ServiceRequest) -> bool:
    return request.path == _REQUESTS


def test_an_authority_that_takes_its_time_or_checks_names_is_waited_for(
    certificates: Certificates, installation: Installation
) -> None:
    certificates.create("web")
    profile = certificates.until_reason("web", "Issued")["status"]["profile"]["id"]
    certificates.admin.send("POST", "/api/v1/cert-manager/approval-policies", {"profileId": profile})
    certificates.edit("web", certificates=[certificate("front")])
    certificates.until_reason("web", "PendingApproval")
    (request,) = certificates.requests()
    for status, reason, saying in (
        ("pending_validation", "PendingValidation", "front: the authority is checking"),
        ("pending", "Pending", "front: the authority has not answered yet"),
    ):
        shown = {**request, "status": status, "pendingMessage": None}
        listed = {"certificateRequests": [shown], "totalCount": 1}
        with installation.proxy.answering(_looks_for_requests, 200, listed):
            certificates.ask("web", "sync")
            _is_told(certificates, "web", reason, saying, stalled=False)
            assert certificates.tenant.secret("front") is None
    path = f"/api/v1/cert-manager/approval-requests/{request['approvalRequestId']}/approve"
    certificates.admin.send("POST", path, {})
    certificates.ask("web", "sync")

    certificates.until_reason("web", "Issued")
    assert len(certificates.requests()) == 1


def test_a_certificate_that_isn_t_what_was_asked_for_is_told_and_not_stored(
    certificates: Certificates, installation: Installation
) -> None:
    certificates.create("web", certificate("front"))
    profile = certificates.until_reason("web", "Issued")["status"]["profile"]["id"]
    front = certificates.entry("web", "front")["certificateId"]
    others = certificates.admin.send("GET", f"/api/v1/cert-manager/certificates/{front}/bundle")
    certificates.admin.send("POST", "/api/v1/cert-manager/approval-policies", {"profileId": profile})
    certificates.edit("web", certificates=[certificate("front"), certificate("back")])
    certificates.until_reason("web", "PendingApproval")
    (request,) = certificates.requests(status="pending_approval")

    # A service that mixes its certificates up.
    with installation.proxy.answering(lambda asked: asked.path.endswith("/bundle"), 200, others):
        path = f"/api/v1/cert-manager/approval-requests/{request['approvalRequestId']}/approve"
        certificates.admin.send("POST", path, {})
        certificates.ask("web", "sync")
        _is_told(certificates, "web", "NotConformant", "back: what was issued isn't what was asked for")

    assert certificates.tenant.secret("back") is None
    assert certificates.entry("web", "front")["certificateId"] == front


def test_a_secret_that_the_cluster_refuses_is_told_and_written_once_it_is_taken(
    certificates: Certificates, installation: Installation
) -> None:
    which = "has(object.data) && ('C' in object.data || 'tls.crt' in object.data)"
    with refused_creation(installation.cluster.plane, certificates.tenant, which) as policy:
        certificates.create("web", certificate("front"))
        _is_told(certificates, "web", "TargetRefused", policy, "Secret front can't be written so")
    certificates.ask("web", "sync")

    certificates.until_reason("web", "Issued")
    assert certificates.stored("front")
    assert len(certificates.requests()) == 1


def test_a_plan_is_told_and_asks_for_nothing(certificates: Certificates) -> None:
    certificates.create("web", certificate("front"), mode="Plan")

    certificates.until_reason("web", "Planned")
    assert certificates.tenant.secret("front") is None
    assert certificates.requests() == []
    certificates.edit("web", mode=None)
    certificates.until_reason("web", "Issued")


def test_what_is_left_to_the_next_round_is_told_as_being_issued(
    certificates: Certificates, installation: Installation
) -> None:
    orders, proxy = "/api/v1/cert-manager/certificates", installation.proxy
    start = proxy.mark()

    def is_order(request: ServiceRequest) -> bool:
        return (request.method, request.path) == ("POST", orders)

    # A round takes sixty certificates on a curve.
    with proxy.holding(
        lambda request: is_order(request) and len(proxy.requests(is_order, since=start)) >= 60
    ) as hold:
        certificates.create("web", *(certificate(f"c{number}") for number in range(61)))
        _is_told(certificates, "web", "Issuing", "60 of 61", "c60: it is being asked for", stalled=False)
        hold.wait_caught()
        assert certificates.tenant.secret("c0") is not None
        assert certificates.tenant.secret("c60") is None

    certificates.until_reason("web", "Issued")
    assert len(certificates.requests()) == 61


def test_a_revoked_certificate_that_is_made_once_is_told_and_stays_until_another_may_be_asked_for(
    certificates: Certificates,
) -> None:
    certificates.create("web", certificate("front"), mode="CreateOnce")
    certificates.until_reason("web", "Issued")
    before = certificates.data("front")
    path = f"/api/v1/cert-manager/certificates/{certificates.entry('web', 'front')['certificateId']}/revoke"
    certificates.admin.send("POST", path, {"revocationReason": "SUPERSEDED"})

    certificates.ask("web", "sync")

    _is_told(certificates, "web", "Revoked", "front: the certificate in its Secret was revoked", "CreateOnce")
    assert certificates.data("front") == before
    certificates.edit("web", mode="Apply")
    certificates.until_reason("web", "Issued")
    assert certificates.data("front") != before


def test_an_identity_that_may_not_bind_the_policy_is_told_the_command(certificates: Certificates) -> None:
    project = certificates.tenant.project.id
    policy = {"name": "strict", "projectId": project, "validity": {"max": "365d"}}
    made = certificates.admin.send("POST", "/api/v1/cert-manager/certificate-policies", policy)

    certificates.create("web", certificate("front"), policyRef={"name": "strict"})

    command = f"keybearer policies bind strict --profiles-by members --project {project}"
    certificates.until_reason("web", "PermissionDenied", saying=command)
    path = f"/api/v1/cert-manager/certificate-policies/{made['certificatePolicy']['id']}/binding"
    certificates.admin.send("PATCH", path, {"profilesBoundBy": "members"})
    certificates.ask("web", "sync")
    certificates.until_reason("web", "Issued")
