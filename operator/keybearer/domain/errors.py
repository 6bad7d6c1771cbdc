"""Why the service refuses. No HTTP here: `keybearer.server.errors` holds the one table of statuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from keybearer.base.errors import KeybearerError

__all__ = [
    "Denial",
    "DomainError",
    "ForbiddenError",
    "InvalidError",
    "LimitReachedError",
    "NotFoundError",
    "SchemaViolationError",
    "TooManyUnknownEmailsError",
    "UnauthenticatedError",
    "UnknownEmailsError",
    "WrongPasswordError",
]


class DomainError(KeybearerError):
    """A refusal. `name` replaces the usual word of `error` in the answer (wire.md section 8.2)."""

    def __init__(self, message: str, *, name: str | None = None, details: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.name = name
        self.details = tuple(details)


class UnauthenticatedError(DomainError):
    """Who asks is unknown, or no longer known.

    `attempted` is the identity that was tried to log in as; a login makes sense again after `retry_after`, where that
    is known.
    """

    def __init__(
        self,
        message: str,
        *,
        name: str | None = None,
        attempted: str | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message, name=name)
        self.attempted = attempted
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Denial:
    """The rule that was missing; the one that forbids it where `inverted`."""

    action: str
    subject: str
    environment: str | None = None
    path: str | None = None
    inverted: bool = False
    project_id: str | None = None


class ForbiddenError(DomainError):
    """Who asks is known and may not."""

    def __init__(
        self,
        message: str,
        *,
        name: str | None = None,
        details: Sequence[str] = (),
        denial: Denial | None = None,
    ) -> None:
        super().__init__(message, name=name, details=details)
        self.denial = denial


class NotFoundError(DomainError):
    """What was named doesn't exist."""


class UnknownEmailsError(NotFoundError):
    """Somebody invited emails, so many, to the project, and no user has one of them."""

    def __init__(self, message: str, *, project_id: str, emails: int) -> None:
        super().__init__(message)
        self.project_id = project_id
        self.emails = emails


class InvalidError(DomainError):
    """A rule of the service forbids it, a name that is taken for example."""


class WrongPasswordError(InvalidError):
    """A user who is logged in gave a current password that was refused, as a login with it would be."""

    def __init__(self, refused: UnauthenticatedError) -> None:
        # Not 401: the caller's token is good, and clients would log in again for nothing.
        super().__init__(f"The current password was not accepted: {refused.message}")
        self.refused = refused


class LimitReachedError(DomainError):
    """There is too much of it already; later there may be less: after `retry_after` where that is known."""

    def __init__(self, message: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooManyUnknownEmailsError(LimitReachedError):
    """Somebody invited emails, so many, to the project, who had named too many before that no user has."""

    def __init__(self, message: str, *, retry_after: timedelta, project_id: str, emails: int) -> None:
        super().__init__(message, retry_after=retry_after)
        self.project_id = project_id
        self.emails = emails


class SchemaViolationError(DomainError):
    """A field has a form that its schema forbids; `field` is its name on the wire."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field
