"""Messages about failed runs for people who look at the sync, without values and credentials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pydantic import JsonValue, ValidationError

from keybearer.base.clock import format_instant
from keybearer.base.errors import KeybearerError
from keybearer.destinations.remote import RemoteError, RemoteThrottledError
from keybearer.domain.errors import DomainError
from keybearer.domain.syncs.plan import PlanRefusedError
from keybearer.store.failures import BusyError, TooSlowError, UnavailableError
from keybearer.store.sealing.envelope import AlteredDatabaseError

__all__ = [
    "MESSAGE_MAX",
    "Failure",
    "LostJobError",
    "confidential_texts",
    "counted",
    "failure_of",
    "redacted",
    "shortened",
]

MESSAGE_MAX = 1024
_DETAILS_MAX = 5
_RECOGNIZED_MIN = 6
"""Values with fewer characters are not redacted: they may be words of the message itself."""
_REDACTED = "[redacted]"
_LATER = (BusyError, TooSlowError, UnavailableError)


class LostJobError(KeybearerError):
    """Another process has the job by now, or its sync is gone: this run writes nothing more."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run failed, and whether another attempt may succeed.

    Attributes:
        message: for people who look at the sync.
        is_retryable: whether another attempt may succeed.
        is_foreseen: whether it is an expected failure, and not a bug of this program.
        wait: how long the remote asked to wait; the run continues after that.
    """

    message: str
    is_retryable: bool
    is_foreseen: bool = True
    wait: timedelta | None = None

    def before_next_attempt(self, due_at: datetime) -> str:
        """Return the message until the next attempt."""
        return self._followed_by(f"; the next attempt is at {format_instant(due_at)}")

    def while_parked(self, due_at: datetime) -> str:
        """Return the message while the job waits as the remote asked."""
        return self._followed_by(f"; what arrived is noted, and the rest follows at {format_instant(due_at)}")

    def _followed_by(self, following: str) -> str:
        return shortened(self.message, MESSAGE_MAX - len(following)) + following


def failure_of(error: Exception, confidential: Iterable[str]) -> Failure:
    """Return the message for an error, and whether another attempt may succeed.

    Args:
        error: what ended the run.
        confidential: texts that must not appear in the message.
    """
    match error:
        case RemoteThrottledError():
            failure = Failure(str(error), error.is_retryable, wait=error.wait)
        case RemoteError():
            failure = Failure(str(error), error.is_retryable)
        case PlanRefusedError():
            failure = Failure(str(error), is_retryable=False)
        case DomainError():
            failure = Failure(" ".join([error.message, *error.details[:_DETAILS_MAX]]), is_retryable=False)
        case AlteredDatabaseError():
            failure = Failure(str(error), is_retryable=False)
        case ValidationError():
            failure = Failure(
                "What is stored of the sync or its connection no longer has the form that this version takes; "
                "save it again",
                is_retryable=False,
            )
        case TimeoutError():
            failure = Failure(
                "The run took too long and was ended; it goes on where it was", is_retryable=True
            )
        case _ if isinstance(error, _LATER):
            failure = Failure("The service's own database was busy or away", is_retryable=True)
        case _:
            failure = Failure(
                f"An error of the service itself ended the run ({type(error).__name__}); see the log of the service",
                is_retryable=True,
                is_foreseen=False,
            )
    return replace(failure, message=redacted(failure.message, confidential))


def counted(count: int) -> str:
    """Return a number of secrets in words."""
    return "1 secret" if count == 1 else f"{count} secrets"


def confidential_texts(given: Mapping[str, JsonValue], shown: Mapping[str, JsonValue]) -> list[str]:
    """Return the texts of credentials that are never shown."""
    open_texts = set(_texts(dict(shown)))
    return [text for text in _texts(dict(given)) if text not in open_texts]


def _texts(content: JsonValue) -> list[str]:
    match content:
        case str():
            return [content]
        case dict():
            return [text for value in content.values() for text in _texts(value)]
        case list():
            return [text for value in content for text in _texts(value)]
        case _:
            return []


def redacted(message: str, confidential: Iterable[str]) -> str:
    """Return a message without confidential texts, shortened to what is stored."""
    # Longest first: one text may be part of another.
    for text in sorted(
        {text for text in confidential if len(text) >= _RECOGNIZED_MIN}, key=len, reverse=True
    ):
        message = message.replace(text, _REDACTED)
    return shortened(message, MESSAGE_MAX)


def shortened(message: str, most: int) -> str:
    """Return a text of at most that many characters; a shortened one ends with an ellipsis."""
    return message if len(message) <= most else f"{message[: most - 1]}…"
