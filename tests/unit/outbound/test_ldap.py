from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keybearer.outbound.allowed import parse_allowed
from keybearer.outbound.errors import OutboundFailedError, OutboundRefusedError
from keybearer.outbound.gate import CheckedPlace, Gate
from keybearer.outbound.ldap import Directory, DirectoryAccess, DirectoryUser, WrongPasswordError
from keybearer.outbound.ldap_filter import parse_filter
from keybearer.outbound.ldap_messages import bind_request, message_length, read_message
from keybearer.outbound.trust import trust
from keybearer.outbound.urls import OutboundUrl
from support.directory import BIND, EXTENDED, SEARCH, Told, answered, found, loopback_gate, scripted_directory
from tools.controlplane.certificates import create_identity

HOST = "ldap.example.com"
ALICE = "uid=alice,dc=example,dc=com"
LISTED = "127.0.0.0/8"
Script = Callable[[int, int, bytes], bytes | None]


def access(port: int, *, scheme: str = "ldap", host: str = HOST, ca_pem: str = "") -> DirectoryAccess:
    return DirectoryAccess(
        OutboundUrl(scheme, host, port, ""),
        trust(ca_pem),
        demands_tls=bool(ca_pem),
        bind_dn="cn=reader",
        bind_password="cnry-reader",
        search_base="dc=example,dc=com",
    )


def good(number: int, tag: int, request: bytes) -> bytes | None:  # noqa: ARG001 - a script's arguments
    if tag == SEARCH:
        return found(number, ALICE, memberOf="admins") + answered(number, SEARCH, 0)
    return answered(number, tag, 0)


def refusing(refused: int, code: int, *, nth: int = 1) -> Script:
    """A directory that answers the n-th request of a kind with this code."""
    seen = 0

    def script(number: int, tag: int, request: bytes) -> bytes | None:
        nonlocal seen
        seen += tag == refused
        return answered(number, tag, code) if tag == refused and seen == nth else good(number, tag, request)

    return script


async def ask(
    script: Script, *, password: str = "cnry-alice", allow: str = LISTED
) -> tuple[DirectoryUser, Told]:
    async with scripted_directory(script) as (port, told):
        directory = Directory(loopback_gate(allow))
        found_user = await directory.authenticate(
            access(port), parse_filter("(uid=alice)"), password, ["memberOf"]
        )
        return found_user, told


async def test_the_password_is_tried_on_the_entry_that_was_found() -> None:
    user, told = await ask(good)
    assert (user.dn, user.attributes) == (ALICE, {"memberof": (b"admins",)})
    first, search, second = told.requests[:3]
    assert (first[5], search[5], second[5]) == (BIND, SEARCH, BIND)
    assert b"cn=reader" in first
    assert ALICE.encode() in second
    assert b"cnry-alice" in second


async def test_an_empty_password_never_reaches_the_directory() -> None:
    with pytest.raises(WrongPasswordError):
        await ask(good, password="")
    with pytest.raises(ValueError, match="needs a DN and a password"):
        bind_request(1, ALICE, "")


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(refusing(BIND, 49, nth=2), id="another password"),
        pytest.param(refusing(SEARCH, 0), id="nobody"),
        pytest.param(
            lambda number, tag, request: (
                found(number, ALICE) + found(number, "uid=other") + answered(number, SEARCH, 0)
                if tag == SEARCH
                else good(number, tag, request)
            ),
            id="several",
        ),
        pytest.param(
            lambda number, tag, request: (
                found(number, "") + answered(number, SEARCH, 0)
                if tag == SEARCH
                else good(number, tag, request)
            ),
            id="an entry without a name, as which a bind would be nobody's",
        ),
    ],
)
async def test_who_is_not_known_for_sure_is_not_let_in(script: Script) -> None:
    with pytest.raises(WrongPasswordError):
        await ask(script)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(refusing(BIND, 49), id="the reader's password is wrong"),
        pytest.param(refusing(BIND, 14, nth=2), id="a bind that is not finished"),
        pytest.param(refusing(BIND, 10, nth=2), id="a referral instead of a bind"),
        pytest.param(refusing(SEARCH, 50), id="no right to search"),
        pytest.param(refusing(SEARCH, 10), id="a referral instead of a search"),
        pytest.param(lambda number, tag, _: answered(number + 1, tag, 0), id="an answer to something else"),
        pytest.param(lambda *_: b"HTTP/1.1 400 Bad Request\r\n\r\n", id="no LDAP at all"),
        pytest.param(lambda *_: b"\x30\x05\x02\x01\x01\x61\x00", id="a message without its content"),
        pytest.param(lambda *_: b"\x30\x84\x7f\xff\xff\xff", id="a length of two gigabytes"),
        pytest.param(lambda *_: b"\x30\x80", id="a length that comes later"),
        pytest.param(lambda *_: None, id="a connection that ends"),
        pytest.param(
            lambda number, tag, request: (
                found(number, ALICE, a="x" * 60_000) * 2 if tag == SEARCH else good(number, tag, request)
            ),
            id="too much",
        ),
    ],
)
async def test_a_directory_that_fails_lets_nobody_in(script: Script) -> None:
    with pytest.raises(OutboundFailedError):
        await ask(script)


async def test_references_of_a_search_are_not_followed() -> None:
    def script(number: int, tag: int, request: bytes) -> bytes | None:
        if tag != SEARCH:
            return good(number, tag, request)
        uri = b"ldap://other.example.com/"
        content = bytes([0x02, 1, number, 0x73, len(uri) + 2, 0x04, len(uri)]) + uri
        reference = bytes([0x30, len(content)]) + content
        return reference + found(number, ALICE) + answered(number, SEARCH, 0)

    user, told = await ask(script)
    assert (user.dn, told.connections) == (ALICE, 1)


