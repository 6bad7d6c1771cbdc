"""An AppConnection as those see it who use it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from keybearer.controllers.objects import ObservedObject

__all__ = ["ConnectionState", "ReadConnection"]


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """Whether a connection can be used.

    Attributes:
        id: in the service; None while it can't be used.
        trouble: what its condition Ready says; None where that is true, or not there yet.
    """

    id: str | None
    trouble: str | None


ReadConnection = Callable[[ObservedObject], ConnectionState]
"""Reads an AppConnection; the kind gives it."""
