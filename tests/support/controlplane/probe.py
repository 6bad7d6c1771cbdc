"""Asks whether the servers answer yet."""

from __future__ import annotations

import http.client
import socket
import ssl
from typing import TYPE_CHECKING

from support.controlplane.ports import LOOPBACK

if TYPE_CHECKING:
    from pathlib import Path

    from support.controlplane.certificates import Identity

__all__ = ["ApiProbe", "accepts_connections"]

_TIMEOUT_SECONDS = 5.0


class ApiProbe:
    """Single GET requests to the API server as administrator, without retries."""

    def __init__(self, identity: Identity, port: int) -> None:
        self._port = port
        self._tls = ssl.create_default_context(cafile=str(identity.ca_certificate))
        self._tls.load_cert_chain(identity.admin.certificate, identity.admin.key)

    def succeeds(self, path: str) -> bool:
        """Whether the path is answered with 200; no connection and any other status are False."""
        connection = http.client.HTTPSConnection(
            LOOPBACK, self._port, timeout=_TIMEOUT_SECONDS, context=self._tls
        )
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def accepts_connections(unix_socket: Path) -> bool:
    """Whether a server listens on the Unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(str(unix_socket))
        except OSError:
            return False
        return True
