"""The Secret that holds the keys of a profile's certificates, and notes each attempt before it is sent. Pure.

One Secret for all certificates of a profile, written once per round. What stands there survives the operator: an
attempt whose request may have reached the service is looked for by its revision and tag, not made again, and a
certificate whose Secret was lost is put together again without asking for another.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated

import orjson
from pydantic import Field, JsonValue, TypeAdapter

from keybearer.base.clock import format_instant, parse_instant
from keybearer.controllers.certificateprofile.status import Need
from keybearer.controllers.effect_budget import Ledger
from keybearer.controllers.json_reading import mapping_of, text_of

__all__ = ["KeptAttempt", "Keyring", "read_keyring"]

_INDEX = "attempts.json"
_ISSUES = TypeAdapter(Annotated[Ledger, Field(strict=False)])


@dataclass(frozen=True, slots=True)
class KeptAttempt:
    """An attempt as noted before it was sent.

    Attributes:
        revision: counts the attempts of the certificate.
        tag: at random, so that no other attempt of whatever life of the object is taken for this one.
        digest: of what is asked for.
        begun_at: when.
        need: why.
        issues: how often the certificate was asked for by then, this attempt included.
    """

    revision: int
    tag: str
    digest: str
    begun_at: datetime
    need: Need
    issues: Ledger = ()

    @property
    def label(self) -> str:
        """What the request's metadata says of it."""
        return f"{self.revision}-{self.tag}"


@dataclass(frozen=True, slots=True)
class Keyring:
    """The newest attempt of each certificate, and keys by certificate and revision (DER)."""

    attempts: Mapping[str, KeptAttempt] = field(default_factory=dict)
    keys: Mapping[tuple[str, int], bytes] = field(default_factory=dict, repr=False)

    def begun(self, name: str, attempt: KeptAttempt, key: bytes | None) -> Keyring:
        """Return it with another attempt."""
        keys = self.keys if key is None else {**self.keys, (name, attempt.revision): key}
        return replace(self, attempts={**self.attempts, name: attempt}, keys=keys)

    def with_key(self, which: tuple[str, int], key: bytes) -> Keyring:
        """Return it with the key of a certificate and revision."""
        return replace(self, keys={**self.keys, which: key})

    def only(self, needed: Collection[tuple[str, int]], names: Collection[str]) -> Keyring:
        """Return it with the attempts of these certificates, their keys, and the keys that are needed beside."""
        attempts = {name: attempt for name, attempt in self.attempts.items() if name in names}
        kept = {*needed, *((name, attempt.revision) for name, attempt in attempts.items())}
        return Keyring(attempts, {which: key for which, key in self.keys.items() if which in kept})

    def data(self) -> dict[str, bytes]:
        """Return what the Secret holds."""
        index = {
            name: {
                "revision": attempt.revision,
                "tag": attempt.tag,
                "spec": attempt.digest,
                "begunAt": format_instant(attempt.begun_at),
                "need": attempt.need.value,
                "issues": [one.model_dump(mode="json", by_alias=True) for one in attempt.issues],
            }
            for name, attempt in sorted(self.attempts.items())
        }
        keys = {f"{name}.{revision}": key for (name, revision), key in sorted(self.keys.items())}
        return {_INDEX: orjson.dumps(index), **keys}


def read_keyring(body: Mapping[str, JsonValue] | None) -> Keyring:
    """Return what the Secret holds; what can't be read is as good as lost."""
    data = mapping_of(body.get("data")) if body is not None else {}
    attempts: dict[str, KeptAttempt] = {}
    keys: dict[tuple[str, int], bytes] = {}
    for entry, encoded in data.items():
        raw = _decoded(encoded)
        if entry == _INDEX:
            attempts = _attempts(raw)
            continue
        name, _, revision = entry.rpartition(".")
        if name and revision.isdecimal() and raw:
            keys[name, int(revision)] = raw
    return Keyring(attempts, keys)


def _attempts(raw: bytes) -> dict[str, KeptAttempt]:
    try:
        index = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    found = {name: _attempt(mapping_of(told)) for name, told in mapping_of(index).items()}
    return {name: attempt for name, attempt in found.items() if attempt is not None}


def _attempt(told: Mapping[str, JsonValue]) -> KeptAttempt | None:
    revision = told.get("revision")
    try:
        begun_at = parse_instant(text_of(told.get("begunAt")))
        need = Need(text_of(told.get("need")))
        issues = _ISSUES.validate_python(told.get("issues") or ())
    except ValueError:
        return None
    if not isinstance(revision, int):
        return None
    return KeptAttempt(revision, text_of(told.get("tag")), text_of(told.get("spec")), begun_at, need, issues)


def _decoded(encoded: JsonValue) -> bytes:
    try:
        return base64.b64decode(encoded if isinstance(encoded, str) else "", validate=True)
    except ValueError:
        return b""
