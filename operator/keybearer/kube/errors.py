"""What the API server refuses, as one tree, without anything it may echo.

    KubeError
    ├── UnauthorizedError      401: our credentials are not accepted
    ├── ForbiddenError         403: a right is missing, a quota or an admission rule refuses
    ├── NotFoundError          404: the object, its namespace or its whole kind
    ├── AlreadyExistsError     409 on create
    ├── ConflictError          409: uid or resourceVersion differ, or another field manager owns a field
    ├── GoneError              410: a resourceVersion or a continue token has expired
    ├── InvalidError           400, 413, 422: the object is not acceptable
    ├── TooManyRequestsError   429, after our own retries
    ├── UnavailableError       5xx, time-outs, transport
    ├── AnswerTooLargeError    the answer passed the bound that its reader set
    └── LeaseLostError         not sent: we may no longer write

Messages are made by `keybearer.kube.answers`, which takes over nothing that may quote a value.
"""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.base.errors import KeybearerError

__all__ = [
    "AlreadyExistsError",
    "AnswerTooLargeError",
    "ConflictError",
    "FieldConflict",
    "ForbiddenError",
    "GoneError",
    "InvalidError",
    "KubeError",
    "LeaseLostError",
    "NotFoundError",
    "TooManyRequestsError",
    "UnauthorizedError",
    "UnavailableError",
]


class KubeError(KeybearerError):
    """The API server refused, or could not be asked.

    Attributes:
        status: the HTTP status of the answer; None when there was none.
        reason: the machine-readable reason of the answer's Status, such as `Conflict`; may be empty.
        is_retryable: whether the same request may succeed later without anyone changing the object.
    """

    is_retryable: bool = False

    def __init__(self, message: str, *, status: int | None = None, reason: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class UnauthorizedError(KubeError):
    """401: the API server doesn't accept our credentials, also not after they were read again."""

    is_retryable = True


class ForbiddenError(KubeError):
    """403: a right is missing, a quota is used up, or an admission rule refuses.

    Attributes:
        namespace_terminating: the namespace is being deleted, so nothing can be created in it.
        over_quota_by: how many objects too many there would be of what a quota counts; None if it isn't for one.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = 403,
        reason: str = "",
        namespace_terminating: bool = False,
        over_quota_by: int | None = None,
    ) -> None:
        super().__init__(message, status=status, reason=reason)
        self.namespace_terminating = namespace_terminating
        self.over_quota_by = over_quota_by


class NotFoundError(KubeError):
    """404: the object, its namespace, or the whole kind (a CRD that is not installed) doesn't exist."""


class AlreadyExistsError(KubeError):
    """409 on create: an object of this name exists."""


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """One field that another manager owns: `.data.password` and `kubectl`."""

    manager: str
    field: str


class ConflictError(KubeError):
    """409: the object is not the one (uid), or not in the state (resourceVersion), that was asked for.

    Attributes:
        causes: the fields that other managers own, when that was the reason of a server-side apply.
    """

    is_retryable = True

    def __init__(
        self,
        message: str,
        *,
        status: int | None = 409,
        reason: str = "Conflict",
        causes: tuple[FieldConflict, ...] = (),
    ) -> None:
        super().__init__(message, status=status, reason=reason)
        self.causes = causes

    @property
    def managers(self) -> tuple[str, ...]:
        """Return the names of the other field managers, each once, sorted."""
        return tuple(sorted({cause.manager for cause in self.causes}))


class GoneError(KubeError):
    """410: the resourceVersion of a watch, or the continue token of a list, has expired."""

    is_retryable = True


class InvalidError(KubeError):
    """The object is not acceptable (400, 413, 422), or its name can't be one.

    Attributes:
        fields: paths of the fields that are refused, such as `data[tls.crt]`; never what stood in them.
    """

    def __init__(
        self, message: str, *, status: int | None = 422, reason: str = "Invalid", fields: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, status=status, reason=reason)
        self.fields = fields


class TooManyRequestsError(KubeError):
    """429: the API server sheds load; `retry_after` is in seconds."""

    is_retryable = True

    def __init__(self, message: str, *, retry_after: float, status: int | None = 429) -> None:
        super().__init__(message, status=status, reason="TooManyRequests")
        self.retry_after = retry_after


class UnavailableError(KubeError):
    """The API server can't answer now: 5xx, a time-out, no connection. A write may have been done or not."""

    is_retryable = True


class AnswerTooLargeError(KubeError):
    """The answer is longer than its reader accepts; nothing of it was kept."""


class LeaseLostError(KubeError):
    """A write was not sent, because the Lease that allows it has run out or gone to another replica."""
