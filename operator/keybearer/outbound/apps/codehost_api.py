"""The code host's REST API: where it is, who asks, and what its answers mean. App and destination share it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import jwt
import orjson
from pydantic import JsonValue

from keybearer.destinations.remote import Limits
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
from keybearer.wire.connections.codehost import (
    CodehostCredentials,
    InstallationCredentials,
    InstanceType,
    LoginCredentials,
    OwnCredentials,
    PatCredentials,
)

__all__ = ["APP", "LIMITS", "CodehostApi", "CodehostPlace", "asks_to_wait", "own_credentials", "place_of"]

APP = "codehost"
_HOST = "github.com"
_ACCEPT = "application/vnd.github+json"
_VERSION = "2022-11-28"
_SAID_MAX = 300
_SECONDARY_LIMIT = b"secondary rate limit"
_JWT_MARGIN = timedelta(seconds=60)
"""How much the host's clock may lag behind ours; its documentation advises as much."""
_JWT_HOLDS = timedelta(minutes=9)
"""Ten is the most that the host takes."""


@dataclass(frozen=True, slots=True)
class CodehostPlace:
    """Where a host answers: `api` its API, `web` people and their logins. Neither ends with a slash."""

    api: str
    web: str


def place_of(credentials: CodehostCredentials, endpoints: Mapping[str, str]) -> CodehostPlace:
    """Return where the credentials are good.

    A host of the cloud has its API under a name of its own, a server of one's own below a path.
    """
    scheme, _, host = (credentials.host or _HOST).lower().rpartition("://")
    scheme = scheme or "https"
    if credentials.instance_type is InstanceType.SERVER:
        return CodehostPlace(f"{scheme}://{host}/api/v3", f"{scheme}://{host}")
    if host == _HOST:
        usual = endpoints.get(APP)
        if usual is not None:
            return CodehostPlace(usual.rstrip("/"), usual.rstrip("/"))
    return CodehostPlace(f"{scheme}://api.{host}", f"{scheme}://{host}")


def own_credentials(context: AppContext, place: CodehostPlace) -> OwnCredentials | None:
    """Return what the service has of its own at that place; it is never sent to another one."""
    own = context.own_credentials.get(APP)
    if not isinstance(own, OwnCredentials) or place_of(own, context.endpoints) != place:
        return None
    return own


def asks_to_wait(answer: RemoteAnswer) -> bool:
    """Whether a limit was reached: of requests in an hour, or a secondary one, which may come as a 403."""
    if answer.status != 403:
        return answer.status == 429
    return (
        "retry-after" in answer.headers
        or answer.headers.get("x-ratelimit-remaining") == "0"
        or _SECONDARY_LIMIT in answer.body.lower()
    )


LIMITS = Limits(is_throttled=asks_to_wait, unsaid_wait=timedelta(minutes=1), writes_per_minute=80)


