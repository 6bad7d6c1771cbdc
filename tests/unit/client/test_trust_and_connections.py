"""Whom connections trust, who closes them, and that they carry nothing over from one identity to another."""

from __future__ import annotations

import asyncio
import pickle
import ssl
import threading
import traceback
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from keybearer.client import (
    AsyncKeybearer,
    AsyncPools,
    ClientClosed,
    InvalidArgument,
    Keybearer,
    SuppliedToken,
    TransportError,
    new_async_http,
    new_http,
)
from unit.client.harness import URL, FakeService
from unit.client.real_service import ONCE, Ask, serving


def told(error: BaseException) -> str:
    """Return what a traceback shows of an error and of all that it is chained to, but for lines of source."""
    story = traceback.TracebackException.from_exception(error)
    texts: list[str] = []
    while True:
        texts += story.format_exception_only()
        cause = story.__cause__ or (None if story.__suppress_context__ else story.__context__)
        if cause is None:
            return "".join(texts)
        story = cause


@pytest.fixture
def authority(tmp_path: Path) -> tuple[bytes, ssl.SSLContext]:
    """Return a certificate in PEM, and the TLS side of a server on loopback that shows it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    chain = tmp_path / "chain.pem"
    chain.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + pem
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return pem, context


async def _ok(_: web.Request) -> web.Response:
    return web.json_response({"message": "Ok"})


@pytest.mark.parametrize("comment", ["", "# Subject: CN=Főtanúsítvány\n"])
async def test_certificates_given_in_pem_are_trusted_whatever_stands_beside_them(
    ask: Ask, authority: tuple[bytes, ssl.SSLContext], comment: str
) -> None:
    certificate, tls = authority
    pem = comment.encode() + certificate
    async with serving(_ok, tls) as url:
        assert await ask(url.replace("127.0.0.1", "localhost"), replace(ONCE, ca_pem=pem)) == "Ok"


async def test_without_them_an_unknown_certificate_is_not_trusted_and_retrying_is_no_use(
    ask: Ask, authority: tuple[bytes, ssl.SSLContext]
) -> None:
    _, tls = authority
    async with serving(_ok, tls) as url:
        with pytest.raises(TransportError, match="certificate is not trusted") as error:
            await ask(url.replace("127.0.0.1", "localhost"), replace(ONCE, ca_pem=None))
    assert not error.value.is_retryable
    assert not error.value.sent
    assert error.value.is_untrusted
    assert pickle.loads(pickle.dumps(error.value)).is_untrusted  # noqa: S301 - our own


async def test_a_trusted_certificate_of_another_name_is_refused(
    ask: Ask, authority: tuple[bytes, ssl.SSLContext]
) -> None:
    pem, tls = authority
    async with serving(_ok, tls) as url:
        with pytest.raises(TransportError, match="certificate is not trusted"):
            await ask(url.replace("localhost", "127.0.0.1"), replace(ONCE, ca_pem=pem))


@pytest.mark.parametrize(
    "pem",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"cnry-no certificate", id="a text"),
        pytest.param(b"\xff\xfe", id="bytes"),
        pytest.param(
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", id="a broken certificate"
        ),
        pytest.param("-----BEGIN CERTIFICATE-----\nkäse\n".encode(), id="a certificate that is not ASCII"),
    ],
)
def test_what_holds_no_certificates_is_refused(pem: bytes) -> None:
    with pytest.raises(InvalidArgument, match="ca_pem"):
        new_http(replace(ONCE, ca_pem=pem))


async def test_cookies_are_not_carried_from_one_identity_to_another() -> None:
    cookies: list[str | None] = []

    async def answer(request: web.Request) -> web.Response:
        cookies.append(request.headers.get("Cookie"))
        response = web.json_response({"message": "Ok"})
        response.set_cookie("session", "cnry-session")
        return response

    async with serving(answer) as url:
        async with new_async_http(ONCE) as http:
            await AsyncKeybearer(url, SuppliedToken("cnry-a"), options=ONCE, http=http).status.get()
            await AsyncKeybearer(url, SuppliedToken("cnry-b"), options=ONCE, http=http).status.get()
            assert len(http.cookies.jar) == 0, "they are not even kept"
        await asyncio.to_thread(_twice_blocking, url)
    assert cookies == [None] * 4


def _twice_blocking(url: str) -> None:
    with new_http(ONCE) as http:
        Keybearer(url, SuppliedToken("cnry-a"), options=ONCE, http=http).status.get()
        Keybearer(url, SuppliedToken("cnry-b"), options=ONCE, http=http).status.get()
        assert len(http.cookies.jar) == 0


async def test_a_borrowed_client_adds_nothing_of_its_own_and_is_not_closed(service: FakeService) -> None:
    service.on("/api/status", httpx.Response(200, json={"message": "Ok"}))
    http = httpx.AsyncClient(
        transport=httpx.MockTransport(service),
        headers={"Authorization": "Bearer cnry-of-another", "X-Other": "1"},
        params={"other": "1"},
        auth=("user", "cnry-password"),
        follow_redirects=True,
    )
    async with AsyncKeybearer(URL, options=ONCE, http=http) as client:
        await client.status.get()
    assert not http.is_closed
    await http.aclose()
    assert "authorization" not in service.seen[0].headers
    assert "x-other" not in service.seen[0].headers
    assert service.seen[0].url.query == b""


async def test_pools_lend_the_same_connections_for_the_same_trust_and_close_them_all(
    authority: tuple[bytes, ssl.SSLContext],
) -> None:
    pools = AsyncPools()
    private = replace(ONCE, ca_pem=authority[0])
    first, second, third = (
        pools.lend(ONCE),
        pools.lend(replace(ONCE, user_agent="other/1")),
        pools.lend(private),
    )
    assert first is second
    assert first is not None
    assert third is not None
    assert first is not third
    async with AsyncKeybearer(URL, options=private, http=third):
        pass
    assert not third.is_closed
    await pools.aclose()
    assert first.is_closed
    assert third.is_closed


async def test_beyond_a_number_of_trusts_clients_bring_connections_of_their_own(
    authority: tuple[bytes, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keybearer.client.transport._POOLS_MAX", 1)
    pools = AsyncPools()
    assert pools.lend(ONCE) is not None
    assert pools.lend(replace(ONCE, ca_pem=authority[0])) is None
    assert pools.lend(ONCE) is not None
    await pools.aclose()


async def test_connections_that_their_owner_closed_are_told_as_such() -> None:
    http = new_async_http(ONCE)
    await http.aclose()
    with pytest.raises(ClientClosed, match="connections"):
        await AsyncKeybearer(URL, options=ONCE, http=http).status.get()
    blocking = new_http(ONCE)
    blocking.close()
    with pytest.raises(ClientClosed, match="connections"):
        Keybearer(URL, options=ONCE, http=blocking).status.get()


async def test_connections_of_our_own_are_closed() -> None:
    client = AsyncKeybearer(URL, options=ONCE)
    await client.aclose()
    assert client._http.is_closed
    with Keybearer(URL, options=ONCE) as blocking:
        pass
    assert blocking._http.is_closed


async def test_own_connections_are_closed_even_if_farewell_is_cut_short() -> None:
    client = AsyncKeybearer(URL, options=ONCE)
    client.session.wallet.granted.append("cnry-token")

    async def hang(_: object) -> None:
        raise asyncio.CancelledError

    client._take = hang  # type: ignore[method-assign,assignment]
    with pytest.raises(asyncio.CancelledError):
        await client.aclose()
    assert client._http.is_closed


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.LocalProtocolError("Illegal header value b'Bearer cnry-token'"),
        httpx.ReadError("x"),
        httpx.UnsupportedProtocol("ftp"),
    ],
    ids=["a header that httpx refuses", "a reset", "an unknown protocol"],
)
async def test_texts_of_the_library_that_show_a_header_go_no_further(
    service: FakeService, trouble: Exception
) -> None:
    service.on("/api/v4/secrets/A", trouble)
    async with httpx.AsyncClient(transport=httpx.MockTransport(service)) as http:
        client = AsyncKeybearer(URL, SuppliedToken("cnry-token"), options=ONCE, http=http)
        with pytest.raises(TransportError) as error:
            await client.secrets.create("A", "cnry-value", project_id="p-1", environment="dev")
    assert "cnry-" not in told(error.value)


async def test_a_connection_is_not_used_again_when_a_server_may_be_closing_it() -> None:
    came_from: list[str] = []

    async def note(request: web.Request) -> web.Response:
        assert request.transport is not None
        came_from.append(request.transport.get_extra_info("peername"))
        return await _ok(request)

    def ask_now_and_later(url: str) -> None:
        with Keybearer(url, SuppliedToken("cnry-token"), options=ONCE) as client:
            for wait in (0.0, 0.0, 4.0):  # servers close idle connections after 5 s
                threading.Event().wait(wait)
                client.status.get()

    async with serving(note) as url:
        await asyncio.to_thread(ask_now_and_later, url)
    first, at_once, later = came_from
    assert first == at_once
    assert later != at_once
