"""A secret of a KV engine of Vault, version 1 or 2: each of its keys is a name.

https://developer.hashicorp.com/vault/api-docs/secret/kv. A secret is written as a whole: what others keep in it is
read right before and written back as it was. Servers bound how much JSON one request may hold, so a large secret of
version 2 is patched in pieces; version 1 has no patch, and such a secret is refused. With version 2 each write holds
only for what was read (check-and-set), so that nothing is lost of what somebody else writes meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
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
_CHANGED_MEANWHILE = b"check-and-set"
"""What the server's refusal of a write names when the secret has another version than the one that was read."""
_UPGRADES = b"from non-versioned to versioned data"
"""What the server says, with 400, for a moment after an engine was mounted or its version was raised."""
_STRINGS = 800
"""Strings of one request, keys counted: 400 keys with their values. OpenBao takes 1,000 by default since 2.4.1
(`max_request_json_strings` of its listener); Vault takes 10,000 keys since 1.20.3 (`max_json_object_entry_count`)."""
_STRINGS_MIN = 50
_TOO_MANY = (b"exceeded maximum number of strings", b"exceeds allowed entry count")
"""What OpenBao and Vault say of a request that holds more, with 400. It is told in our own words: after a write no
text of a server is shown, as some may repeat what was sent."""
_TOO_LARGE = b"value being too large"
"""What the server says, with 500, of a secret that its storage doesn't take. raft takes 1 MiB by default."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What the secret holds, as JSON read it; `version` is the one that a write must follow, 0 for the first."""

    data: Mapping[str, Any] = field(repr=False)
    version: int = 0
    exists: bool = False


@dataclass(frozen=True, slots=True)
class _Write:
    """One request; `names` are those that it changes."""

    method: str
    names: tuple[str, ...]
    data: Mapping[str, Any] = field(repr=False)


class VaultSecret:
    """One secret; its keys are named by the key schema, and those of others stay."""

    traits = Traits()

    def __init__(self, given: DriverInput) -> None:
        if not isinstance(given.config, VaultConfig):
            raise TypeError(type(given.config).__name__)
        self._config = given.config
        self._session = VaultSession(given.credentials, given.context)
        self._is_versioned: bool | None = None
        self._may_patch = True
        self._strings = _STRINGS

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:  # noqa: ARG002 - one secret holds them all
        """Return all keys of the secret; a value that is no text is shown as JSON.

        Raises:
            RemoteError: it can't be read.
        """
        found = await self._read()
        return {name: Present(_text(value)) for name, value in found.data.items()}

    async def apply(self, change: Change) -> AsyncIterator[Written]:
        """Make the change in one write, if it is one and the server takes as much at once.

        Raises:
            RemoteError: it wasn't made, or what was not told of wasn't.
        """
        left = {one.name: Written(one.name) for one in change.put}
        left |= {name: Written(name, is_removed=True) for name in change.delete}
        for _ in range(_TRIES):
            found = await self._read()
            changed = _changed(found, change)
            for name in [one for one in left if one not in changed]:
                yield left.pop(name)
            version = found.version
            for write in self._writes(found, changed):
                if not await self._write(write, version):
                    break
                version += 1
                for name in write.names:
                    if name in left:
                        yield left.pop(name)
            else:
                return
        raise RemoteUnavailableError(
            f"the secret {self._place} changed again each time that it was about to be written"
        )

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

    def _writes(self, found: _Found, changed: Mapping[str, str | None]) -> Sequence[_Write]:
        """Return what makes the change, in its order.

        Raises:
            RemoteRefusedError: the secret would be larger than can be read back.
        """
        if not changed:
            return ()
        wanted = {name: value for name, value in found.data.items() if name not in changed}
        wanted |= {name: value for name, value in changed.items() if value is not None}
        _bound(wanted)
        if self._is_versioned and self._may_patch and _strings(wanted) > self._strings:
            return _pieces(found, changed, self._strings // 2)
        # Version 1 holds no secret without keys.
        return (_Write("POST" if wanted or self._is_versioned else "DELETE", tuple(changed), wanted),)

    async def _write(self, write: _Write, version: int) -> bool:
        """Return whether it was written; if not, another look at the secret and another try may do.

        Args:
            write: to be made.
            version: that it must follow.

        Raises:
            RemoteError: it wasn't written.
        """
        path = await self._path()
        body = {"options": {"cas": version}, "data": write.data} if self._is_versioned else write.data
        answer = await self._session.send(write.method, path, _encoded(body) if body else b"")
        if answer.status in (200, 204):
            return True
        is_patch = write.method == "PATCH"
        if is_patch and answer.status in (403, 405):
            # Policies grant `patch` apart from the rest, and servers before 1.9 know none: the whole may be taken.
            self._may_patch = False
            return False
        if is_patch and answer.status == 404:
            return False  # somebody deleted it meanwhile
        if answer.status == 400 and self._is_versioned and _CHANGED_MEANWHILE in answer.body:
            return False
        if answer.status == 400 and any(text in answer.body for text in _TOO_MANY):
            self._send_less(len(write.data))
            return False
        if answer.status == 413 or (answer.status == 500 and _TOO_LARGE in answer.body):
            raise RemoteRefusedError(
                f"the secret {self._place} would be larger than the server takes (Vault answers {answer.status}): "
                "sync a smaller folder to it, or raise max_entry_size of its storage and max_request_size of its "
                "listener"
            )
        raise self._failure(answer, "a write to", has_values=True)

    def _send_less(self, count: int) -> None:
        """Have the next try send less at once.

        Raises:
            RemoteRefusedError: it can't be less.
        """
        told = f"Vault takes fewer than the {count:,} keys of {self._place} in one request"
        if not self._is_versioned:
            raise RemoteRefusedError(
                f"{told}, and version 1 of the engine has no other way: use an engine of version 2, or raise "
                "max_request_json_strings of the server's listener (OpenBao takes 500 keys by default)"
            )
        if not self._may_patch:
            raise RemoteRefusedError(
                f"{told}: grant the capability patch on it, so that it is written in pieces"
            )
        if self._strings <= _STRINGS_MIN:
            raise RemoteRefusedError(told)
        self._strings //= 2

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


def _changed(found: _Found, change: Change) -> dict[str, str | None]:
    """Return what has to be written of the change; None stands for a key that is removed."""
    put = {one.name: one.value for one in change.put if found.data.get(one.name) != one.value}
    return {**put, **{name: None for name in change.delete if name in found.data}}


def _pieces(found: _Found, changed: Mapping[str, str | None], size: int) -> Sequence[_Write]:
    """Return the change as patches (RFC 7396) of so many keys; where there is no secret, the first one makes it."""
    left = iter(changed.items())
    pieces: list[_Write] = []
    while piece := dict(islice(left, size)):
        method = "PATCH" if found.exists or pieces else "POST"
        pieces.append(_Write(method, tuple(piece), piece))
    return pieces


def _strings(data: Mapping[str, Any]) -> int:
    """Return how many strings the server will count: keys and texts, at any depth."""
    count = 0
    found: list[object] = [data]
    while found:
        match found.pop():
            case str():
                count += 1
            case dict() as inner:
                count += len(inner)
                found += inner.values()
            case list() as inner:
                found += inner
            case _:
                pass
    return count


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
