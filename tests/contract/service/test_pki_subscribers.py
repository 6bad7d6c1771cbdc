"""PKI subscribers over HTTP (interface.md section 4.10, wire.md section 6)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.pki.certificates import parse_certificate
from keybearer.pki.keys import generate_private_key, load_private_key
from support.issuing_house import IssuingHouse, csr_of
from support.rows import each_row
from support.service_fixtures import Service

pytestmark = pytest.mark.every_database

ALL = "/api/v1/pki/subscribers"


@pytest.fixture
def house(service: Service) -> IssuingHouse:
    return IssuingHouse.build(service)


def _make(house: IssuingHouse, *, status: int = 200, **more: object) -> dict[str, Any]:
    body = {
        "projectId": house.project_id,
        "caId": house.authority_id,
        "name": f"sub-{uuid4().hex[:8]}",
        "commonName": "a.example.com",
        "ttl": "2d",
        "subjectAlternativeNames": ["a.example.com", "10.0.0.1"],
        **more,
    }
    return house.client.json("POST", ALL, json=body, status=status)


def test_a_subscriber_is_made_changed_and_deleted(house: IssuingHouse) -> None:
    made = _make(house)
    assert made["keyUsages"] == ["digitalSignature", "keyEncipherment"]
    path = f"{ALL}/{made['name']}"
    params = {"projectId": house.project_id}
    assert house.client.json("GET", path, params=params) == made
    listed = house.client.json("GET", f"/api/v1/projects/{house.project_id}/pki-subscribers")
    assert listed == {"subscribers": [made]}
    changed = house.client.json(
        "PATCH", path, json={**params, "ttl": "1d", "extendedKeyUsages": ["serverAuth"]}
    )
    assert (changed["ttl"], changed["extendedKeyUsages"]) == ("1d", ["serverAuth"])
    house.client.json("DELETE", path, json=params)
    house.client.json("GET", path, params=params, status=404)


def test_a_certificate_is_issued_and_is_the_latest(house: IssuingHouse) -> None:
    name = _make(house)["name"]
    named = {"projectId": house.project_id}
    house.client.json("GET", f"{ALL}/{name}/latest-certificate-bundle", params=named, status=404)
    issued = house.client.json(
        "POST", f"{ALL}/{name}/issue-certificate", json={**named, "subscriberName": name}
    )
    read = parse_certificate(issued["certificate"])
    assert [one.value for one in read.alternative_names] == ["a.example.com", "10.0.0.1"]
    assert load_private_key(issued["privateKey"]).public_key == read.public_key
    assert issued["certificateChain"] == issued["issuingCaCertificate"]
    params = {**named, "subscriberName": name}
    bundle = house.client.json("GET", f"{ALL}/{name}/latest-certificate-bundle", params=params)
    assert bundle == {
        "certificate": issued["certificate"],
        "certificateChain": issued["certificateChain"],
        "privateKey": issued["privateKey"],
        "serialNumber": issued["serialNumber"],
    }


def test_a_csr_may_name_the_subscriber_alone(house: IssuingHouse) -> None:
    name = _make(house)["name"]
    path = f"{ALL}/{name}/sign-certificate"
    key = generate_private_key(KeyAlgorithm.EC_P256)

    def sign(csr: str, *, status: int = 200) -> dict[str, Any]:
        return house.client.json(
            "POST", path, json={"projectId": house.project_id, "csr": csr}, status=status
        )

    signed = sign(csr_of("a.example.com", common_name="a.example.com", key=key))
    assert parse_certificate(signed["certificate"]).public_key == key.public_key
    assert "b.example.com" in sign(csr_of("b.example.com"), status=400)["message"]
    assert "common name" in sign(csr_of(common_name="b"), status=400)["message"]
    sign("nonsense", status=400)
    sign("x" * 3001, status=422)


def test_who_is_disabled_gets_nothing(house: IssuingHouse) -> None:
    name = _make(house, status=200)["name"]
    body = {"projectId": house.project_id, "status": "disabled"}
    house.client.json("PATCH", f"{ALL}/{name}", json=body)
    answer = house.client.json(
        "POST", f"{ALL}/{name}/issue-certificate", json={"projectId": house.project_id}, status=400
    )
    assert "disabled" in answer["message"]


def test_an_order_is_for_authorities_elsewhere(house: IssuingHouse) -> None:
    name = _make(house)["name"]
    body = {"projectId": house.project_id}
    answer = house.client.json("POST", f"{ALL}/{name}/order-certificate", json=body, status=400)
    assert "issue-certificate" in answer["message"]


@each_row(
    ("body", "status"),
    [
        pytest.param({"name": "Not A Slug!"}, 422, id="no slug"),
        pytest.param({"name": "n" * 65}, 422, id="too long a name"),
        pytest.param({"ttl": "soon"}, 422, id="no duration"),
        pytest.param({"keyUsages": ["sign"]}, 422, id="no usage"),
        pytest.param({"caId": str(uuid4())}, 404, id="no such authority"),
        pytest.param({"subjectAlternativeNames": ["a b"]}, 400, id="no host"),
    ],
)
def test_subscribers_that_cannot_be(house: IssuingHouse, body: dict[str, Any], status: int) -> None:
    taken = _make(house)["name"]
    _make(house, status=status, **body)
    _make(house, status=400, name=taken)


def test_members_are_issued_what_admins_said(service: Service, house: IssuingHouse) -> None:
    made = _make(house)
    path, named = f"{ALL}/{made['name']}", {"projectId": house.project_id}
    member = service.client(service.login(service.create_identity(roles={house.project_id: "member"})))
    issued = member.json("POST", f"{path}/issue-certificate", json=named)
    assert member.json("GET", f"{path}/latest-certificate-bundle", params=named) == {
        name: issued[name] for name in ("certificate", "certificateChain", "privateKey", "serialNumber")
    }
    for method, at, body in (
        ("POST", ALL, {"caId": house.authority_id, "name": "mine", "commonName": "b", "ttl": "1d"}),
        ("PATCH", path, {"commonName": "bank.example.com"}),
        ("DELETE", path, {}),
    ):
        refused = member.json(method, at, json={**named, **body}, status=403)
        assert refused["error"] == "PermissionDenied"
    assert member.json("GET", path, params=named) == made


def test_who_may_only_see_is_issued_nothing(service: Service, house: IssuingHouse) -> None:
    name = _make(house)["name"]
    named = {"projectId": house.project_id}
    house.client.json("POST", f"{ALL}/{name}/issue-certificate", json=named)
    viewer = service.client(service.login(service.create_identity(roles={house.project_id: "viewer"})))
    viewer.json("POST", f"{ALL}/{name}/issue-certificate", json=named, status=403)
    bundle = viewer.json("GET", f"{ALL}/{name}/latest-certificate-bundle", params=named)
    assert bundle["privateKey"] is None
