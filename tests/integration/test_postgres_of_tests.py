"""The PostgreSQL that tests run on outlives nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.local.waiting import eventually

pytestmark = pytest.mark.deep

STARTS_AND_WAITS = """
from tools.local.postgres import PostgresServer
server = PostgresServer()
server.start()
print((server.data / "postmaster.pid").read_text().splitlines()[0], flush=True)
input()
"""


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_server_ends_when_the_tests_that_started_it_are_killed() -> None:
    path = os.pathsep.join(sys.path)
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_AND_WAITS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": os.defpath, "PYTHONPATH": path},
    ) as owner:
        assert owner.stdout is not None
        server = int(owner.stdout.readline())
        assert runs(server)
        owner.send_signal(signal.SIGKILL)
    eventually(lambda: not runs(server), awaited="the end of the server")
