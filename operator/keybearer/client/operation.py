"""What every operation of the client is: arguments, the request they make, and how its answer is read.

Operations are values: they do no I/O and know neither clock nor token, so the asynchronous and the blocking
client run the very same ones.
"""

from __future__ import annotations

from abc import abstractmethod
from enum import Enum
from typing import ClassVar, Generic, TypeVar

from keybearer.client.messages import Request, Response

__all__ = ["Operation", "Repeat"]

T = TypeVar("T")


class Repeat(Enum):
    """When a request may be sent again after a failure."""

    FREELY = "freely"
    """Done twice is as good as done once: reads, logins."""
    UNSENT_ONLY = "unsent only"
    """A write: only when it surely never reached the service."""


class Operation(Generic[T]):
    """One call of the interface; subclasses are frozen dataclasses of its arguments.

    Attributes:
        repeat: when it may be sent again.
        authenticated: it carries the access token; logins don't (wire.md section 1.1).
        statuses: those that `read` understands beside 2xx; all others are errors.
    """

    __slots__ = ()

    repeat: ClassVar[Repeat] = Repeat.UNSENT_ONLY
    authenticated: ClassVar[bool] = True
    statuses: ClassVar[frozenset[int]] = frozenset()

    @property
    def operation_name(self) -> str:
        """What metrics and traces call it."""
        return type(self).__name__

    @abstractmethod
    def request(self) -> Request:
        """Return what to send.

        Raises:
            InvalidArgument: the arguments make no request.
        """

    @abstractmethod
    def read(self, response: Response) -> T:
        """Return what the answer means.

        Raises:
            DecodeError: the answer is not of this interface.
        """

    def confidential(self) -> tuple[str, ...]:
        """Return the texts of the request that no error may repeat."""
        return ()
