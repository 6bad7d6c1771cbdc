"""What a refusal or failure of the service means to people: a reason and a sentence, never a value. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from keybearer.client import (
    AnswerTooLong,
    ClientError,
    DecodeError,
    NotFound,
    PermissionDenied,
    RateLimited,
    ServerFailure,
    ServiceError,
    TransportError,
    Unauthenticated,
)
from keybearer.controllers.json_reading import list_of, mapping_of
from keybearer.controllers.outcome import ReconcileError, WaitingError
from keybearer.controllers.sources.query import SourceQuery
from keybearer.controllers.sources.session import SourceFailure

__all__ = ["describe_failure", "describe_refusal"]

_OTHER_REFUSAL = "ForbiddenError"
"""The service's word for a 403 that no missing right is the reason of, such as a name that is taken."""
_EXPLAINED = ("bind", "connect")
"""Actions whose refusal names the command that gives the right."""


def describe_failure(
    url: str, query: SourceQuery, error: ClientError | ReconcileError, answer_max_bytes: int
) -> SourceFailure:
    """Return why a source can't be read, and what to do."""
    if isinstance(error, ReconcileError):
        return SourceFailure(error.reason, error.message, passing=isinstance(error, WaitingError))
    if isinstance(error, (TransportError, ServerFailure, RateLimited)):
        return _describe_passing(url, error)
    match error:
        case Unauthenticated():
            reason, text = (
                "CredentialsRejected",
                (
                    f"the service at {url} refuses the credentials: {error.message}; correct the identity Secret, or "
                    "the identity in the service"
                ),
            )
        case PermissionDenied():
            reason, text = (
                "PermissionDenied",
                (f"the identity may not read {query}: {error.message}; grant it a role in the project"),
            )
        case NotFound():
            reason, text = (
                "SourceNotFound",
                (
                    f"{query} doesn't exist, or the identity can't see it: {error.message}; correct project, "
                    "environment or secretPath"
                ),
            )
        case AnswerTooLong():
            reason, text = (
                "ServiceRefused",
                (
                    f"{query} holds more than the {answer_max_bytes // 1024**2} MiB that are read of one source; "
                    "split the folder, or select a narrower secretPath, or only some tags"
                ),
            )
        case DecodeError():
            reason, text = (
                "ServiceRefused",
                (f"what answers at {url} is not the secrets service: {error}; correct the url"),
            )
        case _:
            reason, text = "ServiceRefused", f"the service refuses to list {query}: {error}"
    return SourceFailure(reason, text, passing=False)


def _describe_passing(url: str, error: TransportError | ServerFailure | RateLimited) -> SourceFailure:
    if isinstance(error, RateLimited):
        text = f"the service at {url} asks to slow down; it is asked again when it said"
        return SourceFailure("ServiceThrottled", text, passing=True, after=error.retry_after)
    if isinstance(error, TransportError) and error.is_untrusted:
        text = (
            f"{error}; put the certificate of its authority into caBundle of the identity Secret, or give it "
            "another certificate; it is tried again"
        )
        return SourceFailure("CertificateUntrusted", text, passing=True)
    if isinstance(error, ServerFailure):
        text = f"the service at {url} fails with status {error.status}: {error.message}; it is tried again"
    else:
        text = f"{error}; it is tried again"
    return SourceFailure("ServiceUnavailable", text, passing=True)


def describe_refusal(url: str, what: str, error: ClientError | ReconcileError) -> SourceFailure:
    """Return why the service didn't do something, and what to do; `what` as in "create connection x"."""
    if isinstance(error, ReconcileError):
        return SourceFailure(error.reason, error.message, passing=isinstance(error, WaitingError))
    if isinstance(error, (TransportError, ServerFailure, RateLimited)):
        return _describe_passing(url, error)
    match error:
        case Unauthenticated():
            text = (
                f"the service at {url} refuses the credentials: {error.message}; correct the identity Secret"
            )
            return SourceFailure("CredentialsRejected", text, passing=False)
        case PermissionDenied() if error.error != _OTHER_REFUSAL:
            text = f"the identity may not {what}: {error.message}"
            if not _names_the_command(error.details):
                text += "; grant it a role that may"
            return SourceFailure("PermissionDenied", text, passing=False)
        case DecodeError():
            text = f"what answers at {url} is not the secrets service: {error}; correct the url"
            return SourceFailure("ServiceRefused", text, passing=False)
        case ServiceError():
            text = f"the service refuses to {what}: {error.message}"
            return SourceFailure("ServiceRefused", text, passing=False)
        case _:
            return SourceFailure(
                "ServiceRefused", f"the service can't be asked to {what}: {error}", passing=False
            )


def _names_the_command(details: JsonValue) -> bool:
    return any(mapping_of(one).get("action") in _EXPLAINED for one in list_of(details))
