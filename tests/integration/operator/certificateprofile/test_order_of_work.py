"""What comes before a certificate is issued, and which key it is issued for, against a real cluster and service."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest

from keybearer.controllers.certificateprofile.secret_contents import read_keyring
from support.certificate_objects import Certificates, certificate, open_certificates
from support.operator_fixtures import Installation
from support.secretsync_objects import reason_of, secret
from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_NEVER = {"rotationPolicy": "Never"}


@pytest.fixture
def certificates(tenant: Tenant, installation: Installation) -> Certificates:
    return open_certificates(tenant, installation)


def _key(certificates: Certificates) -> bytes:
    data = certificates.data("front")
    assert data is not None
    return data["tls.key"]


@pytest.mark.parametrize("kind", ["Opaque", "kubernetes.io/tls"])
def test_no_certificate_is_issued_while_its_secret_is_somebody_elses(
    certificates: Certificates, kind: str
) -> None:
    tenant, namespace = certificates.tenant, certificates.tenant.namespace
    data = {name: base64.b64encode(b"mine").decode() for name in ("tls.crt", "tls.key")}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": namespace, "name": "front"}}
    tenant.api.create({**secret, "type": kind, "data": data})
    certificates.create("web", certificate("front"), certificate("back"))

    certificates.until_reason("web", "TargetConflict", saying="Secret front")

    assert [one["commonName"] for one in certificates.requests()] == ["back.example.com"]
    assert certificates.data("front") == {"tls.crt": b"mine", "tls.key": b"mine"}
    tenant.api.delete("Secret", namespace, "front")
    certificates.ask("web", "sync")
    certificates.until_reason("web", "Issued")
    assert len(certificates.requests()) == 2


def test_a_secret_that_goes_with_an_object_which_does_not_control_it_is_not_taken_over(
    certificates: Certificates,
) -> None:
    tenant, namespace = certificates.tenant, certificates.tenant.namespace
    owner = tenant.api.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "name": "shop"}}
    )
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "shop", "uid": owner["metadata"]["uid"]}
    data = {name: base64.b64encode(b"mine").decode() for name in ("tls.crt", "tls.key")}
    meta = {"namespace": namespace, "name": "front", "ownerReferences": [reference]}
    theirs = tenant.api.create(
        {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "kubernetes.io/tls", "data": data}
    )
    certificates.create("web", certificate("front", adopt=True))

    certificates.until_reason("web", "TargetConflict", saying="Secret front belongs to ConfigMap shop")

    assert certificates.requests() == []
    assert tenant.secret("front") == theirs
    tenant.api.patch("Secret", namespace, "front", {"metadata": {"ownerReferences": None}})
    certificates.ask("web", "sync")
    certificates.until_reason("web", "Issued")
    taken = tenant.api.get("Secret", namespace, "front")
    assert taken["metadata"]["uid"] == theirs["metadata"]["uid"]
    assert len(certificates.requests()) == 1


def test_a_secret_that_somebody_made_immutable_is_made_anew_with_the_same_certificate(
    certificates: Certificates,
) -> None:
    certificates.create("web", certificate("front"))
    certificates.until_reason("web", "Issued")
    tenant, before = certificates.tenant, certificates.data("front")

    tenant.api.patch("Secret", tenant.namespace, "front", {"immutable": True})

    eventually(lambda: "immutable" not in (tenant.secret("front") or {"immutable": True}), awaited="another")
    assert certificates.data("front") == before
    assert len(certificates.requests()) == 1


def test_a_secret_that_a_living_sync_merges_into_is_not_taken_over(certificates: Certificates) -> None:
    tenant = certificates.tenant
    held = {"tls.crt": "mine", "tls.key": "mine"}
    tenant.api.create(secret(tenant.namespace, "front", held, type_="kubernetes.io/tls"))
    tenant.project.store({"EXTRA": "cnry-1"})
    tenant.sync("extra", target={"name": "front", "creationPolicy": "Merge"})
    tenant.until_ready("extra")
    certificates.create("web", certificate("front", adopt=True))

    certificates.until_reason("web", "TargetConflict", saying="SecretSync extra merges EXTRA")
    assert certificates.requests() == []
    assert tenant.data("front") == {**held, "EXTRA": "cnry-1"}

    tenant.delete("extra")
    # The profile may take the Secret over between two looks.
    eventually(lambda: "EXTRA" not in (tenant.data("front") or held), awaited="an end of what was merged")
    certificates.ask("web", "sync")
    certificates.until_reason("web", "Issued")


def test_replicas_of_a_service_whose_clocks_differ_issue_no_more_than_the_budget(
    certificates: Certificates, installation: Installation
) -> None:
    short = certificate("front")
    short["attributes"]["ttl"] = "1h"
    right, wrong = timedelta(), timedelta(hours=2)

    def handled() -> str | None:
        status: Body = (certificates.find("web") or {}).get("status") or {}
        return status.get("lastHandledRequestedAt")

    with installation.proxy.of_replicas(*[right] * 3, *[wrong] * 2):
        certificates.create("web", short)
        for number in range(30):
            certificates.ask("web", "sync")
            eventually(lambda: handled() == f"request-{number}", awaited="an answer")  # noqa: B023 - called in its turn
        assert 1 <= certificates.count_requests() <= 6


@pytest.mark.parametrize("is_there", [True, False], ids=["Secret there", "Secret deleted"])
def test_a_compromised_key_is_never_used_again(certificates: Certificates, *, is_there: bool) -> None:
    certificates.create("web", certificate("front", privateKey=_NEVER))
    certificates.until_reason("web", "Issued")
    key, entry = _key(certificates), certificates.entry("web", "front")
    certificates.ask("web", "renew")
    eventually(
        lambda: certificates.entry("web", "front")["serialNumber"] != entry["serialNumber"],
        awaited="a renewal",
    )
    assert _key(certificates) == key

    tenant = certificates.tenant
    certificates.edit("web", mode="Suspended")
    certificates.until("web", lambda found: found["status"]["observedGeneration"] == 2, "a pause")
    certificates.revoke(certificates.entry("web", "front")["certificateId"], "KEY_COMPROMISE")
    if not is_there:
        tenant.api.delete("Secret", tenant.namespace, "front")
    certificates.edit("web", mode="Apply")
    certificates.ask("web", "sync")
    certificates.until(
        "web",
        lambda found: (
            found["status"]["certificateRequests"][0]["need"] == "Revoked"
            and found["status"]["issued"] == "1/1"
        ),
        "another certificate",
    )
    other = _key(certificates)
    assert other != key

    serial = certificates.entry("web", "front")["serialNumber"]
    certificates.ask("web", "renew")
    eventually(lambda: certificates.entry("web", "front")["serialNumber"] != serial, awaited="a renewal")
    assert _key(certificates) == other


def test_of_two_objects_that_name_one_secret_at_once_one_asks_for_its_certificate(
    certificates: Certificates, installation: Installation
) -> None:
    tenant = certificates.tenant
    certificates.create("first", certificate("other"))
    certificates.until_reason("first", "Issued")
    installation.operator.freeze()
    try:
        for name in ("one", "two"):
            certificates.create(name, certificate("front"))
    finally:
        installation.operator.thaw()

    def reasons() -> set[str]:
        return {reason_of(certificates.find(name) or {}) for name in ("one", "two")}

    eventually(lambda: reasons() == {"Issued", "TargetConflict"}, awaited="an owner of the Secret")
    assert [one["commonName"] for one in certificates.requests()].count("front.example.com") == 1

    winner = "one" if reason_of(certificates.find("one") or {}) == "Issued" else "two"
    loser = "two" if winner == "one" else "one"
    tenant.api.delete("CertificateProfile", tenant.namespace, winner)
    # It takes the name as soon as that is free.
    certificates.until_reason(loser, "Issued")
    (owner,) = tenant.api.get("Secret", tenant.namespace, "front")["metadata"]["ownerReferences"]
    assert owner["name"] == loser


def _existing_profile(certificates: Certificates, slug: str) -> None:
    body = {
        "projectId": certificates.tenant.project.id,
        "slug": slug,
        "certificatePolicyId": certificates.policy_id,
        "caId": certificates.authority_id,
    }
    certificates.admin.send("POST", "/api/v1/cert-manager/certificate-profiles", body)


def test_another_profile_makes_no_compromised_key_good(certificates: Certificates) -> None:
    for slug in ("first", "second"):
        _existing_profile(certificates, slug)
    existing = {"existing": True, "policyRef": None, "caRef": None}
    front = certificate("front", privateKey=_NEVER, revokeOnDelete=True)
    certificates.create("web", front, slug="first", **existing)
    certificates.until_reason("web", "Issued")
    key, entry = _key(certificates), certificates.entry("web", "front")
    certificates.edit("web", mode="Suspended")
    certificates.until("web", lambda found: found["status"]["observedGeneration"] == 2, "a pause")
    certificates.revoke(entry["certificateId"], "KEY_COMPROMISE")

    certificates.edit("web", mode="Apply", slug="second")
    certificates.until(
        "web",
        lambda found: (
            found["status"]["certificateRequests"][0].get("serialNumber") != entry["serialNumber"]
            and found["status"]["issued"] == "1/1"
        ),
        "another certificate",
    )
    assert _key(certificates) != key


def test_an_end_revokes_what_a_former_profile_issued(certificates: Certificates) -> None:
    for slug in ("first", "second"):
        _existing_profile(certificates, slug)
    existing = {"existing": True, "policyRef": None, "caRef": None}
    front = certificate("front", revokeOnDelete=True)
    certificates.create("web", front, slug="first", **existing)
    certificates.until_reason("web", "Issued")
    serial = certificates.entry("web", "front")["serialNumber"]
    certificates.edit("web", slug="second")
    eventually(
        lambda: certificates.entry("web", "front").get("serialNumber") != serial,
        awaited="a certificate of the second profile",
    )
    certificates.until_reason("web", "Issued")

    certificates.tenant.api.delete("CertificateProfile", certificates.tenant.namespace, "web")
    certificates.tenant.until_gone("CertificateProfile", "web")
    assert [one["certificate"]["status"] for one in certificates.requests()] == ["revoked", "revoked"]


def test_a_keyring_that_alone_was_deleted_is_rebuilt_from_the_secret(certificates: Certificates) -> None:
    certificates.create("web", certificate("front"))
    certificates.until_reason("web", "Issued")
    tenant, before = certificates.tenant, certificates.data("front")
    keys = read_keyring(tenant.secret("web.certificate-keys")).keys

    tenant.api.delete("Secret", tenant.namespace, "web.certificate-keys")
    eventually(
        lambda: read_keyring(tenant.secret("web.certificate-keys")).keys == keys, awaited="the Secret of keys"
    )
    tenant.api.delete("Secret", tenant.namespace, "front")
    eventually(lambda: certificates.data("front") == before, awaited="the Secret with the same key")

    assert len(certificates.requests()) == 1
