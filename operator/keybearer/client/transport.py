"""What both shells need of httpx: connections, requests out, answers in, failures named.

Cookies are never kept and redirects never followed: connections shared by several identities carry nothing
from one to another. Proxies named in the environment are used, as by any httpx client.
"""

from __future__ import annotations

import errno
import socket
import ssl
import urllib.request
from datetime import timedelta
from http.client import HTTPResponse
from http.cookiejar import CookieJar

import httpx

from keybearer.base.errors import causes_of
from keybearer.client.errors import AnswerTooLong, DecodeError, InvalidArgument, TransportError
from keybearer.client.messages import Query, Request, Response
from keybearer.client.options import ClientOptions
from keybearer.client.steps import Transmit

__all__ = [
    "STREAM_SILENCE",
    "AsyncPools",
    "Intake",
    "failure_of",
    "length_of",
    "new_async_http",
    "new_http",
    "opened",
    "outgoing",
]

STREAM_SILENCE = timedelta(seconds=45)
"""After which a stream of events is taken for dead: services ping each 15 s (wire.md section 7)."""

_KEPT_MAX = 20
"""Idle connections of a pool; httpx's own default."""
_KEPT = timedelta(seconds=3)
"""How long a connection may be idle. Many servers close it after 5 s (uvicorn, Node.js), as long as
httpx would keep it: a request sent in that moment gets no answer, and most writes can't be sent again."""
_POOLS_MAX = 32
_LENGTH_DIGITS = 18
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (
        httpx.ConnectTimeout,
        "the service did not accept a connection in time; a firewall or NetworkPolicy may drop it",
    ),
    (httpx.PoolTimeout, "no connection of the pool came free in time"),
    (httpx.ConnectError, "the service can't be reached"),
    (httpx.ProxyError, "the proxy refused"),
    (httpx.TimeoutException, "no complete answer came in time"),
    (TimeoutError, "no complete answer came in time"),
    (httpx.RemoteProtocolError, "the connection ended before a complete answer, or what came is no HTTP"),
    (httpx.NetworkError, "the connection broke"),
)


class AsyncPools:
    """Connections shared by all asynchronous clients that trust the same certificates.

    A TLS context takes megabytes, so a process with many clients keeps one for each set of certificates.
    """

    def __init__(self) -> None:
        self._pools: dict[bytes | None, httpx.AsyncClient] = {}

    def lend(self, options: ClientOptions) -> httpx.AsyncClient | None:
        """Return the connections for clients with these options; they stay ours to close.

        None once too many sets of certificates are in use: such a client brings connections of its own, which
        end with it.
        """
        pool = self._pools.get(options.ca_pem)
        if pool is None and len(self._pools) < _POOLS_MAX:
            pool = self._pools[options.ca_pem] = new_async_http(options)
        return pool

    async def aclose(self) -> None:
        """Close all connections."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()


def new_async_http(options: ClientOptions) -> httpx.AsyncClient:
    """Return connections for the asynchronous client; who asks for them closes them."""
    limits = _limits(options)
    return httpx.AsyncClient(verify=_tls(options.ca_pem), cookies=_NoCookies(), limits=limits)


def new_http(options: ClientOptions) -> httpx.Client:
    """Return connections for the blocking client; who asks for them closes them."""
    return httpx.Client(verify=_tls(options.ca_pem), cookies=_NoCookies(), limits=_limits(options))


def outgoing(base_url: str, options: ClientOptions, step: Transmit, beside: Query = ()) -> httpx.Request:
    """Return the request for httpx, with these fields of a header beside its own.

    It is made from nothing, not by a client's `build_request`: the default headers, parameters and
    credentials of a borrowed client stay out of it.
    """
    request = step.request
    headers = {
        "Accept": "application/json",
        # Read as it is: a bound on the length of an answer holds before it is unpacked.
        "Accept-Encoding": "identity",
        "User-Agent": options.user_agent,
        **dict(request.headers),
        **dict(beside),
    }
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    if step.bearer is not None:
        headers["Authorization"] = f"Bearer {step.bearer}"
    seconds = options.timeout.total_seconds()
    # Connecting gets a part of the time, so that running out there is known as "not sent".
    silence = STREAM_SILENCE.total_seconds() if request.streams else seconds
    timeout = httpx.Timeout(seconds, connect=seconds / 2, read=silence, pool=seconds / 2)
    return httpx.Request(
        request.method,
        base_url + request.path,
        params=request.query or None,
        headers=headers,
        content=request.body,
        extensions={"timeout": timeout.as_dict()},
    )


def opened(request: Request, answer: httpx.Response) -> Response | None:
    """Return the answer with its stream, if it is the stream of events that was asked for; it stays open."""
    media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = answer.headers.get("content-encoding", "identity").strip().lower()
    is_stream = media_type == "text/event-stream" and encoding == "identity"
    if not request.streams or answer.status_code != 200 or not is_stream:
        return None
    return Response(answer.status_code, {}, b"", answer)


def length_of(answer: httpx.Response) -> int | None:
    """Return how many bytes an answer says to have; None where it doesn't say."""
    said = answer.headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdecimal() and len(said) <= _LENGTH_DIGITS else None


