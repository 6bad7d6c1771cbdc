"""Sends requests to one remote with the credentials of one connection, and turns refusals into errors."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar
from urllib.parse import urlencode

from pydantic import JsonValue

from keybearer.destinations.app import App, Issued
from keybearer.destinations.remote import (
    Http,
    RemoteAnswer,
    RemoteDeniedError,
    RemoteError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteRequest,
    RemoteUnavailableError,
    quotable,
)
from keybearer.destinations.short_lived import ShortLived
from keybearer.wire.credentials import Credentials

__all__ = ["AppContext", "Call", "Session"]

_C = TypeVar("_C", bound=Credentials)
_WORD = re.compile(r"[A-Za-z_]{1,64}((, | and )[A-Za-z_]{1,64}){0,4}")
"""Words of an error as vendors have them; a value that a remote repeats in their place hardly looks so."""
_RECOGNIZED_MIN = 6
"""Characters of a part of a token that is looked for in a remote's words: shorter ones are words themselves."""
_BUSY_TRIES = 10
_BUSY_PAUSE = timedelta(seconds=2)
_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class AppContext:
    """What an app works with together with the credentials.

    Attributes:
        http: the way out.
        short_lived: tokens that were got for credentials and still hold.
        organization_id: of the connection; what a role is assumed with, as external id.
        endpoints: where a remote is that has one address for everybody, by the app's name, if not at the usual place.
        own_credentials: what the service itself has at a remote, by the app's name; for methods that rest on the
            remote's trust in the service.
    """

    http: Http
    short_lived: ShortLived
    organization_id: str
    endpoints: Mapping[str, str] = field(default_factory=dict)
    own_credentials: Mapping[str, Credentials] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """One request of an API.

    Attributes:
        path: quoted, from the root of the API on, with its query; or a whole URL. A table puts its own root first.
        to: what is asked for, as messages say it: "GitLab refuses to ...".
        body: sent as JSON.
        form: sent instead of a body, as endpoints for tokens take it (RFC 6749 section 4).
        taken: statuses that are no error here, beside those of success.
        holds_values: whether what is sent holds a value or credential: what the remote says of it isn't shown then.
        is_repeatable: whether nothing is lost if it is carried out twice, because no answer to the first one came.
        denials: statuses, beside 401, that say that the credentials are wrong, and not that they may too little.
        explain: what people can do about a refusal, read from the answer, in place of a hint of the app; it repeats
            nothing that was sent.
    """

    method: str
    path: str
    to: str
    _: KW_ONLY
    body: JsonValue = field(default=None, repr=False)
    form: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    taken: frozenset[int] = frozenset()
    holds_values: bool = False
    is_repeatable: bool = True
    denials: frozenset[int] = frozenset()
    explain: Callable[[RemoteAnswer], str] = lambda _: ""


