"""What is told of a request: the same words for all kinds, before each is written in its own way. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

__all__ = ["Delivery", "End", "Verdict"]


class End(Enum):
    """How a request stands."""

    PENDING = "pending"
    """Nothing is decided; it is looked at again."""
    DENIED = "denied"
    """It may not be signed."""
    FAILED = "failed"
    """It can't be signed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why there is no certificate.

    Attributes:
        end: whether there will be one.
        reason: one word in CamelCase.
        message: what is wrong, where, and what to do.
    """

    end: End
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """A certificate to hand over.

    Attributes:
        chain_pem: the certificate, and the intermediates that follow it; no root.
        anchor_pem: the root; empty where the service gave none.
        not_before, not_after: of the certificate.
        serial_number: of the certificate, for people.
    """

    chain_pem: str
    anchor_pem: str
    not_before: datetime
    not_after: datetime
    serial_number: str
