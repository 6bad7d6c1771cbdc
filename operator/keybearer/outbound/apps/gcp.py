"""Google's cloud: how the service becomes a connection's account, and what answers mean. The destination shares it.

The service's own account signs for itself (RFC 7523) and gets a token, with which it asks for one of the account that
is to be impersonated. https://cloud.google.com/iam/docs/create-short-lived-credentials-direct
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from urllib.parse import urlencode

import jwt
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
from keybearer.wire.connections.base import Credentials
from keybearer.wire.connections.gcp import ImpersonationCredentials, OwnAccountCredentials

__all__ = ["Gcp", "GcpAccount", "word_of"]

_APP = "gcp"
_TOKENS = "https://oauth2.googleapis.com"
_IMPERSONATION = "https://iamcredentials.googleapis.com"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_HOLDS = timedelta(hours=1)
"""The most that Google gives without a policy that allows more."""
_CLOCK_MARGIN = timedelta(seconds=30)
_WORD = re.compile(r"[A-Za-z_]{1,64}")


class Gcp:
    """Asks for a token of the account."""

    async def check(self, credentials: Credentials, context: AppContext) -> None:
        """Return if the service may impersonate the account.

        Raises:
            RemoteError: it may not, or Google can't be asked.
        """
        account = GcpAccount(credentials, context)
        account.forget_tokens()  # what was got before proves nothing of now
        await account.token()


class GcpAccount:
    """Asks as somebody's account."""

    def __init__(self, credentials: Credentials, context: AppContext) -> None:
        if not isinstance(credentials, ImpersonationCredentials):
            raise TypeError(type(credentials).__name__)
        self._credentials = credentials
        self._context = context
        self._sent = ""

    def root_of(self, usual: str) -> str:
        """Return where a service of Google's is, which all are at one place if the operator says so."""
        return self._context.endpoints.get(_APP, usual).rstrip("/")

    async def send(self, method: str, url: str, body: JsonValue = None) -> RemoteAnswer:
        """Return what comes back, whatever its status.

        Args:
            method: of HTTP.
            url: quoted; perhaps with a query.
            body: to be sent as JSON.

        Raises:
            RemoteError: there is no token, or nothing usable comes back.
        """
        answer = await self._once(method, url, body, await self.token())
        if answer.status == 401:
            # Rights and keys may be withdrawn before a token's end; a new one tells.
            self.forget_tokens()
            answer = await self._once(method, url, body, await self.token())
        return answer

    async def token(self) -> str:
        """Return what requests are sent with.

        Raises:
            RemoteError: the service may not impersonate the account, or has none of its own.
        """
        self._check_owner()
        own = self._own()

        async def issue() -> Issued:
            return await self._impersonate(own)

        parts = await self._context.short_lived.get(key_of(_APP, self._credentials), issue)
        return parts["token"]

    def forget_tokens(self) -> None:
        """Let the next request get new tokens."""
        for credentials in (self._credentials, self._context.own_credentials.get(_APP)):
            if credentials is not None:
                self._context.short_lived.forget(key_of(_APP, credentials))

    def _check_owner(self) -> None:
        """Return if the account's name says that it is for this organization.

        All impersonate by the service's one account, and Google knows no more of who asks.
        """
        suffix = "-".join(self._context.organization_id.split("-")[:2])
        if not self._credentials.service_account_email.partition("@")[0].endswith(suffix):
            raise RemoteRefusedError(
                f"the name of the service account has to end with {suffix} before the @, which shows that it is "
                "meant for this organization: create one of such a name"
            )

    def _own(self) -> OwnAccountCredentials:
        own = self._context.own_credentials.get(_APP)
        if not isinstance(own, OwnAccountCredentials):
            raise RemoteRefusedError(
                "the service has no account of its own that could impersonate this one; that takes the service "
                "started with --app-credentials gcp=FILE"
            )
        return own

    async def _impersonate(self, own: OwnAccountCredentials) -> Issued:
        async def log_in() -> Issued:
            return await self._log_in(own)

        parts = await self._context.short_lived.get(key_of(_APP, own), log_in)
        email = self._credentials.service_account_email
        root = self.root_of(_IMPERSONATION)
        url = f"{root}/v1/projects/-/serviceAccounts/{segment(email)}:generateAccessToken"
        asked: JsonValue = {"scope": [_SCOPE], "lifetime": f"{int(_HOLDS.total_seconds())}s"}
        answer = await self._once("POST", url, asked, parts["token"])
        if answer.status in (403, 404):
            raise RemoteDeniedError(
                f"the service's account {own.client_email} may not impersonate {email}: that takes the role Service "
                f"Account Token Creator on it, and that the account exists{_named(answer)}"
            )
        if answer.status != 200:
            raise self.error_of(answer, "give a token of the service account", may_quote=False)
        given = answer.json()
        token, ends = field_of(given, "accessToken"), field_of(given, "expireTime")
        if not isinstance(token, str) or not isinstance(ends, str):
            raise RemoteUnavailableError("Google answers without a token of the service account")
        try:
            return Issued({"token": token}, datetime.fromisoformat(ends))
        except ValueError:
            raise RemoteUnavailableError("Google gives a token without an end that is a time") from None

    async def _log_in(self, own: OwnAccountCredentials) -> Issued:
        url = f"{self.root_of(_TOKENS)}/token"
        now = self._context.http.now()
        form = {"grant_type": _GRANT, "assertion": _signed(own, url, now)}
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        answer = await self._context.http.send(RemoteRequest("POST", url, headers, urlencode(form).encode()))
        if answer.status in (400, 401, 403):
            raise RemoteDeniedError(
                f"Google doesn't take the key of the service's own account {own.client_email}{_named(answer)}"
            )
        if answer.status != 200:
            raise self.error_of(answer, "give a token of the service's own account", may_quote=False)
        given = answer.json()
        token, lasts = field_of(given, "access_token"), field_of(given, "expires_in")
        if not isinstance(token, str) or not isinstance(lasts, int):
            raise RemoteUnavailableError("Google answers without a token of the service's own account")
        return Issued({"token": token}, now + min(timedelta(seconds=max(0, min(lasts, 3600))), _HOLDS))

    async def _once(self, method: str, url: str, body: JsonValue, token: str) -> RemoteAnswer:
        self._sent = token
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        content = b""
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = orjson.dumps(body)
        return await self._context.http.send(RemoteRequest(method, url, headers, content))

    def error_of(self, answer: RemoteAnswer, to: str, *, may_quote: bool) -> RemoteError:
        """Return what an answer that is no success means.

        Args:
            answer: of Google.
            to: what was asked for: "Google refuses to ...".
            may_quote: whether what was sent held neither value nor credential, so that Google's words may be told.
        """
        said = self._said(answer) if may_quote else _named(answer)
        if answer.status == 401:
            return RemoteDeniedError(f"Google doesn't take the token of the service account{said}")
        if answer.status == 403:
            return RemoteDeniedError(f"the service account may not {to}{said}")
        if answer.status == 404:
            return RemoteMissingError(f"Google can't {to}: there is no such place{said}")
        if 300 <= answer.status < 400:
            return RemoteMissingError(f"Google can't {to}: it answers from somewhere else")
        if 400 <= answer.status < 500:
            return RemoteRefusedError(f"Google refuses to {to}{said}")
        return RemoteUnavailableError(f"Google answers {answer.status} when asked to {to}")

    def _said(self, answer: RemoteAnswer) -> str:
        message = quoted(answer, self._sent)
        return _named(answer) if message is None else f": {message}"


def word_of(answer: RemoteAnswer) -> str:
    """Return the word of an error, as `NOT_FOUND`; of OAuth, as `invalid_grant`. Empty without one."""
    error = error_in(answer)
    word = error.get("status") if isinstance(error, dict) else error
    return word if isinstance(word, str) and _WORD.fullmatch(word) else ""


def _named(answer: RemoteAnswer) -> str:
    word = word_of(answer)
    return f" ({word})" if word else ""


def _signed(own: OwnAccountCredentials, audience: str, now: datetime) -> str:
    issued = now - _CLOCK_MARGIN
    claims = {
        "iss": own.client_email,
        "scope": _SCOPE,
        "aud": audience,
        "iat": issued,
        "exp": issued + _HOLDS,
    }
    headers = {"kid": own.private_key_id} if own.private_key_id else None
    try:
        return jwt.encode(claims, own.private_key, algorithm="RS256", headers=headers)
    except (jwt.PyJWTError, ValueError, TypeError):
        # Their texts may quote the key.
        raise RemoteRefusedError(
            "the private key of --app-credentials gcp=FILE is no RSA key in PEM without a password"
        ) from None
