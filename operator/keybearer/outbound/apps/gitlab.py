"""GitLab: whether a token works, how it is asked, and what its answers mean. The destination shares it."""

from __future__ import annotations

import re

import orjson
from pydantic import JsonValue

from keybearer.outbound.apps.protocol import AppContext
from keybearer.outbound.remote import (
    RemoteAnswer,
    RemoteDeniedError,
    RemoteError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteRequest,
    RemoteUnavailableError,
)
from keybearer.wire.connections.base import Credentials
from keybearer.wire.connections.gitlab import AccessTokenCredentials

__all__ = ["GitLab", "GitLabApi"]

_APP = "gitlab"
_USUAL = "https://gitlab.com"
_SAID_MAX = 300


class GitLab:
    """Asks whose token it is."""

    async def check(self, credentials: Credentials, context: AppContext) -> None:
        """Return if GitLab takes the token; those of projects and groups belong to a user of their own.

        Raises:
            RemoteError: it doesn't, or can't be asked.
        """
        api = GitLabApi(credentials, context)
        answer = await api.send("GET", "/user")
        if answer.status == 404:
            raise RemoteMissingError("there is no GitLab at this instanceUrl")
        if answer.status != 200:
            raise api.error_of(answer, "tell whose token it is", may_quote=True)
        content = answer.json()
        if not isinstance(content, dict) or "username" not in content:
            raise RemoteUnavailableError("what answers at this instanceUrl is no GitLab")


class GitLabApi:
    """Asks as somebody's connection."""

    def __init__(self, credentials: Credentials, context: AppContext) -> None:
        if not isinstance(credentials, AccessTokenCredentials):
            raise TypeError(type(credentials).__name__)
        base = credentials.instance_url or context.endpoints.get(_APP, _USUAL)
        self._root = f"{base.rstrip('/')}/api/v4"
        self._token = credentials.access_token
        self._http = context.http

    async def send(self, method: str, path: str, body: JsonValue = None) -> RemoteAnswer:
        """Return what comes back, whatever its status.

        Args:
            method: of HTTP.
            path: from the root of the API, quoted; perhaps with a query.
            body: to be sent as JSON.

        Raises:
            RemoteError: nothing usable comes back.
        """
        headers = {"PRIVATE-TOKEN": self._token, "Accept": "application/json"}
        content = b""
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = orjson.dumps(body)
        return await self._http.send(RemoteRequest(method, f"{self._root}{path}", headers, content))

    def error_of(self, answer: RemoteAnswer, to: str, *, may_quote: bool) -> RemoteError:
        """Return what an answer that is no success means.

        Args:
            answer: of GitLab.
            to: what was asked for: "GitLab refuses to ...".
            may_quote: whether what was sent held no value, so that what GitLab says of it may be told.
        """
        said = self._said(answer) if may_quote else ""
        if answer.status == 401:
            return RemoteDeniedError(
                f"GitLab doesn't take the token: it is wrong, has ended or was revoked{said}"
            )
        if answer.status == 403:
            return RemoteDeniedError(
                f"the token may not {to}; it needs the scope api and a role that may{said}"
            )
        if answer.status == 404:
            return RemoteMissingError(
                f"GitLab can't {to}: there is no such place, or the token may not see it"
            )
        if 300 <= answer.status < 400:
            return RemoteMissingError(f"GitLab can't {to}: the place was moved; name it anew")
        if 400 <= answer.status < 500:
            return RemoteRefusedError(f"GitLab refuses to {to}{said}")
        return RemoteUnavailableError(f"GitLab answers {answer.status} when asked to {to}")

    def _said(self, answer: RemoteAnswer) -> str:
        try:
            content = answer.json()
        except RemoteUnavailableError:
            return ""
        told = (
            (content.get("message") or content.get("error_description"))
            if isinstance(content, dict)
            else None
        )
        if not isinstance(told, str) or not told or self._token in told:
            return ""
        return f": {re.sub(r'[^ -~]+', ' ', told).strip()[:_SAID_MAX]}"
