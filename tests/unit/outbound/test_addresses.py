from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.outbound.addresses import inner_kind, plain_address
from support.rows import each_row


@each_row(
    ("address", "kind"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("::1", "loopback"),
        ("0.0.0.0", "unspecified"),  # noqa: S104 - nothing listens
        ("::", "unspecified"),
        ("169.254.169.254", "link-local"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("192.0.0.192", "cloud metadata"),
        ("192.0.0.191", "private"),
        ("198.18.0.1", "private"),
        ("fd00::1", "private"),
        ("fec0::1", "private"),
        ("fd00:ec2::254", "cloud metadata"),
        ("fd20:ce::254", "cloud metadata"),
        ("100.100.100.200", "cloud metadata"),
        ("168.63.129.16", "cloud metadata"),
        ("::ffff:168.63.129.16", "cloud metadata"),
        ("168.63.129.17", None),
        ("224.0.0.1", "multicast"),
        ("ff02::1", "multicast"),
        ("255.255.255.255", "private"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "link-local"),
        ("::127.0.0.1", "loopback"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("64:ff9b:1::1", "private"),
        ("2002:a00:1::1", "private"),
        ("2001:0:a00:1::1", "private"),
        ("8.8.8.8", None),
        ("2606:4700::1111", None),
        ("::ffff:8.8.8.8", None),
        ("64:ff9b::808:808", None),
        ("2002:808:808::1", None),
    ],
)
def test_inner_addresses_are_known_in_whatever_they_are_wrapped(address: str, kind: str | None) -> None:
    read = plain_address(address)
    assert read is not None
    assert inner_kind(read) == kind


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_hidden_in_ipv6_is_no_more_open_than_by_itself(
    address: ipaddress.IPv4Address,
) -> None:
    for wrapped in (f"::ffff:{address}", f"64:ff9b::{address}", f"::{address}"):
        read = plain_address(wrapped)
        assert read is not None
        assert inner_kind(address) is None or inner_kind(read) is not None


@pytest.mark.parametrize("text", ["", "localhost", "1.2.3", "0x7f.1", "2130706433", "1.2.3.4:80"])
def test_what_is_no_address_is_a_name_for_the_resolver(text: str) -> None:
    assert plain_address(text) is None
