"""What the logic asks of a shell, one step at a time.

The logic of a call (log in, send, wait, send again, read) is a generator of steps; the asynchronous and the
blocking client differ only in how they take a step. Tests take the steps by hand.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Generic, TypeVar

from keybearer.client.errors import TransportError
from keybearer.client.messages import Request, Response

__all__ = ["Alone", "Ask", "Step", "Steps", "TextSource", "Transmit", "Wait", "take"]

R = TypeVar("R")
T = TypeVar("T")


class Step(Generic[R]):
    """One thing to do; `R` is what comes of it."""

    __slots__ = ()


Steps = Generator[Step[Any], Any, T]
"""Logic that yields steps, is sent what comes of each, and returns a `T`."""

TextSource = Callable[[], str] | Callable[[], Awaitable[str]]
"""Where a fresh text comes from; only the asynchronous client takes one that must be awaited."""


@dataclass(frozen=True, slots=True)
class Transmit(Step[Response | TransportError]):
    """Send the request once; a failure of the transport is an outcome, not an exception.

    `operation` is the name of the operation that it is part of: one of as many as there are.
    """

    request: Request
    bearer: str | None = field(default=None, repr=False)
    operation: str = ""


@dataclass(frozen=True, slots=True)
class Wait(Step[None]):
    """Let time pass."""

    delay: timedelta


@dataclass(frozen=True, slots=True)
class Ask(Step[str]):
    """Get a text from the caller's source; what it raises goes to the caller."""

    source: TextSource


@dataclass(frozen=True, slots=True)
class Alone(Step[R]):
    """Take these steps while no other call of this client takes any that are to be taken alone."""

    steps: Steps[R]


def take(step: Step[R]) -> Steps[R]:
    """Yield the step, and return what came of it, with its type."""
    outcome: R = yield step
    return outcome
