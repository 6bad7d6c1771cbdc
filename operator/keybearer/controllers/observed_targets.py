"""Slim copies of the Secrets and ConfigMaps with our label that the watches showed.

Of each, only identity, version and a keyed fingerprint stay; its body is kept for the one reconcile that repairs it,
and for a bounded number of objects.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson
from pydantic import JsonValue

from keybearer.base.packed_json import packed_json
from keybearer.controllers.objects import TargetKey

__all__ = ["ObservedStore", "ObservedTarget"]

_BODIES_MAX_BYTES = 16 * 1024 * 1024
"""Bodies of drifted targets kept at once; a reconcile that finds none reads the target itself."""

JsonObject = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ObservedTarget:
    """A target as last seen by the watch or answered to a write of ours."""

    key: TargetKey
    uid: str
    resource_version: str
    owner_uid: str | None
    """UID of the custom resource that it names as its owner."""
    fingerprint: str
    """Over all that an owner plans: type, immutability, data, labels, annotations, owner references."""


class ObservedStore:
    """Targets that carry our label, what we expect of them, and the bodies of those that drifted."""

    def __init__(self) -> None:
        self._targets: dict[TargetKey, ObservedTarget] = {}
        self._expected: dict[TargetKey, str] = {}
        self._gone: set[TargetKey] = set()
        self._bodies: OrderedDict[TargetKey, bytes] = OrderedDict()
        self._bodies_bytes = 0

    def __len__(self) -> int:
        return len(self._targets)

    def __iter__(self) -> Iterator[ObservedTarget]:
        return iter(self._targets.values())

    def get(self, key: TargetKey) -> ObservedTarget | None:
        """Return the target as last seen, or None."""
        return self._targets.get(key)

    def put(self, seen: ObservedTarget) -> None:
        """Keep a target as seen."""
        self._gone.discard(seen.key)
        self._targets[seen.key] = seen

    def drop(self, key: TargetKey) -> ObservedTarget | None:
        """Forget a target that is gone, its body too; return it as last seen."""
        self._drop_body(key)
        return self._targets.pop(key, None)

    def clear(self) -> None:
        """Forget all targets, and all that is expected of them."""
        for kept in (self._targets, self._expected, self._gone, self._bodies):
            kept.clear()
        self._bodies_bytes = 0

    def mark_gone(self, key: TargetKey) -> None:
        """Remember of a dropped target that the watch showed its end, until it is put again or asked for."""
        self._gone.add(key)

    def take_end(self, key: TargetKey) -> bool:
        """Tell, once, whether the last that the watch showed of the target was its end.

        Once, because the watch is silent about an object without our label that takes its place.
        """
        known = key in self._gone
        self._gone.discard(key)
        return known

    def expect(self, key: TargetKey, fingerprint: str | None) -> None:
        """Say what the target will look like once it is as planned; None when nothing is expected of it.

        Said before the write is sent: the watch may show its effect before the answer arrives.
        """
        if fingerprint is None:
            self._expected.pop(key, None)
            self._gone.discard(key)
        else:
            self._expected[key] = fingerprint

    def is_expected(self, seen: ObservedTarget) -> bool:
        """Tell whether a target looks as planned, or is the very version that we know."""
        known = self._targets.get(seen.key)
        if known is not None and known.uid == seen.uid and known.resource_version == seen.resource_version:
            return True
        return self._expected.get(seen.key) == seen.fingerprint

    def keep_body(self, key: TargetKey, body: JsonObject) -> None:
        """Keep the body of a drifted target for the reconcile that repairs it."""
        self._drop_body(key)
        self._bodies[key] = written = packed_json(body)
        self._bodies_bytes += len(written)
        while self._bodies_bytes > _BODIES_MAX_BYTES:
            self._drop_body(next(iter(self._bodies)))

    def take_body(self, key: TargetKey) -> JsonObject | None:
        """Return the kept body, once."""
        written = self._drop_body(key)
        if written is None:
            return None
        body: JsonObject = orjson.loads(written)
        return body

    def _drop_body(self, key: TargetKey) -> bytes | None:
        written = self._bodies.pop(key, None)
        self._bodies_bytes -= len(written or b"")
        return written
