"""Whether the service is up (wire.md section 0)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.messages import Request, Response
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.answers import MessageAnswer

__all__ = ["GetStatus"]


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
        return decode(response, MessageAnswer).message
