"""GitHub's app: a person's token, a login, or an installation of a GitHub App; on github.com or on an own server.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app,
https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps and
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api (2026-11-25). Credentials have the
published service's words.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from keybearer.destinations.app import Answers, App, Issued, checked_by
from keybearer.destinations.content import field_of, text_of
from keybearer.destinations.login import log_in, signed_claims
from keybearer.destinations.remote import (
    Limits,
    RemoteAnswer,
    RemoteDeniedError,
    RemoteError,
    RemoteRefusedError,
    segment,
)
from keybearer.destinations.session import Call, Session
from keybearer.wire.credentials import Credentials, Method, Token, TokenText, trimmed
from keybearer.wire.strict import BlankIsAbsent

__all__ = [
    "CODEHOST_APP",
    "GitHubAppCredentials",
    "InstallationCredentials",
    "LoginCredentials",
    "OAuthCredentials",
    "OwnCredentials",
    "PatCredentials",
]

_GITHUB = "github.com"
_HOST = r"^(https?://)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/?$"
_PAGES_MAX = 100
_PLACE = ("instance_type", "host")
"""What answers show of all credentials."""


_Host = Annotated[str, trimmed(300, _HOST), AfterValidator(lambda text: text.rstrip("/"))]
_Id = Annotated[str, trimmed(64)]


class InstanceType(StrEnum):
    """Whether the host's API has a name of its own, or a path on the host's."""

    CLOUD = "cloud"
    SERVER = "server"


class _HostCredentials(Credentials):
    """Where the host is, `github.com` by default."""

    instance_type: InstanceType | None = None
    host: Annotated[_Host | None, BlankIsAbsent] = None

    @model_validator(mode="after")
    def _names_its_server(self) -> Self:
        if self.instance_type is InstanceType.SERVER and self.host is None:
            raise ValueError("host is required for the instanceType server")
        return self


class _AppCredentials(_HostCredentials):
    git_hub_app_id: _Id | None = None
    private_key: Annotated[str, trimmed(16_384)] | None = Field(default=None, repr=False)

    @model_validator(mode="after")
    def _names_the_app_of_its_key(self) -> Self:
        if self.private_key is not None and self.git_hub_app_id is None:
            raise ValueError("gitHubAppId is required with a privateKey")
        return self


class InstallationCredentials(_AppCredentials):
    """What is kept of an installation; without a key it is one of the service's app."""

    installation_id: _Id


class GitHubAppCredentials(_AppCredentials):
    """An installation of an app.

    Either of an app of the caller's own: `git_hub_app_id` and `private_key` prove it, and a code says nothing more.
    Or of the service's app, where it has one: then the code proves that the caller may use this installation.
    """

    installation_id: _Id
    code: TokenText | None = Field(default=None, repr=False)


class OAuthCredentials(_HostCredentials):
    """The code that GitHub gave a person's browser; good once, for who asked for it."""

    code: Token


class LoginCredentials(_HostCredentials):
    """What is kept of a login: the token that the code was exchanged for."""

    access_token: Token


class PatCredentials(_HostCredentials):
    """A personal access token, classic or fine-grained."""

    personal_access_token: Token


class OwnCredentials(_AppCredentials):
    """What the service itself has at one host: the client that codes are made for, and the app of the same name."""

    client_id: _Id
    client_secret: Token


def _places(session: Session, credentials: Credentials) -> tuple[str, str]:
    """Return where the credentials are good: the API, and the host for people and logins."""
    if not isinstance(credentials, _HostCredentials):
        raise TypeError(type(credentials).__name__)
    scheme, _, host = (credentials.host or _GITHUB).lower().rpartition("://")
    api, web = f"{scheme or 'https'}://api.{host}", f"{scheme or 'https'}://{host}"
    if credentials.instance_type is InstanceType.SERVER:
        return f"{web}/api/v3", web
    return (session.root(api), session.root(web)) if host == _GITHUB else (api, web)


def _own(session: Session, *, needs_app: bool = False) -> OwnCredentials:
    """Return what the service has of its own at the session's host; it is never sent to another one."""
    own = session.context.own_credentials.get(session.app.name)
    if (
        isinstance(own, OwnCredentials)
        and _places(session, own) == _places(session, session.credentials)
        and (own.private_key is not None or not needs_app)
    ):
        return own
    raise RemoteRefusedError(
        f"the service has no {'app' if needs_app else 'client'} of its own at this code host; use the method pat, or "
        "github-app: give gitHubAppId and privateKey of an app of yours"
    )


def _held_token(credentials: Credentials) -> str | None:
    match credentials:
        case PatCredentials(personal_access_token=token) | LoginCredentials(access_token=token):
            return token
        case _:
            return None