class Intake:
    """Takes the body of an answer in, piece by piece, within bounds of length and time.

    Args:
        request: for messages.
        answer: its status and headers have come.
        options: bounds.
        deadline: the last instant of `Clock.monotonic` at which a piece may come.
    """

    def __init__(
        self, request: Request, answer: httpx.Response, options: ClientOptions, deadline: float
    ) -> None:
        self._request = request
        self._answer = answer
        self._options = options
        self._pieces: list[bytes] = []
        self._length = 0
        self._deadline = deadline
        encoding = answer.headers.get("content-encoding", "identity").strip().lower()
        if encoding != "identity":
            raise DecodeError(f"the answer is encoded, which was not asked for ({request})")

    def add(self, piece: bytes) -> None:
        """Take a piece in.

        Raises:
            AnswerTooLong: it is longer than allowed.
            TimeoutError: it takes longer than allowed.
        """
        self._length += len(piece)
        if self._length > self._options.max_response_bytes:
            raise self._too_long()
        if self._options.clock.monotonic() > self._deadline:
            raise TimeoutError
        self._pieces.append(piece)

    def response(self) -> Response:
        """Return the whole answer."""
        headers = {name.lower(): value for name, value in self._answer.headers.items()}
        return Response(self._answer.status_code, headers, b"".join(self._pieces))

    def _too_long(self) -> AnswerTooLong:
        return AnswerTooLong(
            f"{self._request}: the answer is longer than {self._options.max_response_bytes} bytes; "
            "ask for less, or raise max_response_bytes"
        )


def failure_of(request: Request, base_url: str, error: Exception) -> TransportError:
    """Return what went wrong in our words, with the original as its cause.

    httpx's own texts are not repeated: some show the header they stumbled over.
    """
    untrusted = _certificate_problem(error)
    if untrusted is not None:
        reason = f"the service's certificate is not trusted: {untrusted}"
    elif isinstance(error, httpx.ConnectError) and (why := _connection_problem(error)) is not None:
        reason = why
    else:
        reason = next((text for kind, text in _REASONS if isinstance(error, kind)), type(error).__name__)
    failure = TransportError(
        f"{reason} ({request} at {base_url})",
        sent=not isinstance(error, _UNSENT),
        is_retryable=untrusted is None and not isinstance(error, httpx.UnsupportedProtocol),
        is_untrusted=untrusted is not None,
    )
    # Local protocol errors are left out: their text shows the header.
    failure.__cause__ = None if isinstance(error, httpx.LocalProtocolError) else error
    return failure


def _certificate_problem(error: BaseException) -> str | None:
    found = (one for one in causes_of(error) if isinstance(one, ssl.SSLCertVerificationError))
    return next((one.verify_message for one in found), None)


def _connection_problem(error: BaseException) -> str | None:
    """Return why there is no connection; None if the operating system doesn't say."""
    for cause in causes_of(error):
        match cause:
            case socket.gaierror(errno=socket.EAI_AGAIN):
                return "the service can't be reached: DNS doesn't answer"
            case socket.gaierror():
                return "the service can't be reached: DNS doesn't know its name"
            case ConnectionRefusedError():
                return "the service can't be reached: nothing listens on this port (connection refused)"
            case ssl.SSLError():
                return f"the TLS handshake failed ({cause.reason}); check that this port speaks TLS"
            case OSError(errno=errno.ENETUNREACH | errno.EHOSTUNREACH):
                return "the service can't be reached: there is no route to it"
            case _:
                continue
    return None


def _tls(ca_pem: bytes | None) -> ssl.SSLContext:
    if ca_pem is None:
        return httpx.create_ssl_context()
    try:
        # Checked first: given nothing, OpenSSL falls back on the system's certificates.
        if b"-----BEGIN CERTIFICATE-----" in ca_pem:
            # Bundles name their CAs beside the certificates, in any script; OpenSSL is given ASCII alone.
            text = ca_pem.decode("utf-8", "replace").encode("ascii", "replace").decode("ascii")
            return ssl.create_default_context(cadata=text)
    except ssl.SSLError as error:
        raise InvalidArgument("ca_pem holds a certificate that can't be read") from error
    raise InvalidArgument("ca_pem holds no certificates in PEM")


def _limits(options: ClientOptions) -> httpx.Limits:
    return httpx.Limits(
        max_connections=options.max_connections,
        max_keepalive_connections=_KEPT_MAX,
        keepalive_expiry=_KEPT.total_seconds(),
    )


class _NoCookies(CookieJar):
    """Takes none: requests are made without them (`outgoing`); kept, they would grow without bound."""

    def extract_cookies(self, _response: HTTPResponse, _request: urllib.request.Request) -> None:
        """Leave the cookies of an answer where they are: not even its headers are read for them."""
