"""The sandbox's process: loads the template engine once, then forks a child for each render.

Started by `renderer` as `python -I -m keybearer.controllers.template.sandbox_server FD` with an empty
environment. It never sees a secret: what comes over its control socket is a file descriptor and a deadline; the
child reads the request from the descriptor itself. So no child inherits what another one was given.

It ends, and its children with it, when the control socket reaches its end: with the operator.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import select
import signal
import socket
import sys
import time
from typing import NoReturn

from keybearer.base.own_process import forbid_inspection
from keybearer.controllers.template.confinement import (
    Limits,
    confine,
    die_with_parent,
    mapped_bytes,
    processor_seconds,
)
from keybearer.controllers.template.protocol import (
    DEADLINE,
    REQUEST_MAX_BYTES,
    WALL_FACTOR,
    Failure,
    TemplateFault,
    Verdict,
    read_request,
    write_answer,
)
from keybearer.controllers.template.sandbox import render, warm_up

__all__ = ["main"]

CHILD_MEMORY_BYTES = 64 * 1024 * 1024
"""Beyond what the sandbox has mapped before it forks. Inputs and outputs are of a few MiB."""
_CHILDREN_MAX = 16
_OUT_OF_MEMORY = 17  # exit status of a child
_NICENESS = 10  # the operator goes first
_LOOK_SECONDS = 0.05  # the shortest pause between two looks at the time that a child took
_CHILD_SOCKET = 3  # the only descriptor a child keeps, beside the null device at 0 to 2


class _Child:
    """A render under way.

    Args:
        peer: its socket.
        seconds: what it may take.
        now: when it started.
    """

    __slots__ = ("deadline", "latest", "overdue", "peer", "seconds")

    def __init__(self, peer: socket.socket, seconds: float, now: float) -> None:
        self.peer = peer
        self.seconds = seconds
        self.deadline = now + seconds
        self.latest = now + WALL_FACTOR * seconds
        self.overdue = False

    def has_had_its_time(self, pid: int, now: float) -> bool:
        """Return whether the child has used up its time; if not, move `deadline` to the next moment when it can have.

        Processor time counts, not the clock. On a busy node, or while the operator is busy, a good template mostly
        waits.
        """
        if now < self.deadline:
            return False
        left = self.seconds - processor_seconds(pid)
        self.deadline = min(now + max(left, _LOOK_SECONDS), self.latest)
        return left <= 0 or now >= self.latest


class _Server:
    """The loop: takes requests, forks, kills what is overdue or no longer wanted, and tells how it ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._children: dict[int, _Child] = {}
        self._base = mapped_bytes()
        self._pid = os.getpid()
        self._poll = select.poll()
        self._woken, wake = socket.socketpair()
        self._woken.settimeout(0)
        wake.settimeout(0)
        self._wake = wake
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)

    def run(self) -> None:
        """Serve until the operator is gone."""
        self._poll.register(self._woken, select.POLLIN)
        self._poll.register(self._control, select.POLLIN)
        while True:
            ready = dict(self._poll.poll(self._wait_ms()))
            if self._woken.fileno() in ready:
                self._drain()
            if self._control.fileno() in ready and not self._accept():
                return
            self._kill_unwanted(ready)
            self._reap()

    def stop(self) -> None:
        """End every child."""
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)
        for pid in self._children:
            os.waitpid(pid, 0)

    def _wait_ms(self) -> int | None:
        pending = [child.deadline for child in self._children.values() if not child.overdue]
        if not pending:
            return None
        return max(0, math.ceil((min(pending) - time.monotonic()) * 1000))

    def _drain(self) -> None:
        try:
            while self._woken.recv(64):
                pass
        except BlockingIOError:
            return

    def _accept(self) -> bool:
        """Start a render; false at the end of the control socket."""
        message, descriptors, _, _ = socket.recv_fds(self._control, DEADLINE.size, 1)
        if not message:
            return False
        if not descriptors:
            return True  # no descriptor was free for it: the operator sees its end closed
        peer = socket.socket(fileno=descriptors[0])
        if len(self._children) >= _CHILDREN_MAX:
            peer.close()
            return True
        (seconds,) = DEADLINE.unpack(message)
        pid = os.fork()
        if pid == 0:
            _be_child(peer, seconds, self._pid, self._base)
        self._children[pid] = _Child(peer, seconds, time.monotonic())
        self._poll.register(peer, 0)  # hang-up only: data is the child's
        return True

    def _kill_unwanted(self, ready: dict[int, int]) -> None:
        now = time.monotonic()
        for pid, child in self._children.items():
            if child.overdue:
                continue
            if child.peer.fileno() in ready or child.has_had_its_time(pid, now):
                child.overdue = True
                os.kill(pid, signal.SIGKILL)

    def _reap(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            child = self._children.pop(pid)
            self._poll.unregister(child.peer)
            child.peer.settimeout(0)
            with child.peer, contextlib.suppress(OSError):  # the operator may no longer listen
                child.peer.send(_judge(child, status).value)


def _judge(child: _Child, status: int) -> Verdict:
    if child.overdue:
        return Verdict.OVERDUE
    if os.WIFEXITED(status):
        match os.WEXITSTATUS(status):
            case 0:
                return Verdict.ENDED
            case code:
                return Verdict.OUT_OF_MEMORY if code == _OUT_OF_MEMORY else Verdict.CRASHED
    # A SIGKILL that isn't ours is the kernel's, when the container is out of memory.
    by_signal = {signal.SIGXCPU: Verdict.OVERDUE, signal.SIGKILL: Verdict.OUT_OF_MEMORY}
    return by_signal.get(signal.Signals(os.WTERMSIG(status)), Verdict.CRASHED)


def _be_child(peer: socket.socket, seconds: float, server: int, base: int) -> NoReturn:
    """Render one request and end. Nothing may return from here: this is a copy of the server."""
    status = 1
    try:
        gc.disable()
        signal.set_wakeup_fd(-1)
        die_with_parent()
        if os.getppid() != server:
            os._exit(status)  # it died before that took effect: nobody is left to keep the deadline
        os.dup2(peer.fileno(), _CHILD_SOCKET)
        os.closerange(_CHILD_SOCKET + 1, os.sysconf("SC_OPEN_MAX"))
        written = _read_all(_CHILD_SOCKET)
        confine(Limits(base + CHILD_MEMORY_BYTES, math.ceil(seconds) + 1))
        _write_all(_CHILD_SOCKET, _answer(written))
        status = 0
    except MemoryError:
        status = _OUT_OF_MEMORY
    finally:
        os._exit(status)


def _answer(written: bytes | None) -> bytes:
    if written is None:
        return write_answer(Failure(TemplateFault.INPUT_TOO_LARGE))
    return write_answer(render(read_request(written), lambda: _write_all(_CHILD_SOCKET, b".")))


def _read_all(descriptor: int) -> bytes | None:
    """Return everything up to the end of file; None when it is more than a request may have."""
    chunks: list[bytes] = []
    room = REQUEST_MAX_BYTES
    while chunk := os.read(descriptor, 1 << 16):
        room -= len(chunk)
        if room < 0:
            return None
        chunks.append(chunk)
    return b"".join(chunks)


def _write_all(descriptor: int, answer: bytes) -> None:
    rest = memoryview(answer)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def main() -> None:
    """Run the server on the control socket whose descriptor is the only argument."""
    control = socket.socket(fileno=int(sys.argv[1]))
    die_with_parent()
    forbid_inspection()
    os.nice(_NICENESS)
    warm_up()
    # What fails before this line shows in the operator's log; after it, nothing here can print a value.
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    os.close(null)
    gc.freeze()  # children write to fewer of the pages they share
    server = _Server(control)
    try:
        server.run()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