async def _log_installation_in(session: Session) -> Issued:
    given = session.credentials_as(InstallationCredentials)
    app = given if given.private_key is not None else _own(session, needs_app=True)
    # GitHub takes ten minutes at most.
    signed = signed_claims(
        session, app.private_key or "", lasts=timedelta(minutes=10), iss=app.git_hub_app_id or ""
    )
    reasons = {401: "no app has this gitHubAppId and privateKey", 404: "the app has no such installationId"}
    call = Call(
        "POST",
        f"/app/installations/{segment(given.installation_id)}/access_tokens",
        "log the installation in",
        headers={"Authorization": f"Bearer {signed}"},
        explain=lambda answer: reasons.get(answer.status, ""),
    )
    return await log_in(session, call, token="token", ends="expires_at")


async def _exchange(session: Session) -> Credentials:
    match given := session.credentials:
        case OAuthCredentials():
            token, lasts = await _token_of_person(session, given.code, _own(session))
            if not lasts:
                raise RemoteRefusedError(
                    "the tokens of this OAuth app end after some hours; turn their expiration off, or use the "
                    "method github-app"
                )
            return LoginCredentials(**given.model_dump(exclude={"code"}), access_token=token)
        case GitHubAppCredentials():
            if given.private_key is None:
                await _prove_installation(session, given)
            return InstallationCredentials(**given.model_dump(exclude={"code"}))
        case _:
            return given


async def _token_of_person(session: Session, code: str, own: OwnCredentials) -> tuple[str, bool]:
    """Return what a code is worth, and whether it lasts."""
    call = Call(
        "POST",
        f"{_places(session, session.credentials)[1]}/login/oauth/access_token",
        "log the person in",
        headers={"Accept": "application/json"},
        form={"client_id": own.client_id, "client_secret": own.client_secret, "code": code},
        holds_values=True,
        is_repeatable=False,
    )
    content = (await session.ask_without_token(call)).json()
    return text_of(content, "access_token"), field_of(content, "expires_in") is None


async def _prove_installation(session: Session, given: GitHubAppCredentials) -> None:
    """Return if the code's person may use the installation of the service's app.

    Installations are numbered: without this, who guesses a number would write to others' repositories.
    """
    own = _own(session, needs_app=True)
    if given.git_hub_app_id not in (None, own.git_hub_app_id):
        raise RemoteRefusedError("the service doesn't have this app's key; give its privateKey as well")
    if given.code is None:
        raise RemoteRefusedError("code is required for an installation of the service's app")
    token, _ = await _token_of_person(session, given.code, own)
    login = LoginCredentials(instance_type=given.instance_type, host=given.host, access_token=token)
    person = Session(session.app, login, session.context)
    for page in range(1, _PAGES_MAX + 1):
        path = f"/user/installations?per_page=100&page={page}"
        answer = await person.ask(Call("GET", path, "list the person's installations"))
        listed = field_of(answer.json(), "installations")
        if isinstance(listed, list) and given.installation_id in [str(field_of(one, "id")) for one in listed]:
            return
        if 'rel="next"' not in answer.headers.get("link", ""):
            break
    raise RemoteDeniedError("the person who logged in may not use the installation of this installationId")


def _kind(answer: RemoteAnswer) -> type[RemoteError] | None:
    # GitHub answers 200 to a code that it doesn't take, with a word of RFC 6749 section 5.2.
    may_refuse = answer.status == 200 and b'"error"' in answer.body
    is_refused = may_refuse and field_of(answer.json_or_none(), "error") is not None
    return RemoteDeniedError if is_refused else None


def _is_throttled(answer: RemoteAnswer) -> bool:
    """Whether a limit was reached: of requests in an hour, or a secondary one, which may come as a 403."""
    told = "retry-after" in answer.headers or answer.headers.get("x-ratelimit-remaining") == "0"
    is_limit = told or b"secondary rate limit" in answer.body.lower()
    return answer.status == 429 or (answer.status == 403 and is_limit)


CODEHOST_APP = App(
    name="codehost",
    title="GitHub",
    methods={
        "github-app": Method(GitHubAppCredentials, _PLACE, kept=InstallationCredentials),
        "oauth": Method(OAuthCredentials, _PLACE, kept=LoginCredentials),
        "pat": Method(PatCredentials, _PLACE),
    },
    own=OwnCredentials,
    root=lambda session: _places(session, session.credentials)[0],
    headers=lambda _: {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"},
    static=_held_token,
    issue=_log_installation_in,
    check=checked_by(Call("GET", "/user", "tell whose token it is")),
    exchange=_exchange,
    answers=Answers(
        who="GitHub",
        word=lambda content: field_of(content, "error"),
        kind=_kind,
        hints={
            200: "a code is good once, for ten minutes",
            401: "they are wrong, have expired or were revoked",
        },
        limits=Limits(is_throttled=_is_throttled, unsaid_wait=timedelta(minutes=1), writes_per_minute=80),
    ),
)
