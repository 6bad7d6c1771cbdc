"""Traces, as whoever is traced sees them: spans that begin and end, and where there is no tracer, nothing at all.

What makes spans of this is `keybearer.base.opentelemetry`, which is imported only where traces are asked for. A span
says what was done to which object, and how it ended: never a value, a token or the text of an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from typing import Protocol

__all__ = ["Attributes", "Span", "SpanKind", "Tracer"]

Attributes = Mapping[str, str | int]


class SpanKind(Enum):
    """Which side of a call the span is."""

    INTERNAL = "internal"
    CLIENT = "client"
    SERVER = "server"


class Span(Protocol):
    """Something under way, or over."""

    @property
    def trace_id(self) -> str:
        """The trace's id in 32 hexadecimal digits, for the log."""
        ...

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """The fields by which another process joins the trace (W3C Trace Context)."""
        ...

    def name(self, name: str) -> None:
        """Call it so from now on."""
        ...

    def tell(self, attributes: Attributes) -> None:
        """Add what came to be known."""
        ...

    def fail(self, why: str) -> None:
        """Say that it failed; `why` is one of few words, never a text that could quote something."""
        ...

    def end(self) -> None:
        """Say that it is over."""
        ...


class Tracer(Protocol):
    """Begins spans. One that is begun within another, in whatever task, is a part of it."""

    def within(
        self,
        name: str,
        kind: SpanKind,
        attributes: Attributes,
        joins: Sequence[tuple[bytes, bytes]] | None = None,
    ) -> AbstractContextManager[Span]:
        """Return a span that lasts as long as the block, and that what is begun in the block is a part of.

        Args:
            name: what is done: one of few.
            kind: which side of a call it is.
            attributes: to whom.
            joins: the header of a request, whose trace it joins if there is one; None: it is a part of what is under
                way here, if anything is.
        """
        ...

    def begin(self, name: str, kind: SpanKind, attributes: Attributes) -> Span:
        """Return a span that is a part of what is under way here, and that nothing else is a part of."""
        ...

    def current(self) -> Span | None:
        """Return the span that is under way here."""
        ...

    def close(self) -> None:
        """Send what waits to be sent, for some seconds at most; blocks."""
        ...