class CodehostApi:
    """Asks as somebody's connection."""

    def __init__(self, credentials: Credentials, context: AppContext) -> None:
        if not isinstance(credentials, PatCredentials | LoginCredentials | InstallationCredentials):
            raise TypeError(type(credentials).__name__)
        self._credentials = credentials
        self._context = context
        self.place = place_of(credentials, context.endpoints)

    async def send(
        self,
        method: str,
        path: str,
        body: JsonValue = None,
        *,
        to: str,
        taken: tuple[int, ...] = (),
    ) -> RemoteAnswer:
        """Return an answer of success, or of one of the statuses that are `taken` as well.

        Args:
            method: of HTTP.
            path: from the root of the API, quoted; perhaps with a query.
            body: to be sent as JSON. It holds no plain value, as an error quotes what the host says of it.
            to: what is asked for, for the text of an error: "the code host refuses to ...".
            taken: statuses that are no error here.

        Raises:
            RemoteError: the host doesn't do it.
        """
        token = await self.token()
        answer = await self._once(method, path, body, token)
        if answer.status == 401 and isinstance(self._credentials, InstallationCredentials):
            # Tokens of an installation may end early; the key gives another one.
            self.forget_token()
            token = await self.token()
            answer = await self._once(method, path, body, token)
        if 200 <= answer.status < 300 or answer.status in taken:
            return answer
        raise error_of(answer, to, token)

    async def token(self) -> str:
        """Return what requests are sent with.

        Raises:
            RemoteError: it has to be got, and the host gives none.
        """
        credentials = self._credentials
        if isinstance(credentials, PatCredentials):
            return credentials.personal_access_token
        if isinstance(credentials, LoginCredentials):
            return credentials.access_token

        async def issue() -> Issued:
            return await self._issue(credentials)

        parts = await self._context.short_lived.get(key_of(APP, credentials), issue)
        return parts["token"]

    def forget_token(self) -> None:
        """Let the next request get a new token, if tokens are got at all."""
        if isinstance(self._credentials, InstallationCredentials):
            self._context.short_lived.forget(key_of(APP, self._credentials))

    async def _once(self, method: str, path: str, body: JsonValue, token: str) -> RemoteAnswer:
        headers = {"Accept": _ACCEPT, "X-GitHub-Api-Version": _VERSION, "Authorization": f"Bearer {token}"}
        content = b""
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = orjson.dumps(body)
        request = RemoteRequest(method, f"{self.place.api}{path}", headers, content)
        return await self._context.http.send(request, limits=LIMITS)

    async def _issue(self, credentials: InstallationCredentials) -> Issued:
        app_id, key = self._app_of(credentials)
        signed = _signed(app_id, key, self._context.http.now())
        path = f"/app/installations/{segment(credentials.installation_id)}/access_tokens"
        answer = await self._once("POST", path, None, signed)
        if answer.status == 401:
            raise RemoteDeniedError("the code host doesn't know the app by this gitHubAppId and privateKey")
        if answer.status == 404:
            raise RemoteMissingError("the app has no installation of this installationId")
        if answer.status != 201:
            raise error_of(answer, "give a token for the installation", signed)
        given = answer.json()
        token, ends = (
            (given.get("token"), given.get("expires_at")) if isinstance(given, dict) else (None, None)
        )
        if not isinstance(token, str) or not isinstance(ends, str):
            raise RemoteUnavailableError("the code host answers without a token for the installation")
        try:
            return Issued({"token": token}, datetime.fromisoformat(ends))
        except ValueError:
            raise RemoteUnavailableError(
                "the code host gives a token without an end that is a time"
            ) from None

    def _app_of(self, credentials: InstallationCredentials) -> tuple[str, str]:
        if credentials.private_key is not None and credentials.git_hub_app_id is not None:
            return credentials.git_hub_app_id, credentials.private_key
        own = own_credentials(self._context, self.place)
        if own is None or own.private_key is None or own.git_hub_app_id is None:
            raise RemoteRefusedError(
                "the service has no app of its own at this code host any more; give the credentials "
                "gitHubAppId and privateKey of an app"
            )
        return own.git_hub_app_id, own.private_key


def _signed(app_id: str, key: str, now: datetime) -> str:
    claims = {"iat": now - _JWT_MARGIN, "exp": now + _JWT_HOLDS, "iss": app_id}
    try:
        return jwt.encode(claims, key, algorithm="RS256")
    except (jwt.PyJWTError, ValueError, TypeError):
        # Their texts may quote the key.
        raise RemoteRefusedError("privateKey is no RSA key in PEM without a password") from None


def error_of(answer: RemoteAnswer, to: str, token: str) -> RemoteError:
    """Return what an answer that is no success means."""
    said = _said(answer, token)
    if answer.status == 401:
        return RemoteDeniedError(
            "the code host doesn't take the credentials: the token is wrong, has ended or was revoked"
        )
    if answer.status == 403:
        return RemoteDeniedError(f"the credentials may not {to}{said}")
    if answer.status in (404, 410):
        return RemoteMissingError(
            f"the code host can't {to}: there is no such place, or the credentials may not see it"
        )
    if 300 <= answer.status < 400:
        return RemoteMissingError(f"the code host can't {to}: the place was renamed or moved; name it anew")
    if 400 <= answer.status < 500:
        return RemoteRefusedError(f"the code host refuses to {to}{said}")
    return RemoteUnavailableError(f"the code host answers {answer.status} when asked to {to}")


def _said(answer: RemoteAnswer, token: str) -> str:
    try:
        content = answer.json()
    except RemoteUnavailableError:
        return ""
    message = content.get("message") if isinstance(content, dict) else None
    if not isinstance(message, str) or not message or token in message:
        return ""
    plain = re.sub(r"[^ -~]+", " ", message).strip()
    return f": {plain[:_SAID_MAX]}"
