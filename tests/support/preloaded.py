"""Processes of `keybearer` that need not load their modules, which takes four fifths of a start.

For each part of the program a process that has loaded it forks one for each start. What runs from there on is the
same: the same command line, environment, folder and streams, a process group of its own, the same end. Other than the
program that people start it has the command line of who forked it in /proc; hash seed, encoding and settings of its
interpreter are those of who forked it. So tests of starting and of what may be seen from outside start the program.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Protocol

from tools.controlplane.process import Child, Launch, spawn
from tools.local.waiting import PATIENCE_SECONDS

__all__ = [
    "PRELOADED",
    "PreloadedProcess",
    "RunningProgram",
    "can_preload",
    "run_preloaded",
    "spawn_preloaded",
]

_PROGRAM = Path(__file__).with_name("preloaded_program.py")
_one_at_a_time = threading.Lock()
"""Tests start services from several threads: each answer must reach who asked."""


class RunningProgram(Child, Protocol):
    """What tests ask of a process, as `subprocess.Popen` has it."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """What it prints, where a pipe was asked for."""

    def terminate(self) -> None:
        """Send SIGTERM."""


def can_preload() -> bool:
    """Return whether this system has what it takes."""
    return sys.platform == "linux"


class PreloadedProcess:
    """A process that was forked; for one thread at a time."""

    def __init__(self, pid: int, stdout: IO[bytes] | None, told: IO[bytes]) -> None:
        self.pid = pid
        self.stdout = stdout
        self._told = told
        self._status: int | None = None

    @property
    def returncode(self) -> int | None:
        """Its exit status, once that was asked for after its end."""
        return self._status

    def poll(self) -> int | None:
        """Return its exit status, or None while it runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit status, or the negative number of the signal that ended it.

        Raises:
            subprocess.TimeoutExpired: it still runs after so many seconds.
        """
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(str(_PROGRAM), timeout or 0.0)
        return status

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended, and we are about to be told
                os.kill(self.pid, sig)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _ended(self, seconds: float | None) -> int | None:
        if self._status is None:
            poll = select.poll()
            poll.register(self._told, select.POLLIN)
            if not poll.poll(None if seconds is None else seconds * 1000):
                return None
            word = self._told.read()
            self._told.close()
            if not word:
                raise RuntimeError(f"who forked process {self.pid} has ended, and that with it")
            self._status = int(word)
        return self._status


class _Forker:
    """A process that has loaded a part of the program; it ends with us, and those that it forked end with it."""

    def __init__(self, part: str) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open until the end
        with theirs:
            self._process = spawn(
                [sys.executable, _PROGRAM, str(theirs.fileno()), part],
                output=self._log,
                inherited=(theirs.fileno(),),
            )
        self._control.settimeout(PATIENCE_SECONDS)
        try:
            self._answer()  # it is ready
        except BaseException:
            self.end()
            raise

    def fork(self, arguments: Sequence[str], environment: Mapping[str, str], streams: Sequence[int]) -> int:
        """Return the process id; `streams` are standard input, output and error, and where its end is told."""
        request = {"arguments": arguments, "environment": dict(environment), "directory": str(Path.cwd())}
        socket.send_fds(self._control, [json.dumps(request).encode()], streams)
        return int(self._answer())

    def end(self) -> None:
        self._control.close()
        self._process.wait(PATIENCE_SECONDS)
        self._log.close()

    def _answer(self) -> bytes:
        answer = self._control.recv(64)
        if not answer:
            self._log.seek(0)
            raise RuntimeError(f"{_PROGRAM.name} has ended: {self._log.read().decode(errors='replace')}")
        return answer


_forkers: dict[str, _Forker] = {}


@atexit.register
def _end_forkers() -> None:
    while _forkers:
        _forkers.popitem()[1].end()


def _forked(
    part: str, arguments: Sequence[str], environment: Mapping[str, str], streams: Sequence[int]
) -> int:
    with _one_at_a_time:
        forker = _forkers.get(part) or _Forker(part)
        _forkers[part] = forker
        try:
            return forker.fork(arguments, environment, streams)
        except BaseException:
            # What it answers too late must reach nobody else.
            _forkers.pop(part).end()
            raise


def spawn_preloaded(
    command: Sequence[str | Path],
    *,
    output: IO[bytes] | int,
    errors: IO[bytes] | int = subprocess.STDOUT,
    environment: Mapping[str, str] | None = None,
    given: IO[bytes] | None = None,
) -> PreloadedProcess:
    """Fork a process that goes on as `keybearer` does. May be called from any thread.

    Args:
        command: the program and its arguments, as they are called for `spawn`.
        output: an open file, whose handle the caller may close at once, or `subprocess.PIPE`.
        errors: an open file for standard error, which goes where the output goes by default.
        environment: all of its variables; ours when None.
        given: an open file that it reads as standard input; nothing when None.
    """
    arguments = [str(word) for word in command]
    part = arguments[1] if arguments[1:2] in (["serve"], ["operator"]) else "client"
    variables = os.environ if environment is None else environment  # noqa: TID251 - as for `spawn`
    with ExitStack() as opened, ExitStack() as kept:
        end, told = _pipe(kept, opened)
        printed = None
        if output == subprocess.PIPE:
            printed, output = _pipe(kept, opened)
        read = given or opened.enter_context(Path(os.devnull).open("rb"))
        streams = [_number(one) for one in (read, output, output if errors == subprocess.STDOUT else errors)]
        process = PreloadedProcess(
            _forked(part, arguments, variables, [*streams, told.fileno()]), printed, end
        )
        kept.pop_all()
    return process


PRELOADED: Launch | None = spawn_preloaded if can_preload() else None
"""How tests start what they restart; where that can't be, as people do."""


def run_preloaded(
    command: Sequence[str | Path], environment: Mapping[str, str], given: str | None, *, within: float
) -> subprocess.CompletedProcess[str]:
    """Fork a process as `spawn_preloaded` does, and return how it ended and all that it said.

    Args:
        command: the program and its arguments.
        environment: all of its variables.
        given: the text of its standard input, which is empty when None.
        within: seconds, after which it is killed.

    Raises:
        subprocess.TimeoutExpired: it was.
    """
    with ExitStack() as opened:
        read, output, errors = (opened.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        read.write((given or "").encode())
        read.seek(0)
        process = spawn_preloaded(command, output=output, errors=errors, environment=environment, given=read)
        try:
            status = process.wait(within)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(PATIENCE_SECONDS)
            raise
        return subprocess.CompletedProcess([*map(str, command)], status, _text(output), _text(errors))


def _pipe(readers: ExitStack, writers: ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    """Return both ends of a new pipe, each to be closed with its stack."""
    reading, writing = os.pipe()
    return (
        readers.enter_context(os.fdopen(reading, "rb")),
        writers.enter_context(os.fdopen(writing, "wb")),
    )


def _number(stream: IO[bytes] | int) -> int:
    return stream if isinstance(stream, int) else stream.fileno()


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode()
