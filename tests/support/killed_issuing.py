"""Kills a service's domain, with SIGKILL, at each step of storing a certificate; a process of its own for each.

    python -m support.killed_issuing DIRECTORY key|csr

The service makes the key, or signs a request: these are stored on different ways. Steps are the statements of the
transaction that stores it, each just before it is carried out, and the moment when it is to be answered. Prints a
line of JSON for each process: its number, and whether it was killed. What each left is in
DIRECTORY/<number>/keybearer.db.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.domain.certificates.deciding import NewCertificate
from keybearer.pki.keys import generate_private_key
from keybearer.pki.names import Subject
from keybearer.pki.signing_requests import build_signing_request
from keybearer.wire.certificates.attributes import CertificateAttributes
from support.issuing_domain import issuing_domain

__all__ = ["REVISION", "main"]

REVISION = ("keybearer.dev/revision", "1-abcd")
_STEPS_MAX = 60
_EC = "EC_prime256v1"


class _Blow:
    """Ends the process at its step; those before the transaction that stores don't count."""

    def __init__(self, step: int) -> None:
        self._left = step
        self._armed = self._writing = False

    def arm(self) -> None:
        """Count from the next transaction on."""
        self._armed = True

    def __call__(self, statement: str) -> None:
        """Count a step, and strike at the last."""
        self._writing = self._writing or (self._armed and statement == "BEGIN IMMEDIATE")
        if not self._writing:
            return
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def _shown_to(blow: _Blow) -> Callable[..., sqlite3.Connection]:
    """Return what opens databases, and shows all that is carried out in them just before."""
    connect = sqlite3.connect

    def opened(*arguments: object, **options: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)  # type: ignore[call-overload] # as given
        connection.set_trace_callback(blow)
        return connection

    return opened


async def _issue(directory: Path, way: str, step: int) -> None:
    blow = _Blow(step)
    sqlite3.connect = _shown_to(blow)  # type: ignore[assignment] # the process ends with it
    async with issuing_domain(directory) as home:
        csr = build_signing_request(generate_private_key(KeyAlgorithm.EC_P256), Subject.of("a"))
        attributes = (
            {"ttl": "30d"} if way == "csr" else {"commonName": "a", "ttl": "30d", "keyAlgorithm": _EC}
        )
        asked = CertificateAttributes.model_validate(attributes)
        new = NewCertificate(home.profile_id, asked, csr if way == "csr" else None, metadata=(REVISION,))
        blow.arm()
        await home.issuance.issue(home.admin, new)
        blow("answered")
        # As it is: what an end in good order writes is no part of this.
        os._exit(0)


def main() -> None:
    """Kill one process after the other, each one step later, until one comes to its end."""
    directory, way = Path(sys.argv[1]), sys.argv[2]
    for number in range(1, _STEPS_MAX):
        child = os.fork()
        if child == 0:
            (directory / str(number)).mkdir()
            asyncio.run(_issue(directory / str(number), way, number))
        _, status = os.waitpid(child, 0)
        is_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        sys.stdout.write(json.dumps({"number": number, "killed": is_killed, "status": status}) + "\n")
        if not is_killed:
            return
    sys.exit("no process came to its end")


if __name__ == "__main__":
    main()
