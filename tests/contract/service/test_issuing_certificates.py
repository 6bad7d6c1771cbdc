"""Issuance over HTTP (interface.md sections 2.4 and 4.5, wire.md section 5.1)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.pki.certificates import parse_certificate, parse_certificates
from keybearer.pki.keys import generate_private_key, load_private_key
from keybearer.pki.names import Subject
from keybearer.pki.signing_requests import build_signing_request
from support.issuing_house import ALL, IssuingHouse, csr_of
from support.rows import each_row
from support.service_fixtures import Service

pytestmark = pytest.mark.every_database


@pytest.fixture
def house(service: Service) -> IssuingHouse:
    return IssuingHouse.build(service)


def test_a_certificate_without_a_csr_comes_with_its_key(house: IssuingHouse) -> None:
    answer = house.issue({"commonName": "a", "altNames": [{"value": "a.example.com"}], "ttl": "12h"})
    assert answer["status"] == "issued"
    issued = answer["certificate"]
    read = parse_certificate(issued["certificate"])
    assert load_private_key(issued["privateKey"]).public_key == read.public_key
    assert read.serial == issued["serialNumber"]
    assert [str(name) for name in read.alternative_names] == ["dns_name a.example.com"]
    assert issued["certificateChain"] == issued["issuingCaCertificate"]
    lifetime = read.not_after - read.not_before
    assert timedelta(hours=12) <= lifetime <= timedelta(hours=12, minutes=6)


def test_a_csr_is_signed_and_no_key_is_answered(house: IssuingHouse) -> None:
    key = generate_private_key(KeyAlgorithm.EC_P256)
    csr = csr_of("a.example.com", "b.example.com", common_name="a.example.com", key=key)
    answer = house.issue({"ttl": "1d", "commonName": "ignored"}, csr=csr)
    read = parse_certificate(answer["certificate"]["certificate"])
    assert "privateKey" not in answer["certificate"]
    assert read.public_key == key.public_key
    assert read.subject.common_name == "a.example.com"
    bundle = house.client.json("GET", f"{ALL}/{answer['certificate']['certificateId']}/bundle")
    assert bundle["privateKey"] is None
    assert bundle["certificate"] == answer["certificate"]["certificate"]


@pytest.mark.parametrize(
    ("asked", "organization"),
    [
        pytest.param({}, "Home", id="absence takes the default"),
        pytest.param({"organization": None}, None, id="null clears it"),
        pytest.param({"organization": "Other"}, "Other", id="a value replaces it"),
    ],
)
def test_defaults_of_the_profile_are_taken_cleared_or_replaced(
    service: Service, asked: dict[str, Any], organization: str | None
) -> None:
    house = IssuingHouse.build(
        service, defaults={"ttlDays": 1, "organization": "Home", "keyAlgorithm": "EC_prime256v1"}
    )
    answer = house.issue({"commonName": "a", **asked})
    assert (
        parse_certificate(answer["certificate"]["certificate"]).subject.first("organization") == organization
    )
    certificate = house.certificate(answer["certificate"]["certificateId"])
    assert certificate["subjectOrganization"] == organization


def test_every_attribute_arrives(house: IssuingHouse) -> None:
    answer = house.issue(
        {
            "commonName": "all",
            "organization": "O",
            "organizationalUnit": "OU",
            "country": "DE",
            "state": "ST",
            "locality": "L",
            "domainComponents": ["example", "com"],
            "keyUsages": ["digital_signature", "keyAgreement"],
            "extendedKeyUsages": ["client_auth", "serverAuth"],
            "altNames": [
                {"value": "10.0.0.1"},
                {"type": "dns_name", "value": "A.example.com"},
                {"value": "me@example.com"},
                {"value": "https://example.com/a"},
            ],
            "keyAlgorithm": "ECDSA-P384",
            "signatureAlgorithm": "ECDSA-SHA384",
            "ttl": "90 days",
        }
    )
    certificate = house.certificate(answer["certificate"]["certificateId"])
    assert certificate["keyUsages"] == ["digital_signature", "key_agreement"]
    assert certificate["extendedKeyUsages"] == ["client_auth", "server_auth"]
    assert certificate["altNames"] == "10.0.0.1,a.example.com,me@example.com,https://example.com/a"
    assert (certificate["keyAlgorithm"], certificate["signatureAlgorithm"]) == (
        "EC_secp384r1",
        "ECDSA-SHA384",
    )
    assert certificate["subjectDomainComponents"] == "example,com"
    assert certificate["basicConstraints"] == {"isCA": False, "pathLength": None}
    read = parse_certificate(answer["certificate"]["certificate"])
    assert str(read.subject) == "CN=all,OU=OU,O=O,L=L,ST=ST,C=DE,DC=com,DC=example"


def test_dates_may_be_given_instead_of_a_ttl(house: IssuingHouse) -> None:
    begin = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=30)
    end = begin + timedelta(days=2)
    answer = house.issue({"commonName": "a", "notBefore": begin.isoformat(), "notAfter": end.isoformat()})
    read = parse_certificate(answer["certificate"]["certificate"])
    assert (read.not_before, read.not_after) == (begin, end)


@each_row(
    ("asked", "words"),
    [
        pytest.param({"ttl": "1d", "notAfter": "2030-01-01"}, "both TTL", id="ttl and notAfter"),
        pytest.param(
            {"notBefore": "2030-01-02", "notAfter": "2030-01-01"}, "notBefore must be earlier", id="order"
        ),
        pytest.param({"notAfter": "one day"}, "Invalid date format", id="no date"),
        pytest.param({"ttl": "soon"}, "TTL must be", id="no ttl"),
        pytest.param({"ttl": "101y"}, "TTL must be", id="more than a hundred years"),
        pytest.param({"keyUsages": ["sign"]}, "Input should be", id="an unknown usage"),
        pytest.param({"altNames": [{"type": "DNS", "value": "a"}]}, "Input should be", id="an unknown kind"),
        pytest.param({"domainComponents": ["a,b"]}, "comma", id="a comma"),
    ],
)
def test_forms_that_the_schema_forbids_are_422(
    house: IssuingHouse, asked: dict[str, Any], words: str
) -> None:
    answer = house.issue({"commonName": "a", **asked}, status=422)
    assert words in str(answer["message"])


@each_row(
    ("asked", "words"),
    [
        pytest.param({"ttl": "20y"}, "would be valid until", id="outlives the authority"),
        pytest.param({"notAfter": "2020-01-01"}, "notBefore must be earlier", id="over already"),
        pytest.param({"altNames": [{"type": "dns_name", "value": "a b"}]}, "isn't a host name", id="no host"),
        pytest.param({"keyAlgorithm": "SLH-DSA-SHA2-128f"}, "aren't supported", id="no such keys here"),
        pytest.param({"signatureAlgorithm": "RSA-SHA256"}, "can't sign with", id="not of this authority"),
        pytest.param({"commonName": None}, "name nobody", id="nobody is named"),
        pytest.param({"keyUsages": ["key_cert_sign"]}, "go together", id="an authority that isn't one"),
        pytest.param({"basicConstraints": {"isCA": True}}, "isCA", id="an authority that no policy names"),
        pytest.param(
            {"extendedKeyUsages": ["ocspSigning"]}, "ocsp_signing", id="a responder that none names"
        ),
    ],
)
def test_what_cannot_be_issued_is_400(house: IssuingHouse, asked: dict[str, Any], words: str) -> None:
    answer = house.issue({"commonName": "a", **asked}, status=400)
    assert words in answer["message"]


def test_an_authority_is_issued_where_the_policy_allows_one(service: Service) -> None:
    house = IssuingHouse.build(service, rules={"basicConstraints": {"isCA": "allowed", "maxPathLength": 0}})
    asked = {"commonName": "below", "basicConstraints": {"isCA": True, "pathLength": 0}}
    read = parse_certificate(house.issue(asked)["certificate"]["certificate"])
    assert (read.is_ca, read.path_length) == (True, 0)
    key = generate_private_key(KeyAlgorithm.EC_P256)
    csr = build_signing_request(key, Subject.of("below"), is_ca=True)
    assert "path length" in house.issue(csr=csr, status=400)["message"]


def test_a_lifetime_that_nobody_gives_is_asked_for(service: Service) -> None:
    house = IssuingHouse.build(service, defaults={"keyAlgorithm": "EC_prime256v1"})
    assert "TTL" in house.issue({"commonName": "a"}, status=400)["message"]


def test_each_violated_rule_of_the_policy_is_named(service: Service) -> None:
    rules = {
        "sans": [{"type": "dns_name", "allowed": ["*.example.com"]}],
        "validity": {"max": "10d"},
        "extendedKeyUsages": {"required": ["server_auth"]},
    }
    house = IssuingHouse.build(service, rules=rules)
    asked = {
        "altNames": [{"value": "a.example.org"}],
        "ttl": "11d",
        "extendedKeyUsages": ["client_auth"],
    }
    answer = house.issue(asked, status=400)
    for words in ('"a.example.org"', "10d", "server_auth is required"):
        assert words in answer["message"]
    assert len(answer["details"]) == 3
    csr = csr_of("a.example.org")
    assert '"a.example.org"' in house.issue({"ttl": "1d"}, csr=csr, status=400)["message"]
    fitting = house.issue({"altNames": [{"value": "a.example.com"}], "ttl": "10d"})
    certificate = house.certificate(fitting["certificate"]["certificateId"])
    assert certificate["extendedKeyUsages"] == ["server_auth"]


def test_an_authority_that_is_disabled_issues_nothing(house: IssuingHouse) -> None:
    path = f"/api/v1/cert-manager/ca/internal/{house.authority_id}"
    house.client.json("PATCH", path, json={"status": "disabled"})
    assert "not active" in house.issue({"commonName": "a"}, status=400)["message"]
    house.client.json("PATCH", path, json={"status": "active"})
    assert house.issue({"commonName": "a"})["status"] == "issued"


def test_the_last_of_the_chain_is_removed_on_demand(house: IssuingHouse) -> None:
    answer = house.issue({"commonName": "a"}, removeRootsFromChain=True)
    assert answer["certificate"]["certificateChain"] == ""
    assert len(parse_certificates(answer["certificate"]["issuingCaCertificate"])) == 1
    assert house.request(answer["certificateRequestId"])["certificateChain"] == ""


def test_a_self_signed_certificate_is_its_own_chain(house: IssuingHouse) -> None:
    house.profile_id = house.profile(issuerType="self-signed", caId=None, defaults={"ttlDays": 1})
    answer = house.issue({"commonName": "a", "keyAlgorithm": "EC_prime256v1"})
    issued = answer["certificate"]
    assert issued["certificate"] == issued["certificateChain"] == issued["issuingCaCertificate"]
    assert parse_certificate(issued["certificate"]).is_self_issued
    assert "leave out csr" in house.issue(csr=csr_of("a"), status=400)["message"]


def test_an_application_must_have_the_profile(house: IssuingHouse) -> None:
    base = "/api/v1/cert-manager/applications"
    body = {"name": f"app-{uuid4().hex[:8]}", "projectId": house.project_id}
    application = house.client.json("POST", base, json=body)["application"]["id"]
    answer = house.issue({"commonName": "a"}, applicationId=application, status=400)
    assert "not attached" in answer["message"]
    house.client.json("POST", f"{base}/{application}/profiles", json={"profileIds": [house.profile_id]})
    issued = house.issue({"commonName": "a"}, applicationId=application)
    assert house.certificate(issued["certificate"]["certificateId"])["applicationId"] == application
    house.issue({"commonName": "a"}, applicationId=str(uuid4()), status=404)


def test_profiles_that_are_not_there_are_404(house: IssuingHouse) -> None:
    answer = house.issue({"commonName": "a"}, profileId=str(uuid4()), status=404)
    assert answer["message"] == "Certificate profile not found"
    house.issue({"commonName": "a"}, profileId="web", status=422)


def test_who_may_not_issue_is_refused(service: Service, house: IssuingHouse) -> None:
    viewer = service.create_identity(roles={house.project_id: "viewer"})
    client = service.client(service.login(viewer))
    answer = house.issue({"commonName": "a"}, client=client, status=403)
    assert answer["error"] == "PermissionDenied"
    issued = house.issue({"commonName": "a"})["certificate"]["certificateId"]
    assert client.json("GET", f"{ALL}/{issued}/bundle")["privateKey"] is None
    client.json("GET", f"{ALL}/{issued}/private-key", status=403)
    key = house.client.get(f"{ALL}/{issued}/private-key")
    assert load_private_key(key.text).public_key is not None


def test_ids_of_others_are_404(service: Service, house: IssuingHouse) -> None:
    stranger = service.client(service.login(service.create_identity()))
    issued = house.issue({"commonName": "a"})
    stranger.json("GET", f"{ALL}/{issued['certificate']['certificateId']}", status=403)
    house.certificate(str(uuid4()), status=404)
    house.request(str(uuid4()), status=404)
    assert house.client.get(f"{ALL}/nothing").status_code == 422
