"""Whether the service is up (wire.md section 0)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response
from keybearer.client.operation import Operation, Repeat

__all__ = ["GetClock", "GetStatus"]


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


@dataclass(frozen=True, slots=True)
class GetClock(Operation[datetime | None]):
    """Return the service's clock in whole seconds (UTC); None if its answer has no date. Needs no token."""

    repeat: ClassVar[Repeat] = Repeat.FREELY
    authenticated: ClassVar[bool] = False

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", "/api/status")

    def read(self, response: Response) -> datetime | None:
        """Return the instant of the answer's `Date` (RFC 9110, section 6.6.1)."""
        decode(response, _MessageAnswer)
        try:
            return parsedate_to_datetime(response.headers.get("date", "")).astimezone(UTC)
        except (ValueError, OverflowError):  # no date, or one beyond the years that Python knows
            return None
