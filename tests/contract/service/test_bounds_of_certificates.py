"""What a policy holds certificates to: when they begin, wildcards, common names, URIs and usages (wire.md 5.5)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keybearer.base.certificate_terms import KeyAlgorithm, NameType
from keybearer.pki.certificates import parse_certificate
from keybearer.pki.keys import generate_private_key
from keybearer.pki.names import Subject, alternative_name
from keybearer.pki.signing_requests import build_signing_request
from support.issuing_house import PKI, IssuingHouse, csr_of
from support.rows import each_row
from support.service_fixtures import Client, Service

pytestmark = pytest.mark.every_database

_HOSTS = {"sans": [{"type": "dns_name", "allowed": ["*.example.com"], "denied": ["admin.example.com"]}]}
_COMMON_NAMES = {"subject": [{"type": "common_name", "allowed": ["*.example.com"]}], **_HOSTS}
_SPIFFE = {"sans": [{"type": "uri", "allowed": ["spiffe://td/ns/*"]}]}


@pytest.fixture
def house(service: Service) -> IssuingHouse:
    return IssuingHouse.build(service)


@pytest.fixture
def requester(service: Service, house: IssuingHouse) -> Client:
    identity = service.create_identity(roles={house.project_id: "member"})
    return service.client(service.login(identity))


def dates(ahead: timedelta, lasting: timedelta = timedelta(days=2)) -> dict[str, str]:
    """Return attributes of a certificate that begins so far from now."""
    begin = datetime.now(UTC).replace(microsecond=0) + ahead
    return {"notBefore": begin.isoformat(), "notAfter": (begin + lasting).isoformat()}


_REFUSED_DATES = [
    pytest.param(timedelta(days=29), id="days ahead"),
    pytest.param(timedelta(hours=1, minutes=1), id="more than an hour ahead"),
    pytest.param(timedelta(minutes=-6), id="more than five minutes ago"),
]


@each_row(("ahead",), _REFUSED_DATES)
def test_a_certificate_begins_about_now(house: IssuingHouse, ahead: timedelta) -> None:
    of_attributes = house.issue({"commonName": "a", **dates(ahead)}, status=400)
    of_a_csr = house.issue(dates(ahead), csr=csr_of("a.example.com"), status=400)
    assert "notBefore" in of_attributes["message"]
    assert "notBefore" in of_a_csr["message"]


@each_row(
    ("ahead",),
    [
        pytest.param(timedelta(minutes=59), id="within the hour"),
        pytest.param(timedelta(minutes=-4), id="some minutes ago"),
    ],
)
def test_clocks_may_differ(service: Service, ahead: timedelta) -> None:
    house = IssuingHouse.build(service)
    # The authority is older than what it signs.
    house.profile_id = house.profile(issuerType="self-signed", caId=None)
    answer = house.issue({"commonName": "a", **dates(ahead)})
    read = parse_certificate(answer["certificate"]["certificate"])
    assert abs(read.not_before - datetime.now(UTC) - ahead) < timedelta(minutes=1)


def test_a_policy_may_let_certificates_begin_earlier_and_later(service: Service) -> None:
    rules = {"validity": {"max": "90d", "maxBackdate": "2d", "maxPostdate": "30d"}}
    house = IssuingHouse.build(service, rules=rules)
    house.profile_id = house.profile(issuerType="self-signed", caId=None)
    for ahead in (timedelta(days=-1), timedelta(days=29)):
        asked = {"commonName": "a", **dates(ahead, timedelta(days=31))}
        read = parse_certificate(house.issue(asked)["certificate"]["certificate"])
        assert abs(read.not_before - datetime.now(UTC) - ahead) < timedelta(minutes=1)
    for ahead in (timedelta(days=-3), timedelta(days=31)):
        asked = {"commonName": "a", **dates(ahead, timedelta(days=31))}
        assert "notBefore" in house.issue(asked, status=400)["message"]


def test_no_certificate_begins_before_its_issuer(service: Service) -> None:
    house = IssuingHouse.build(service, rules={"validity": {"maxBackdate": "10d"}})
    answer = house.issue({"commonName": "a", **dates(timedelta(days=-1))}, status=400)
    assert "its issuer" in answer["message"]
    early = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    below = _intermediate(house, house.authority_id, notBefore=early)
    parent = house.client.json("GET", f"{PKI}/ca/internal/{house.authority_id}/certificate")
    begins = parse_certificate(parent["certificate"]).not_before
    assert parse_certificate(below["certificate"]).not_before == begins


def test_when_a_certificate_begins_is_judged_when_it_is_issued(
    house: IssuingHouse, requester: Client
) -> None:
    house.approval_policy()
    asked = {"commonName": "a", **dates(timedelta(hours=30))}
    waits = house.issue(asked, client=requester)
    assert waits["status"] == "pending_approval"
    answer = house.vote(house.approval_id(waits["certificateRequestId"]), "approve")
    assert answer["certificateRequestStatus"] == "failed"
    assert "notBefore" in house.request(waits["certificateRequestId"])["errorMessage"]
    soon = house.issue({"commonName": "a", **dates(timedelta(minutes=30))}, client=requester)
    answer = house.vote(house.approval_id(soon["certificateRequestId"]), "approve")
    assert answer["certificateRequestStatus"] == "issued"


@each_row(
    ("name", "said"),
    [
        pytest.param("a.b.example.com", "is not among the allowed values", id="two labels"),
        pytest.param("*.example.com", "is a wildcard", id="a wildcard certificate"),
        pytest.param("*.b.example.com", "is not among the allowed values", id="a wildcard further down"),
    ],
)
def test_a_wildcard_of_a_policy_is_one_label(service: Service, name: str, said: str) -> None:
    house = IssuingHouse.build(service, rules={"sans": [{"type": "dns_name", "allowed": ["*.example.com"]}]})
    house.issue({"altNames": [{"value": "a.example.com"}]})
    assert said in house.issue({"altNames": [{"value": name}]}, status=400)["message"]
    assert said in house.issue(csr=csr_of(name), status=400)["message"]


def test_a_policy_may_allow_wildcard_certificates_and_any_depth(service: Service) -> None:
    rules = {"sans": [{"type": "dns_name", "allowed": ["**.example.com"]}], "wildcards": "allowed"}
    house = IssuingHouse.build(service, rules=rules)
    for name in ("*.example.com", "*.b.example.com", "a.b.example.com"):
        house.issue({"altNames": [{"value": name}], "commonName": name})
    none = house.policy({"wildcards": "denied"})
    house.client.json(
        "PATCH", f"{PKI}/certificate-profiles/{house.profile_id}", json={"certificatePolicyId": none}
    )
    house.issue({"altNames": [{"value": "a.b.example.org"}]})
    assert "is a wildcard" in house.issue({"altNames": [{"value": "*.example.org"}]}, status=400)["message"]
    assert "is a wildcard" in house.issue({"commonName": "*.example.org"}, status=400)["message"]


_ODD_NAMES = [
    pytest.param("evil.com/CN=.example.com", id="another name in it"),
    pytest.param("evil,O=x.example.com", id="a field in it"),
    pytest.param("evil.com,O=x.example.com", id="a host and a field in it"),
    pytest.param("https://evil.com/.example.com", id="a URI"),
    pytest.param("\uff25\uff36\uff29\uff2c.example.com", id="full width"),
    pytest.param("admin.example.com", id="denied as an alternative name"),
    pytest.param("ADMIN.example.com", id="denied in another case"),
    pytest.param("*.example.com", id="a wildcard"),
    pytest.param("a.b.example.com", id="two labels"),
    pytest.param("evil.com", id="another host"),
]


@each_row(("name",), _ODD_NAMES)
@pytest.mark.parametrize("rules", [_COMMON_NAMES, _HOSTS], ids=["with a rule", "without a rule"])
def test_a_common_name_is_a_host_that_the_policy_allows(
    service: Service, rules: dict[str, Any], name: str
) -> None:
    house = IssuingHouse.build(service, rules=rules)
    house.issue({"commonName": "a.example.com", "altNames": [{"value": "a.example.com"}]})
    assert "common_name" in house.issue({"commonName": name}, status=400)["message"]
    csr = csr_of("a.example.com", common_name=name)
    assert "common_name" in house.issue(csr=csr, status=400)["message"]


def test_a_common_name_may_follow_a_rule_of_its_own(service: Service) -> None:
    rules = {"subject": [{"type": "common_name", "allowed": ["system:node:*", "Jane Doe"]}], **_HOSTS}
    house = IssuingHouse.build(service, rules=rules)
    for name in ("system:node:a.b", "Jane Doe"):
        house.issue({"commonName": name})
    for name in ("John Doe", "a.example.com"):
        assert "common_name" in house.issue({"commonName": name}, status=400)["message"]


@each_row(
    ("uri",),
    [
        pytest.param("spiffe://td/ns/../root", id="dot segments"),
        pytest.param("spiffe://td/ns/%2e%2e/root", id="encoded dot segments"),
        pytest.param("spiffe://td/ns/a%2Fb", id="an encoded slash"),
        pytest.param("spiffe://td/ns/x#@evil", id="a fragment"),
        pytest.param("spiffe://me@td/ns/x", id="a user"),
        pytest.param("spiffe://td/root", id="another path"),
        pytest.param("spiffe://td/ns/x?as=root", id="a query"),
    ],
)
def test_a_uri_is_compared_as_it_is_read(service: Service, uri: str) -> None:
    house = IssuingHouse.build(service, rules=_SPIFFE)
    key = generate_private_key(KeyAlgorithm.EC_P256)
    for good in ("spiffe://td/ns/a/sa/b", "SPIFFE://TD/ns/%61"):
        house.issue({"altNames": [{"type": "uri", "value": good}]})
    assert "uri" in house.issue({"altNames": [{"type": "uri", "value": uri}]}, status=400)["message"]
    csr = build_signing_request(key, Subject(), alternative_names=[alternative_name(NameType.URI, uri)])
    assert "uri" in house.issue(csr=csr, status=400)["message"]


@each_row(
    ("usage",),
    ["any_purpose", "code_signing", "ocsp_signing", "time_stamping"],
)
def test_usages_with_power_over_others_are_signed_when_a_policy_names_them(
    service: Service, usage: str
) -> None:
    house = IssuingHouse.build(service)
    asked = {"commonName": "a", "extendedKeyUsages": [usage]}
    assert usage in house.issue(asked, status=400)["message"]
    rules = {"extendedKeyUsages": {"allowed": [usage]}}
    house.client.json("PATCH", f"{PKI}/certificate-policies/{house.policy_id}", json=rules)
    house.issue(asked)
    house.client.json(
        "PATCH", f"{PKI}/certificate-policies/{house.policy_id}", json={"extendedKeyUsages": {"denied": []}}
    )
    assert usage in house.issue(asked, status=400)["message"]


def test_a_renewal_is_held_to_what_the_policy_says_now(service: Service) -> None:
    house = IssuingHouse.build(service, rules={"wildcards": "allowed"})
    issued = house.issue({"altNames": [{"value": "*.example.com"}]})["certificate"]["certificateId"]
    house.client.json("PATCH", f"{PKI}/certificate-policies/{house.policy_id}", json={"wildcards": "denied"})
    answer = house.client.json("POST", f"{PKI}/certificates/{issued}/renew", json={}, status=400)
    assert "is a wildcard" in answer["message"]


def _intermediate(house: IssuingHouse, parent: str, **more: object) -> dict[str, Any]:
    body = {
        "name": "below",
        "status": "active",
        "projectId": house.project_id,
        "configuration": {"type": "intermediate", "commonName": "Below", "keyAlgorithm": "EC_prime256v1"},
    }
    made = house.client.json("POST", f"{PKI}/ca/internal", json=body)["id"]
    until = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
    answer: dict[str, Any] = house.client.json(
        "POST",
        f"{PKI}/ca/internal/{made}/certificate",
        json={"notAfter": until, "parentCaId": parent, **more},
    )
    return answer


def test_who_may_not_import_learns_nothing_of_what_was_sent(service: Service, house: IssuingHouse) -> None:
    viewer = service.create_identity(roles={house.project_id: "viewer"})
    client = service.client(service.login(viewer))
    body = {"certificatePem": "no certificate", "projectId": house.project_id}
    house.client.json("POST", f"{PKI}/certificates/import-certificate", json=body, status=400)
    client.json("POST", f"{PKI}/certificates/import-certificate", json=body, status=403)
