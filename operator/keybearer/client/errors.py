# ruff: noqa: N818 - named after the condition, as the service names it; the base says that they are errors
"""What can go wrong with a request, for callers to tell apart.

    ClientError
    ├── InvalidArgument     the call itself makes no sense; nothing was sent
    ├── ClientClosed        the client was closed before
    ├── TransportError      no complete answer came
    ├── StreamEnded         the service ended a stream of events
    ├── DecodeError         an answer came, but not one of this interface
    │   └── AnswerTooLong       it is longer than the options allow
    └── ServiceError        the service refused (interface.md section 7)
        ├── BadRequest          400
        ├── Unauthenticated     401, and 403 for a token that has run out (wire.md section 8.2)
        ├── PermissionDenied    403
        ├── NotFound            404
        ├── ValidationFailed    422
        ├── RateLimited         429
        └── ServerFailure       5xx

Messages begin with the reason, and name the request at their end. They never hold a value: what a service repeats of
the request's secrets is blanked out before an error is made (`keybearer.client.refusals`).
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from pydantic import JsonValue

from keybearer.base.errors import KeybearerError

__all__ = [
    "AnswerTooLong",
    "BadRequest",
    "ClientClosed",
    "ClientError",
    "DecodeError",
    "InvalidArgument",
    "NotFound",
    "PermissionDenied",
    "RateLimited",
    "ServerFailure",
    "ServiceError",
    "StreamEnded",
    "TransportError",
    "Unauthenticated",
    "ValidationFailed",
]


class ClientError(KeybearerError):
    """Anything the client raises.

    Attributes:
        is_retryable: the same call may succeed later without anyone changing anything.
    """

    is_retryable: bool = False


class InvalidArgument(ClientError, ValueError):
    """The call can't be made as asked: an argument is missing, malformed or too long. Nothing was sent."""


class ClientClosed(ClientError):
    """The client was closed; make a new one."""


class TransportError(ClientError):
    """No complete answer came: refused, reset, timed out, or not trusted.

    Attributes:
        sent: the service may have seen the request, so that a write may have been done.
        is_untrusted: the service's certificate is not trusted.
    """

    def __init__(
        self, message: str, *, sent: bool, is_retryable: bool = True, is_untrusted: bool = False
    ) -> None:
        super().__init__(message)
        self.sent = sent
        self.is_retryable = is_retryable
        self.is_untrusted = is_untrusted

    def __reduce__(self) -> tuple[object, ...]:
        again = partial(
            type(self), sent=self.sent, is_retryable=self.is_retryable, is_untrusted=self.is_untrusted
        )
        return again, self.args


class DecodeError(ClientError):
    """The answer is not what this interface answers: no JSON, a field missing, too long or encoded."""


class AnswerTooLong(DecodeError):
    """The answer is longer than `ClientOptions.max_response_bytes`; ask for less, or raise it."""


class StreamEnded(ClientError):
    """The service ended a stream of events, for the reason in the message; subscribe again and read anew."""

    is_retryable = True


class ServiceError(ClientError):
    """The service refused, or failed.

    Attributes:
        status: HTTP status.
        error: the service's word for the kind of error, such as `BadRequest`; may be empty.
        message: the service's sentence, or for 422 its issues as `path: sentence`.
        request_id: names the request in the service's log; may be empty.
        details: what the service adds to 400 and 403.
        asked: the request, as method and path; may be empty.
        retry_after: how long the service asks to wait, where it says so.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        error: str = "",
        request_id: str = "",
        details: JsonValue = None,
        retry_after: timedelta | None = None,
        asked: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.error = error
        self.request_id = request_id
        self.details = details
        self.retry_after = retry_after
        self.asked = asked

    def __str__(self) -> str:
        tail = ", ".join(
            part
            for part in (
                self.asked,
                f"status {self.status}",
                self.error,
                self.request_id and f"request {self.request_id}",
            )
            if part
        )
        return f"{self.message} ({tail})"

    def __reduce__(self) -> tuple[object, ...]:
        fields = {name: value for name, value in vars(self).items() if name != "message"}
        return partial(type(self), **fields), self.args


class BadRequest(ServiceError):
    """400: malformed, or against a rule of the service."""


class Unauthenticated(ServiceError):
    """401: credentials or token are missing, wrong, revoked or run out."""


class PermissionDenied(ServiceError):
    """403: the identity may not do this."""


class NotFound(ServiceError):
    """404: no such secret, folder, environment or project, or none the identity may know of."""


class ValidationFailed(ServiceError):
    """422: a field is missing, of the wrong type or out of bounds."""


class RateLimited(ServiceError):
    """429: too many requests; `retry_after` says for how long, where the service does."""

    is_retryable = True


class ServerFailure(ServiceError):
    """5xx: the service, or what stands before it, failed."""

    is_retryable = True
