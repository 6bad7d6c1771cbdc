"""Which names a pattern of a policy allows, and which it denies."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.certificate_terms import NameType
from keybearer.pki.common_names import read_common_name
from keybearer.pki.name_patterns import canonical, common_name_matcher, denial_matcher, name_matcher
from keybearer.pki.names import AlternativeName
from keybearer.pki.uris import canonical_uri, fault_of_uri
from support.rows import each_row

_DNS, _EMAIL, _IP, _URI, _UPN = (
    NameType.DNS_NAME,
    NameType.EMAIL,
    NameType.IP_ADDRESS,
    NameType.URI,
    NameType.UPN,
)
_ALLOWED: dict[str, tuple[NameType, str, str]] = {
    "the host itself": (_DNS, "WWW.example.com", "www.EXAMPLE.com"),
    "one label": (_DNS, "*.example.com", "www.example.com"),
    "any depth": (_DNS, "**.example.com", "a.b.example.com"),
    "any host": (_DNS, "*", "a.b.example.com"),
    "any host, written longer": (_DNS, "**", "a.b.example.com"),
    "a part of a label": (_DNS, "web-*.example.com", "web-1.example.com"),
    "any end": (_DNS, "www.**", "www.example.com"),
    "one character": (_DNS, "web-?.example.com", "web-1.example.com"),
    "several labels": (_DNS, "*.*.example.com", "a.b.example.com"),
    "both kinds": (_DNS, "*-web.**.example.com", "a-web.b.c.example.com"),
    "a wildcard, if the policy says so": (_DNS, "*.example.com", "*.example.com"),
    "a mailbox of a host": (_EMAIL, "*@example.com", "first.last@EXAMPLE.com"),
    "mailboxes of one label below": (_EMAIL, "*@*.example.com", "web@mail.example.com"),
    "any mailbox": (_EMAIL, "*", "web@a.example.com"),
    "a network, as it is written": (_IP, "10.0.*", "10.0.0.1"),
    "an address written otherwise": (_IP, "2001:DB8:0::1", "2001:db8::1"),
    "a workload": (_URI, "spiffe://td/ns/*", "spiffe://TD/ns/a/sa/b"),
    "an encoded letter": (_URI, "spiffe://td/ns/*", "spiffe://td/%6Es/a"),
    "an encoded letter in the pattern": (_URI, "spiffe://td/%6es/*", "spiffe://td/ns/a"),
    "one label of the host of a URI": (_URI, "https://*.example.com/*", "https://a.example.com/b/c"),
    "any host of URIs": (_URI, "https://*/x", "https://a.example.com:8443/x"),
    "any URI": (_URI, "*", "urn:uuid:1"),
    "any end of a URI": (_URI, "https://a/**", "https://a/b?c=d"),
    "a query that is written": (_URI, "https://a/b?c=*", "https://a/b?c=d"),
    "a URI without a host": (_URI, "urn:example:*", "urn:example:a/b"),
    "a principal": (_UPN, "*@EXAMPLE", "web@EXAMPLE"),
}
_NOT_ALLOWED: dict[str, tuple[NameType, str, str]] = {
    "two labels": (_DNS, "*.example.com", "a.b.example.com"),
    "no label": (_DNS, "*.example.com", "example.com"),
    "a single label elsewhere": (_DNS, "*.example.com", "localhost"),
    "another domain that ends so": (_DNS, "*.example.com", "a.notexample.com"),
    "labels after a label": (_DNS, "www.*", "www.example.com"),
    "a dot for one character": (_DNS, "a?example.com", "a.example.com"),
    "a wildcard for one character": (_DNS, "?.example.com", "*.example.com"),
    "a wildcard for a part of a label": (_DNS, "web*.example.com", "*.example.com"),
    "mailboxes two labels below": (_EMAIL, "*@*.example.com", "web@a.b.example.com"),
    "mailboxes of another host": (_EMAIL, "*@example.com", "web@a.example.com"),
    "the case of a mailbox": (_EMAIL, "web@example.com", "Web@example.com"),
    "another path": (_URI, "spiffe://td/ns/*", "spiffe://td/root"),
    "a query": (_URI, "spiffe://td/ns/*", "spiffe://td/ns/a?b"),
    "two labels of the host of a URI": (_URI, "https://*.example.com/*", "https://a.b.example.com/"),
    "a path in the place of a host": (_URI, "https://*.example.com/*", "https://evil/.example.com/"),
    "another port": (_URI, "https://*.example.com/*", "https://a.example.com:8443/"),
    "another scheme": (_URI, "https://a/*", "http://a/b"),
    "a host for the scheme": (_URI, "*://a/b", "https://evil/://a/b"),
}
_COMMON: dict[str, tuple[str, str, bool]] = {
    "one label": ("*.example.com", "WWW.example.com", True),
    "two labels": ("*.example.com", "a.b.example.com", False),
    "any depth": ("**.example.com", "a.b.example.com", True),
    "a field in it": ("*.example.com", "evil,O=x.example.com", False),
    "a host and a field at any depth": ("**.example.com", "evil.com/CN=.example.com", False),
    "any host": ("*", "a.b.example.com", True),
    "an address": ("*", "10.0.0.1", True),
    "a person where hosts are allowed": ("*", "Jane Doe", False),
    "any text": ("**", "Jane Doe/x", True),
    "text that is written": ("Jane Doe", "Jane Doe", True),
    "text that is written, of hosts": ("web_1-", "web_1-", True),
    "text under a rule for text": ("system:node:*", "system:node:a.b c", True),
    "other text": ("system:node:*", "system:masters", False),
    "letters of full width": ("*.example.com", "\uff45vil.example.com", False),
    "case where it is written": ("alice", "Alice", False),
}


@each_row(("kind", "pattern", "name"), _ALLOWED.values(), ids=_ALLOWED)
def test_what_a_pattern_allows(kind: NameType, pattern: str, name: str) -> None:
    assert name_matcher(kind, pattern)(canonical(kind, name))


@each_row(("kind", "pattern", "name"), _NOT_ALLOWED.values(), ids=_NOT_ALLOWED)
def test_what_a_pattern_does_not_allow(kind: NameType, pattern: str, name: str) -> None:
    assert not name_matcher(kind, pattern)(canonical(kind, name))


@each_row(("pattern", "name", "is_allowed"), _COMMON.values(), ids=_COMMON)
def test_which_common_names_a_pattern_allows(pattern: str, name: str, is_allowed: bool) -> None:  # noqa: FBT001
    assert common_name_matcher(pattern)(name) is is_allowed


@each_row(
    ("kind", "pattern", "name"),
    [
        pytest.param(_DNS, "*.example.com", "A.B.example.com", id="any depth"),
        pytest.param(_DNS, "admin.example.com", "*.example.com", id="a wildcard for it"),
        pytest.param(_URI, "spiffe://td/admin*", "SPIFFE://td/%61dmin/x?y", id="a URI written otherwise"),
        pytest.param(_EMAIL, "*@example.com", "web@EXAMPLE.com", id="a mail host in another case"),
        pytest.param(None, "root*", "ROOT of all", id="other text"),
        pytest.param(_DNS, "admin.example.com.", "admin.example.com", id="a dot at its end"),
        pytest.param(_DNS, " admin.example.com ", "admin.example.com", id="blanks around it"),
        pytest.param(_DNS, "*.b\u00fccher.example", "a.xn--bcher-kva.example", id="a host in another script"),
        pytest.param(_DNS, "\uff41dmin\u3002example.com", "admin.example.com", id="letters of full width"),
        pytest.param(
            None, "b\u00fccher.example", "xn--bcher-kva.example", id="a common name in another script"
        ),
        pytest.param(
            None, "admin.example.com.", "admin.example.com", id="a common name with a dot at its end"
        ),
        pytest.param(
            _EMAIL, "*@b\u00fccher.example", "a@xn--bcher-kva.example", id="a mail host in another script"
        ),
        pytest.param(_EMAIL, "*@example.com.", "a@example.com", id="a mail host with a dot at its end"),
        pytest.param(_IP, "2001:db8:0:0:*", "2001:db8::5", id="zeros of an address that are written out"),
        pytest.param(_IP, "2001:0db8:0000:*", "2001:db8::5", id="an address that is written out"),
        pytest.param(_IP, "::ffff:10.*", "10.0.0.1", id="a mapped address"),
        pytest.param(
            _URI, "https://admin.example.com/*", "https://admin.example.com:443/x", id="the usual port"
        ),
        pytest.param(_URI, "https://admin.example.com:443/*", "https://admin.example.com/x", id="no port"),
        pytest.param(_URI, "https://admin.example.com/*", "https://admin.example.com", id="no path"),
        pytest.param(_URI, "https://admin.example.com", "https://admin.example.com/", id="the path alone"),
        pytest.param(_URI, "https://admin.example.com/*", "https://admin.example.com./x", id="a dotted host"),
        pytest.param(
            _URI, "https://admin.example.com./*", "https://admin.example.com/x", id="a dot in the pattern"
        ),
    ],
)
def test_a_denial_is_read_widely(kind: NameType | None, pattern: str, name: str) -> None:
    assert denial_matcher(kind, [pattern])(name if kind is None else canonical(kind, name))


@given(
    st.text("ab.*?", max_size=12),
    st.text("ab.", max_size=12),
)
def test_wildcards_stand_for_what_expressions_say(pattern: str, name: str) -> None:
    written = re.sub(
        r"\*\*|\*|\?|\.", lambda found: {"**": ".*", "*": "[^.]*", "?": "[^.]", ".": r"\."}[found[0]], pattern
    )
    expected = pattern in ("*", "**") or re.fullmatch(written, name) is not None
    if pattern.startswith("*.") and not set(pattern[1:]) & set("*?"):
        expected = expected and not name.startswith(".")  # no label is empty
    assert name_matcher(_DNS, pattern)(name) is expected


def test_a_pattern_of_many_wildcards_takes_no_time() -> None:
    # Tried one after the other, these would be more ways than there are atoms.
    assert not name_matcher(_DNS, "*a" * 16 + "b")("a" * 255)
    assert not name_matcher(_DNS, "**a*" * 8 + "b")("a" * 255)


@each_row(
    ("uri", "fault"),
    [
        ("spiffe://td/ns/x", None),
        ("spiffe://td/ns/x...", None),
        ("urn:example:a", None),
        ("https://a/b?c=%2F..%2F", None),
        ("spiffe://td/../x", "dot segments"),
        ("spiffe://td/x/.", "dot segments"),
        ("spiffe://td/%2E%2e/x", "dot segments"),
        ("urn:a/../b", "dot segments"),
        ("spiffe://td/a%2fb", "slash"),
        ("spiffe://td/a%5Cb", "backslash"),
        ("spiffe://td/a%00b", "control character"),
        ("spiffe://me@td/a", "user"),
        ("spiffe://me:pw@td", "user"),
        ("spiffe://td/a#b", "fragment"),
        ("spiffe://td/a?b#c", "fragment"),
        ("spiffe://td/100%", "begins no octet"),
        ("//td/a", "absolute"),
    ],
)
def test_uris_that_cannot_be_compared(uri: str, fault: str | None) -> None:
    found = fault_of_uri(uri)
    assert found is None if fault is None else found is not None and fault in found


@given(st.text(string.ascii_letters + string.digits + "%:/?#.~-_@", max_size=30))
def test_a_canonical_uri_stays_as_it_is(uri: str) -> None:
    once = canonical_uri(uri)
    assert canonical_uri(once) == once


@each_row(
    ("common_name", "read"),
    [
        ("www.example.com", AlternativeName(_DNS, "www.example.com")),
        (" WWW.Example.com. ", AlternativeName(_DNS, "www.example.com")),
        ("\uff25\uff36\uff29\uff2c.com", AlternativeName(_DNS, "evil.com")),
        ("*.example.com", AlternativeName(_DNS, "*.example.com")),
        ("10.0.0.1", AlternativeName(_IP, "10.0.0.1")),
        ("2001:DB8::1", AlternativeName(_IP, "2001:db8::1")),
        ("web@Example.com", AlternativeName(_EMAIL, "web@example.com")),
        ("https://example.com/x", AlternativeName(_URI, "https://example.com/x")),
        ("Jane Doe", None),
        ("system:node:a", None),
    ],
)
def test_what_a_common_name_is_taken_for(common_name: str, read: AlternativeName | None) -> None:
    assert read_common_name(common_name) == read
