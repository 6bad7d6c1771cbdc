"""Pebble, the ACME authority of those who run Let's Encrypt, for tests: real, on loopback, and forgetful."""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from support.pebble_programs import pebble_programs
from support.self_signed import certificate
from tools.controlplane.ports import LOOPBACK, free_port
from tools.controlplane.process import Process
from tools.local.waiting import GRACE, PATIENCE, PATIENCE_SECONDS

__all__ = ["BINDING_KEY", "BINDING_SECRET", "LOOKS", "Pebble"]

LOOKS = 3
"""So often it looks for the answer to a challenge, all at once; each of them has to find it."""

BINDING_KEY = "kid-1"
BINDING_SECRET = "Y25yeS1leHRlcm5hbC1hY2NvdW50LWJpbmRpbmctb2YtdGVzdHM"
"""Of an account that Pebble knows; base64url of a marked text."""
_QUESTION = b"\0\1\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1"
"""For the address of example.com (RFC 1035 section 4.1)."""


class Pebble:
    """An authority, started and stopped any number of times; every start has forgotten all there was.

    Args:
        directory: private to it.
        http_port: where it looks for answers to challenges, whatever the name.
        needs_binding: whether it makes accounts only for those it knows.
        refused_nonces: how many of a hundred nonces it refuses.
    """

    def __init__(
        self, directory: Path, http_port: int, *, needs_binding: bool = False, refused_nonces: int = 0
    ) -> None:
        self._directory = directory
        self.port = free_port()
        self._management_port = free_port()
        self._names_port = free_port()
        chain, key = certificate(directory, serial=7)
        self.ca_certificates = chain.read_text()
        self._log = directory / "pebble.log"
        configuration = directory / "pebble.json"
        configuration.write_text(
            json.dumps(
                {
                    "pebble": {
                        "listenAddress": f"127.0.0.1:{self.port}",
                        "managementListenAddress": f"127.0.0.1:{self._management_port}",
                        "certificate": str(chain),
                        "privateKey": str(key),
                        "httpPort": http_port,
                        "tlsPort": free_port(),
                        "externalAccountBindingRequired": needs_binding,
                        "externalAccountMACKeys": {BINDING_KEY: BINDING_SECRET},
                        "domainBlocklist": ["blocked.example.com"],
                        "retryAfter": {"authz": 1, "order": 1},
                        "keyAlgorithm": "ecdsa",
                        "profiles": {
                            "default": {"description": "for tests", "validityPeriod": 7_776_000},
                            "shortlived": {"description": "for tests", "validityPeriod": 518_400},
                        },
                    }
                }
            )
        )
        programs = pebble_programs()
        self._names = Process(
            "pebble-challtestsrv",
            [
                programs.resolver,
                f"-dnsserver=127.0.0.1:{self._names_port}",
                f"-management=127.0.0.1:{free_port()}",
                "-defaultIPv4=127.0.0.1",
                "-defaultIPv6=",
                "-http01=",
                "-https01=",
                "-tlsalpn01=",
                "-doh=",
            ],
            directory / "challtestsrv.log",
            environment=_environment({}),
        )
        self._process = Process(
            "pebble",
            [programs.pebble, f"-config={configuration}", f"-dnsserver=127.0.0.1:{self._names_port}"],
            self._log,
            environment=_environment(
                {
                    "PEBBLE_VA_NOSLEEP": "1",
                    "PEBBLE_WFE_NONCEREJECT": str(refused_nonces),
                    "PEBBLE_AUTHZREUSE": "0",
                }
            ),
        )

    @property
    def directory_url(self) -> str:
        """Where everything begins."""
        return f"https://127.0.0.1:{self.port}/dir"

    def __enter__(self) -> Self:
        self._names.start()
        # Before anybody has a name looked up.
        self._names.wait_until(lambda: _resolves(self._names_port), awaited="answer", within=PATIENCE)
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._names.terminate(grace=GRACE)

    def start(self) -> None:
        """It answers."""
        self._process.start()
        self._process.wait_until(self._answers, awaited="answer", within=PATIENCE)

    def stop(self) -> None:
        """It is gone, with all it knew."""
        self._process.terminate(grace=GRACE)

    def orders(self) -> int:
        """How many orders were placed since the start."""
        found = re.findall(r"There are now (\d+) orders", self._process.log_since_start())
        return int(found[-1]) if found else 0

    def status_of(self, serial_number: str) -> str:
        """What it says of a certificate: Valid or Revoked."""
        answer = self._get(self._management_port, f"/cert-status-by-serial/{serial_number.lstrip('0')}")
        answer.raise_for_status()
        return str(answer.json()["Status"])

    def root(self) -> str:
        """Whom its certificates lead to, PEM."""
        answer = self._get(self._management_port, "/roots/0")
        answer.raise_for_status()
        return answer.text

    def _answers(self) -> bool:
        try:
            return self._get(self.port, "/dir").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def _get(self, port: int, path: str) -> httpx.Response:
        trusted = ssl.create_default_context(cadata=self.ca_certificates)
        return httpx.get(
            f"https://127.0.0.1:{port}{path}", verify=trusted, trust_env=False, timeout=PATIENCE_SECONDS
        )


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    return {"PATH": os.defpath, **more}


def _resolves(port: int) -> bool:
    """Tell whether a name server answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(1)
        asking.connect((LOOPBACK, port))
        try:
            asking.send(_QUESTION)
            return bool(asking.recv(512))
        except OSError:
            return False
