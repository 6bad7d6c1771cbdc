"""What an app is: the credentials it takes, how requests are made with them, and what its answers mean."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import JsonValue

from keybearer.destinations.content import field_of
from keybearer.destinations.remote import (
    NO_LIMITS,
    Limits,
    RemoteAnswer,
    RemoteError,
    RemoteRequest,
    RemoteUnavailableError,
)
from keybearer.wire.credentials import Credentials, Method

if TYPE_CHECKING:
    from keybearer.destinations.session import Call, Session

__all__ = [
    "Answers",
    "App",
    "Issued",
    "Rotation",
    "bearer",
    "checked_by",
    "in_header",
    "proves_its_token",
]


@dataclass(frozen=True, slots=True)
class Issued:
    """A token that a remote gave for credentials, by the remote's words for its parts, and until when it holds."""

    parts: Mapping[str, str] = field(repr=False)
    ends_at: datetime


def _nothing(_: JsonValue) -> JsonValue:
    return None


def _unclassified(_: RemoteAnswer) -> type[RemoteError] | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the answers of an app mean, for the errors that people read.

    Attributes:
        who: what answers, as people call it: "GitLab".
        hints: what to do about a refusal, by status or by the remote's word; the text follows the sentence.
        content: reads what `message` and `word` look into; JSON, unless the remote says its errors otherwise.
        message: the remote's own words within an answer, shown where the request held no value.
        word: the remote's word for the error, such as `NOT_FOUND`, shown in every case.
        kind: which error an answer is, where the status alone doesn't say it.
        is_busy: whether an answer refuses a request until an earlier change is done: it is sent again after a pause,
            and no other request waits.
        limits: how the remote limits those who ask.
    """

    who: str
    hints: Mapping[int | str, str] = field(default_factory=dict)
    content: Callable[[RemoteAnswer], JsonValue] = RemoteAnswer.json_or_none
    message: Callable[[JsonValue], JsonValue] = lambda content: field_of(content, "message")
    word: Callable[[JsonValue], JsonValue] = _nothing
    kind: Callable[[RemoteAnswer], type[RemoteError] | None] = _unclassified
    is_busy: Callable[[RemoteAnswer], bool] = lambda _: False
    limits: Limits = NO_LIMITS


def in_header(
    name: str, scheme: str = ""
) -> Callable[[RemoteRequest, Mapping[str, str], Session], RemoteRequest]:
    """Return what sends a token in that header, after the word of a scheme if there is one."""

    def authorized(request: RemoteRequest, parts: Mapping[str, str], _: Session) -> RemoteRequest:
        return replace(request, headers={**request.headers, name: f"{scheme}{parts['token']}"})

    return authorized


bearer = in_header("Authorization", "Bearer ")
"""Sends a bearer token (RFC 6750)."""


async def proves_its_token(session: Session) -> None:
    """Return if the remote gives a new token for the credentials.

    Raises:
        RemoteError: it doesn't, or can't be asked.
    """
    session.forget_token()  # an older token proves nothing about the credentials now
    await session.token()


def checked_by(call: Call, *, shows: str | None = None) -> Callable[[Session], Awaitable[None]]:
    """Return what checks credentials: a token that they hold, by that call; others by getting a token for them.

    Args:
        call: is answered to whoever has a token.
        shows: a field that the remote's answer has, where the address may be that of something else.
    """

    async def check(session: Session) -> None:
        if session.app.static(session.credentials) is None:
            await proves_its_token(session)
            return
        answer = await session.ask(call)
        if shows is not None and field_of(answer.json(), shows) is None:
            raise RemoteUnavailableError(
                f"what answers isn't {session.app.answers.who}; is this the right address?"
            )

    return check


@dataclass(frozen=True, slots=True)
class Rotation:
    """How credentials are replaced by new ones.

    Attributes:
        renew: returns new credentials that work, made by those of the session; these work until `retire`.
        retire: revokes old credentials, with those of the session.
    """

    renew: Callable[[Session], Awaitable[Credentials]]
    retire: Callable[[Session, Credentials], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """An app that connections lead to. Every function of it raises a `RemoteError` where the remote refuses.

    Attributes:
        name: interface.md's word.
        title: as people write it.
        methods: by their word on the wire.
        own: what the service itself may be given for the remote, `--app-credentials`; None if it needs nothing there.
        root: where the remote's API is, without a slash at the end.
        answers: what its answers mean.
        headers: of every request with these credentials.
        static: the token that credentials hold themselves, or its parts; None where one is issued for them.
        issue: gets a token for the credentials of a session. Issued tokens are kept while they hold.
        stale: statuses, and words of errors, by which the remote says that an issued token is no longer valid:
            another one is got, once.
        authorize: returns a request as it is sent with a token's parts.
        check: returns if the remote takes the credentials of the session.
        exchange: returns what is to be kept of credentials that a person gave; called once, before `check`.
    """

    name: str
    title: str
    methods: Mapping[str, Method]
    own: type[Credentials] | None = None
    root: Callable[[Session], str]
    answers: Answers
    headers: Callable[[Credentials], Mapping[str, str]] = lambda _: {"Accept": "application/json"}
    static: Callable[[Credentials], str | Mapping[str, str] | None] = lambda _: None
    issue: Callable[[Session], Awaitable[Issued]] | None = None
    stale: Collection[int | str] = frozenset({401})
    authorize: Callable[[RemoteRequest, Mapping[str, str], Session], RemoteRequest] = bearer
    check: Callable[[Session], Awaitable[None]] = proves_its_token
    exchange: Callable[[Session], Awaitable[Credentials]] | None = None
    rotation: Rotation | None = None

    @property
    def is_rotatable(self) -> bool:
        """Whether credentials of any method can replace themselves."""
        return any(method.is_rotatable for method in self.methods.values())
