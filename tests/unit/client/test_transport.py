"""What only real connections show: time, length, trust, redirects, cookies, headers of others."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import socket
import ssl
import threading
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from keybearer.client import (
    NO_RETRIES,
    AnswerTooLong,
    AsyncKeybearer,
    AsyncPools,
    ClientClosed,
    ClientError,
    ClientOptions,
    DecodeError,
    InvalidArgument,
    Keybearer,
    ServiceError,
    SuppliedToken,
    TransportError,
    new_async_http,
    new_http,
)
from unit.client.harness import URL, FakeService

ONCE = ClientOptions(retry=NO_RETRIES, process_env={})
Ask = Callable[[str, ClientOptions], Awaitable[str]]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def _ask_async(url: str, options: ClientOptions) -> str:
    async with AsyncKeybearer(url, SuppliedToken("cnry-token"), options=options) as client:
        return await client.status.get()


def _ask_blocking(url: str, options: ClientOptions) -> str:
    with Keybearer(url, SuppliedToken("cnry-token"), options=options) as client:
        return client.status.get()


@pytest.fixture(params=["asynchronous", "blocking"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Return how to ask a service for its state with a client of either kind."""
    if request.param == "asynchronous":
        return _ask_async
    return lambda url, options: asyncio.to_thread(_ask_blocking, url, options)


@contextlib.asynccontextmanager
async def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve every path by the handler, and yield the address."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    server = TestServer(app, scheme="https" if tls else "http")
    await server.start_server(ssl=tls)
    try:
        yield str(server.make_url("")).rstrip("/")
    finally:
        await server.close()


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


async def test_the_state_is_read_over_a_real_connection(ask: Ask) -> None:
    seen: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append({name.lower(): value for name, value in request.headers.items()})
        return web.json_response({"message": "Ok"})

    async with serving(answer) as url:
        assert await ask(f"{url}/api/", replace(ONCE, user_agent="test/1")) == "Ok"
    assert seen[0]["user-agent"] == "test/1"
    assert seen[0]["accept"] == "application/json"
    assert seen[0]["accept-encoding"] == "identity"
    assert "authorization" not in seen[0]


@pytest.mark.parametrize("declares", [True, False], ids=["declared", "undeclared"])
async def test_an_answer_that_is_too_long_is_refused_while_it_comes(ask: Ask, declares: bool) -> None:  # noqa: FBT001
    sent = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(headers={"Content-Length": str(10**9)} if declares else {})
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            for _ in range(10_000):
                await response.write(b"x" * 65536)
                sent += 65536
        return response

    async with serving(answer) as url:
        with pytest.raises(AnswerTooLong, match="longer than 1000000 bytes"):
            await ask(url, replace(ONCE, max_response_bytes=1_000_000))
    assert sent < 100_000_000


async def test_an_answer_of_just_the_length_allowed_is_read(ask: Ask) -> None:
    body = b'{"message": "Ok"}'

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body)

    async with serving(answer) as url:
        assert await ask(url, replace(ONCE, max_response_bytes=len(body))) == "Ok"
        with pytest.raises(DecodeError):
            await ask(url, replace(ONCE, max_response_bytes=len(body) - 1))


@pytest.mark.parametrize("declares", [True, False], ids=["declared", "undeclared"])
async def test_a_body_waits_for_its_turn_whose_time_is_not_held_against_the_service(
    declares: bool,  # noqa: FBT001
) -> None:
    body = b'{"message": "Ok"}'
    lengths: list[int | None] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(body))} if declares else {})
        await response.prepare(request)
        await response.write(body)
        return response

    @contextlib.asynccontextmanager
    async def turn(length: int | None) -> AsyncIterator[None]:
        lengths.append(length)
        await asyncio.sleep(0.5)  # longer than the service may take
        yield

    options = replace(ONCE, timeout=timedelta(seconds=0.4))
    async with serving(answer) as url, AsyncKeybearer(url, options=options, body_turn=turn) as client:
        assert await client.status.get() == "Ok"
    assert lengths == [len(body) if declares else None]


async def test_a_body_that_drips_ends_at_the_deadline_after_its_turn_too() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            for _ in range(200):
                await response.write(b" ")
                await asyncio.sleep(0.05)
        return response

    @contextlib.asynccontextmanager
    async def turn(_: int | None) -> AsyncIterator[None]:
        yield

    options = replace(ONCE, timeout=timedelta(seconds=0.3))
    async with serving(answer) as url, AsyncKeybearer(url, options=options, body_turn=turn) as client:
        with pytest.raises(TransportError, match="no complete answer came in time"):
            await client.status.get()


async def test_an_answer_that_drips_ends_at_the_deadline(ask: Ask) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            while True:
                await response.write(b" ")
                await asyncio.sleep(0.02)
        return response

    async with serving(answer) as url:
        loop = asyncio.get_running_loop()
        began = loop.time()
        with pytest.raises(TransportError, match="in time") as error:
            await ask(url, replace(ONCE, timeout=timedelta(seconds=0.3)))
        assert loop.time() - began < 5
    assert error.value.sent


async def test_silence_ends_at_the_deadline(ask: Ask) -> None:
    async def answer(_: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response()

    async with serving(answer) as url:
        with pytest.raises(TransportError, match="in time") as error:
            await ask(url, replace(ONCE, timeout=timedelta(seconds=0.3)))
    assert error.value.sent
    assert error.value.is_retryable


async def test_an_encoded_answer_is_refused_unread(ask: Ask) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=b"\x1f\x8bcnry-", headers={"Content-Encoding": "gzip"})

    async with serving(answer) as url:
        with pytest.raises(DecodeError, match="encoded"):
            await ask(url, ONCE)


async def test_a_redirect_is_not_followed(ask: Ask) -> None:
    paths: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        paths.append(request.path)
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    async with serving(answer) as url:
        with pytest.raises(ServiceError, match="redirects are not followed"):
            await ask(url, ONCE)
    assert paths == ["/api/status"]


async def test_a_connection_that_ends_early_may_have_been_served(ask: Ask) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b"{")
        assert request.transport is not None
        request.transport.abort()
        return response

    async with serving(answer) as url:
        with pytest.raises(TransportError) as error:
            await ask(url, ONCE)
    assert error.value.sent


async def test_a_port_where_nobody_listens_was_surely_not_reached(ask: Ask) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(TransportError, match="can't be reached") as error:
            await ask(url, ONCE)
    assert not error.value.sent
    assert error.value.is_retryable
    assert isinstance(error.value.__cause__, httpx.ConnectError)


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


async def test_many_calls_at_once_share_the_connections() -> None:
    at_once = 0
    most = 0

    async def answer(_: web.Request) -> web.Response:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.01)
        at_once -= 1
        return web.json_response({"message": "Ok"})

    async with serving(answer) as url, AsyncKeybearer(url, options=ONCE) as client:
        assert await asyncio.gather(*(client.status.get() for _ in range(50))) == ["Ok"] * 50
    assert most > 1


@pytest.fixture
def deaf() -> Iterator[str]:
    """Yield the address of a listener that takes connections and reads nothing."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_blocking_call_to_a_deaf_service_ends_in_its_thread(deaf: str) -> None:
    errors: list[ClientError] = []

    def call() -> None:
        try:
            _ask_blocking(deaf, replace(ONCE, timeout=timedelta(seconds=0.2)))
        except ClientError as error:
            errors.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert isinstance(errors[0], TransportError)
