"""`keybearer` with its modules loaded, waiting: each request forks a process that goes on as the program would.

`python preloaded_program.py FD PART` reads requests from the socket FD (`preloaded.py` writes them) until its other
end is closed; PART says which modules are loaded. It has no threads, so that forking is safe. Linux only.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import iter_modules

from keybearer.base.own_process import prctl
from keybearer.cli.loading import bare, collector_at_rest, without
from keybearer.cli.main import app
from keybearer.client import groups

__all__ = ["main"]

_MODULES: Mapping[str, Sequence[str]] = {
    "serve": ("aiosqlite", "asyncpg", "uvloop", "keybearer.server.run"),
    "operator": ("uvloop", "keybearer.controllers.process"),
    "client": ("httpx", *(found.name for found in iter_modules(groups.__path__, f"{groups.__name__}."))),
}
"""What each part of the program loads when it runs. What is missing here is loaded by each process anew."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_REQUEST_BYTES_MAX = 1 << 20


@dataclass(frozen=True)
class _Request:
    arguments: list[str]
    environment: dict[str, str]
    directory: str


def main() -> None:
    """Serves requests; in each forked process, runs the program and ends with it."""
    del sys.path[0]  # the program has no folder of tests there
    # As the command loads them.
    with collector_at_rest(), without("rich"), bare("kubernetes", "kubernetes.aio"):
        for module in _MODULES[sys.argv[2]]:
            importlib.import_module(module)
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise RuntimeError(f"loading {_MODULES[sys.argv[2]]} started threads, which no fork takes along")
    request = _next_request_in_a_child(socket.socket(fileno=int(sys.argv[1])))
    os.chdir(request.directory)
    os.environ.clear()  # noqa: TID251 - the environment of a program is what its starter says
    os.environ.update(request.environment)  # noqa: TID251
    sys.argv[:] = request.arguments
    sys.exit(app())


def _next_request_in_a_child(control: socket.socket) -> _Request:
    """Return in a process of its own for each request; the one that forks them ends when nobody asks any more."""
    parent = os.getpid()
    watched = selectors.DefaultSelector()
    watched.register(control, selectors.EVENT_READ)
    control.send(b"ready")
    while True:
        for key, _ in watched.select():
            if key.fileobj is not control:
                watched.unregister(key.fileobj)
                _tell_end(key.fd, *key.data)
                continue
            message, streams, _, _ = socket.recv_fds(control, _REQUEST_BYTES_MAX, 4)
            if not message:
                sys.exit()
            *standard, told = streams
            pid = os.fork()
            if pid == 0:
                _leave(watched, parent, told)
                _speak_through(standard)
                return _Request(**json.loads(message))
            for stream in standard:
                os.close(stream)
            watched.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, told))
            control.send(str(pid).encode())


def _tell_end(handle: int, pid: int, told: int) -> None:
    """How the process ended is written for who started it, in subprocess's terms."""
    os.close(handle)
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(BrokenPipeError):  # nobody asks any more
        os.write(told, str(os.waitstatus_to_exitcode(status)).encode())
    os.close(told)


def _leave(watched: selectors.BaseSelector, parent: int, told: int) -> None:
    """Nothing of the process that forked this one is open here, and it ends with that, however that ends."""
    os.setsid()
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    os.close(told)
    for key in list(watched.get_map().values()):
        if isinstance(key.fileobj, socket.socket):
            key.fileobj.close()
        else:
            os.close(key.fd)
            os.close(key.data[1])
    watched.close()


def _speak_through(standard: Sequence[int]) -> None:
    for number, stream in enumerate(standard):
        os.dup2(stream, number)
        os.close(stream)


if __name__ == "__main__":
    main()
