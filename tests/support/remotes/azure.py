"""A copy of Azure's login and of a key vault, on a real socket.

https://learn.microsoft.com/rest/api/keyvault/secrets, /azure/key-vault/general/soft-delete-overview, and
https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from support.remotes.serving import Visits

__all__ = ["AzureCopy", "VaultSecret", "refusal"]

_NAME = re.compile(r"[0-9a-zA-Z-]{1,127}")
_VALUE_MAX = 25_000
_PAGE_MAX = 25


@dataclass
class VaultSecret:
    """A secret, called as it was when it was made; `values` are its versions."""

    name: str
    values: list[str] = field(default_factory=list, repr=False)
    is_enabled: bool = True
    is_managed: bool = False


class AzureCopy:
    """A tenant's login and one vault.

    Attributes:
        clients: `tenant/client` and its secret.
        rights: clients that may do something in the vault.
        secrets: by name in lower case.
        deleted: likewise, those that can be recovered.
        slowness: how many requests a deletion or recovery takes until it has ended.
        link_host: where the next page is said to be, if not here.

    Args:
        tenant: another copy, whose login is this one's too.
    """

    def __init__(self, tenant: AzureCopy | None = None) -> None:
        self.visits = Visits()
        self.url = ""
        self.clients: dict[str, str] = {}
        self.rights: set[str] = set()
        self.secrets: dict[str, VaultSecret] = {}
        self.deleted: dict[str, VaultSecret] = {}
        self.slowness = 0
        self.link_host = ""
        self._busy: dict[str, tuple[str, int]] = {}
        self._tokens: dict[str, str] = {}
        if tenant is not None:
            self.clients, self.rights, self._tokens = tenant.clients, tenant.rights, tenant._tokens

    def routes(self) -> list[web.RouteDef]:
        """Return what it answers to."""
        return [
            web.post("/{tenant}/oauth2/v2.0/token", self._log_in),
            web.get("/secrets", self._list),
            web.get("/secrets/{name}", self._get),
            web.put("/secrets/{name}", self._set),
            web.delete("/secrets/{name}", self._delete),
            web.post("/deletedsecrets/{name}/recover", self._recover),
        ]

    def put(self, name: str, value: str) -> None:
        """Have a person write a secret by hand."""
        secret = self.secrets.setdefault(name.lower(), VaultSecret(name))
        secret.values.append(value)

    def values(self) -> dict[str, str]:
        """Return what the vault holds."""
        return {secret.name: secret.values[-1] for secret in self.secrets.values()}

    def withdraw_tokens(self) -> None:
        """Let no token that was given be good any more."""
        self._tokens.clear()

    async def _log_in(self, request: web.Request) -> web.Response:
        form = await request.post()
        client = f"{request.match_info['tenant']}/{form.get('client_id')!s}"
        if (
            form.get("grant_type") != "client_credentials"
            or form.get("scope") != "https://vault.azure.net/.default"
        ):
            return web.json_response({"error": "invalid_request"}, status=400)
        if self.clients.get(client) != form.get("client_secret"):
            told = f"AADSTS7000215: Invalid client secret provided: {form.get('client_secret')!s}"
            return web.json_response({"error": "invalid_client", "error_description": told}, status=401)
        token = f"eyJ.cnry-{len(self._tokens)}"
        self._tokens[token] = client
        return web.json_response({"token_type": "Bearer", "expires_in": 3599, "access_token": token})

    def _check(self, request: web.Request) -> None:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if request.query.get("api-version") != "7.4":
            raise _raised(refusal(400, "BadParameter", "The specified version is not recognized."))
        if kind != "Bearer" or token not in self._tokens:
            raise _raised(refusal(401, "Unauthorized", "AKV10000: Request is missing a Bearer token."))
        if self._tokens[token] not in self.rights:
            raise _raised(refusal(403, "Forbidden", "The user does not have permission.", "ForbiddenByRbac"))

    async def _list(self, request: web.Request) -> web.Response:
        self._check(request)
        size = int(request.query.get("maxresults", _PAGE_MAX))
        if not 1 <= size <= _PAGE_MAX:
            return refusal(400, "BadParameter", "maxresults")
        first = int(request.query.get("$skiptoken", "0"))
        secrets = sorted(self.secrets.values(), key=lambda one: one.name)
        shown: list[dict[str, Any]] = [
            {
                "id": f"{self.url}/secrets/{one.name}",
                "attributes": {"enabled": one.is_enabled, "recoverableDays": 90},
                **({"managed": True} if one.is_managed else {}),
            }
            for one in secrets[first : first + size]
        ]
        following = None
        if first + size < len(secrets):
            query = urlencode({"api-version": "7.4", "$skiptoken": first + size, "maxresults": size})
            following = f"{self.link_host or self.url}/secrets?{query}"
        return web.json_response({"value": shown, "nextLink": following})

    async def _get(self, request: web.Request) -> web.Response:
        self._check(request)
        secret = self._found(request)
        if not secret.is_enabled:
            return refusal(
                403, "Forbidden", "Operation get is not allowed on a disabled secret.", "SecretDisabled"
            )
        return self._shown(secret)

    async def _set(self, request: web.Request) -> web.Response:
        self._check(request)
        name, value = request.match_info["name"], (await request.json()).get("value")
        busy = self._busy_answer(name)
        if busy is not None:
            return busy
        if not _NAME.fullmatch(name) or not isinstance(value, str) or len(value.encode()) > _VALUE_MAX:
            return refusal(400, "BadParameter", f"The request is wrong: {value}")
        if name.lower() in self.deleted:
            told = f"Secret {name} is currently in a deleted but recoverable state."
            return refusal(409, "Conflict", told, "ObjectIsDeletedButRecoverable")
        secret = self.secrets.setdefault(name.lower(), VaultSecret(name))
        if secret.is_managed:
            return refusal(403, "Forbidden", "Operation set is not allowed on a managed secret.")
        secret.values.append(value)
        secret.is_enabled = True
        return self._shown(secret)

    async def _delete(self, request: web.Request) -> web.Response:
        self._check(request)
        name = request.match_info["name"]
        busy = self._busy_answer(name)
        if busy is not None:
            return busy
        secret = self._found(request)
        self.deleted[name.lower()] = self.secrets.pop(name.lower())
        self._busy[name.lower()] = ("ObjectIsBeingDeleted", self.slowness)
        return self._shown(secret)

    async def _recover(self, request: web.Request) -> web.Response:
        self._check(request)
        name = request.match_info["name"].lower()
        if name not in self.deleted:
            return refusal(404, "SecretNotFound", "A deleted secret was not found.")
        self.secrets[name] = self.deleted.pop(name)
        self._busy[name] = ("ObjectIsBeingRecovered", self.slowness)
        return web.json_response({"id": f"{self.url}/secrets/{self.secrets[name].name}"})

    def _busy_answer(self, name: str) -> web.Response | None:
        word, left = self._busy.get(name.lower(), ("", 0))
        if not left:
            return None
        self._busy[name.lower()] = (word, left - 1)
        return refusal(409, "Conflict", "The object is in transition.", word)

    def _found(self, request: web.Request) -> VaultSecret:
        secret = self.secrets.get(request.match_info["name"].lower())
        if secret is None:
            raise _raised(refusal(404, "SecretNotFound", "A secret was not found in this key vault."))
        return secret

    def _shown(self, secret: VaultSecret) -> web.Response:
        version = f"{len(secret.values):032x}"
        body = {
            "value": secret.values[-1],
            "id": f"{self.url}/secrets/{secret.name}/{version}",
            "attributes": {"enabled": secret.is_enabled},
        }
        return web.json_response(body)


def refusal(status: int, code: str, message: str, inner: str = "") -> web.Response:
    """Return an error as a vault tells of it."""
    error: dict[str, Any] = {"code": code, "message": message}
    if inner:
        error["innererror"] = {"code": inner}
    return web.json_response({"error": error}, status=status)


def _raised(answer: web.Response) -> web.HTTPException:
    kinds = (web.HTTPBadRequest, web.HTTPUnauthorized, web.HTTPForbidden, web.HTTPNotFound)
    (kind,) = (one for one in kinds if one.status_code == answer.status)
    return kind(text=answer.text, content_type="application/json")
