"""Another server of this API: access tokens of a machine identity, and requests under them (wire.md section 1.2)."""

from __future__ import annotations

import re
from datetime import timedelta

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
    quotable,
)
from keybearer.outbound.short_lived import Issued, key_of
from keybearer.wire.connections.base import Credentials
from keybearer.wire.connections.external_infisical import MachineIdentityCredentials

__all__ = ["ExternalInfisical", "ExternalInfisicalSession", "failure_of"]

_APP = "external-infisical"
_LOGIN = "/api/v1/auth/universal-auth/login"
_ENDLESS = timedelta(hours=1)
"""A token without an end is asked for anew after this time."""
_REFUSED = frozenset({400, 409, 413, 422})
_WORD = re.compile(r"[A-Za-z]{1,64}")


class ExternalInfisical:
    """Logs in."""

    async def check(self, credentials: Credentials, context: AppContext) -> None:
        """Return if the server gives the machine identity a token.

        Raises:
            RemoteError: it doesn't, or can't be asked.
        """
        await ExternalInfisicalSession(credentials, context).login()


class ExternalInfisicalSession:
    """Requests with a token of one connection's machine identity, renewed by logging in again."""

    def __init__(self, credentials: Credentials, context: AppContext) -> None:
        if not isinstance(credentials, MachineIdentityCredentials):
            raise TypeError(type(credentials).__name__)
        self._credentials = credentials
        self._context = context
        self._key = key_of(_APP, credentials)
        self._has_logged_in = False

    async def send(self, method: str, target: str, body: JsonValue = None) -> RemoteAnswer:
        """Return what the server answers, whatever its status.

        Args:
            method: of HTTP.
            target: path and query, quoted, from `/api` on.
            body: sent as JSON, if not None.

        Raises:
            RemoteError: it can't be reached, or gives no token.
        """
        answer = await self._send(method, target, body)
        # Published servers answer 403 for a token that has ended (wire.md section 8.2).
        if answer.status in (401, 403) and not self._has_logged_in:
            self._context.short_lived.forget(self._key)
            answer = await self._send(method, target, body)
        return answer

    async def login(self) -> Issued:
        """Return a new token.

        Raises:
            RemoteError: none is given.
        """
        self._has_logged_in = True
        body: JsonValue = {
            "clientId": self._credentials.machine_identity_client_id,
            "clientSecret": self._credentials.machine_identity_client_secret,
        }
        answer = await self._context.http.send(self._request("POST", _LOGIN, None, body))
        if answer.status != 200:
            raise failure_of(answer, "the login of the machine identity", has_values=True)
        content = answer.json()
        given = content if isinstance(content, dict) else {}
        token, seconds = given.get("accessToken"), given.get("expiresIn")
        if not isinstance(token, str) or not token or not isinstance(seconds, (int, float)):
            raise RemoteUnavailableError(
                "the server answers the login of the machine identity without a token"
            )
        lasts = (
            min(timedelta(seconds=seconds), _ENDLESS) if 0 < seconds < _ENDLESS.total_seconds() else _ENDLESS
        )
        return Issued({"token": token}, self._context.http.now() + lasts)

    async def _send(self, method: str, target: str, body: JsonValue) -> RemoteAnswer:
        kept = await self._context.short_lived.get(self._key, self.login)
        return await self._context.http.send(self._request(method, target, kept["token"], body))

    def _request(self, method: str, target: str, token: str | None, body: JsonValue) -> RemoteRequest:
        headers = {"Accept": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        content = b""
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = orjson.dumps(body)
        # People name the server with the API's path as well as without.
        base = self._credentials.instance_url.rstrip("/").removesuffix("/api")
        return RemoteRequest(method, f"{base}{target}", headers, content)


def failure_of(answer: RemoteAnswer, what: str, *, has_values: bool = False) -> RemoteError:
    """Return the error that an answer means.

    Args:
        answer: of another status than was hoped for.
        what: was asked for, for the text.
        has_values: whether values or credentials were sent: the message may repeat them then.
    """
    text = f"the server answers {answer.status} to {what}{_said(answer, has_values=has_values)}"
    if answer.status in (401, 403):
        return RemoteDeniedError(text)
    if answer.status == 404:
        return RemoteMissingError(text)
    if answer.status in _REFUSED:
        return RemoteRefusedError(text)
    return RemoteUnavailableError(text)


def _said(answer: RemoteAnswer, *, has_values: bool) -> str:
    try:
        content = answer.json()
    except RemoteUnavailableError:
        return ""
    given = content if isinstance(content, dict) else {}
    word, message = given.get("error"), given.get("message")
    if isinstance(message, str) and message.strip() and not has_values:
        return f": {quotable(message)}"
    return f" ({word})" if isinstance(word, str) and _WORD.fullmatch(word) else ""
