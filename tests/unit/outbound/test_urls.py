from __future__ import annotations

from dataclasses import replace

import pytest

from keybearer.outbound.urls import HTTP_PORTS, LDAP_PORTS, OutboundUrl, parse_url
from support.rows import each_row


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


@each_row(
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


def test_a_place_is_written_as_the_option_takes_it() -> None:
    assert parse_url("https://[fd00::7]/k8s", HTTP_PORTS).place == "[fd00::7]:443"
    assert parse_url("http://inner.example.com:81", HTTP_PORTS).place == "inner.example.com:81"


class TestHolding:
    """What lies at a place or below it."""

    def holds(self, root: str, path: str, origin: str = "https://h.example.com") -> bool:
        other = replace(parse_url(origin, HTTP_PORTS), path=path)
        return parse_url(f"https://h.example.com{root}", HTTP_PORTS).holds(other)

    @pytest.mark.parametrize("path", ["", "/", "/a", "/a/../b", "/%2e%2e/a"])
    def test_a_place_without_a_path_holds_all_of_its_host(self, path: str) -> None:
        assert self.holds("", path)

    @pytest.mark.parametrize(
        "path", ["/base", "/base/", "/base/a", "/base/a..b/..c", "/base/a%2Fb", "/base//a"]
    )
    def test_a_place_with_a_path_holds_what_is_below(self, path: str) -> None:
        assert self.holds("/base/", path)

    @each_row(
        "path",
        [
            "",
            "/",
            "/other",
            "/based",
            "/BASE",
            "//base",
            "/base/../other",
            "/base/..",
            "/base/./a",
            "/base/%2e%2E/other",
            "/base/%252e%252e/other",
            "/base/a%2F..%2F..%2Fother",
            "/base/..\\other",
            "/base/..%5Cother",
            "/base/..;x=1/other",
        ],
    )
    def test_it_holds_nothing_beside_it_however_that_is_written(self, path: str) -> None:
        assert not self.holds("/base", path)

    @pytest.mark.parametrize(
        "origin", ["http://h.example.com:443", "https://h.example.com:444", "https://i.example.com"]
    )
    def test_another_place_is_not_held(self, origin: str) -> None:
        assert not self.holds("", "/", origin)
