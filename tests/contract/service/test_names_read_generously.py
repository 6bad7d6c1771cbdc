"""Names that clients read as others are held to what a policy says of those others (wire.md 5.5)."""

from __future__ import annotations

from typing import Any

import pytest

from keybearer.base.certificate_terms import NameType
from keybearer.pki.certificates import parse_certificate
from support.issuing_house import IssuingHouse, csr_of
from support.rows import each_row
from support.service_fixtures import Service

pytestmark = pytest.mark.every_database

_DENIED = "admin.example.com"
_BY_ITSELF = {"subject": [{"type": "common_name", "denied": [_DENIED], "allowed": ["**"]}]}
_AS_ALTERNATIVE = {
    "subject": [{"type": "common_name", "allowed": ["**"]}],
    "sans": [{"type": "dns_name", "denied": [_DENIED]}],
}


@each_row(
    ("name",),
    [
        pytest.param("admin.example.com.", id="a dot at its end"),
        pytest.param("\uff21dmin.example.com", id="full width"),
        pytest.param("admin\u3002example.com", id="an ideographic full stop"),
        pytest.param("a*.example.com", id="a wildcard within a label"),
    ],
)
@pytest.mark.parametrize("rules", [_BY_ITSELF, _AS_ALTERNATIVE], ids=["common name", "alternative name"])
def test_a_denial_meets_common_names_as_clients_read_them(
    service: Service, rules: dict[str, Any], name: str
) -> None:
    house = IssuingHouse.build(service, rules=rules)
    house.issue({"commonName": "other.example.com"})
    assert "denied" in house.issue({"commonName": name}, status=400)["message"]
    assert "denied" in house.issue(csr=csr_of("b.example.com", common_name=name), status=400)["message"]


def test_a_wildcard_within_a_label_is_a_wildcard(service: Service) -> None:
    rules = {"subject": [{"type": "common_name", "allowed": ["**"]}], "wildcards": "denied"}
    house = IssuingHouse.build(service, rules=rules)
    for name in ("w*.example.com", "*w.example.com", "\uff0a.example.com"):
        assert "is a wildcard" in house.issue({"commonName": name}, status=400)["message"]


def test_an_address_is_the_same_within_ipv6(service: Service) -> None:
    rules = {"sans": [{"type": "ip_address", "allowed": ["*"], "denied": ["10.0.0.*"]}]}
    house = IssuingHouse.build(service, rules=rules)
    asked = {"altNames": [{"type": "ip_address", "value": "::ffff:10.0.0.1"}]}
    assert "is denied" in house.issue(asked, status=400)["message"]
    other = house.issue({"altNames": [{"type": "ip_address", "value": "::ffff:10.0.1.1"}]})
    [name] = parse_certificate(other["certificate"]["certificate"]).alternative_names
    assert (name.type, name.value) == (NameType.IP_ADDRESS, "10.0.1.1")


@each_row(
    ("uri",),
    [
        pytest.param("https://evil%2F.example.com/", id="a slash"),
        pytest.param("https://evil%5C.example.com/", id="a backslash"),
        pytest.param("https://evil%23.example.com/", id="a fragment"),
        pytest.param("https://evil%3Fq.example.com/", id="a query"),
        pytest.param("https://me%40evil.example.com/", id="a user"),
    ],
)
def test_the_host_of_a_uri_hides_no_end_of_it(service: Service, uri: str) -> None:
    house = IssuingHouse.build(
        service, rules={"sans": [{"type": "uri", "allowed": ["https://*.example.com/*"]}]}
    )
    house.issue({"altNames": [{"type": "uri", "value": "https://a.example.com/%7Eb"}]})
    assert (
        "percent-encoded" in house.issue({"altNames": [{"type": "uri", "value": uri}]}, status=400)["message"]
    )
