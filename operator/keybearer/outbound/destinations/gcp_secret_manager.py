"""Secrets of Google's Secret Manager: one per key, of which the latest version counts.

https://cloud.google.com/secret-manager/docs/reference/rest. A change is a new version; the old ones stay there.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Mapping, Sequence
from urllib.parse import urlencode

from pydantic import JsonValue

from keybearer.destinations.name_rules import NameRules
from keybearer.outbound.apps.gcp import GcpAccount, word_of
from keybearer.outbound.destinations.bounds import Bounds, one_by_one
from keybearer.outbound.destinations.looking_up import each
from keybearer.outbound.destinations.protocol import (
    Change,
    DriverInput,
    Outgoing,
    Present,
    Refused,
    Traits,
    Written,
)
from keybearer.outbound.remote import RemoteAnswer, RemoteRefusedError, RemoteUnavailableError, segment
from keybearer.wire.destinations.base import DestinationConfig
from keybearer.wire.destinations.gcp_secret_manager import GlobalConfig, RegionConfig

__all__ = ["GcpSecrets"]

_EVERYWHERE = "https://secretmanager.googleapis.com"
_PAGE = 250
_PAGES_MAX = 1000
_RULES = NameRules(
    pattern="[A-Za-z0-9_-]+",
    words="letters, digits, underscores and hyphens",
    longest=255,
    value_bytes_max=64 * 1024,
)


class GcpSecrets:
    """The secrets of a project, or of one region in it."""

    traits = Traits(skips_empty=True, rules=_RULES)

    def __init__(self, given: DriverInput) -> None:
        self._config = _config(given.config)
        self._naming = given.naming
        self._account = GcpAccount(given.credentials, given.context)
        self._place = f"the project '{self._config.project_id}'"
        self._root = self._secrets()
        self._known: set[str] | None = None

    def _secrets(self) -> str:
        config = self._config
        place = f"v1/projects/{segment(config.project_id)}"
        if isinstance(config, GlobalConfig):
            return f"{self._account.root_of(_EVERYWHERE)}/{place}/secrets"
        location = segment(config.location_id)
        root = self._account.root_of(f"https://secretmanager.{location}.rep.googleapis.com")
        return f"{root}/{place}/locations/{location}/secrets"

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        """Return the secrets of the place. Values of names that are none of this sync's aren't asked for.

        A secret without a version, or whose latest one is disabled or destroyed, has no value, nor has one that holds
        something other than text.
        """
        bounds = Bounds()
        found = dict.fromkeys(await self._list(), Present(None))
        wanted = set(names)

        async def look_up(name: str) -> None:
            found[name] = await self._latest(name)
            bounds.add(name, found[name].value or "")

        await each(
            [name for name in found if name in wanted or self._naming.key_of(name) is not None], look_up
        )
        self._known = set(found)
        return found

    async def _list(self) -> list[str]:
        names: list[str] = []
        bounds = Bounds()
        query = {"pageSize": str(_PAGE)}
        for _ in range(_PAGES_MAX):
            answer = await self._account.send("GET", f"{self._root}?{urlencode(query)}")
            if answer.status != 200:
                raise self._account.error_of(answer, f"list the secrets of {self._place}", may_quote=True)
            content = answer.json()
            listed = content.get("secrets", []) if isinstance(content, dict) else None
            if not isinstance(content, dict) or not isinstance(listed, list):
                raise RemoteUnavailableError("Google lists secrets in a form that isn't its own")
            for one in listed:
                names.append(_last_part(one))
                bounds.add(names[-1])
            token = content.get("nextPageToken")
            if not isinstance(token, str) or not token:
                return names
            query["pageToken"] = token
        raise RemoteUnavailableError(f"Google doesn't come to an end of the secrets of {self._place}")

    async def _latest(self, name: str) -> Present:
        answer = await self._account.send("GET", f"{self._root}/{segment(name)}/versions/latest:access")
        if answer.status == 404 or (answer.status == 400 and word_of(answer) == "FAILED_PRECONDITION"):
            return Present(None)
        if answer.status != 200:
            raise self._account.error_of(answer, f"read the secret '{name}' of {self._place}", may_quote=True)
        content = answer.json()
        payload = content.get("payload", {}) if isinstance(content, dict) else None
        data = payload.get("data", "") if isinstance(payload, dict) else None
        if not isinstance(data, str):
            raise RemoteUnavailableError(f"Google answers without the value of the secret '{name}'")
        return Present(_text(data), _last_part(content))

    def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Write one by one: there is no other way."""
        return one_by_one(change, self._put, self._delete)

    async def _put(self, outgoing: Outgoing) -> str:
        """Return the version that was made."""
        name = outgoing.name
        if self._known is not None and name not in self._known:
            await self._create(name)
        answer = await self._add_version(outgoing)
        if answer.status == 404:
            # Most likely it was there; or somebody has deleted it since.
            await self._create(name)
            answer = await self._add_version(outgoing)
        if answer.status == 400:
            raise RemoteRefusedError(
                f"Google refuses the value of the secret '{name}' of {self._place}: it has 64 KiB at most"
            )
        if answer.status != 200:
            raise self._account.error_of(
                answer, f"write the secret '{name}' of {self._place}", may_quote=False
            )
        return _last_part(answer.json())

    async def _create(self, name: str) -> None:
        """Return when there is a secret of that name, be it without a version."""
        answer = await self._account.send(
            "POST", f"{self._root}?{urlencode({'secretId': name})}", self._new_secret()
        )
        if answer.status not in (200, 409):
            raise self._account.error_of(
                answer, f"create the secret '{name}' in {self._place}", may_quote=True
            )

    def _new_secret(self) -> JsonValue:
        if isinstance(self._config, RegionConfig):
            return {}
        location = self._config.location_id
        if location is None:
            return {"replication": {"automatic": {}}}
        return {"replication": {"userManaged": {"replicas": [{"location": location}]}}}

    async def _add_version(self, outgoing: Outgoing) -> RemoteAnswer:
        data = base64.b64encode(outgoing.value.encode()).decode()
        url = f"{self._root}/{segment(outgoing.name)}:addVersion"
        return await self._account.send("POST", url, {"payload": {"data": data}})

    async def _delete(self, name: str) -> None:
        answer = await self._account.send("DELETE", f"{self._root}/{segment(name)}")
        if answer.status not in (200, 404):
            raise self._account.error_of(
                answer, f"delete the secret '{name}' of {self._place}", may_quote=True
            )


def _config(config: DestinationConfig) -> GlobalConfig | RegionConfig:
    if not isinstance(config, GlobalConfig | RegionConfig):
        raise TypeError(type(config).__name__)
    return config


def _last_part(resource: JsonValue) -> str:
    """Return what a resource is called within that which holds it: `projects/1/secrets/NAME`."""
    path = resource.get("name") if isinstance(resource, dict) else None
    last = path.rpartition("/")[2] if isinstance(path, str) else ""
    if not last:
        raise RemoteUnavailableError("Google tells of a resource without a name")
    return last


def _text(data: str) -> str | None:
    try:
        return base64.b64decode(data, validate=True).decode()
    except UnicodeDecodeError:
        return None
    except binascii.Error:
        raise RemoteUnavailableError("Google answers with a value that isn't written in base64") from None
