from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="prctl, seccomp and RLIMIT_AS are Linux's")

_PROGRAM = """
import json, os, signal, socket, sys, threading
from keybearer.controllers.template.confinement import Limits, confine, mapped_bytes

def attempt(action):
    try:
        action()
    except BaseException as error:
        return type(error).__name__
    return "done"

descriptor = os.open("/etc/hostname", os.O_RDONLY)
limits = Limits(mapped_bytes() + 32 * 2**20, 5)
confine(limits)
results = {
    "open a file": attempt(lambda: open("/etc/passwd")),
    "list a directory": attempt(lambda: os.listdir("/")),
    "read what was open": attempt(lambda: os.read(descriptor, 1)),
    "open a socket": attempt(socket.socket),
    "make a pipe": attempt(os.pipe),
    "copy a descriptor": attempt(lambda: os.dup(1)),
    "fork": attempt(os.fork),
    "start a thread": attempt(threading.Thread(target=int).start),
    "run a program": attempt(lambda: os.execv("/bin/true", ["true"])),
    "signal the parent": attempt(lambda: os.kill(os.getppid(), 0)),
    "signal itself": attempt(lambda: os.kill(1, 0)),
    "remove a file": attempt(lambda: os.unlink("/tmp/nothing")),
    "read memory of others": attempt(lambda: os.stat("/proc/self/mem")),
    "import a module": attempt(lambda: __import__("sqlite3")),
    "allocate too much": attempt(lambda: bytearray(64 * 2**20)),
    "allocate a little": attempt(lambda: bytearray(8 * 2**20)),
    "compute": attempt(lambda: json.dumps({"a": [1] * 1000})),
}
os.write(1, json.dumps(results).encode())
os._exit(0)
"""


@pytest.fixture(scope="module")
def attempts() -> dict[str, str]:
    ended = subprocess.run([sys.executable, "-I", "-c", _PROGRAM], capture_output=True, env={}, check=True)
    results: dict[str, str] = json.loads(ended.stdout)
    return results


@pytest.mark.parametrize(
    "attempt",
    [
        "open a file",
        "list a directory",
        "read what was open",
        "open a socket",
        "make a pipe",
        "copy a descriptor",
        "fork",
        "start a thread",
        "run a program",
        "signal the parent",
        "signal itself",
        "remove a file",
        "read memory of others",
        "import a module",
        "allocate too much",
    ],
)
def test_a_confined_process_can_not(attempts: dict[str, str], attempt: str) -> None:
    assert attempts[attempt] in (
        "PermissionError",
        "OSError",
        "MemoryError",
        "RuntimeError",
        "ModuleNotFoundError",
    )


@pytest.mark.parametrize("attempt", ["allocate a little", "compute"])
def test_a_confined_process_can_still(attempts: dict[str, str], attempt: str) -> None:
    assert attempts[attempt] == "done"
