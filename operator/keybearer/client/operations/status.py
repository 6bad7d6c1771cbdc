"""Whether the service is up (wire.md section 0)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response
from keybearer.client.operation import Operation, Repeat

__all__ = ["GetStatus"]


@from_wire
@dataclass(frozen=True, slots=True)
class _MessageAnswer:
    """`{message}`."""

    message: str


@dataclass(frozen=True, slots=True)
class GetStatus(Operation[str]):
    """Return what the service says of itself: `Ok` when it is up. Needs no token."""

    repeat: ClassVar[Repeat] = Repeat.FREELY
    authenticated: ClassVar[bool] = False

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", "/api/status")

    def read(self, response: Response) -> str:
        """Return the word of the service."""
        return decode(response, _MessageAnswer).message