class Session:
    """Sends the requests of a destination and its app.

    Attributes:
        app: what is asked.
        credentials: of the connection.
        context: what is asked with.
    """

    def __init__(self, app: App, credentials: Credentials, context: AppContext) -> None:
        self.app = app
        self.credentials = credentials
        self.context = context
        # An app may say of an organization that these credentials aren't for it: it gets no other's token.
        digest = hashlib.sha256(credentials.model_dump_json().encode()).hexdigest()
        self._key = app.name, context.organization_id, digest
        self._sent: tuple[str, ...] = ()
        self._has_new_token = False

    def credentials_as(self, kind: type[_C]) -> _C:
        """Return the credentials as those of one method.

        Raises:
            TypeError: they are of another.
        """
        if not isinstance(self.credentials, kind):
            raise TypeError(type(self.credentials).__name__)
        return self.credentials

    def as_service(self, kind: type[Credentials], otherwise: str) -> Session:
        """Return a session of the credentials that the service itself has at the app.

        Raises:
            RemoteRefusedError: it has none of that class; the text is `otherwise`.
        """
        own = self.context.own_credentials.get(self.app.name)
        if not isinstance(own, kind):
            raise RemoteRefusedError(otherwise)
        return Session(self.app, own, self.context)

    def root(self, usual: str) -> str:
        """Return where the app is: at its usual place, unless the operator of the service says otherwise."""
        return self.context.endpoints.get(self.app.name, usual).rstrip("/")

    def now(self) -> datetime:
        """Return the present instant."""
        return self.context.http.now()

    async def pause(self, wait: timedelta) -> None:
        """Return after that time, for a remote that needs a moment until it has done what it answered."""
        await self.context.http.pause(wait)

    async def token(self) -> Mapping[str, str]:
        """Return what requests are sent with.

        Raises:
            RemoteError: the remote gives none.
        """
        held = self.app.static(self.credentials)
        if held is not None:
            return {"token": held} if isinstance(held, str) else held
        issue = self.app.issue
        if issue is None:
            return {}

        async def get_new() -> Issued:
            self._has_new_token = True
            return await issue(self)

        return await self.context.short_lived.get(self._key, get_new)

    def forget_token(self) -> None:
        """Have the next request get a new token."""
        self.context.short_lived.forget(self._key)

    async def ask(
        self, call: Call, *, also: Callable[[RemoteAnswer], bool] = lambda _: False
    ) -> RemoteAnswer:
        """Return an answer of success, one of the statuses that the call takes, or one that `also` takes.

        Raises:
            RemoteError: the remote doesn't do it; the text says what was asked, and why.
        """
        sent = await self.token()
        answer = await self._authorized(call, sent)
        if self._is_stale(answer) and await self._has_another_than(sent):
            answer = await self._authorized(call, await self.token())
        return answer if also(answer) else self._judged(answer, call)

    async def ask_without_token(
        self, call: Call, *, also: Callable[[RemoteAnswer], bool] = lambda _: False
    ) -> RemoteAnswer:
        """Return the answer to a login, as `ask` does."""
        answer = await self._send(self._request(call), call)
        return answer if also(answer) else self._judged(answer, call)

    def _judged(self, answer: RemoteAnswer, call: Call) -> RemoteAnswer:
        """Return the answer if it is one of success for the call.

        Raises:
            RemoteError: it is a refusal or a failure.
        """
        if (
            200 <= answer.status < 300 and self.app.answers.kind(answer) is None
        ) or answer.status in call.taken:
            return answer
        raise self._error_of(answer, call)

    def _is_stale(self, answer: RemoteAnswer) -> bool:
        if answer.status < 400:
            return False
        answers = self.app.answers
        return (
            answer.status in self.app.stale or _text(answers.word(answers.content(answer))) in self.app.stale
        )

    async def _has_another_than(self, sent: Mapping[str, str]) -> bool:
        """Return whether the next request has another token than the refused one; one is got once in a session."""
        if self.app.issue is None or self.app.static(self.credentials) is not None:
            return False
        if await self.token() != sent:
            return True  # a request beside this one met the refusal first
        if self._has_new_token:
            return False
        # Tokens are revoked or used up before their time; a new one tells.
        self.forget_token()
        return True

    async def _authorized(self, call: Call, parts: Mapping[str, str]) -> RemoteAnswer:
        self._sent = tuple(part for part in parts.values() if len(part) >= _RECOGNIZED_MIN)
        return await self._send(self.app.authorize(self._request(call), parts, self), call)

    async def _send(self, request: RemoteRequest, call: Call) -> RemoteAnswer:
        answers = self.app.answers
        for _ in range(_BUSY_TRIES):
            answer = await self.context.http.send(request, limits=answers.limits, place=":".join(self._key))
            if not answers.is_busy(answer):
                return answer
            await self.pause(_BUSY_PAUSE)
        raise RemoteUnavailableError(
            f"{answers.who} can't {call.to} yet: it was busy with an earlier change at each of {_BUSY_TRIES} tries"
        )

    def _request(self, call: Call) -> RemoteRequest:
        headers = {**self.app.headers(self.credentials), **call.headers}
        content = urlencode(call.form).encode()
        if content:
            headers.setdefault("Content-Type", _FORM)
        elif call.body is not None:
            # Unlike other writers this one takes whole numbers of any size.
            content = json.dumps(call.body, ensure_ascii=False, separators=(",", ":")).encode()
        if content:
            headers.setdefault("Content-Type", _JSON)
        url = call.path if "://" in call.path else f"{self.app.root(self)}{call.path}"
        return RemoteRequest(call.method, url, headers, content, call.is_repeatable)

    def _error_of(self, answer: RemoteAnswer, call: Call) -> RemoteError:
        answers, status = self.app.answers, answer.status
        content = answers.content(answer)
        said = self._said(content, call)
        explained = call.explain(answer) if status < 500 else ""
        advice = explained or answers.hints.get(_text(answers.word(content))) or answers.hints.get(status)
        ending = f"{f'; {advice}' if advice else ''}{said}"
        is_wrong = status == 401 or status in call.denials
        kind = answers.kind(answer) or (RemoteDeniedError if is_wrong else _kind_of(status))
        if issubclass(kind, RemoteDeniedError):
            if is_wrong:
                return kind(f"{answers.who} doesn't take the credentials{ending}")
            return kind(f"the credentials may not {call.to}{ending}")
        if issubclass(kind, RemoteMissingError):
            if 300 <= status < 400:
                return kind(f"{answers.who} can't {call.to}: the place was moved; name its new place")
            return kind(
                f"{answers.who} can't {call.to}: there is no such place, or the credentials may not see it{ending}"
            )
        if issubclass(kind, RemoteRefusedError):
            return kind(f"{answers.who} refuses to {call.to}{ending}")
        return kind(f"{answers.who} answers {status} when asked to {call.to}{ending}")

    def _said(self, content: JsonValue, call: Call) -> str:
        """Return the remote's words as they may be shown: nothing that repeats what was sent."""
        answers = self.app.answers
        word = answers.word(content)
        named = f" ({word})" if isinstance(word, str) and _WORD.fullmatch(word) else ""
        message = None if call.holds_values else answers.message(content)
        if not isinstance(message, str) or not message.strip() or any(part in message for part in self._sent):
            return named
        return f"{named}: {quotable(re.sub(r'[^ -~]+', ' ', message))}"


def _text(content: JsonValue) -> str:
    return content if isinstance(content, str) else ""


def _kind_of(status: int) -> type[RemoteError]:
    if status in (401, 403):
        return RemoteDeniedError
    if status in (404, 410) or 300 <= status < 400:
        return RemoteMissingError
    return RemoteRefusedError if 400 <= status < 500 else RemoteUnavailableError
