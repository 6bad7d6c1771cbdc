"""What follows issuance over HTTP: renewal, revocation, deletion, import, settings (wire.md section 5.3)."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.pki.certificates import parse_certificate
from keybearer.pki.keys import generate_private_key, load_private_key
from support.issuing_house import ALL, IssuingHouse, csr_of
from support.service_fixtures import Service

pytestmark = pytest.mark.every_database


@pytest.fixture
def house(service: Service) -> IssuingHouse:
    return IssuingHouse.build(service)


def _issued(house: IssuingHouse, **more: object) -> str:
    answer = house.issue({"commonName": "a", "altNames": [{"value": "a.example.com"}], **more})
    return str(answer["certificate"]["certificateId"])


def test_a_renewed_certificate_says_the_same_with_a_new_key(house: IssuingHouse) -> None:
    former = house.issue({"commonName": "a", "altNames": [{"value": "a.example.com"}], "ttl": "3d"})[
        "certificate"
    ]
    renewed = house.client.json("POST", f"{ALL}/{former['certificateId']}/renew", json={})
    old, new = parse_certificate(former["certificate"]), parse_certificate(renewed["certificate"])
    assert (old.subject, old.alternative_names, old.key_usages) == (
        new.subject,
        new.alternative_names,
        new.key_usages,
    )
    assert abs((new.not_after - new.not_before) - (old.not_after - old.not_before)).total_seconds() <= 1
    assert old.public_key != new.public_key
    assert load_private_key(renewed["privateKey"]).public_key == new.public_key
    request = house.request(renewed["certificateRequestId"])
    assert request["certificateId"] == renewed["certificateId"]
    again = house.client.json("POST", f"{ALL}/{former['certificateId']}/renew", json={}, status=400)
    assert renewed["certificateId"] in again["message"]


def test_a_certificate_of_a_csr_is_not_renewed_here(house: IssuingHouse) -> None:
    issued = house.issue({"ttl": "1d"}, csr=csr_of("a.example.com"))["certificate"]["certificateId"]
    answer = house.client.json("POST", f"{ALL}/{issued}/renew", status=400)
    assert "CSR" in answer["message"]
    house.client.json("PATCH", f"{ALL}/{issued}/config", json={"renewBeforeDays": 1}, status=400)


def test_a_revoked_certificate_says_so_and_stays_revoked(house: IssuingHouse) -> None:
    issued = _issued(house)
    answer = house.client.json("POST", f"{ALL}/{issued}/revoke", json={"revocationReason": "SUPERSEDED"})
    assert answer["message"] == "Successfully revoked certificate"
    shown = house.certificate(issued)
    assert (shown["status"], shown["revocationReason"]) == ("revoked", "SUPERSEDED")
    assert shown["revokedAt"] == answer["revokedAt"]
    [request] = house.search()["certificateRequests"]
    assert request["certificate"]["status"] == "revoked"
    house.client.json("POST", f"{ALL}/{issued}/revoke", json={}, status=400)
    house.client.json("POST", f"{ALL}/{issued}/renew", json={}, status=400)
    assert "revocation list" in house.client.json("DELETE", f"{ALL}/{issued}", status=400)["message"]


def test_reasons_that_there_are_not_are_422(house: IssuingHouse) -> None:
    house.client.json("POST", f"{ALL}/{_issued(house)}/revoke", json={"revocationReason": "lost"}, status=422)


def test_a_deleted_certificate_is_gone_and_its_request_is_not(house: IssuingHouse) -> None:
    answer = house.issue({"commonName": "a"})
    issued = answer["certificate"]["certificateId"]
    assert house.client.json("DELETE", f"{ALL}/{issued}")["certificate"]["id"] == issued
    house.certificate(issued, status=404)
    request = house.request(answer["certificateRequestId"])
    assert (request["status"], request["certificateId"], request["certificate"]) == ("issued", None, None)


def test_auto_renewal_is_turned_on_and_off(house: IssuingHouse) -> None:
    issued = _issued(house)
    path = f"{ALL}/{issued}/config"
    assert house.client.json("PATCH", path, json={"renewBeforeDays": 7})["renewBeforeDays"] == 7
    answer = house.client.json("PATCH", path, json={"renewBeforeDays": 30}, status=400)
    assert "30 days" in answer["message"]
    assert house.client.json("PATCH", path, json={"enableAutoRenewal": False})["renewBeforeDays"] is None
    assert "on" in house.client.json("PATCH", path, json={"enableAutoRenewal": True})["message"]


@pytest.mark.parametrize("days", [0, 31])
def test_days_before_renewal_are_bounded(house: IssuingHouse, days: int) -> None:
    house.client.json("PATCH", f"{ALL}/{_issued(house)}/config", json={"renewBeforeDays": days}, status=422)


@pytest.mark.parametrize("days", [1, 29])
def test_days_before_renewal_within_the_lifetime_are_taken(house: IssuingHouse, days: int) -> None:
    answer = house.client.json("PATCH", f"{ALL}/{_issued(house)}/config", json={"renewBeforeDays": days})
    assert answer["renewBeforeDays"] == days


def test_a_strange_certificate_is_imported_once(service: Service, house: IssuingHouse) -> None:
    other = IssuingHouse.build(service)
    given = other.issue({"commonName": "strange"})["certificate"]
    body = {
        "projectId": house.project_id,
        "certificatePem": given["certificate"],
        "privateKeyPem": given["privateKey"],
        "chainPem": given["certificateChain"],
        "friendlyName": "a friend",
    }
    path = f"{ALL}/import-certificate"
    answer = house.client.json("POST", path, json=body)
    shown = house.certificate(answer["certificateId"])
    assert (shown["friendlyName"], shown["caId"], shown["status"]) == ("a friend", None, "active")
    assert answer["certificateChain"] == given["certificateChain"]
    assert "already" in house.client.json("POST", path, json=body, status=400)["message"]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("certificatePem", "can't be read"),
        ("privateKeyPem", "isn't that of the certificate"),
        ("chainPem", "None of the certificates"),
    ],
)
def test_what_cannot_be_imported_is_400(service: Service, house: IssuingHouse, part: str, words: str) -> None:
    given = IssuingHouse.build(service).issue({"commonName": "a"})["certificate"]
    wrong = {
        "certificatePem": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "privateKeyPem": generate_private_key(KeyAlgorithm.EC_P256).pem(),
        "chainPem": house.issue({"commonName": "b"})["certificate"]["certificateChain"],
    }
    body = {
        "projectId": house.project_id,
        "certificatePem": given["certificate"],
        "privateKeyPem": given["privateKey"],
        "chainPem": given["certificateChain"],
    }
    path = f"{ALL}/import-certificate"
    refused = house.client.json("POST", path, json={**body, part: wrong[part]}, status=400)
    assert words in refused["message"]
    house.client.json("POST", path, json=body)


def test_a_deleted_profile_leaves_its_certificates(house: IssuingHouse) -> None:
    issued = _issued(house)
    house.client.json("DELETE", f"/api/v1/cert-manager/certificate-profiles/{house.profile_id}")
    shown = house.certificate(issued)
    assert (shown["profileId"], shown["status"]) == (None, "active")
    assert "no profile" in house.client.json("POST", f"{ALL}/{issued}/renew", status=400)["message"]


def test_certificates_are_listed_by_status_and_name(house: IssuingHouse) -> None:
    first, second = _issued(house), _issued(house)
    house.client.json("POST", f"{ALL}/{first}/revoke", json={})
    params = {"projectId": house.project_id, "status": "active", "search": "EXAMPLE"}
    page = house.client.json("GET", ALL, params=params)
    assert [one["id"] for one in page["certificates"]] == [second]
    assert page["totalCount"] == 1


def test_who_may_only_see_changes_nothing(service: Service, house: IssuingHouse) -> None:
    issued = _issued(house)
    viewer = service.client(service.login(service.create_identity(roles={house.project_id: "viewer"})))
    assert viewer.json("GET", f"{ALL}/{issued}")["certificate"]["id"] == issued
    for method, path, body in (
        ("POST", f"{ALL}/{issued}/renew", {}),
        ("POST", f"{ALL}/{issued}/revoke", {}),
        ("PATCH", f"{ALL}/{issued}/config", {"enableAutoRenewal": True}),
        ("DELETE", f"{ALL}/{issued}", None),
    ):
        viewer.json(method, path, json=body, status=403)
    house.client.json("POST", f"{ALL}/{uuid4()}/revoke", json={}, status=404)


def test_each_change_is_in_the_audit_log(house: IssuingHouse) -> None:
    began = datetime.now(UTC)
    issued = _issued(house)
    house.client.json("PATCH", f"{ALL}/{issued}/config", json={"enableAutoRenewal": True})
    renewed = house.client.json("POST", f"{ALL}/{issued}/renew", json={})["certificateId"]
    house.client.json("POST", f"{ALL}/{issued}/revoke", json={})
    house.client.json("DELETE", f"{ALL}/{renewed}")
    params = {"projectId": house.project_id, "startDate": began.isoformat(), "limit": 50}
    lines = house.client.json("GET", "/api/v1/organization/audit-logs", params=params)["auditLogs"]
    kinds = [line["event"]["type"] for line in lines]
    for kind in (
        "issue-certificate",
        "update-certificate-config",
        "renew-certificate",
        "revoke-certificate",
        "delete-certificate",
    ):
        assert kinds.count(kind) == 1
