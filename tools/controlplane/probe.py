"""Asks whether the servers answer yet."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from typing import TYPE_CHECKING

from tools.local.waiting import PROBE_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from tools.controlplane.certificates import Identity

__all__ = ["ApiProbe", "accepts_connections"]


class ApiProbe:
    """Single GET requests to the API server as administrator, without retries."""

    def __init__(self, identity: Identity, address: str, port: int) -> None:
        self._address = address
        self._port = port
        self._tls = ssl.create_default_context(cafile=str(identity.ca_certificate))
        self._tls.load_cert_chain(identity.admin.certificate, identity.admin.key)

    def succeeds(self, path: str) -> bool:
        """Whether the path is answered with 200; no connection and any other status are False."""
        return self._answer(path) is not None

    def serves_custom_resources(self) -> bool:
        """Whether the kinds of all CRDs can be listed: one that has just begun opens their storage bit by bit."""
        found = self._answer("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
        if found is None:
            return False
        kinds = (
            f"/apis/{crd['spec']['group']}/{version['name']}/{crd['spec']['names']['plural']}"
            for crd in json.loads(found)["items"]
            if any(
                (one["type"], one["status"]) == ("Established", "True")
                for one in crd.get("status", {}).get("conditions", [])
            )
            for version in crd["spec"]["versions"]
            if version["served"]
        )
        return all(map(self.succeeds, kinds))

    def _answer(self, path: str) -> bytes | None:
        connection = http.client.HTTPSConnection(
            self._address, self._port, timeout=PROBE_SECONDS, context=self._tls
        )
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            return None
        else:
            return content if answer.status == http.client.OK else None
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
