"""`keybearer`, with SIGTERM sent to it the moment that kopf listens for signals; tests start it as a program."""

import os
import signal
from collections.abc import Callable

import uvloop

from keybearer.cli.main import app

_add_signal_handler = uvloop.Loop.add_signal_handler
_listeners = 0


def _listen(loop: uvloop.Loop, number: int, callback: Callable[..., object], *given: object) -> None:
    global _listeners  # noqa: PLW0603 - one program, one loop
    _add_signal_handler(loop, number, callback, *given)
    if number == signal.SIGTERM:
        _listeners += 1
        if _listeners == 2:  # our own was the first, and kopf's takes its place
            os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    uvloop.Loop.add_signal_handler = _listen  # type: ignore[method-assign,assignment]
    app()
