"""The operator's side of the sandbox: starts it when first needed, and again when it died.

A render takes one socket pair, of which the sandbox's child gets one end. Everything is bounded: how many render
at once (the rest waits in turn), how long, how much is read back.
"""

from __future__ import annotations

import array
import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType
from typing import Self

from keybearer.base.logs import get_logger
from keybearer.controllers.template.errors import RendererUnavailableError, TemplateError, explain
from keybearer.controllers.template.protocol import (
    ANSWER_MAX_BYTES,
    DEADLINE,
    REQUEST_MAX_BYTES,
    WALL_FACTOR,
    Failure,
    Request,
    TemplateFault,
    Verdict,
    read_answer,
    write_request,
)
from keybearer.controllers.template.turns import FairTurns

__all__ = [
    "RendererUnavailableError",
    "TemplateError",
    "TemplateFault",
    "TemplateRenderer",
]

_log = get_logger(__name__)

_RENDER_DEADLINE = timedelta(seconds=2)
_SERVER = "keybearer.controllers.template.sandbox_server"
_START_GRACE_SECONDS = 10.0
"""Beyond the deadline, for a sandbox that is only starting on a machine under load; then it counts as stuck."""
_CLOSE_GRACE_SECONDS = 2.0
_CHUNK_BYTES = 1 << 18
_ATTEMPTS = 2
"""A render that lost its sandbox is tried once more: it changes nothing, and the cause was likely another's."""


