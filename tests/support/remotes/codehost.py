"""A copy of the code host's API for secrets of workflows, apps and logins, on a real socket.

https://docs.github.com/en/rest/actions/secrets, /apps/apps, /using-the-rest-api/rate-limits-for-the-rest-api. Values
arrive in sealed boxes; the copy opens them, so that tests can compare.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, SealedBox

from keybearer.base.clock import Clock
from support.remotes.serving import Visits, page_of

__all__ = [
    "CodehostCopy",
    "HeldSecret",
    "SecretsPlace",
]

_NAME = re.compile(r"(?!GITHUB_)[A-Z_][A-Z0-9_]*")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_VALUE_MAX_BYTES = 48 * 1024
_VERSIONS = ("2022-11-28",)
_JWT_MAX = timedelta(minutes=10)
_TOKEN_HOLDS = timedelta(hours=1)


@dataclass
class HeldSecret:
    """A secret as the copy holds it: opened, which the host itself never shows."""

    value: str = field(repr=False)
    created_at: datetime
    updated_at: datetime
    visibility: str | None = None
    repository_ids: tuple[int, ...] = ()


@dataclass
class SecretsPlace:
    """An organization, a repository or an environment."""

    names_max: int
    is_organization: bool = False
    secrets: dict[str, HeldSecret] = field(default_factory=dict)
    key: PrivateKey = field(default_factory=PrivateKey.generate, repr=False)
    key_id: str = "568250167242549743"

    def values(self) -> dict[str, str]:
        """Return what it holds."""
        return {name: secret.value for name, secret in self.secrets.items()}


@dataclass
class _App:
    """An app and its installations; `people` are tokens of people who may use an installation, by its id."""

    public_key: str
    installations: set[str]
    people: dict[str, set[str]] = field(default_factory=dict)


class CodehostCopy:
    """The host. It answers at the root, as that of the cloud does, and below `/api/v3` as a server of one's own.

    Attributes:
        tokens: of people, and whether each may change secrets.
        places: by `org`, `owner/repo` or `owner/repo/env`.
        codes: of logins, by what they are exchanged for.
        client: id and secret of the one OAuth client.
    """

    def __init__(self, clock: Clock) -> None:
        self.visits = Visits()
        self.url = ""
        self.tokens: dict[str, bool] = {}
        self.places: dict[str, SecretsPlace] = {}
        self.codes: dict[str, dict[str, Any]] = {}
        self.client = ("", "")
        self._apps: dict[str, _App] = {}
        self._installation_tokens: dict[str, datetime] = {}
        self._clock = clock

    def organization(self, org: str) -> SecretsPlace:
        """Return a new organization."""
        return self.places.setdefault(org, SecretsPlace(1000, is_organization=True))

    def repository(self, owner: str, repo: str, env: str | None = None) -> SecretsPlace:
        """Return a new repository, or an environment of one."""
        return self.places.setdefault("/".join(filter(None, (owner, repo, env))), SecretsPlace(100))

    def app(self, app_id: str, *installations: str) -> str:
        """Return the key in PEM of a new app with these installations."""
        key = rsa.generate_private_key(65537, 2048)
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self._apps[app_id] = _App(public.decode(), set(installations))
        return key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        ).decode()

    def may_use(self, app_id: str, token: str, *installations: str) -> None:
        """Let the person with that token use installations of the app."""
        self.tokens.setdefault(token, False)
        self._apps[app_id].people[token] = set(installations)

    def end_installation_tokens(self) -> None:
        """Take back every token of an installation, as happens when a key is deleted."""
        self._installation_tokens.clear()

    def put(self, place: SecretsPlace, name: str, value: str, visibility: str | None = None) -> None:
        """Have a person write a secret by hand, a second later than anything before."""
        known = [secret.updated_at for secret in place.secrets.values()]
        now = max([self._now(), *(at + timedelta(seconds=1) for at in known)])
        place.secrets[name] = HeldSecret(
            value, now, now, visibility or ("all" if place.is_organization else None)
        )

    def routes(self) -> list[web.RouteDef]:
        """Return what it answers to."""
        found = []
        for root in ("", "/api/v3"):
            found += [
                web.get(f"{root}/user", self._user),
                web.get(f"{root}/user/installations", self._installations),
                web.post(f"{root}/app/installations/{{id}}/access_tokens", self._installation_token),
            ]
            for base in (
                "/orgs/{org}/actions/secrets",
                "/repos/{owner}/{repo}/actions/secrets",
                "/repos/{owner}/{repo}/environments/{env}/secrets",
            ):
                found += [
                    web.get(f"{root}{base}", self._list),
                    web.get(f"{root}{base}/public-key", self._public_key),
                    web.get(f"{root}{base}/{{name}}", self._show),
                    web.put(f"{root}{base}/{{name}}", self._put),
                    web.delete(f"{root}{base}/{{name}}", self._delete),
                ]
        return [*found, web.post("/login/oauth/access_token", self._exchange)]

    def _now(self) -> datetime:
        return self._clock.now().replace(microsecond=0)

    # Who asks.

    def _token(self, request: web.Request) -> str:
        if not request.headers.get("User-Agent"):
            raise _refusal(
                403,
                "Request forbidden by administrative rules. Please make sure your request has a User-Agent",
            )
        if request.headers.get("X-GitHub-Api-Version", _VERSIONS[0]) not in _VERSIONS:
            raise _refusal(400, "The API version is not supported.")
        if request.headers.get("Accept") != "application/vnd.github+json":
            raise _refusal(415, "Must accept 'application/vnd.github+json'")
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() not in ("bearer", "token") or not token:
            raise _refusal(401, "Requires authentication")
        return token

    def _may_write(self, request: web.Request) -> bool:
        token = self._token(request)
        ends = self._installation_tokens.get(token)
        if ends is not None and ends > self._clock.now():
            return True
        if token not in self.tokens:
            raise _refusal(401, "Bad credentials")
        return self.tokens[token]

    def _place(self, request: web.Request) -> SecretsPlace:
        may_write = self._may_write(request)
        of = request.match_info
        place = self.places.get("/".join(of[part] for part in ("org", "owner", "repo", "env") if part in of))
        if place is None:
            raise _refusal(404, "Not Found")
        if not may_write:
            raise _refusal(403, "Resource not accessible by personal access token")
        return place

    async def _user(self, request: web.Request) -> web.Response:
        if self._token(request) in self._installation_tokens:
            raise _refusal(403, "Resource not accessible by integration")
        self._may_write(request)
        return _json({"login": "octocat", "id": 1, "type": "User"})

    # Apps and logins.

    async def _installation_token(self, request: web.Request) -> web.Response:
        app = self._signed_app(self._token(request))
        if request.match_info["id"] not in app.installations:
            raise _refusal(404, "Not Found")
        token = f"ghs_cnry-{len(self._installation_tokens)}"
        ends = self._now() + _TOKEN_HOLDS
        self._installation_tokens[token] = ends
        given = {"token": token, "expires_at": _written(ends), "permissions": {"secrets": "write"}}
        return _json({**given, "repository_selection": "all"}, 201)

    def _signed_app(self, token: str) -> _App:
        try:
            claims = jwt.decode(token, options={"verify_signature": False})
            app = self._apps[claims["iss"]]
            jwt.decode(token, app.public_key, ["RS256"], options={"verify_exp": False, "verify_iat": False})
            begins, ends = (datetime.fromtimestamp(claims[name], UTC) for name in ("iat", "exp"))
        except (jwt.PyJWTError, KeyError):
            raise _refusal(401, "A JSON web token could not be decoded") from None
        now = self._clock.now()
        if begins > now or ends < now or ends - now > _JWT_MAX:
            raise _refusal(401, "'Expiration time' claim ('exp') is too far in the future")
        return app

    async def _installations(self, request: web.Request) -> web.Response:
        self._may_write(request)
        token = self._token(request)
        ids = sorted(int(one) for app in self._apps.values() for one in app.people.get(token, ()))
        return self._paged(request, "installations", [{"id": one} for one in ids])

    async def _exchange(self, request: web.Request) -> web.Response:
        form = await request.post()
        if (form.get("client_id"), form.get("client_secret")) != self.client:
            return _json(
                {"error": "incorrect_client_credentials", "error_description": "They are incorrect."}
            )
        given = self.codes.pop(str(form.get("code")), None)
        if given is None:
            return _json(
                {"error": "bad_verification_code", "error_description": "The code is incorrect or expired."}
            )
        return _json({"token_type": "bearer", "scope": "repo", **given})

    # Secrets.

    async def _list(self, request: web.Request) -> web.Response:
        place = self._place(request)
        return self._paged(
            request, "secrets", [_shown(name, place.secrets[name]) for name in sorted(place.secrets)]
        )

    async def _public_key(self, request: web.Request) -> web.Response:
        place = self._place(request)
        return _json({"key_id": place.key_id, "key": base64.b64encode(bytes(place.key.public_key)).decode()})

    async def _show(self, request: web.Request) -> web.Response:
        place, name = self._place(request), request.match_info["name"].upper()
        if name not in place.secrets:
            raise _refusal(404, "Not Found")
        return _json(_shown(name, place.secrets[name]))

    async def _put(self, request: web.Request) -> web.Response:
        place, name = self._place(request), request.match_info["name"].upper()
        if not _NAME.fullmatch(name):
            raise _refusal(422, "Secret names can only contain alphanumeric characters and underscores")
        body = await request.json()
        value = _opened(place, body)
        visibility, ids = _audience(place, body)
        if name not in place.secrets and len(place.secrets) >= place.names_max:
            raise _refusal(422, f"Cannot have more than {place.names_max} secrets")
        now, before = self._now(), place.secrets.get(name)
        created = now if before is None else before.created_at
        place.secrets[name] = HeldSecret(value, created, now, visibility, ids)
        return _json({}, 201) if before is None else web.Response(status=204)

    async def _delete(self, request: web.Request) -> web.Response:
        if self._place(request).secrets.pop(request.match_info["name"].upper(), None) is None:
            raise _refusal(404, "Not Found")
        return web.Response(status=204)

    def _paged(self, request: web.Request, name: str, all_of_them: list[dict[str, Any]]) -> web.Response:
        number, size = page_of(request, usual=30, most=100)
        shown = all_of_them[(number - 1) * size : number * size]
        headers = {}
        if number * size < len(all_of_them):
            following = request.url.update_query(page=number + 1, per_page=size)
            headers["Link"] = f'<{following}>; rel="next"'
        return _json({"total_count": len(all_of_them), name: shown}, headers=headers)


def _opened(place: SecretsPlace, body: Mapping[str, Any]) -> str:
    sealed = body.get("encrypted_value")
    if not isinstance(sealed, str) or not _BASE64.fullmatch(sealed):
        raise _refusal(422, "Invalid request. encrypted_value does not match the pattern")
    if body.get("key_id") != place.key_id:
        raise _refusal(422, "key_id is not the id of the public key")
    try:
        value = SealedBox(place.key).decrypt(base64.b64decode(sealed)).decode()
    except (binascii.Error, CryptoError, UnicodeDecodeError):
        raise _refusal(422, "Bad request - the value could not be decrypted") from None
    if len(value.encode()) > _VALUE_MAX_BYTES:
        raise _refusal(422, "Secret value must be less than 48 KB")
    return value


def _audience(place: SecretsPlace, body: Mapping[str, Any]) -> tuple[str | None, tuple[int, ...]]:
    if not place.is_organization:
        if body.keys() - {"encrypted_value", "key_id"}:
            raise _refusal(422, "Invalid request. Additional properties")
        return None, ()
    visibility, ids = body.get("visibility"), tuple(body.get("selected_repository_ids", ()))
    if visibility not in ("all", "private", "selected"):
        raise _refusal(422, "Invalid request. visibility is not one of all, private, selected")
    if ids and visibility != "selected":
        raise _refusal(422, "selected_repository_ids is only for the visibility selected")
    return visibility, ids


def _shown(name: str, secret: HeldSecret) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": name,
        "created_at": _written(secret.created_at),
        "updated_at": _written(secret.updated_at),
    }
    if secret.visibility is not None:
        shown["visibility"] = secret.visibility
    return shown


def _written(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def _json(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.json_response(body, status=status, headers=headers)


def _refusal(status: int, message: str) -> web.HTTPException:
    kinds = (
        web.HTTPBadRequest,
        web.HTTPUnauthorized,
        web.HTTPForbidden,
        web.HTTPNotFound,
        web.HTTPUnsupportedMediaType,
        web.HTTPUnprocessableEntity,
    )
    (kind,) = (one for one in kinds if one.status_code == status)
    text = web.json_response(
        {"message": message, "documentation_url": "https://docs", "status": str(status)}
    ).text
    return kind(text=text, content_type="application/json")
