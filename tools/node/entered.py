"""Runs a program in the namespaces of another process: `python entered.py PID COMMAND...`.

Signals that ask to end are passed on; the program dies with this process, and this process ends as the program did.
A program by itself, which may import nothing of this package. (nsenter passes no signals on.)
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

__all__ = ["main"]

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
# Mounts last: what is opened below belongs to this machine.
_NAMESPACES = ("pid", "net", "mnt")
_ASKING = (signal.SIGINT, signal.SIGTERM)

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Never returns."""
    pid, *command = sys.argv[1:]
    namespaces = [os.open(Path("/proc", pid, "ns", name), os.O_RDONLY) for name in _NAMESPACES]
    for namespace in namespaces:
        _must(_libc.setns(namespace, 0), "setns")
        os.close(namespace)
    # A signal that comes before the program runs waits until then.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ASKING)
    child = os.fork()
    if child == 0:
        _must(_libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASKING)
        # The interpreter ignores it, and what is ignored stays ignored in the command.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execv(command[0], command)  # noqa: S606 - becoming the command without a shell is the purpose
    for number in _ASKING:
        signal.signal(number, lambda asked, _frame: os.kill(child, asked))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASKING)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status) % 256)


def _must(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main()
