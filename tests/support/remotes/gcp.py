"""A copy of what Google's cloud has for Secret Manager: logins, impersonation, and the secrets, on a real socket.

https://cloud.google.com/secret-manager/docs/reference/rest, /iam/docs/reference/credentials/rest, and the login of
service accounts: https://developers.google.com/identity/protocols/oauth2/service-account#httprest. All of the
vendor's hosts are one host here.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from keybearer.base.clock import Clock, SystemClock
from support.remotes.serving import Visits

__all__ = ["GcpCopy", "GcpSecret", "GcpVersion", "new_key", "refusal"]

_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,255}")
_VALUE_MAX = 64 * 1024
_PAGE_USUAL, _PAGE_MAX = 25_000, 25_000
_WORDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
}


def new_key() -> tuple[str, rsa.RSAPublicKey]:
    """Return a private key in PEM, and its public half."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem.decode(), key.public_key()


@dataclass
class GcpVersion:
    """A version; `state` as the API has it."""

    data: bytes = field(repr=False)
    state: str = "ENABLED"


@dataclass
class GcpSecret:
    """A secret with its versions, the first one first."""

    replication: dict[str, Any] | None
    versions: list[GcpVersion] = field(default_factory=list)


class GcpCopy:
    """Google's cloud.

    Attributes:
        keys: public keys of accounts that may log in, by email.
        impersonators: whom each account may be impersonated by.
        projects: secrets by `projects/ID`, or `projects/ID/locations/L` for those of one region.
        rights: accounts that may use a project; others are refused.
        page_max: how many secrets a page has at most.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self.visits = Visits()
        self.url = ""
        self.keys: dict[str, rsa.RSAPublicKey] = {}
        self.impersonators: dict[str, set[str]] = {}
        self.projects: dict[str, dict[str, GcpSecret]] = {}
        self.rights: set[str] = set()
        self.page_max = _PAGE_MAX
        self._clock = clock or SystemClock()
        self._tokens: dict[str, str] = {}

    def routes(self) -> list[web.RouteDef]:
        """Return what it answers to."""
        routes = [
            web.post("/token", self._log_in),
            web.post("/v1/projects/-/serviceAccounts/{email}:generateAccessToken", self._impersonate),
        ]
        for place in ("/v1/{place:projects/[^/]+}", "/v1/{place:projects/[^/]+/locations/[^/]+}"):
            routes += [
                web.get(f"{place}/secrets", self._list),
                web.post(f"{place}/secrets", self._create),
                web.post(f"{place}/secrets/{{name}}:addVersion", self._add_version),
                web.get(f"{place}/secrets/{{name}}/versions/latest:access", self._access),
                web.delete(f"{place}/secrets/{{name}}", self._delete),
            ]
        return routes

    def put(self, place: str, name: str, value: str | bytes) -> None:
        """Have a person write a secret by hand."""
        secret = self.projects[place].setdefault(name, GcpSecret({"automatic": {}}))
        secret.versions.append(GcpVersion(value.encode() if isinstance(value, str) else value))

    def values(self, place: str) -> dict[str, str]:
        """Return the latest values of a place."""
        return {
            name: secret.versions[-1].data.decode() if secret.versions else ""
            for name, secret in self.projects[place].items()
        }

    def withdraw_tokens(self) -> None:
        """Let no token that was given be good any more."""
        self._tokens.clear()

    def _issue(self, email: str) -> str:
        token = f"ya29.cnry-{len(self._tokens)}-{email}"
        self._tokens[token] = email
        return token

    async def _log_in(self, request: web.Request) -> web.Response:
        form = await request.post()
        assertion = form.get("assertion")
        if form.get("grant_type") != _GRANT or not isinstance(assertion, str):
            return web.json_response({"error": "unsupported_grant_type"}, status=400)
        try:
            email = jwt.decode(assertion, options={"verify_signature": False})["iss"]
            # By the copy's own clock.
            claims = jwt.decode(
                assertion,
                self.keys[email],
                ["RS256"],
                audience=f"{self.url}/token",
                options={"verify_exp": False, "verify_iat": False},
            )
            lasts = claims["exp"] - claims["iat"]
            if not claims["iat"] <= self._clock.now().timestamp() < claims["exp"]:
                raise jwt.ExpiredSignatureError
        except (jwt.PyJWTError, KeyError):
            told = {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
            return web.json_response(told, status=400)
        if lasts > 3600 or claims.get("scope") != _SCOPE:
            return web.json_response({"error": "invalid_scope"}, status=400)
        return web.json_response(
            {"access_token": self._issue(email), "expires_in": 3599, "token_type": "Bearer"}
        )

    async def _impersonate(self, request: web.Request) -> web.Response:
        caller, email = self._caller(request), request.match_info["email"]
        body = await request.json()
        if body.get("scope") != [_SCOPE] or body.get("lifetime", "3600s") != "3600s":
            return refusal(400)
        if caller not in self.impersonators.get(email, set()):
            return refusal(403, "Permission 'iam.serviceAccounts.getAccessToken' denied on resource")
        ends = self._clock.now() + timedelta(hours=1)
        return web.json_response(
            {"accessToken": self._issue(email), "expireTime": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}
        )

    def _caller(self, request: web.Request) -> str:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind != "Bearer" or token not in self._tokens:
            raise _raised(401, "Request had invalid authentication credentials.")
        return self._tokens[token]

    def _place(self, request: web.Request) -> dict[str, GcpSecret]:
        caller, place = self._caller(request), request.match_info["place"]
        if caller not in self.rights or place not in self.projects:
            raise _raised(403, f"Permission denied on resource '{place}' (or it may not exist).")
        return self.projects[place]

    def _secret(self, request: web.Request) -> GcpSecret:
        found = self._place(request).get(request.match_info["name"])
        if found is None:
            raise _raised(404, f"Secret [{_path(request)}] not found.")
        return found

    async def _list(self, request: web.Request) -> web.Response:
        secrets = self._place(request)
        size = min(int(request.query.get("pageSize", _PAGE_USUAL)), self.page_max)
        first = int(request.query.get("pageToken", "0"))
        names = sorted(secrets)
        # Names of resources have the number of the project, whatever it was called.
        shown: list[dict[str, Any]] = [
            {"name": f"projects/4711/secrets/{name}", "createTime": "2026-01-01T00:00:00Z", "etag": '"1"'}
            for name in names[first : first + size]
        ]
        body: dict[str, Any] = {"totalSize": len(names)}
        if shown:
            body["secrets"] = shown
        if first + size < len(names):
            body["nextPageToken"] = str(first + size)
        return web.json_response(body)

    async def _create(self, request: web.Request) -> web.Response:
        secrets, body = self._place(request), await request.json()
        name = request.query.get("secretId", "")
        is_regional = "/locations/" in request.match_info["place"]
        if not _NAME.fullmatch(name) or is_regional == ("replication" in body):
            return refusal(400)
        if name in secrets:
            return refusal(409, f"Secret [{name}] already exists.")
        secrets[name] = GcpSecret(body.get("replication"))
        return web.json_response({"name": f"projects/4711/secrets/{name}", **body})

    async def _add_version(self, request: web.Request) -> web.Response:
        secret = self._secret(request)
        data = base64.b64decode((await request.json())["payload"]["data"], validate=True)
        if not data or len(data) > _VALUE_MAX:
            return refusal(400, "The payload is empty or too large.")
        secret.versions.append(GcpVersion(data))
        return web.json_response({"name": _version(request, secret), "state": "ENABLED"})

    async def _access(self, request: web.Request) -> web.Response:
        secret = self._secret(request)
        if not secret.versions:
            return refusal(404, "Secret Version not found.")
        if (state := secret.versions[-1].state) != "ENABLED":
            return refusal(400, f"Secret Version is in {state} state.", "FAILED_PRECONDITION")
        data = base64.b64encode(secret.versions[-1].data).decode()
        return web.json_response({"name": _version(request, secret), "payload": {"data": data}})

    async def _delete(self, request: web.Request) -> web.Response:
        self._secret(request)
        del self._place(request)[request.match_info["name"]]
        return web.json_response({})


def refusal(
    status: int, message: str = "Request contains an invalid argument.", word: str = ""
) -> web.Response:
    """Return an error as the vendor tells of it."""
    error = {"code": status, "message": message, "status": word or _WORDS[status]}
    return web.json_response({"error": error}, status=status)


def _raised(status: int, message: str) -> web.HTTPException:
    kinds = (web.HTTPUnauthorized, web.HTTPForbidden, web.HTTPNotFound)
    (kind,) = (one for one in kinds if one.status_code == status)
    return kind(text=refusal(status, message).text, content_type="application/json")


def _path(request: web.Request) -> str:
    return f"projects/4711/secrets/{request.match_info['name']}"


def _version(request: web.Request, secret: GcpSecret) -> str:
    return f"{_path(request)}/versions/{len(secret.versions)}"
