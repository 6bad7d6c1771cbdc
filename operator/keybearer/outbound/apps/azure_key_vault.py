"""Azure's vaults: how an app registration logs in, and what answers mean. The destination shares it.

https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
"""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlencode

import orjson
from pydantic import JsonValue

from keybearer.outbound.apps.answers import error_in, field_of, quoted
from keybearer.outbound.apps.protocol import AppContext
from keybearer.outbound.remote import (
    RemoteAnswer,
    RemoteDeniedError,
    RemoteError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteRequest,
    RemoteUnavailableError,
    segment,
)
from keybearer.outbound.short_lived import Issued, key_of
from keybearer.wire.connections.azure_key_vault import ClientSecretCredentials
from keybearer.wire.connections.base import Credentials

__all__ = ["APP", "AzureKeyVault", "AzureLogin", "words_of"]

APP = "azure-key-vault"
_LOGIN = "https://login.microsoftonline.com"
_SCOPE = "https://vault.azure.net/.default"
_HOLDS_MAX_SECONDS = 3600
_WORD = re.compile(r"[A-Za-z_]{1,64}")
_NUMBER = re.compile(r"AADSTS[0-9]{1,10}")


class AzureKeyVault:
    """Asks for a token."""

    async def check(self, credentials: Credentials, context: AppContext) -> None:
        """Return if the tenant gives a token for the client secret.

        Raises:
            RemoteError: it doesn't, or can't be asked.
        """
        login = AzureLogin(credentials, context)
        login.forget_token()  # what was got before proves nothing of now
        await login.token()


class AzureLogin:
    """Asks as somebody's app registration."""

    def __init__(self, credentials: Credentials, context: AppContext) -> None:
        if not isinstance(credentials, ClientSecretCredentials):
            raise TypeError(type(credentials).__name__)
        self._credentials = credentials
        self._context = context
        self._sent = ""

    async def send(self, method: str, url: str, body: JsonValue = None) -> RemoteAnswer:
        """Return what comes back, whatever its status.

        Args:
            method: of HTTP.
            url: of a vault that may have the token; quoted, with its query.
            body: to be sent as JSON.

        Raises:
            RemoteError: there is no token, or nothing usable comes back.
        """
        answer = await self._once(method, url, body)
        if answer.status == 401:
            self.forget_token()
            answer = await self._once(method, url, body)
        return answer

    async def pause(self, wait: timedelta) -> None:
        """Return after that time."""
        await self._context.http.pause(wait)

    async def token(self) -> str:
        """Return what requests are sent with.

        Raises:
            RemoteError: the tenant gives none.
        """
        parts = await self._context.short_lived.get(key_of(APP, self._credentials), self._issue)
        return parts["token"]

    def forget_token(self) -> None:
        """Let the next request get a new token."""
        self._context.short_lived.forget(key_of(APP, self._credentials))

    async def _issue(self) -> Issued:
        given = self._credentials
        root = self._context.endpoints.get(APP, _LOGIN).rstrip("/")
        form = {
            "grant_type": "client_credentials",
            "client_id": given.client_id,
            "client_secret": given.client_secret,
            "scope": _SCOPE,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        url = f"{root}/{segment(given.tenant_id)}/oauth2/v2.0/token"
        now = self._context.http.now()
        answer = await self._context.http.send(RemoteRequest("POST", url, headers, urlencode(form).encode()))
        if answer.status in (400, 401, 403):
            raise RemoteDeniedError(
                "Azure doesn't take the credentials: look at tenantId, clientId and clientSecret, which is the "
                f"secret's value and not its id, and whether it has ended{_refusal(answer)}"
            )
        if answer.status == 404:
            raise RemoteMissingError("there is no login of Azure at the place of --app-endpoint")
        if answer.status != 200:
            raise RemoteUnavailableError(f"Azure answers {answer.status} to a login")
        content = answer.json()
        token, lasts = field_of(content, "access_token"), field_of(content, "expires_in")
        if not isinstance(token, str) or not isinstance(lasts, int):
            raise RemoteUnavailableError("Azure answers a login without a token")
        return Issued({"token": token}, now + timedelta(seconds=max(0, min(lasts, _HOLDS_MAX_SECONDS))))

    async def _once(self, method: str, url: str, body: JsonValue) -> RemoteAnswer:
        self._sent = await self.token()
        headers = {"Authorization": f"Bearer {self._sent}", "Accept": "application/json"}
        content = b""
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = orjson.dumps(body)
        return await self._context.http.send(RemoteRequest(method, url, headers, content))

    def error_of(self, answer: RemoteAnswer, to: str, *, may_quote: bool) -> RemoteError:
        """Return what an answer of a vault that is no success means.

        Args:
            answer: of the vault.
            to: what was asked for: "the vault refuses to ...".
            may_quote: whether what was sent held no value, so that the vault's words may be told.
        """
        said = self._said(answer) if may_quote else _named(answer)
        if answer.status == 401:
            return RemoteDeniedError(
                f"the vault doesn't take the token: it is of another tenant than the connection's{said}"
            )
        if answer.status == 403:
            return RemoteDeniedError(
                f"the credentials may not {to}; that takes a role or an access policy that lets them get, list, set, "
                f"delete and recover secrets, and a firewall that lets the service in{said}"
            )
        if answer.status == 404:
            return RemoteMissingError(f"the vault can't {to}: there is no such place{said}")
        if 300 <= answer.status < 400:
            return RemoteMissingError(f"the vault can't {to}: it answers from somewhere else")
        if 400 <= answer.status < 500:
            return RemoteRefusedError(f"the vault refuses to {to}{said}")
        return RemoteUnavailableError(f"the vault answers {answer.status} when asked to {to}")

    def _said(self, answer: RemoteAnswer) -> str:
        message = quoted(answer, self._sent)
        return _named(answer) if message is None else f": {message}"


def words_of(answer: RemoteAnswer) -> tuple[str, ...]:
    """Return the words of an error, the outer one first: `Conflict`, `ObjectIsDeletedButRecoverable`."""
    error = error_in(answer)
    found: list[str] = []
    while isinstance(error, dict) and len(found) < 3:
        word = error.get("code")
        if isinstance(word, str) and _WORD.fullmatch(word):
            found.append(word)
        error = error.get("innererror")
    return tuple(found)


def _named(answer: RemoteAnswer) -> str:
    words = words_of(answer)
    return f" ({', '.join(words)})" if words else ""


def _refusal(answer: RemoteAnswer) -> str:
    """Return OAuth's word of an error and Azure's number of it; the rest may repeat what was sent."""
    try:
        content = answer.json()
    except RemoteUnavailableError:
        return ""
    if not isinstance(content, dict):
        return ""
    word, told = content.get("error"), content.get("error_description")
    number = _NUMBER.match(told) if isinstance(told, str) else None
    parts = [word] if isinstance(word, str) and _WORD.fullmatch(word) else []
    return f" ({', '.join([*parts, *([number[0]] if number else [])])})" if parts or number else ""
