"""A secret of a KV engine of Vault, version 1 or 2: each of its keys is a name.

https://developer.hashicorp.com/vault/api-docs/secret/kv. A secret is written as a whole: what others keep in it is
read right before and written back as it was. With version 2 the write holds only for what was read (check-and-set),
so that nothing is lost of what somebody else writes meanwhile; version 1 has no such thing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keybearer.outbound.apps.hashicorp_vault import VaultSession, failure_of
from keybearer.outbound.destinations.bounds import Bounds
from keybearer.outbound.destinations.protocol import Change, DriverInput, Present, Traits, Written
from keybearer.outbound.remote import (
    RemoteAnswer,
    RemoteDeniedError,
    RemoteError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteUnavailableError,
)
from keybearer.wire.destinations.hashicorp_vault import VaultConfig

__all__ = ["VaultSecret"]

_MOUNTS = "sys/internal/ui/mounts"
_TRIES = 5
_CHANGED_MEANWHILE = "check-and-set"
"""What the server's refusal of a write names when the secret has another version than the one that was read."""
_UPGRADES = b"from non-versioned to versioned data"
"""What the server says, with 400, for a moment after an engine was mounted or its version was raised."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What the secret holds, as JSON read it; `version` is the one that a write must follow, 0 for the first."""

    data: Mapping[str, Any] = field(repr=False)
    version: int = 0
    exists: bool = False


class VaultSecret:
    """One secret; its keys are named by the key schema, and those of others stay."""

    traits = Traits()

    def __init__(self, given: DriverInput) -> None:
        if not isinstance(given.config, VaultConfig):
            raise TypeError(type(given.config).__name__)
        self._config = given.config
        self._session = VaultSession(given.credentials, given.context)
        self._is_versioned: bool | None = None

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:  # noqa: ARG002 - one secret holds them all
        """Return all keys of the secret; a value that is no text is shown as JSON.

        Raises:
            RemoteError: it can't be read.
        """
        found = await self._read()
        return {name: Present(_text(value)) for name, value in found.data.items()}

    async def apply(self, change: Change) -> AsyncIterator[Written]:
        """Make the change in one write, if it is one.

        Raises:
            RemoteError: it wasn't made.
        """
        for _ in range(_TRIES):
            found = await self._read()
            wanted = {name: value for name, value in found.data.items() if name not in change.delete}
            wanted |= {one.name: one.value for one in change.put}
            _bound(wanted)
            if wanted == found.data or await self._write(wanted, found):
                break
        else:
            raise RemoteUnavailableError(
                f"the secret {self._place} changed again each time that it was about to be written"
            )
        for one in change.put:
            yield Written(one.name)
        for name in change.delete:
            yield Written(name, is_removed=True)

    @property
    def _place(self) -> str:
        return f"{self._config.mount}/{self._config.path}"

    async def _read(self) -> _Found:
        answer = await self._session.send("GET", await self._path())
        if answer.status == 200:
            return self._found(answer)
        if answer.status != 404:
            raise self._failure(answer, "a read of")
        # A version that was deleted is still the last one, and the next write has to follow it.
        content = _content(answer).get("data") if answer.body else None
        return _Found({}, _version(content) if self._is_versioned else 0)

    def _found(self, answer: RemoteAnswer) -> _Found:
        content = _content(answer).get("data")
        data = content.get("data") if self._is_versioned and isinstance(content, dict) else content
        if not isinstance(data, dict):
            raise RemoteUnavailableError(f"Vault answers a read of {self._place} without data")
        _bound(data)
        return _Found(data, _version(content) if self._is_versioned else 0, exists=True)

    async def _write(self, wanted: Mapping[str, Any], found: _Found) -> bool:
        """Return whether it was written; it wasn't if the secret has changed since it was found."""
        path = await self._path()
        if self._is_versioned:
            body: object = {"options": {"cas": found.version}, "data": wanted}
            answer = await self._session.send("POST", path, _encoded(body))
        elif wanted:
            answer = await self._session.send("POST", path, _encoded(wanted))
        else:
            # Version 1 holds no secret without keys.
            answer = await self._session.send("DELETE", path)
        if answer.status == 400 and self._is_versioned and _CHANGED_MEANWHILE.encode() in answer.body:
            return False
        if answer.status not in (200, 204):
            raise self._failure(answer, "a write to", has_values=True)
        return True

    def _failure(self, answer: RemoteAnswer, what: str, *, has_values: bool = False) -> RemoteError:
        if answer.status == 400 and _UPGRADES in answer.body:
            return RemoteUnavailableError(f"the secrets engine at {self._config.mount} is being made ready")
        return failure_of(answer, f"{what} {self._place}", has_values=has_values)

    async def _path(self) -> str:
        mount, path = self._config.mount, self._config.path
        if self._is_versioned is None:
            self._is_versioned = await self._look_up_version()
        return f"{mount}/data/{path}" if self._is_versioned else f"{mount}/{path}"

    async def _look_up_version(self) -> bool:
        mount = self._config.mount
        answer = await self._session.send("GET", f"{_MOUNTS}/{mount}")
        if answer.status == 403 and b"preflight" in answer.body:
            raise RemoteDeniedError(
                f"Vault shows no secrets engine at {mount}: none is there, or the token may do nothing in it"
            )
        if answer.status != 200:
            raise failure_of(answer, f"the look-up of the secrets engine at {mount}")
        engine = _content(answer).get("data")
        if not isinstance(engine, dict) or engine.get("path") != f"{mount}/":
            raise RemoteMissingError(f"Vault has no secrets engine at {mount}")
        if engine.get("type") not in ("kv", "generic"):
            raise RemoteRefusedError(
                f"the secrets engine at {mount} is of type {engine.get('type')!s:.40}, not kv"
            )
        options = engine.get("options")
        return isinstance(options, dict) and options.get("version") == "2"


def _bound(data: Mapping[str, Any]) -> None:
    bounds = Bounds()
    for name, value in data.items():
        bounds.add(name, _text(value))


def _content(answer: RemoteAnswer) -> dict[str, Any]:
    try:
        # Unlike the parser of other remotes' answers this one keeps whole numbers of any size as they are.
        content: object = json.loads(answer.body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise RemoteUnavailableError(f"Vault answers {answer.status} with something other than a JSON object")
    return content


def _encoded(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _version(content: object) -> int:
    metadata = content.get("metadata") if isinstance(content, dict) else None
    version = metadata.get("version") if isinstance(metadata, dict) else None
    return version if isinstance(version, int) else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else _encoded(value).decode()
