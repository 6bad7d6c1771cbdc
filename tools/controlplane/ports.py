"""Chooses loopback ports for servers that may have to come back on the same one."""

from __future__ import annotations

import secrets
import socket
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["LOOPBACK", "free_port"]

LOOPBACK = "127.0.0.1"

# Below the ranges that Linux (from 32768) and macOS (from 49152) hand to outgoing connections: otherwise the
# port of an API server that a test stopped could become the source port of any connection on the machine.
_LOWEST, _HIGHEST = 15_000, 32_767
_EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_ATTEMPTS = 100


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens at this moment, preferably none of the ephemeral ones.

    On Linux nobody else is given one that isn't ephemeral by this function while this process runs: its server may
    be about to start, or down for a while. A program that chooses in another way can take it before the caller does:
    be ready to ask again. The choice is random (and not by `random`, which pytest-randomly seeds alike in all
    processes).
    """
    highest = _HIGHEST
    with suppress(OSError):
        highest = min(highest, int(_EPHEMERAL_RANGE.read_text().split()[0]) - 1)
    for _ in range(_ATTEMPTS if highest > _LOWEST else 0):
        candidate = _LOWEST + secrets.randbelow(highest - _LOWEST)
        with suppress(OSError):
            chosen = _bound_for_a_moment(candidate)
            _claim(chosen)
            return chosen
    return _bound_for_a_moment(0)


def _bound_for_a_moment(port: int) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind((LOOPBACK, port))
        return int(listener.getsockname()[1])


def _claim(port: int) -> None:
    """Keep others from choosing it until this process ends; OSError where another one has claimed it.

    By a name that is in no file system, so that nothing is left behind (unix(7), "abstract").
    """
    if sys.platform == "linux":
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
            claim.bind(f"\0keybearer-port-{port}")
            claim.detach()
