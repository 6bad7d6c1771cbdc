"""A folder at another server of this API: its shared secrets, written and removed in batches (wire.md section 2).

The server may know the newer routes (v4) or only the older ones (v3). A batch is one transaction there: where one
name is refused, the batch is sent again in halves, so that all others are written.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from pydantic import JsonValue

from keybearer.outbound.apps.external_infisical import ExternalInfisicalSession, failure_of
from keybearer.outbound.destinations.bounds import Bounds
from keybearer.outbound.destinations.protocol import (
    Change,
    DriverInput,
    Outgoing,
    Present,
    Refused,
    Traits,
    Written,
)
from keybearer.outbound.remote import (
    RemoteAnswer,
    RemoteDeniedError,
    RemoteRefusedError,
    RemoteUnavailableError,
)
from keybearer.wire.destinations.external_infisical import ExternalInfisicalConfig

__all__ = ["ExternalInfisicalFolder"]

_BATCH_MAX = 100
_BATCH_BYTES = 512 * 1024
"""A single value may be longer than that: then it goes alone."""
_DELETE_TRIES = 3


@dataclass(frozen=True, slots=True)
class _Routes:
    """Words of one generation of the API."""

    secrets: str
    batch: str
    project: str
    imports: str


_V4 = _Routes("/api/v4/secrets", "/api/v4/secrets/batch", "projectId", "includeImports")
_V3 = _Routes("/api/v3/secrets/raw", "/api/v3/secrets/batch/raw", "workspaceId", "include_imports")


class ExternalInfisicalFolder:
    """One folder."""

    traits = Traits()

    def __init__(self, given: DriverInput) -> None:
        if not isinstance(given.config, ExternalInfisicalConfig):
            raise TypeError(type(given.config).__name__)
        self._config = given.config
        self._session = ExternalInfisicalSession(given.credentials, given.context)
        self._routes: _Routes | None = None

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:  # noqa: ARG002 - the folder is listed whole
        """Return the shared secrets of the folder itself, with references in them as they are stored.

        Raises:
            RemoteError: they can't be read.
        """
        content = _object(await self._list())
        listed = content.get("secrets")
        if not isinstance(listed, list):
            raise RemoteUnavailableError("the server answers a list without secrets")
        found, bounds = {}, Bounds()
        for name, present in map(_present, filter(_is_shared, listed)):
            bounds.add(name, present.value or "")
            found[name] = present
        return found

    async def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Write in batches, then remove in batches.

        Raises:
            RemoteError: something wasn't written or removed.
        """
        for batch in _batches(change.put):
            async for outcome in self._put(batch):
                yield outcome
        for start in range(0, len(change.delete), _BATCH_MAX):
            names = change.delete[start : start + _BATCH_MAX]
            await self._delete(names)
            for name in names:
                yield Written(name, is_removed=True)

    async def _put(self, batch: Sequence[Outgoing]) -> AsyncIterator[Written | Refused]:
        waiting = [batch]
        while waiting:
            part = waiting.pop()
            outcomes: list[Written | Refused]
            try:
                versions = await self._write(part)
                outcomes = [Written(one.name, version=versions.get(one.name)) for one in part]
            except RemoteRefusedError as error:
                if len(part) > 1:
                    middle = len(part) // 2
                    waiting += [part[middle:], part[:middle]]
                    continue
                outcomes = [Refused.by(error, part[0].name)]
            for outcome in outcomes:
                yield outcome

    async def _write(self, part: Sequence[Outgoing]) -> Mapping[str, str]:
        items: list[JsonValue] = [{"secretKey": one.name, "secretValue": one.value} for one in part]
        answer = await self._change("PATCH", items, mode="upsert")
        if answer.status != 200:
            raise failure_of(answer, "a batch of secrets", has_values=True)
        written = _batch_of(answer)
        return {name: version for name, version in map(_version, written) if version is not None}

    async def _delete(self, names: Sequence[str]) -> None:
        for _ in range(_DELETE_TRIES):
            items: list[JsonValue] = [{"secretKey": name, "type": "shared"} for name in names]
            if not items:
                return
            answer = await self._change("DELETE", items)
            if answer.status == 200:
                _batch_of(answer)
                return
            if answer.status != 404:
                raise failure_of(answer, "the removal of secrets")
            # Somebody else removed one of them, and with it the whole batch was refused.
            present = await self.read(names)
            names = [name for name in names if name in present]
        raise RemoteUnavailableError("secrets kept vanishing while they were being removed")

    async def _change(self, method: str, items: list[JsonValue], **more: JsonValue) -> RemoteAnswer:
        routes = self._routes or _V4
        answer = await self._session.send(method, routes.batch, self._body(routes, items, more))
        if answer.status == 200:
            self._routes = routes
        elif answer.status == 404 and self._routes is None:
            # Is it the route that is missing, or what the body names? The list knows.
            await self._list()
            if self._routes is not routes:
                return await self._change(method, items, **more)
        return answer

    def _body(
        self, routes: _Routes, items: list[JsonValue], more: Mapping[str, JsonValue]
    ) -> dict[str, JsonValue]:
        return {
            routes.project: self._config.project_id,
            "environment": self._config.environment,
            "secretPath": self._config.secret_path,
            **more,
            "secrets": items,
        }

    async def _list(self) -> RemoteAnswer:
        """Return the list, by the newest routes that the server has."""
        routes = self._routes or _V4
        answer = await self._list_by(routes)
        if answer.status == 404 and self._routes is None:
            # A server without these routes answers as one without this project does: the older ones tell.
            routes = _V3
            answer = await self._list_by(routes)
        if answer.status != 200:
            raise failure_of(answer, "a list of secrets")
        self._routes = routes
        return answer

    async def _list_by(self, routes: _Routes) -> RemoteAnswer:
        query = {
            routes.project: self._config.project_id,
            "environment": self._config.environment,
            "secretPath": self._config.secret_path,
            "viewSecretValue": "true",
            "expandSecretReferences": "false",
            "recursive": "false",
            routes.imports: "false",
        }
        return await self._session.send("GET", f"{routes.secrets}?{urlencode(query)}")


