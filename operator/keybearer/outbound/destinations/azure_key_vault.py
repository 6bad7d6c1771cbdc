"""Secrets of a vault of Azure: one per key.

https://learn.microsoft.com/rest/api/keyvault/secrets. Names there are letters, digits and hyphens, upper and lower
case are the same, and underscores are written as hyphens. What is deleted can be recovered for a while, and has to be
before its name can be used again.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import timedelta
from urllib.parse import urlsplit

from pydantic import JsonValue

from keybearer.destinations.name_rules import NameRules
from keybearer.outbound.apps.azure_key_vault import APP, AzureLogin, words_of
from keybearer.outbound.destinations.bounds import Bounds, one_by_one
from keybearer.outbound.destinations.looking_up import each
from keybearer.outbound.destinations.protocol import (
    Change,
    DriverInput,
    Outgoing,
    Present,
    Refused,
    RuleBrokenError,
    Traits,
    Written,
)
from keybearer.outbound.remote import RemoteAnswer, RemoteRefusedError, RemoteUnavailableError
from keybearer.wire.destinations.azure_key_vault import KeyVaultConfig

__all__ = ["KeyVaultSecrets"]

_VAULTS = ".vault.azure.net"
_VERSION = "api-version=7.4"
_PAGE = 25
"""The most that a vault lists at once."""
_PAGES_MAX = 2000
_NAME = re.compile(r"[0-9A-Za-z-]{1,127}")
_RULES = NameRules(
    pattern="[0-9A-Za-z_-]+",
    words="letters, digits and hyphens, for which underscores may stand",
    longest=127,
)
_RECOVERABLE = "ObjectIsDeletedButRecoverable"
_DISABLED = "SecretDisabled"
_CONFLICTS_MAX = 30
_CONFLICT_WAIT = timedelta(seconds=2)
_PORTS = {"http": 80, "https": 443}


class KeyVaultSecrets:
    """The secrets of one vault, but those that are disabled and those of certificates."""

    traits = Traits(rules=_RULES)

    def __init__(self, given: DriverInput) -> None:
        if not isinstance(given.config, KeyVaultConfig):
            raise TypeError(type(given.config).__name__)
        self._base = given.config.vault_base_url.rstrip("/")
        # The token is good for every vault that the app registration may use: it goes to vaults only, unless the
        # operator has a cloud of their own.
        self._may_be_anywhere = APP in given.context.endpoints
        self._naming = given.naming
        self._login = AzureLogin(given.credentials, given.context)
        self._vault_names: dict[str, str] = {}
        self._shut: dict[str, str] = {}

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        """Return the secrets of the vault, by the names that this sync has for them.

        Values of names that are none of this sync's aren't asked for.
        """
        wanted = _by_fold(names)
        found: dict[str, Present] = {}
        bounds = Bounds()
        self._vault_names, self._shut = {}, {}
        listed = await self._list()

        async def look_up(vault_name: str) -> None:
            ours = wanted.get(_fold(vault_name)) or [self._name_of(vault_name)]
            present: Present | None = Present(None)
            if _fold(vault_name) in wanted or self._naming.key_of(ours[0]) is not None:
                present = await self._value(vault_name)
            if present is not None:
                bounds.add(vault_name, present.value or "")
                found.update(dict.fromkeys(ours, present))
                self._vault_names |= dict.fromkeys(ours, vault_name)

        await each(listed, look_up)
        return found

    async def _list(self) -> list[str]:
        """Return the names of secrets that can be read and written."""
        names: list[str] = []
        bounds = Bounds()
        query = f"{_VERSION}&maxresults={_PAGE}"
        for _ in range(_PAGES_MAX):
            answer = await self._send("GET", "secrets", query)
            if answer.status != 200:
                raise self._login.error_of(answer, "list its secrets", may_quote=True)
            content = answer.json()
            listed = content.get("value") if isinstance(content, dict) else None
            if not isinstance(content, dict) or not isinstance(listed, list):
                raise RemoteUnavailableError("the vault lists secrets in a form that isn't its own")
            for one in listed:
                name, shut = _listed(one)
                bounds.add(name)
                if shut:
                    self._shut[_fold(name)] = shut
                else:
                    names.append(name)
            following = content.get("nextLink")
            if not isinstance(following, str) or not following:
                return names
            query = self._query_of(following)
        raise RemoteUnavailableError("the vault doesn't come to an end of its secrets")

    def _query_of(self, link: str) -> str:
        """Return what asks for the next page; the vault says it, and no other place is asked for that."""
        if _origin(link) != _origin(self._base):
            raise RemoteUnavailableError("the vault says that its list goes on at another place")
        return urlsplit(link).query

    async def _value(self, vault_name: str) -> Present | None:
        """Return what a secret holds; None if it can't be read any more."""
        answer = await self._send("GET", f"secrets/{vault_name}")
        if answer.status == 404:
            return None
        if answer.status == 403 and _DISABLED in words_of(answer):
            self._shut[_fold(vault_name)] = "is disabled"
            return None
        if answer.status != 200:
            raise self._login.error_of(answer, f"show the secret '{vault_name}'", may_quote=True)
        content = answer.json()
        value = content.get("value") if isinstance(content, dict) else None
        if not isinstance(value, str):
            raise RemoteUnavailableError(f"the vault answers without the value of the secret '{vault_name}'")
        return Present(value, _version(content))

    def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Write one by one: there is no other way."""
        held = _by_fold(change.held | {one.name for one in change.put})

        async def put(outgoing: Outgoing) -> str | None:
            return await self._put(outgoing, held[_fold(outgoing.name)])

        async def delete(name: str) -> None:
            # What has the same name for the vault stays: `A-B`, where `A_B` goes.
            if _fold(name) not in held:
                await self._delete(self._vault_names.get(name, _hyphened(name)))

        return one_by_one(change, put, delete)

    async def _put(self, outgoing: Outgoing, same: Sequence[str]) -> str | None:
        """Return the version that was made."""
        name = outgoing.name
        vault_name = self._vault_names.get(name, _hyphened(name))
        if len(same) > 1:
            raise RuleBrokenError(
                f"the names {' and '.join(map(repr, sorted(same)))} are the same for the vault, which has hyphens "
                "for underscores and doesn't tell upper from lower case; rename one of them"
            )
        if _fold(name) in self._shut:
            raise RuleBrokenError(
                f"the secret '{vault_name}' of the vault {self._shut[_fold(name)]}, so it is left as it is; see to "
                "it there, or rename the secret here"
            )
        answer = await self._patiently("PUT", vault_name, {"value": outgoing.value})
        if answer.status == 400:
            raise RemoteRefusedError(
                f"the vault refuses the value of the secret '{vault_name}': it has 25,000 bytes at most"
            )
        if answer.status != 200:
            raise self._login.error_of(answer, f"write the secret '{vault_name}'", may_quote=False)
        return _version(answer.json())

    async def _delete(self, vault_name: str) -> None:
        if not _NAME.fullmatch(vault_name):
            return  # there never was such a one
        answer = await self._patiently("DELETE", vault_name)
        if answer.status not in (200, 404):
            raise self._login.error_of(answer, f"delete the secret '{vault_name}'", may_quote=True)

    async def _patiently(self, method: str, vault_name: str, body: JsonValue = None) -> RemoteAnswer:
        """Return the answer to a change, once a deletion or recovery that is under way has ended."""
        is_recovered = False
        for _ in range(_CONFLICTS_MAX):
            answer = await self._send(method, f"secrets/{vault_name}", body=body)
            if answer.status != 409:
                return answer
            if method == "PUT" and _RECOVERABLE in words_of(answer) and not is_recovered:
                await self._recover(vault_name)
                is_recovered = True
            await self._login.pause(_CONFLICT_WAIT)
        raise RemoteUnavailableError(f"the vault goes on deleting or recovering the secret '{vault_name}'")

    async def _recover(self, vault_name: str) -> None:
        answer = await self._send("POST", f"deletedsecrets/{vault_name}/recover")
        # It may have been purged, or somebody is recovering it.
        if answer.status not in (200, 404, 409):
            raise self._login.error_of(
                answer,
                f"recover the deleted secret '{vault_name}', whose name is to be used again",
                may_quote=True,
            )

    async def _send(
        self, method: str, path: str, query: str = _VERSION, body: JsonValue = None
    ) -> RemoteAnswer:
        if not self._may_be_anywhere:
            parts = urlsplit(self._base)
            if parts.scheme != "https" or parts.path or not (parts.hostname or "").endswith(_VAULTS):
                raise RemoteRefusedError(
                    f"vaultBaseUrl has to be https://NAME{_VAULTS}: the credentials go to Azure's vaults only"
                )
        return await self._login.send(method, f"{self._base}/{path}?{query}", body)

    def _name_of(self, vault_name: str) -> str:
        """Return what the key schema calls a secret; one that it doesn't make is called as in the vault."""
        prefix, suffix = _hyphened(self._naming.prefix), _hyphened(self._naming.suffix)
        key = vault_name.removeprefix(prefix).removesuffix(suffix)
        if len(key) + len(prefix) + len(suffix) != len(vault_name) or not key:
            return vault_name
        return self._naming.name_of(key)


