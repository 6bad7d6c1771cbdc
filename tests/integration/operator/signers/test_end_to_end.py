"""From an object that asks, through operator and service, to its certificate; and what is never signed."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keybearer.base.certificate_terms import NameType
from keybearer.pki.certificates import Certificate, parse_certificate, parse_certificates
from keybearer.pki.chains import verify_chain
from keybearer.pki.names import AlternativeName
from support.asking import HOST, Asking, conditions_of, requests_of, user_who_signs
from support.cert_manager import (
    cert_manager_controller,
    cert_manager_running,
    install_cert_manager_crds,
)
from support.certificate_objects import Certificates, open_certificates
from support.operator_fixtures import Installation
from support.signing_objects import (
    certificate_request,
    key,
    pod_request,
    request_pem,
    signer_of,
)
from support.tenant import Tenant
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import Body
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_DEFAULTS = {
    "ttlDays": 30,
    "commonName": HOST,
    "subjectAltNames": [{"type": "dns_name", "value": HOST}],
    "keyUsages": ["digital_signature"],
    "extendedKeyUsages": ["server_auth"],
}


@pytest.fixture
def certificates(tenant: Tenant, installation: Installation) -> Certificates:
    opened = open_certificates(tenant, installation)
    opened.create("web", defaults=_DEFAULTS)
    opened.until("web", lambda found: "profile" in found.get("status", {}), "a profile in the service")
    return opened


@pytest.fixture
def plane(installation: Installation) -> ControlPlane:
    return installation.cluster.plane


@pytest.fixture
def user(certificates: Certificates, plane: ControlPlane) -> Iterator[str]:
    """Yield a user who may ask for certificates, and sign with the profile."""
    with user_who_signs(certificates, plane) as name:
        yield name


def _judge(certificates: Certificates, pem: str) -> Certificate:
    """The leaf, which the rest of the text leads from to the root of the project."""
    leaf, *above = parse_certificates(pem)
    verify_chain(leaf, above, [parse_certificate(certificates.root)], datetime.now(UTC))
    assert leaf.public_key == key().public_key
    return leaf


@pytest.fixture
def asking(certificates: Certificates, plane: ControlPlane, user: str) -> Asking:
    return Asking(certificates, plane, user)


def test_a_signing_request_becomes_a_certificate_of_the_services_authority(
    certificates: Certificates, asking: Asking
) -> None:
    found = asking.until(asking.ask("one", expirationSeconds=7200), "")

    leaf = _judge(certificates, base64.b64decode(found["status"]["certificate"]).decode())
    assert leaf.alternative_names == (AlternativeName(NameType.DNS_NAME, HOST),)
    assert timedelta(hours=2) <= leaf.not_after - leaf.not_before <= timedelta(hours=2, minutes=10)
    (request,) = requests_of(certificates, found)
    assert request["status"] == "issued"
    assert request["certificate"]["serialNumber"] == leaf.serial


def test_none_is_signed_that_may_not_be(
    certificates: Certificates, asking: Asking, plane: ControlPlane, user: str
) -> None:
    stranger = f"stranger-of-{certificates.tenant.namespace}"
    binding = f"{user}-too"
    plane.kubectl("create", "clusterrolebinding", binding, f"--clusterrole={user}", f"--user={stranger}")
    unapproved = asking.ask("unapproved", approve=False)
    denied = asking.ask("denied", approve=False)
    plane.kubectl("certificate", "deny", denied)
    forbidden = asking.ask("forbidden", user=stranger)
    wrong = asking.ask("wrong", usages=["digital signature", "client auth"])
    api, where = certificates.tenant.api, certificates.tenant.namespace
    elsewhere = f"{where}-elsewhere"
    plane.kubectl("create", "namespace", elsewhere)
    api.create(pod_request(elsewhere, "foreign", request_pem(), signer=signer_of(where, "web")))

    assert conditions_of(asking.until(forbidden, "Failed"))["Failed"]["reason"] == "SignNotAllowed"
    assert conditions_of(asking.until(wrong, "Failed"))["Failed"]["reason"] == "NotConformant"
    foreign = eventually(
        lambda: _with(api.get("PodCertificateRequest", elsewhere, "foreign"), "Denied"), awaited="a denial"
    )
    assert conditions_of(foreign)["Denied"]["reason"] == "ForeignNamespace"
    found = [asking.get(name) for name in (unapproved, denied, forbidden, wrong)]
    assert not any(one.get("status", {}).get("certificate") for one in found)
    asked_for = [len(requests_of(certificates, one)) for one in (*found, foreign)]
    assert asked_for == [0, 0, 0, 1, 0], "what isn't as asked for shows only once it was issued"
    (request,) = requests_of(certificates, found[3])
    assert request["certificate"]["status"] == "revoked"
    plane.kubectl("delete", "namespace", elsewhere, "--wait=false")
    plane.kubectl("delete", "clusterrolebinding", binding)


def _with(body: Body, kind: str) -> Body | None:
    return body if kind in conditions_of(body) else None


def test_a_pod_gets_a_certificate_in_the_name_of_the_profile(certificates: Certificates) -> None:
    api, where = certificates.tenant.api, certificates.tenant.namespace
    body = pod_request(
        where, "pod", request_pem(), signer=signer_of(where, "web"), spec={"maxExpirationSeconds": 3600}
    )
    api.create(body)

    found = eventually(
        lambda: _with(api.get("PodCertificateRequest", where, "pod"), "Issued"),
        awaited="a certificate",
        told=lambda: str(api.get("PodCertificateRequest", where, "pod").get("status")),
    )

    leaf = _judge(certificates, found["status"]["certificateChain"])
    assert leaf.alternative_names == (AlternativeName(NameType.DNS_NAME, HOST),)
    assert leaf.not_after - leaf.not_before == timedelta(hours=1)


def test_the_authority_is_published_as_long_as_the_profile_lives(certificates: Certificates) -> None:
    api, where = certificates.tenant.api, certificates.tenant.namespace
    signer = signer_of(where, "web")
    name = f"{signer.replace('/', ':')}:{certificates.authority_id}"

    bundle = eventually(lambda: api.find("ClusterTrustBundle", "", name), awaited="a bundle")
    assert bundle["spec"]["signerName"] == signer
    assert parse_certificate(bundle["spec"]["trustBundle"]) == parse_certificate(certificates.root)

    api.delete("CertificateProfile", where, "web")
    eventually(lambda: certificates.find("web") is None, awaited="the end of the profile")
    assert api.find("ClusterTrustBundle", "", name) is None


def test_what_people_approve_in_the_service_is_awaited(
    certificates: Certificates, asking: Asking, installation: Installation
) -> None:
    admin = installation.admin
    found = certificates.find("web")
    assert found is not None
    policy = {"profileId": found["status"]["profile"]["id"], "name": "four-eyes"}
    admin.send("POST", "/api/v1/cert-manager/approval-policies", policy)
    approved, rejected = asking.ask("approved"), asking.ask("rejected")

    for name, verdict in ((approved, "approve"), (rejected, "reject")):
        (request,) = eventually(
            lambda name=name: requests_of(certificates, asking.get(name)) or None,  # type: ignore[misc]
            awaited="a request",
        )
        assert request["status"] == "pending_approval"
        assert not asking.get(name)["status"].get("certificate")
        where = f"/api/v1/cert-manager/approval-requests/{request['approvalRequestId']}/{verdict}"
        admin.send("POST", where, {})

    _judge(certificates, base64.b64decode(asking.until(approved, "")["status"]["certificate"]).decode())
    assert conditions_of(asking.until(rejected, "Failed"))["Failed"]["reason"] == "RequestRejected"


def test_cert_manager_gets_its_certificate_once_its_kinds_are_there(
    certificates: Certificates, plane: ControlPlane
) -> None:
    install_cert_manager_crds(plane)
    api, where = certificates.tenant.api, certificates.tenant.namespace
    spec = {"duration": "24h0m0s"}
    api.create(certificate_request(where, "front", request_pem(HOST), profile="web", spec=spec))
    approval = {"type": "Approved", "status": "True", "reason": "Fine", "message": "by the test"}
    status = {"status": {"conditions": [approval]}}
    api.patch("CertificateRequest", where, "front", status, subresource="status")

    def probe() -> Body | None:
        found = api.get("CertificateRequest", where, "front")
        return found if conditions_of(found).get("Ready", {}).get("status") == "True" else None

    found = eventually(probe, awaited="a certificate")

    _judge(certificates, base64.b64decode(found["status"]["certificate"]).decode())
    assert parse_certificate(base64.b64decode(found["status"]["ca"]).decode()) == parse_certificate(
        certificates.root
    )
    assert len(requests_of(certificates, found)) == 1


@pytest.mark.skipif(cert_manager_controller() is None, reason="CERT_MANAGER_CONTROLLER names no program")
def test_a_certificate_of_cert_manager_ends_as_a_secret(
    certificates: Certificates, plane: ControlPlane, tmp_path: Path
) -> None:
    program = cert_manager_controller()
    assert program is not None
    install_cert_manager_crds(plane)
    where = certificates.tenant.namespace
    wanted = {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": "front", "namespace": where},
        "spec": {
            "secretName": "front-tls",
            "dnsNames": [HOST],
            "commonName": HOST,
            "privateKey": {"algorithm": "ECDSA", "size": 256},
            "usages": ["digital signature", "server auth"],
            "issuerRef": {"group": "keybearer.dev", "kind": "CertificateProfile", "name": "web"},
        },
    }
    plane.kubectl("apply", "--filename=-", input=json.dumps(wanted))
    with cert_manager_running(program, plane, tmp_path) as controller:

        def probe() -> dict[str, bytes] | None:
            data = certificates.data("front-tls")
            return data if data is not None and "tls.crt" in data else None

        data = eventually(probe, awaited="a Secret", told=lambda: controller.log_tail(20))

    leaf, *above = parse_certificates(data["tls.crt"].decode())
    root = parse_certificate(data["ca.crt"].decode())
    assert root == parse_certificate(certificates.root)
    verify_chain(leaf, above, [root], datetime.now(UTC))
    assert leaf.alternative_names == (AlternativeName(NameType.DNS_NAME, HOST),)
