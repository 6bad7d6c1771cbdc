"""The part of Vault's API that a sync meets: tokens, roles, policies, quotas and the key-value engine.

https://developer.hashicorp.com/vault/api-docs. The same tests can be run with a real server: `support.remotes.vault`.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from support.remotes.serving import Visits

__all__ = ["VaultCopy"]

_ROOT = "root"
_RULE = re.compile(r'path "([^"]*)" \{ capabilities = \[([^\]]*)\] \}')
_CAPABILITY = {"GET": "read", "DELETE": "delete"}


class _RefusedError(Exception):
    """Answered with this status and these texts."""

    def __init__(self, status: int, *texts: str, data: object = None) -> None:
        super().__init__(status)
        self.status = status
        self.body = {"errors": list(texts)} if data is None else {"data": data}


@dataclass
class _Version:
    data: dict[str, Any] | None
    deleted: str = ""
    is_destroyed: bool = False

    @property
    def is_there(self) -> bool:
        return self.data is not None and not self.deleted and not self.is_destroyed


@dataclass
class _Secret:
    """A secret of version 2 of the engine, with all its versions."""

    versions: list[_Version] = field(default_factory=list)
    needs_cas: bool = False

    def metadata(self) -> dict[str, object]:
        last = self.versions[-1]
        return {
            "created_time": "2026-01-01T00:00:00Z",
            "custom_metadata": None,
            "deletion_time": last.deleted,
            "destroyed": last.is_destroyed,
            "version": len(self.versions),
        }


@dataclass
class _Mount:
    type: str
    options: dict[str, str] | None
    plain: dict[str, dict[str, Any]] = field(default_factory=dict)
    versioned: dict[str, _Secret] = field(default_factory=dict)


class VaultCopy:
    """Vault in development mode; `root` is the token that may do anything."""

    def __init__(self, root: str) -> None:
        self.visits = Visits()
        self.url = ""
        self.root = root
        self._mounts = {"cubbyhole/": _Mount("cubbyhole", None)}
        self._policies: dict[str, dict[str, set[str]]] = {}
        self._tokens = {root: _ROOT}
        self._roles: dict[str, dict[str, Any]] = {}
        self._quotas: dict[str, tuple[str, int]] = {}

    def routes(self) -> list[web.RouteDef]:
        """Return what it answers to."""
        return [web.route("*", "/v1/{path:.+}", self._answer)]

    def role(self, policy: str) -> tuple[str, str]:
        """Return roleId and secretId of a new role."""
        name = secrets.token_hex(4)
        self._set_role(name, {"token_policies": [policy]})
        return str(self._roles[name]["role_id"]), self._new_secret_id(name)

    async def _answer(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        content = await request.read()
        try:
            body = json.loads(content) if content else {}
            found = self._dispatch(request, path, body)
        except _RefusedError as error:
            return web.json_response(error.body, status=error.status)
        if found is None:
            return web.Response(status=204)
        return web.json_response({"request_id": secrets.token_hex(16), **found})

    def _dispatch(self, request: web.Request, path: str, body: dict[str, Any]) -> Mapping[str, object] | None:
        if path == "sys/health":
            return {"initialized": True, "sealed": False}
        self._count(path)
        if path == "auth/approle/login":
            return self._login(body)
        token = request.headers.get("X-Vault-Token") or request.headers.get("Authorization", "").removeprefix(
            "Bearer "
        )
        policy = self._tokens.get(token)
        if policy is None:
            raise _RefusedError(403, "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n")
        if path == "auth/token/lookup-self":
            return {"data": {"policies": [policy], "ttl": 3600}}
        if path.startswith("sys/internal/ui/mounts/"):
            return self._mount_told(path.removeprefix("sys/internal/ui/mounts/"), policy)
        if not self._may(policy, path, _CAPABILITY.get(request.method, "update")):
            raise _RefusedError(403, "1 error occurred:\n\t* permission denied\n\n")
        if path.startswith(("sys/", "auth/")):
            return self._administer(request.method, path, body)
        prefix, mount = self._mount_of(path)
        if mount.type != "kv":
            raise _RefusedError(404)
        rest = path.removeprefix(prefix)
        if mount.options == {"version": "2"}:
            return _versioned(mount, request.method, rest, body)
        return _plain(mount, request.method, rest, body)

    def _count(self, path: str) -> None:
        for name, (prefix, left) in self._quotas.items():
            if path.startswith(prefix):
                if not left:
                    raise _RefusedError(429, f'request path "{path}": rate limit quota exceeded')
                self._quotas[name] = (prefix, left - 1)

    def _may(self, policy: str, path: str, capability: str) -> bool:
        granted = self._policies.get(policy, {}).get(path, set())
        return policy == _ROOT or capability in granted

    def _mount_of(self, path: str) -> tuple[str, _Mount]:
        within = [prefix for prefix in self._mounts if f"{path}/".startswith(prefix)]
        if not within:
            raise _RefusedError(404, f'no handler for route "{path}". route entry not found.')
        prefix = max(within, key=len)
        return prefix, self._mounts[prefix]

    def _mount_told(self, path: str, policy: str) -> Mapping[str, object]:
        told = f'please ensure client\'s policies grant access to path "{path}/"'
        denied = _RefusedError(403, f"preflight capability check returned 403, {told}")
        try:
            prefix, mount = self._mount_of(path)
        except _RefusedError:
            raise denied from None
        if policy != _ROOT and not any(rule.startswith(prefix) for rule in self._policies[policy]):
            raise denied
        return {"data": {"path": prefix, "type": mount.type, "options": mount.options}}

    def _login(self, body: Mapping[str, Any]) -> Mapping[str, object]:
        for role in self._roles.values():
            if role["role_id"] == body.get("role_id") and body.get("secret_id") in role["secret_ids"]:
                return {"auth": self._issued(role["policy"])}
        raise _RefusedError(400, "invalid role or secret ID")

    def _issued(self, policy: str) -> Mapping[str, object]:
        token = f"hvs.{secrets.token_urlsafe(24)}"
        self._tokens[token] = policy
        return {
            "client_token": token,
            "lease_duration": 3600,
            "renewable": True,
            "policies": ["default", policy],
        }

    def _administer(self, method: str, path: str, body: Mapping[str, Any]) -> Mapping[str, object] | None:
        """Do what the root token asks for to prepare a test."""
        area, _, name = path.rpartition("/")
        handlers: Mapping[str, Callable[[], Mapping[str, object] | None]] = {
            "sys/policies/acl": lambda: self._set_policy(name, body["policy"]),
            "sys/quotas/rate-limit": lambda: self._set_quota(method, name, body),
            "auth/token": lambda: self._token_called(name, body),
            "auth/approle/role": lambda: self._set_role(name, body),
            f"auth/approle/role/{area.rpartition('/')[2]}": lambda: self._role_told(
                area.rpartition("/")[2], name
            ),
            "sys/auth": lambda: None,
        }
        if path.startswith("sys/mounts/"):
            self._mounts[f"{path.removeprefix('sys/mounts/')}/"] = _Mount(body["type"], body["options"])
            return None
        if area not in handlers:
            raise _RefusedError(404, f'no handler for route "{path}". route entry not found.')
        return handlers[area]()

    def _set_policy(self, name: str, text: str) -> None:
        self._policies[name] = {
            path: set(re.findall(r"\w+", allowed)) for path, allowed in _RULE.findall(text)
        }

    def _set_quota(self, method: str, name: str, body: Mapping[str, Any]) -> None:
        if method == "DELETE":
            self._quotas.pop(name, None)
        else:
            self._quotas[name] = (body["path"], body["rate"])

    def _token_called(self, call: str, body: Mapping[str, Any]) -> Mapping[str, object] | None:
        if call == "create":
            return {"auth": self._issued(body["policies"][0])}
        self._tokens.pop(body["token"], None)
        return None

    def _set_role(self, name: str, body: Mapping[str, Any]) -> None:
        self._roles[name] = {
            "role_id": secrets.token_hex(16),
            "secret_ids": set(),
            "policy": body["token_policies"][0],
        }

    def _role_told(self, name: str, what: str) -> Mapping[str, object]:
        if what == "role-id":
            return {"data": {"role_id": self._roles[name]["role_id"]}}
        return {"data": {"secret_id": self._new_secret_id(name)}}

    def _new_secret_id(self, name: str) -> str:
        secret_id = secrets.token_hex(16)
        self._roles[name]["secret_ids"].add(secret_id)
        return secret_id


def _plain(mount: _Mount, method: str, path: str, body: dict[str, Any]) -> Mapping[str, object] | None:
    """Version 1 of the engine."""
    if method == "GET":
        if path not in mount.plain:
            raise _RefusedError(404)
        return {"data": mount.plain[path], "lease_duration": 2764800}
    if method == "DELETE":
        mount.plain.pop(path, None)
    elif not body:
        raise _RefusedError(400, "missing data fields")
    else:
        mount.plain[path] = body
    return None


def _versioned(mount: _Mount, method: str, path: str, body: dict[str, Any]) -> Mapping[str, object] | None:
    """Version 2 of the engine."""
    area, _, name = path.partition("/")
    match area, method:
        case "data", "GET":
            return {"data": _last_of(mount.versioned.get(name, _Secret()))}
        case "data", "DELETE":
            mount.versioned[name].versions[-1].deleted = "2026-01-01T00:00:00Z"
        case "data", _:
            return {"data": _written(mount.versioned.setdefault(name, _Secret()), body)}
        case "destroy", _:
            for number in body["versions"]:
                mount.versioned[name].versions[number - 1].is_destroyed = True
        case "metadata", "DELETE":
            mount.versioned.pop(name, None)
        case "metadata", _:
            mount.versioned.setdefault(name, _Secret()).needs_cas = body["cas_required"]
        case _:
            raise _RefusedError(404)
    return None


def _last_of(secret: _Secret) -> Mapping[str, object]:
    if not secret.versions:
        raise _RefusedError(404)
    last = secret.versions[-1]
    if not last.is_there:
        raise _RefusedError(404, data={"data": None, "metadata": secret.metadata()})
    return {"data": last.data, "metadata": secret.metadata()}


def _written(secret: _Secret, body: dict[str, Any]) -> Mapping[str, object]:
    follows = body.get("options", {}).get("cas")
    if follows is None and secret.needs_cas:
        raise _RefusedError(400, "check-and-set parameter required for this call")
    if follows is not None and follows != len(secret.versions):
        raise _RefusedError(400, "check-and-set parameter did not match the current version")
    if not isinstance(body.get("data"), dict):
        raise _RefusedError(400, "no data provided")
    secret.versions.append(_Version(body["data"]))
    return secret.metadata()
