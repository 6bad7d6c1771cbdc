"""How a run ended, in words for the people who look at the sync; never a value, never a credential."""

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
"""Characters of a value that is looked for in messages: shorter ones are words of the messages themselves."""
_REDACTED = "[redacted]"
_LATER = (BusyError, TooSlowError, UnavailableError)


class LostJobError(KeybearerError):
    """The job is another process's by now, or its sync is gone: nothing more is written."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run failed, and whether the same may work later.

    Attributes:
        message: for whoever looks at the sync.
        is_retryable: whether another attempt is worth it.
        is_foreseen: whether it is no fault of this program.
        wait: how long the remote asked to wait; the run isn't at fault then, and goes on after that.
    """

    message: str
    is_retryable: bool
    is_foreseen: bool = True
    wait: timedelta | None = None

    def before_next_attempt(self, due_at: datetime) -> str:
        """Return what is said until the next attempt."""
        return self._followed_by(f"; the next attempt is at {format_instant(due_at)}")

    def while_parked(self, due_at: datetime) -> str:
        """Return what is said until the time that the remote asked for has passed."""
        return self._followed_by(f"; what arrived is noted, and the rest follows at {format_instant(due_at)}")

    def _followed_by(self, following: str) -> str:
        return shortened(self.message, MESSAGE_MAX - len(following)) + following


def failure_of(error: Exception, confidential: Iterable[str]) -> Failure:
    """Return what is said of an error, and whether another attempt is worth it.

    Args:
        error: what ended the run.
        confidential: texts that must not be in the message, whoever put them there.
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
    """Return so many secrets, in words."""
    return "1 secret" if count == 1 else f"{count} secrets"


def confidential_texts(given: Mapping[str, JsonValue], shown: Mapping[str, JsonValue]) -> list[str]:
    """Return the texts of credentials that are shown to nobody."""
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
    """Return a message without confidential texts, and not longer than what is stored of one."""
    # The longest first: one may be a part of another.
    for text in sorted(
        {text for text in confidential if len(text) >= _RECOGNIZED_MIN}, key=len, reverse=True
    ):
        message = message.replace(text, _REDACTED)
    return shortened(message, MESSAGE_MAX)


def shortened(message: str, most: int) -> str:
    """Return a text of that many characters at most; what is cut off is an ellipsis."""
    return message if len(message) <= most else f"{message[: most - 1]}…"
