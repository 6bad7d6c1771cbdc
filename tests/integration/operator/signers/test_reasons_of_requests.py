"""Why requests get no certificate, or none yet: each reason on the object itself, or in an Event about it."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest

from keybearer.base.certificate_terms import ExtendedKeyUsage
from support.asking import HOST, Asking, conditions_of, requests_of, until_told, user_who_signs
from support.cert_manager import install_cert_manager_crds
from support.certificate_objects import Certificates, open_certificates
from support.operator_fixtures import Installation
from support.service_proxy import ServiceRequest
from support.signing_objects import (
    SERVER_USAGES,
    bare_key_of_pod,
    certificate_request,
    ed25519_request_pem,
    pod_request,
    request_pem,
    signer_of,
)
from support.tenant import Tenant
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import Body
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_NAMES = {"commonName": HOST, "subjectAltNames": [{"type": "dns_name", "value": HOST}]}
_USAGES = {"keyUsages": ["digital_signature"], "extendedKeyUsages": ["server_auth"]}
_SEARCH = "/api/v1/cert-manager/certificates/certificate-requests/search"


@pytest.fixture
def certificates(tenant: Tenant, installation: Installation) -> Certificates:
    opened = open_certificates(tenant, installation)
    _profile(opened, "web")
    _until_in_service(opened, "web")
    return opened


@pytest.fixture
def plane(installation: Installation) -> ControlPlane:
    return installation.cluster.plane


@pytest.fixture
def asking(certificates: Certificates, plane: ControlPlane) -> Iterator[Asking]:
    with user_who_signs(certificates, plane) as user:
        yield Asking(certificates, plane, user)


def _profile(certificates: Certificates, name: str, **spec: object) -> None:
    certificates.create(name, **{"defaults": {"ttlDays": 30, **_NAMES, **_USAGES}, **spec})


def _until_in_service(certificates: Certificates, name: str) -> str:
    """Return the id that the service has given the profile."""
    found = certificates.until(
        name, lambda found: "profile" in found.get("status", {}), "a profile in the service"
    )
    return str(found["status"]["profile"]["id"])


class _Pods:
    """Asks for certificates as kubelets do."""

    def __init__(self, certificates: Certificates) -> None:
        self._api = certificates.tenant.api
        self._where = certificates.tenant.namespace

    def ask(self, name: str, pem: str = "", *, profile: str = "web", **spec: object) -> Body:
        """A PodCertificateRequest exists."""
        signer = signer_of(self._where, profile)
        return self._api.create(
            pod_request(self._where, name, pem or request_pem(), signer=signer, spec=spec)
        )

    def until(self, name: str, kind: str) -> Body:
        """Return the condition of the kind, once there is one."""

        def conditions() -> dict[str, Body]:
            return conditions_of(self._api.get("PodCertificateRequest", self._where, name))

        return eventually(
            lambda: conditions().get(kind), awaited=f"{kind} of {name}", told=lambda: str(conditions())
        )


def test_a_signing_request_that_can_t_be_signed_has_failed_for_its_reason(
    certificates: Certificates, asking: Asking
) -> None:
    many = tuple(f"{number:03}.{'a' * 40}.example.com" for number in range(60))
    client = request_pem(HOST, extended=(ExtendedKeyUsage.CLIENT_AUTH,))
    asked = list(SERVER_USAGES)
    for name, pem, usages, reason, saying in (
        ("authority", request_pem(HOST, is_ca=True), asked, "RequestInvalid", "disagree"),
        ("many", request_pem(*many), asked, "RequestTooLong", "the service takes 4096"),
        ("edwards", ed25519_request_pem(HOST), asked, "UnsupportedKeyType", "use a key on a P curve or RSA"),
        ("client", client, asked, "UsagesDiffer", "lacks server_auth"),
        ("tunnel", request_pem(HOST), ["ipsec tunnel"], "UsagesUnsupported", "'ipsec tunnel'"),
        ("evil", request_pem("evil.example.org"), asked, "RequestRefused", "evil.example.org"),
    ):
        found = asking.until(asking.ask(name, pem, usages=usages), "Failed")
        failed = conditions_of(found)["Failed"]
        assert failed["reason"] == reason
        assert saying in failed["message"]
        assert "certificate" not in found["status"]
        assert requests_of(certificates, found) == [], "it isn't asked for"
        assert saying in until_told(certificates.tenant.api, found, reason)


def test_a_pod_that_asks_wrongly_is_told_why_and_gets_nothing(certificates: Certificates) -> None:
    pods = _Pods(certificates)
    _profile(certificates, "nameless", defaults={"ttlDays": 30, **_USAGES})
    _until_in_service(certificates, "nameless")
    annotated = {"unverifiedUserAnnotations": {"example.com/name": "admin"}}
    bare = {"stubPKCS10Request": None, **bare_key_of_pod()}
    for name, pem, spec, kind, reason in (
        ("annotated", "", annotated, "Denied", "InvalidUnverifiedUserAnnotations"),
        ("edwards", ed25519_request_pem(), {}, "Denied", "UnsupportedKeyType"),
        ("bare", "", bare, "Failed", "StubRequestMissing"),
        ("named", request_pem("admin"), {}, "Failed", "StubRequestNotEmpty"),
    ):
        asked = pods.ask(name, pem, **spec)
        assert pods.until(name, kind)["reason"] == reason
        assert requests_of(certificates, asked) == []
        assert until_told(certificates.tenant.api, asked, reason)
    asked = pods.ask("nobody", profile="nameless")
    assert pods.until("nobody", "Failed")["reason"] == "NoNames"
    assert requests_of(certificates, asked) == []


def test_a_request_waits_for_a_profile_that_can_t_issue_and_is_signed_once_it_can(
    certificates: Certificates,
) -> None:
    api, pods = certificates.tenant.api, _Pods(certificates)
    _profile(certificates, "planned", mode="Plan")
    _profile(certificates, "suspended", mode="Suspended")
    _profile(certificates, "unready", policyRef={"name": "none"})
    certificates.until_reason("unready", "PolicyNotFound")
    waiting = {
        "absent": "ProfileNotFound",
        "planned": "ProfilePlan",
        "suspended": "ProfileSuspended",
        "unready": "ProfileNotReady",
    }
    asked = {name: pods.ask(name, profile=name) for name in waiting}
    for name, reason in waiting.items():
        assert f"/{name} " in until_told(api, asked[name], reason)
        assert requests_of(certificates, asked[name]) == []

    _profile(certificates, "absent")
    certificates.edit("planned", mode="Apply")
    certificates.edit("suspended", mode="Apply")
    certificates.edit("unready", policyRef={"name": "web"})

    for name in waiting:
        assert pods.until(name, "Issued")["reason"] == "Issued"
        (request,) = requests_of(certificates, asked[name])
        serial = request["certificate"]["serialNumber"]
        assert f"certificate {serial} was issued" in until_told(api, asked[name], "CertificateIssued")


def _looks_for_requests(request: ServiceRequest) -> bool:
    return request.path == _SEARCH


def test_what_the_service_has_not_decided_is_told_and_what_is_cancelled_there_has_failed(
    certificates: Certificates, asking: Asking, installation: Installation
) -> None:
    api, admin = certificates.tenant.api, installation.admin
    profile = _until_in_service(certificates, "web")
    admin.send("POST", "/api/v1/cert-manager/approval-policies", {"profileId": profile})
    asked = asking.get(asking.ask("one"))
    until_told(api, asked, "PendingApproval")
    (request,) = requests_of(certificates, asked)
    for status, reason in (("pending_validation", "PendingValidation"), ("pending", "Pending")):
        # As a service says it whose authority is somebody else's.
        listed = {"certificateRequests": [{**request, "status": status}], "totalCount": 1}
        with installation.proxy.answering(_looks_for_requests, 200, listed):
            assert request["id"] in until_told(api, asked, reason)
    assert "certificate" not in asking.get(asked["metadata"]["name"])["status"]

    path = f"/api/v1/cert-manager/certificates/certificate-requests/{request['id']}/cancel"
    admin.send("POST", path, {})

    failed = conditions_of(asking.until(asked["metadata"]["name"], "Failed"))["Failed"]
    assert failed["reason"] == "RequestFailed"
    assert "ancelled" in failed["message"]


def test_cert_manager_is_told_the_reason_in_the_message_of_its_own_words(
    certificates: Certificates, plane: ControlPlane
) -> None:
    install_cert_manager_crds(plane)
    api, where = certificates.tenant.api, certificates.tenant.namespace
    garbage = {"request": base64.b64encode(b"no signing request").decode()}
    for name, profile, spec, verdict, reason, saying in (
        ("denied", "web", {}, "Denied", "Denied", "Denied: "),
        ("garbled", "web", garbage, "Approved", "Failed", "RequestInvalid: "),
        ("early", "absent", {}, "Approved", "Pending", "ProfileNotFound: "),
    ):
        body = certificate_request(where, name, request_pem(HOST), profile=profile, spec=spec)
        asked = api.create(body)
        decision = {"type": verdict, "status": "True", "reason": "Fine", "message": "by the test"}
        api.patch(
            "CertificateRequest", where, name, {"status": {"conditions": [decision]}}, subresource="status"
        )

        def ready(name: str = name) -> Body | None:
            return conditions_of(api.get("CertificateRequest", where, name)).get("Ready")

        told = eventually(ready, awaited=f"an answer to {name}")
        assert (told["status"], told["reason"]) == ("False", reason)
        assert told["message"].startswith(saying)
        assert requests_of(certificates, asked) == []
        until_told(api, asked, saying.removesuffix(": "))
