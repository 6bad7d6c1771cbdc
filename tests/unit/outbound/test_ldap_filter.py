from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.outbound.ldap_filter import (
    Combined,
    Comparison,
    Extensible,
    Filter,
    Negated,
    Presence,
    Substrings,
    filled,
    names_user,
    parse_filter,
)
from support.rows import each_row


@each_row(
    ("text", "parsed"),
    [
        ("uid=a", Comparison("=", "uid", b"a")),
        ("(uid=a)", Comparison("=", "uid", b"a")),
        ("(uid=)", Comparison("=", "uid", b"")),
        ("(age>=3)", Comparison(">=", "age", b"3")),
        ("(age<=3)", Comparison("<=", "age", b"3")),
        ("(cn~=a)", Comparison("~=", "cn", b"a")),
        ("(cn=*)", Presence("cn")),
        ("(cn=a*b*c)", Substrings("cn", b"a", (b"b",), b"c")),
        ("(cn=*b)", Substrings("cn", b"", (), b"b")),
        (r"(cn=\28\2a\29\5c\00)", Comparison("=", "cn", b"(*)\\\0")),
        ("(cn;lang-de=ä)", Comparison("=", "cn;lang-de", "ä".encode())),
        (
            "(&(objectClass=person)(|(uid=a)(!(mail=b))))",
            Combined(
                "&",
                (
                    Comparison("=", "objectClass", b"person"),
                    Combined("|", (Comparison("=", "uid", b"a"), Negated(Comparison("=", "mail", b"b")))),
                ),
            ),
        ),
        (
            "(memberOf:1.2.840.113556.1.4.1941:=cn=a,dc=b)",
            Extensible("memberOf", "1.2.840.113556.1.4.1941", b"cn=a,dc=b", dn_attributes=False),
        ),
        ("(ou:dn:=a)", Extensible("ou", "", b"a", dn_attributes=True)),
    ],
)
def test_a_filter_is_read_as_rfc_4515_writes_it(text: str, parsed: Filter) -> None:
    assert parse_filter(text) == parsed


@each_row(
    "text",
    [
        "",
        "()",
        "(",
        "(uid=a",
        "(uid=a))",
        "(uid=a)(uid=b)",
        "(&)",
        "(!(a=b)(c=d))",
        "(=a)",
        "(uid)",
        "(:=a)",
        "(u id=a)",
        "(uid=(a))",
        r"(uid=\zz)",
        r"(uid=\2)",
        "(uid=a\0)",
        "(" * 500,
        "(!" * 30 + "(a=b)" + ")" * 30,
        f"(uid={'a' * 5000})",
    ],
)
def test_what_is_no_filter_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_filter(text)


_TEMPLATE = parse_filter("(&(objectClass=person)(|(uid={{username}})(cn={{username}}*)))")


@given(st.text())
def test_no_name_changes_what_a_filter_asks(name: str) -> None:
    given_name = name.encode(errors="ignore")
    usable = given_name.decode()
    assert filled(_TEMPLATE, usable) == Combined(
        "&",
        (
            Comparison("=", "objectClass", b"person"),
            Combined("|", (Comparison("=", "uid", given_name), Substrings("cn", given_name, (), b""))),
        ),
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("(uid={{username}})", True),
        ("(cn=x{{username}}*)", True),
        ("(uid=*)", False),
        ("(uid=username)", False),
    ],
)
def test_a_filter_without_the_name_is_told(text: str, *, named: bool) -> None:
    assert names_user(parse_filter(text)) is named


@given(st.text(max_size=200))
def test_reading_ends_in_a_filter_or_a_refusal(text: str) -> None:
    try:
        parse_filter(text)
    except ValueError:
        return