def _hyphened(name: str) -> str:
    return name.replace("_", "-")


def _fold(name: str) -> str:
    return _hyphened(name).lower()


def _by_fold(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        found.setdefault(_fold(name), []).append(name)
    return found


def _listed(one: JsonValue) -> tuple[str, str]:
    """Return the name of a secret, and why it can be neither read nor written; empty if it can."""
    name = _part(one, 2)
    attributes = one.get("attributes") if isinstance(one, dict) else None
    if not isinstance(one, dict) or not name or not _NAME.fullmatch(name):
        raise RemoteUnavailableError("the vault lists a secret without a name")
    if one.get("managed") is True:
        return name, "belongs to a certificate"
    if isinstance(attributes, dict) and attributes.get("enabled") is False:
        return name, "is disabled"
    return name, ""


def _version(secret: JsonValue) -> str | None:
    return _part(secret, 3)


def _part(secret: JsonValue, index: int) -> str | None:
    """Return a part of the path of an id: `https://…/secrets/NAME/VERSION`."""
    identity = secret.get("id") if isinstance(secret, dict) else None
    try:
        parts = urlsplit(identity).path.split("/") if isinstance(identity, str) else []
    except ValueError:
        parts = []
    return parts[index] if len(parts) > index and parts[1] == "secrets" else None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme.lower(), parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return "", None, None