def _batches(outgoing: Sequence[Outgoing]) -> Iterator[Sequence[Outgoing]]:
    batch: list[Outgoing] = []
    size = 0
    for one in outgoing:
        length = len(one.name) + len(one.value.encode())
        if batch and (len(batch) >= _BATCH_MAX or size + length > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += length
    if batch:
        yield batch


def _object(answer: RemoteAnswer) -> Mapping[str, JsonValue]:
    content = answer.json()
    if not isinstance(content, dict):
        raise RemoteUnavailableError("the server answers something other than a JSON object")
    return content


def _batch_of(answer: RemoteAnswer) -> list[JsonValue]:
    content = _object(answer)
    if content.get("approval") is not None:
        raise RemoteDeniedError(
            "changes of that folder need somebody's approval at the server: none was made"
        )
    changed = content.get("secrets")
    return changed if isinstance(changed, list) else []


def _is_shared(secret: JsonValue) -> bool:
    return isinstance(secret, dict) and secret.get("type", "shared") == "shared"


def _present(secret: JsonValue) -> tuple[str, Present]:
    given = secret if isinstance(secret, dict) else {}
    if given.get("secretValueHidden") is True:
        raise RemoteDeniedError(
            "the machine identity may not see the values of secrets there, which a sync needs"
        )
    value = given.get("secretValue")
    name, version = _version(secret)
    if not name or not isinstance(value, str):
        raise RemoteUnavailableError("the server answers a list with a secret that has no key or no value")
    return name, Present(value, version)


def _version(secret: JsonValue) -> tuple[str, str | None]:
    given = secret if isinstance(secret, dict) else {}
    name, version = given.get("secretKey"), given.get("version")
    return str(name or ""), str(version) if isinstance(version, int) else None
