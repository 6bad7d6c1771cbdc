"""A web server with a certificate out of the cluster, and a client of it: what a workload and its callers do."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tools.demo.console import DemoError

__all__ = ["Answer", "WebServer", "ask"]

_TIMEOUT_SECONDS = 10
_TEXT = b"served with a certificate of Keybearer"


@dataclass(frozen=True)
class Answer:
    """What a client was told, and the serial number of the certificate that it accepted."""

    text: str
    serial_number: int


class WebServer:
    """Answers on loopback with TLS, with the certificate that it was given last.

    Args:
        folder: for the two files, where nobody else may look.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        # The handshake happens in the thread of a connection: a client that hangs up stops nobody else.
        self._server.socket = self._context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self._thread = threading.Thread(target=self._server.serve_forever, name="web server", daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def load(self, secret: Mapping[str, str]) -> None:
        """Answer with the certificate of a Secret from the next connection on.

        Raises:
            DemoError: the Secret holds none that can be used.
        """
        certificate, key = self._folder / "tls.crt", self._folder / "tls.key"
        for file in (certificate, key):
            file.touch(mode=0o600)
            file.write_text(secret.get(file.name, ""))
        try:
            self._context.load_cert_chain(certificate, key)
        except ssl.SSLError as error:
            raise DemoError(f"tls.crt and tls.key of the Secret can't be used: {error}") from error

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Answer no more."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


def ask(port: int, name: str, authority: str | None) -> Answer:
    """Return what the server of this name says.

    Args:
        port: where it listens on this machine.
        name: that its certificate must hold.
        authority: PEM of whom to trust alone; None trusts whom this machine trusts.

    Raises:
        ssl.SSLCertVerificationError: its certificate isn't to be trusted.
        OSError: it doesn't answer.
    """
    context = ssl.create_default_context(cadata=authority)
    with (
        socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_SECONDS) as plain,
        context.wrap_socket(plain, server_hostname=name) as secured,
    ):
        shown = secured.getpeercert()
        secured.sendall(f"GET / HTTP/1.0\r\nHost: {name}\r\n\r\n".encode())
        with secured.makefile("rb") as answer:
            body = answer.read().partition(b"\r\n\r\n")[2]
    serial_number = shown.get("serialNumber") if shown else None
    if not isinstance(serial_number, str):
        raise DemoError("the server showed no certificate")
    return Answer(body.decode(), int(serial_number, 16))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        """Say nothing: clients that trust us not hang up, which the demo shows where it happens."""


class _Handler(BaseHTTPRequestHandler):
    timeout = _TIMEOUT_SECONDS

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(_TEXT)))
        self.end_headers()
        self.wfile.write(_TEXT)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        """Say nothing: the demo tells what its client saw."""