class TemplateRenderer:
    """Renders templates in child processes. Use it as an async context manager, or call `aclose`."""

    def __init__(self, *, at_once: int = 2) -> None:
        """Keep at most `at_once` children alive; each may take 64 MiB."""
        self._turns = FairTurns(at_once)
        self._sandbox: _Sandbox | None = None
        self._closed = False

    async def __aenter__(self) -> Self:
        """Return itself; the sandbox starts with the first render."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.aclose()

    async def render(
        self,
        templates: Mapping[str, str],
        values: Mapping[str, bytes],
        *,
        tenant: str,
        deadline: timedelta = _RENDER_DEADLINE,
    ) -> dict[str, bytes]:
        """Return the output of each template, by key.

        Args:
            templates: Jinja2 texts by key of the target.
            values: secrets by key; variables of the templates where the key is an identifier, and items of
                `secrets` always. What is no UTF-8 text is bytes there (`b64encode` takes them).
            tenant: whose templates they are; none has all children at work while another waits.
            deadline: processor time for all templates together. Waiting for a processor or for a turn does not
                count; by the clock, `WALL_FACTOR` times as much is allowed.

        Raises:
            TemplateError: a template is wrong or takes too much; no output is given then.
            RendererUnavailableError: the sandbox doesn't work.
        """
        written = write_request(Request(templates, values))
        if len(written) > REQUEST_MAX_BYTES:
            raise explain(Failure(TemplateFault.INPUT_TOO_LARGE), templates)
        async with self._turns.turn(tenant):
            for attempt in range(_ATTEMPTS):
                answer = await self._attempt(written, tuple(templates), deadline)
                if isinstance(answer, Failure):
                    raise explain(answer, templates, values)
                if answer is not None:
                    return answer
                _log.warning("template_sandbox_lost", attempt=attempt + 1)
        raise RendererUnavailableError(
            "the template sandbox ended twice while it rendered; see the operator's log"
        )

    async def aclose(self) -> None:
        """End the sandbox and whatever renders; a render under way fails. May be called twice."""
        self._closed = True
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            await sandbox.close()

    async def _attempt(
        self, written: bytes, keys: tuple[str, ...], deadline: timedelta
    ) -> dict[str, bytes] | Failure | None:
        """Return what one child made of it; None when the sandbox was lost meanwhile."""
        sandbox = self._running()
        ours, theirs = socket.socketpair()
        ours.settimeout(0)
        with ours:
            with theirs:
                handed_over = sandbox.hand_over(theirs, deadline)
            answer = None
            if handed_over:
                with contextlib.suppress(TimeoutError):  # then it is stuck, and lost
                    async with asyncio.timeout(WALL_FACTOR * deadline.total_seconds() + _START_GRACE_SECONDS):
                        answer = _interpret(await _exchange(ours, written), keys)
        if answer is None:
            self._drop(sandbox)
        return answer

    def _running(self) -> _Sandbox:
        if self._closed:
            raise RendererUnavailableError("the template renderer is closed")
        if self._sandbox is None or not self._sandbox.alive:
            self._sandbox = _Sandbox()
        return self._sandbox

    def _drop(self, sandbox: _Sandbox) -> None:
        """Kill that sandbox; another one may have taken its place already."""
        sandbox.kill()
        if self._sandbox is sandbox:
            self._sandbox = None


class _Sandbox:
    """The process that forks the children, and the socket that it is told of renders by."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        self._control.settimeout(0)
        self._loop = asyncio.get_running_loop()
        try:
            with theirs:
                # Isolated and with an empty environment: nothing of the operator's leads to a template.
                self._process = subprocess.Popen(  # noqa: S603 - our own module, by our own interpreter
                    [sys.executable, "-I", "-m", _SERVER, str(theirs.fileno())],
                    env={},
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                )
        except OSError as error:
            self._control.close()
            raise RendererUnavailableError("the template sandbox can't be started") from error
        # It never writes here: what becomes readable is the end of file, when it died.
        self._loop.add_reader(self._control, self.kill)

    @property
    def alive(self) -> bool:
        """Whether it may still take renders."""
        return self._control.fileno() >= 0

    def hand_over(self, peer: socket.socket, deadline: timedelta) -> bool:
        """Give a child its end of a socket pair; false when the sandbox is gone."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [peer.fileno()]))]
        try:
            self._control.sendmsg([DEADLINE.pack(deadline.total_seconds())], rights)
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """End it at once, and reap it; the kernel ends its children with it. May be called twice."""
        if self.alive:
            self._forget()
            self._process.kill()
            self._process.wait()

    async def close(self) -> None:
        """Let it end its children, reap them and end itself."""
        if not self.alive:
            return
        self._forget()  # the end of file tells it to
        try:
            await asyncio.to_thread(self._process.wait, _CLOSE_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _forget(self) -> None:
        self._loop.remove_reader(self._control)
        self._control.close()


async def _exchange(ours: socket.socket, written: bytes) -> bytes:
    """Return all that comes back; at most a little more than an answer may have."""
    loop = asyncio.get_running_loop()
    # A child may end before it read everything; what there is to know comes from the other direction.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        await loop.sock_sendall(ours, written)
        ours.shutdown(socket.SHUT_WR)
    received = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while len(received) <= ANSWER_MAX_BYTES and (chunk := await loop.sock_recv(ours, _CHUNK_BYTES)):
            received += chunk
    return bytes(received)


def _interpret(received: bytes, keys: tuple[str, ...]) -> dict[str, bytes] | Failure | None:
    """Return what a child answered or why it couldn't; None where nobody says how it ended.

    Before its answer a child writes a `.` for each template that it starts; so one that had to be killed still
    tells which it was at.
    """
    if len(received) > ANSWER_MAX_BYTES:
        return Failure(TemplateFault.OUTPUT_TOO_LARGE)
    try:
        verdict = Verdict(received[-1:])
    except ValueError:
        return None
    answer = received[:-1].lstrip(b".")
    at = len(received) - 2 - len(answer)
    if verdict is Verdict.ENDED:
        try:
            return read_answer(answer, frozenset(keys))
        except ValueError:
            return Failure(TemplateFault.FAILED)
    return Failure(_FAULTS[verdict], keys[at] if 0 <= at < len(keys) else None)


_FAULTS: Mapping[Verdict, TemplateFault] = {
    Verdict.OVERDUE: TemplateFault.TOO_SLOW,
    Verdict.OUT_OF_MEMORY: TemplateFault.TOO_MUCH_MEMORY,
    Verdict.CRASHED: TemplateFault.FAILED,
}
