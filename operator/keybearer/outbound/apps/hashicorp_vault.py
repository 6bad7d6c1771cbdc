"""HashiCorp Vault and servers that speak its API: tokens, and requests under them.

https://developer.hashicorp.com/vault/api-docs: `auth/token` and `auth/approle`.
"""

from __future__ import annotations

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
    segment,
)
from keybearer.outbound.short_lived import Issued, key_of
from keybearer.wire.connections.base import Credentials
from keybearer.wire.connections.hashicorp_vault import (
    AccessTokenCredentials,
    AppRoleCredentials,
    VaultCredentials,
)

__all__ = ["Vault", "VaultSession", "failure_of"]

_APP = "hashicorp-vault"
_LOGIN = "auth/approle/login"
_ENDLESS = timedelta(hours=1)
"""A token without an end is asked for anew after this time."""
_REFUSED = frozenset({400, 405, 413})


class Vault:
    """Looks the token up, or logs in with the role."""

    async def check(self, credentials: Credentials, context: AppContext) -> None:
        """Return if the server knows the token, or gives one for the role.

        Raises:
            RemoteError: it doesn't, or can't be asked.
        """
        session = VaultSession(credentials, context)
        if isinstance(credentials, AppRoleCredentials):
            await session.login()
            return
        answer = await session.send("GET", "auth/token/lookup-self")
        if answer.status == 403:
            raise RemoteDeniedError(
                "Vault doesn't take the access token; is it of this server and namespace?"
            )
        if answer.status != 200:
            raise failure_of(answer, "the look-up of the token")


class VaultSession:
    """Requests with the token of one connection's credentials; a role's is renewed by logging in again."""

    def __init__(self, credentials: Credentials, context: AppContext) -> None:
        if not isinstance(credentials, AccessTokenCredentials | AppRoleCredentials):
            raise TypeError(type(credentials).__name__)
        self._credentials = credentials
        self._context = context
        self._key = key_of(_APP, credentials)
        self._has_logged_in = False

    async def send(self, method: str, path: str, content: bytes = b"") -> RemoteAnswer:
        """Return what the server answers, whatever its status.

        Args:
            method: of HTTP.
            path: below `/v1/`; each part is quoted.
            content: JSON, if any is sent; of PATCH a merge patch (RFC 7396).

        Raises:
            RemoteError: it can't be reached, or takes no role's login.
        """
        request = self._request(method, path, await self._token(), content)
        answer = await self._context.http.send(request)
        if answer.status in (401, 403) and self._may_log_in_again():
            # It may have been revoked, or used up: its end says nothing about that.
            self._context.short_lived.forget(self._key)
            request = self._request(method, path, await self._token(), content)
            answer = await self._context.http.send(request)
        return answer

    async def login(self) -> Issued:
        """Return a new token of the role.

        Raises:
            RemoteError: none is given.
        """
        credentials = self._credentials
        if not isinstance(credentials, AppRoleCredentials):
            raise TypeError(type(credentials).__name__)
        self._has_logged_in = True
        content = orjson.dumps({"role_id": credentials.role_id, "secret_id": credentials.secret_id})
        answer = await self._context.http.send(self._request("POST", _LOGIN, None, content))
        if answer.status in (400, 401, 403):
            raise RemoteDeniedError("Vault gives no token for this roleId and secretId at auth/approle")
        if answer.status != 200:
            raise failure_of(answer, "the login at auth/approle", has_values=True)
        return self._issued(answer.json())

    def _issued(self, content: JsonValue) -> Issued:
        auth = content.get("auth") if isinstance(content, dict) else None
        given = auth if isinstance(auth, dict) else {}
        token, seconds = given.get("client_token"), given.get("lease_duration")
        if (
            not isinstance(token, str)
            or not token
            or not isinstance(seconds, int)
            or isinstance(seconds, bool)
        ):
            raise RemoteUnavailableError("Vault answers the login at auth/approle without a token")
        lease = timedelta(seconds=seconds) if seconds > 0 else _ENDLESS
        return Issued({"token": token}, self._context.http.now() + min(lease, _ENDLESS))

    def _may_log_in_again(self) -> bool:
        return isinstance(self._credentials, AppRoleCredentials) and not self._has_logged_in

    async def _token(self) -> str:
        if isinstance(self._credentials, AccessTokenCredentials):
            return self._credentials.access_token
        return (await self._context.short_lived.get(self._key, self.login))["token"]

    def _request(self, method: str, path: str, token: str | None, content: bytes) -> RemoteRequest:
        headers = {"Accept": "application/json", "X-Vault-Request": "true"}
        if token is not None:
            headers["X-Vault-Token"] = token
        if self._credentials.namespace:
            headers["X-Vault-Namespace"] = self._credentials.namespace
        if content:
            headers["Content-Type"] = f"application/{'merge-patch+' if method == 'PATCH' else ''}json"
        return RemoteRequest(method, f"{_base(self._credentials)}/v1/{_quoted(path)}", headers, content)


def failure_of(answer: RemoteAnswer, what: str, *, has_values: bool = False) -> RemoteError:
    """Return the error that an answer means.

    Args:
        answer: of another status than was hoped for.
        what: was asked for, for the text.
        has_values: whether values or credentials were sent: what the server says may repeat them then.
    """
    said = "" if has_values else _said(answer)
    text = f"Vault answers {answer.status} to {what}{said}"
    if answer.status in (401, 403):
        return RemoteDeniedError(f"{text}; the token is no good there, or its policies don't allow it")
    if answer.status == 404:
        return RemoteMissingError(text)
    if answer.status in _REFUSED:
        return RemoteRefusedError(text)
    if answer.status == 503:
        return RemoteUnavailableError(f"{text}; it may be sealed, or not the active one")
    return RemoteUnavailableError(text)


def _said(answer: RemoteAnswer) -> str:
    try:
        content = answer.json()
    except RemoteUnavailableError:
        return ""
    errors = content.get("errors") if isinstance(content, dict) else None
    texts = [text for text in errors if isinstance(text, str)] if isinstance(errors, list) else []
    return f": {quotable('; '.join(texts))}" if texts else ""


def _base(credentials: VaultCredentials) -> str:
    return credentials.instance_url.rstrip("/")


def _quoted(path: str) -> str:
    return "/".join(segment(part) for part in path.split("/"))
