from __future__ import annotations

import pytest

from keybearer.outbound.urls import HTTP_PORTS, LDAP_PORTS, OutboundUrl, parse_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://api.example.com", OutboundUrl("https", "api.example.com", 443, "")),
        (" https://API.example.com.:6443/ ", OutboundUrl("https", "api.example.com", 6443, "")),
        ("https://[fd00::7]:6443/k8s/c-1/", OutboundUrl("https", "fd00::7", 6443, "/k8s/c-1")),
        ("http://127.0.0.1", OutboundUrl("http", "127.0.0.1", 80, "")),
    ],
)
def test_a_url_is_scheme_host_port_and_path(text: str, url: OutboundUrl) -> None:
    assert parse_url(text, HTTP_PORTS) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "api.example.com",
        "ldap://api.example.com",
        "https://",
        "https://user:cnry-password@api.example.com",
        "https://api.example.com?x=1",
        "https://api.example.com/#x",
        "https://api.example.com:0",
        "https://api.example.com:99999",
        "https://api.example.com\\@10.0.0.1",
        "https://api.exa mple.com",
        "https://api.example.com\r\nHost: other",
        "https://[::1%25eth0]",
        "https://bücher.example",
        f"https://{'a' * 254}",
    ],
)
def test_anything_else_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ValueError, match="must be https:// or http://") as refused:
        parse_url(text, HTTP_PORTS)
    assert "cnry" not in str(refused.value)


def test_each_scheme_has_its_port() -> None:
    assert [parse_url(f"{scheme}://host", LDAP_PORTS).port for scheme in LDAP_PORTS] == [636, 389]