async def test_an_inner_directory_that_is_not_listed_is_not_called() -> None:
    async with scripted_directory(good) as (port, told):
        with pytest.raises(OutboundRefusedError):
            await Directory(loopback_gate()).authenticate(
                access(port), parse_filter("(uid=alice)"), "cnry-alice", []
            )
        assert told.connections == 0


class _Tls:
    """A CA, and a server's context for localhost and 127.0.0.1."""

    def __init__(self, directory: Path) -> None:
        identity = create_identity(directory, datetime.now(UTC))
        self.ca_pem = identity.ca_certificate.read_text()
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server.load_cert_chain(identity.server.certificate, identity.server.key)


@pytest.fixture
def tls(tmp_path: Path) -> _Tls:
    return _Tls(tmp_path)


async def test_ldaps_is_verified_against_the_name(tls: _Tls) -> None:
    search = parse_filter("(uid=alice)")
    async with scripted_directory(good, tls=tls.server) as (port, told):
        for name, ca_pem, accepted in (
            ("localhost", tls.ca_pem, True),
            ("ldap.example.com", tls.ca_pem, False),
            ("localhost", "", False),
        ):
            directory = Directory(loopback_gate(LISTED, name=name))
            given = access(port, scheme="ldaps", host=name, ca_pem=ca_pem)
            if accepted:
                assert (await directory.authenticate(given, search, "cnry-alice", [])).dn == ALICE
                told.requests.clear()
            else:
                with pytest.raises(OutboundFailedError):
                    await directory.authenticate(given, search, "cnry-alice", [])
                assert told.requests == []


async def test_a_certificate_makes_plain_ldap_begin_with_starttls(tls: _Tls) -> None:
    async with scripted_directory(refusing(EXTENDED, 2)) as (port, told):
        given = access(port, ca_pem=tls.ca_pem)
        with pytest.raises(OutboundFailedError, match="refuses StartTLS"):
            await Directory(loopback_gate(LISTED)).authenticate(
                given, parse_filter("(uid=alice)"), "cnry-alice", []
            )
    assert [request[5] for request in told.requests] == [EXTENDED]


class _OpenGate(Gate):
    """Lets everybody to loopback, as if it were the open Internet."""

    async def check(self, host: str, port: int) -> CheckedPlace:
        return CheckedPlace(host, port, (ipaddress.ip_address("127.0.0.1"),), listed=False)


async def test_a_directory_that_is_not_listed_hears_nothing_in_clear() -> None:
    async with scripted_directory(refusing(EXTENDED, 2)) as (port, told):
        with pytest.raises(OutboundFailedError, match="refuses StartTLS"):
            await Directory(_OpenGate(parse_allowed([]))).authenticate(
                access(port), parse_filter("(uid=alice)"), "cnry-alice", []
            )
    assert [request[5] for request in told.requests] == [EXTENDED]


async def test_what_comes_in_clear_after_starttls_was_agreed_on_is_not_believed(tls: _Tls) -> None:
    def script(number: int, tag: int, request: bytes) -> bytes | None:  # noqa: ARG001 - a script's arguments
        # The answers that a login waits for, ahead of the handshake.
        return answered(number, EXTENDED, 0) + answered(2, BIND, 0) if tag == EXTENDED else b""

    async with scripted_directory(script) as (port, _):
        with pytest.raises(OutboundFailedError, match="connection failed"):
            await Directory(loopback_gate(LISTED)).authenticate(
                access(port, ca_pem=tls.ca_pem), parse_filter("(uid=alice)"), "cnry-alice", []
            )


@pytest.mark.parametrize(
    ("head", "length"),
    [
        (b"", None),
        (b"\x30", None),
        (b"\x30\x05", (2, 5)),
        (b"\x30\x82\x01", None),
        (b"\x30\x82\x01\x00", (4, 256)),
    ],
)
def test_the_length_of_a_message_stands_in_its_first_bytes(
    head: bytes, length: tuple[int, int] | None
) -> None:
    assert message_length(head) == length


def test_the_message_of_a_request_is_no_answer() -> None:
    with pytest.raises(OutboundFailedError):
        read_message(bind_request(1, ALICE, "cnry-alice"))


_MESSAGES = (
    found(1, ALICE, memberOf="admins", mail="a@example.com"),
    answered(1, SEARCH, 0),
    answered(1, BIND, 49),
    answered(1, EXTENDED, 2),
)


@given(
    st.one_of(
        st.binary(max_size=64),
        st.builds(
            lambda message, changes: bytes(
                changes.get(position, byte) for position, byte in enumerate(message)
            ),
            st.sampled_from(_MESSAGES),
            st.dictionaries(st.integers(0, 90), st.integers(0, 255), max_size=4),
        ),
    )
)
@example(b"\x30\x80" * 30_000)
@example(b"\x30\x05\x02\x01\x01\x61\x00")
@example(bytes.fromhex("30590288ff0178077c01020400cc"))
@example(
    bytes.fromhex(
        "302c020101642704057569643d61301e308004086d656d6265724f663103040178300b04046d61696c3103040179"
    )
)
@settings(max_examples=1000)
def test_whatever_a_directory_sends_is_read_or_refused(encoded: bytes) -> None:
    try:
        read_message(encoded)
    except OutboundFailedError:
        return
