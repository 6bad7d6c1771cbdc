"""Requests to remotes, their answers and their errors, as values; `keybearer.outbound.remote` sends them.

No text of an error holds a header, a body that was sent, or a value: a remote that echoes what it was given is not
quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol
from urllib.parse import quote

import orjson
from pydantic import JsonValue

from keybearer.base.errors import KeybearerError

__all__ = [
    "NO_LIMITS",
    "Http",
    "Limits",
    "RemoteAnswer",
    "RemoteDeniedError",
    "RemoteError",
    "RemoteMissingError",
    "RemoteRefusedError",
    "RemoteRequest",
    "RemoteThrottledError",
    "RemoteUnavailableError",
    "is_too_many",
    "quotable",
    "segment",
]

_OPAQUE = re.compile(r"[A-Za-z0-9_.+=-]{20,}")
_QUOTED_MAX = 300


class RemoteError(KeybearerError):
    """A remote didn't do what it was asked; the text may be shown to whoever may see the sync or connection.

    Attributes:
        is_retryable: whether the same may work later without anybody's help.
    """

    is_retryable = False


class RemoteDeniedError(RemoteError):
    """The remote doesn't take the credentials, or they may not do this."""


class RemoteMissingError(RemoteError):
    """What the configuration names (a repository, a mount, a project) isn't there."""


class RemoteRefusedError(RemoteError):
    """The remote can't hold this: a name or a value it doesn't take, too many of them."""


class RemoteThrottledError(RemoteError):
    """The remote asks to come later.

    Attributes:
        wait: how long it asks to wait; None where it doesn't say.
    """

    is_retryable = True

    def __init__(self, text: str, *, wait: timedelta | None = None) -> None:
        super().__init__(text)
        self.wait = wait


class RemoteUnavailableError(RemoteError):
    """The remote can't be reached, fails, or answers something that can't be used."""

    is_retryable = True


@dataclass(frozen=True, slots=True)
class RemoteRequest:
    """A request; neither headers nor content ever show.

    `is_repeatable` says that nothing is lost if it is carried out twice, because no answer to the first one came.
    """

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    content: bytes = field(default=b"", repr=False)
    is_repeatable: bool = True


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    """What came back; names of headers in lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def json(self) -> JsonValue:
        """Return the body read as JSON.

        Raises:
            RemoteUnavailableError: it isn't JSON; what answers is hardly the remote that was meant.
        """
        try:
            content: JsonValue = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            raise RemoteUnavailableError(
                f"the remote answers {self.status} with something other than JSON"
            ) from None
        return content

    def json_or_none(self) -> JsonValue:
        """Return the body read as JSON, None where it is something else: for the words of an error."""
        try:
            return self.json()
        except RemoteUnavailableError:
            return None


_Throttling = Callable[[RemoteAnswer], bool]
"""Whether an answer asks to come later."""


def is_too_many(answer: RemoteAnswer) -> bool:
    """Return whether the answer asks to come later, as RFC 6585 section 4 has it."""
    return answer.status == 429


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How a remote limits those who ask.

    Attributes:
        is_throttled: whether an answer asks to come later.
        unsaid_wait: how long is waited where such an answer doesn't say.
        writes_per_minute: requests that change something, at most; None for no limit that is known beforehand.
    """

    is_throttled: _Throttling = is_too_many
    unsaid_wait: timedelta = timedelta(seconds=1)
    writes_per_minute: int | None = None


NO_LIMITS = Limits()
"""No limits are known beforehand: the remote answers 429 when there are too many requests."""


class Http(Protocol):
    """An HTTP client that checks addresses before it connects; `keybearer.outbound.remote` has it."""

    def now(self) -> datetime:
        """Return the present instant, for what is signed with it."""
        ...

    async def pause(self, wait: timedelta) -> None:
        """Return after that time."""
        ...

    async def send(
        self, request: RemoteRequest, *, limits: Limits = NO_LIMITS, place: str = ""
    ) -> RemoteAnswer:
        """Return what the remote answers, whatever its status; one that failed for a passing reason is repeated.

        Args:
            request: to be sent.
            limits: how the remote limits those who ask.
            place: who asks; requests of one place at one origin wait together, others don't.

        Raises:
            RemoteRefusedError: the URL or a header has a form that can't be sent, or the host may not be called.
            RemoteThrottledError: it asks to come later than is waited for.
            RemoteUnavailableError: it can't be reached or verified, took too long, or answers too much.
        """
        ...


def quotable(text: str) -> str:
    """Return what a remote says as it may be shown: in one line, cut, and without anything that looks like a token.

    A remote, or what stands before it, may repeat what it was sent; long runs of letters and digits are left out
    before the text is cut, so that no half of one stays.
    """
    return _OPAQUE.sub("[...]", " ".join(text.split()))[:_QUOTED_MAX]


def segment(text: str) -> str:
    """Return a text as one segment of a URL's path, whatever it holds.

    Raises:
        RemoteRefusedError: it would step out of its place.
    """
    if text in (".", ".."):
        raise RemoteRefusedError("a name must not be . or ..")
    return quote(text, safe="")
