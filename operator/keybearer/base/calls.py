"""Calls to others, as those who count or trace them see them: what is asked, by what status it ends, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Call"]


class Call(Protocol):
    """One call under way."""

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """Fields to send with it, by which the other side joins the trace that it belongs to."""
        ...

    def end(self, status: int | None) -> None:
        """Say that it was answered with this HTTP status; None where no answer came."""
        ...
