"""The operator's side of the sandbox: starts it when first needed, and again when it died.

A render takes one socket pair, of which the sandbox's child gets one end. Everything is bounded: how many render
at once (the rest waits in turn), how long, how much is read back. Nothing a child says is repeated to a user
unless the template itself says it: a sandbox that a template broke out of must not become a way to show values.
"""

from __future__ import annotations

import array
import asyncio
import builtins
import contextlib
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from types import TracebackType
from typing import Self

from keybearer.base.errors import KeybearerError
from keybearer.base.logs import get_logger
from keybearer.controllers.template.protocol import (
    ANSWER_MAX_BYTES,
    DEADLINE,
    OUTPUT_MAX_BYTES,
    REQUEST_MAX_BYTES,
    Failure,
    Request,
    TemplateFault,
    Verdict,
    read_answer,
    write_request,
)

__all__ = ["RENDER_DEADLINE", "RendererUnavailableError", "TemplateError", "TemplateFault", "TemplateRenderer"]

_log = get_logger(__name__)

RENDER_DEADLINE = timedelta(seconds=2)
_SERVER = "keybearer.controllers.template.sandbox_server"
_START_GRACE_SECONDS = 10.0
"""Beyond the deadline, for a sandbox that is only starting on a machine under load; then it counts as stuck."""
_ATTEMPTS = 2
"""A render that lost its sandbox is tried once more: it changes nothing, and the cause was likely another's."""


class TemplateError(KeybearerError):
    """A template gives nothing; the text names key, line and reason and can be shown."""

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message)
        self.reason = failure.fault
        self.key = failure.key
        self.line = failure.line


class RendererUnavailableError(KeybearerError):
    """The sandbox can't be started or keeps dying; not the fault of a template. Worth another try later."""


class TemplateRenderer:
    """Renders templates in child processes. Use it as an async context manager, or call `aclose`."""

    def __init__(self, *, at_once: int = 2) -> None:
        """Keep at most `at_once` children alive; each may take 64 MiB."""
        self._turn = asyncio.Semaphore(at_once)
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
        self, templates: Mapping[str, str], values: Mapping[str, bytes], *, deadline: timedelta = RENDER_DEADLINE
    ) -> dict[str, bytes]:
        """Return the output of each template, by key.

        Args:
            templates: Jinja2 texts by key of the target.
            values: secrets by key; variables of the templates where the key is an identifier, and items of
                `secrets` always. What is no UTF-8 text is bytes there (`b64encode` takes them).
            deadline: for all templates together, from when a child starts; waiting for a turn comes on top.

        Raises:
            TemplateError: a template is wrong or takes too much; no output is given then.
            RendererUnavailableError: the sandbox doesn't work.
        """
        written = write_request(Request(templates, values))
        if len(written) > REQUEST_MAX_BYTES:
            raise _error(Failure(TemplateFault.INPUT_TOO_LARGE), templates)
        async with self._turn:
            for attempt in range(_ATTEMPTS):
                answer = await self._attempt(written, frozenset(templates), deadline)
                if isinstance(answer, Failure):
                    raise _error(answer, templates)
                if answer is not None:
                    return answer
                _log.warning("template_sandbox_lost", attempt=attempt + 1)
        raise RendererUnavailableError("the template sandbox ended twice while it rendered; see the operator's log")

    async def aclose(self) -> None:
        """End the sandbox and whatever renders; a render under way fails. May be called twice."""
        self._closed = True
        self._drop(self._sandbox)

    async def _attempt(
        self, written: bytes, keys: frozenset[str], deadline: timedelta
    ) -> dict[str, bytes] | Failure | None:
        """Return what one child made of it; None when the sandbox was lost meanwhile."""
        sandbox = self._running()
        async with _socket_pair() as (ours, theirs):
            if not sandbox.hand_over(theirs, deadline):
                self._drop(sandbox)
                return None
            try:
                async with asyncio.timeout(deadline.total_seconds() + _START_GRACE_SECONDS):
                    received = await _exchange(ours, written)
            except TimeoutError:
                self._drop(sandbox)
                return None
        answer = _interpret(received, keys)
        if answer is None:
            self._drop(sandbox)
        return answer

    def _running(self) -> _Sandbox:
        if self._closed:
            raise RendererUnavailableError("the template renderer is closed")
        if self._sandbox is None or not self._sandbox.alive:
            self._drop(self._sandbox)
            self._sandbox = _Sandbox()
        return self._sandbox

    def _drop(self, sandbox: _Sandbox | None) -> None:
        """End that sandbox, unless another one has taken its place already."""
        if sandbox is None:
            return
        sandbox.end()
        if self._sandbox is sandbox:
            self._sandbox = None


class _Sandbox:
    """The process that forks the children, and the socket that it is told of renders by."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)
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
        self._loop.add_reader(self._control, self.end)

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

    def end(self) -> None:
        """End it and its children, and reap it. May be called twice."""
        if not self.alive:
            return
        self._loop.remove_reader(self._control)
        self._control.close()
        # The kernel kills its children with it.
        self._process.kill()
        self._process.wait()


@contextlib.asynccontextmanager
async def _socket_pair() -> AsyncIterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs
