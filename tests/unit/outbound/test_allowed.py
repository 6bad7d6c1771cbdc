from __future__ import annotations

import ipaddress

import pytest

from keybearer.base.errors import ConfigurationError
from keybearer.outbound.allowed import parse_allowed
from support.rows import each_row


@each_row(
    ("entry", "host", "address", "port", "listed"),
    [
        ("10.0.0.0/8", "ldap.example.com", "10.1.2.3", 636, True),
        ("10.0.0.0/8", "ldap.example.com", "11.1.2.3", 636, False),
        ("10.1.2.3", "anything", "10.1.2.3", 1, True),
        ("10.1.2.3:636", "anything", "10.1.2.3", 389, False),
        ("10.0.0.0/8:636", "anything", "10.1.2.3", 636, True),
        ("fd00::/8", "anything", "fd00::7", 636, True),
        ("[fd00::7]:636", "anything", "fd00::7", 636, True),
        ("[fd00::7]:636", "anything", "fd00::7", 389, False),
        ("LDAP.example.com.", "ldap.example.com", "10.1.2.3", 389, True),
        ("ldap.example.com:636", "ldap.example.com", "10.1.2.3", 636, True),
        ("ldap.example.com:636", "ldap.example.com", "10.1.2.3", 389, False),
        ("ldap.example.com", "other.example.com", "10.1.2.3", 636, False),
        ("ldap.example.com", "ldap.example.com", "127.0.0.1", 636, True),
        ("ldap.example.com", "ldap.example.com", "169.254.169.254", 80, False),
        ("ldap.example.com", "ldap.example.com", "0.0.0.0", 80, False),  # noqa: S104 - nothing listens
        ("169.254.169.254", "metadata", "169.254.169.254", 80, True),
    ],
)
def test_an_entry_lists_a_place(entry: str, host: str, address: str, port: int, *, listed: bool) -> None:
    allowed = parse_allowed([entry])
    assert allowed.lists(host, ipaddress.ip_address(address), port) is listed


METADATA = [
    "169.254.169.254",
    "fd00:ec2::254",
    "fd20:ce::254",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
]


@pytest.mark.parametrize("address", [*METADATA, "::ffff:168.63.129.16", "64:ff9b::a83f:8110"])
def test_a_listed_name_does_not_open_the_metadata_of_a_cloud(address: str) -> None:
    place = ipaddress.ip_address(address)
    assert not parse_allowed(["ldap.example.com"]).lists("ldap.example.com", place, 80)


@pytest.mark.parametrize("address", METADATA)
def test_a_listed_range_opens_the_metadata_of_a_cloud(address: str) -> None:
    place = ipaddress.ip_address(address)
    assert parse_allowed([address]).lists("any.example.com", place, 80)


@pytest.mark.parametrize(
    "entry", ["", "https://host", "host:0", "host:65536", "host:x", "a b", "10.0.0.0/99", "[host]:1"]
)
def test_an_entry_that_cannot_be_read_ends_the_start(entry: str) -> None:
    with pytest.raises(ConfigurationError, match="--allow-outbound"):
        parse_allowed([entry])
