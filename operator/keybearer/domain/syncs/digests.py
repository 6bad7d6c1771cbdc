"""Keyed digests of what syncs push: they show whether something changed, and reveal nothing about it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

import orjson

from keybearer.destinations.protocol import Outgoing
from keybearer.domain.syncs.plan import Wanted
from keybearer.store.secret_syncs import SyncRecord

__all__ = ["Digests"]

_DECIDES_NOTHING = frozenset({"initialSyncBehavior", "disableSecretDeletion"})
"""Options that don't change what is written under a name."""


class Digests:
    """Digests for one sync as it is set up. With another place, other tags or another key, all digests differ.

    Args:
        key: of the service, used only for these digests.
        record: the sync.
    """

    def __init__(self, key: bytes, record: SyncRecord) -> None:
        setup = [
            record.id,
            record.connection_id,
            record.destination,
            dict(record.destination_config),
            {name: value for name, value in record.sync_options.items() if name not in _DECIDES_NOTHING},
        ]
        self._of_one = hmac.new(key, b"one\0", hashlib.sha256)
        self._of_all = hmac.new(key, b"all\0", hashlib.sha256)
        for digest in (self._of_one, self._of_all):
            _add(digest, setup)

    def of(self, outgoing: Outgoing) -> bytes:
        """Return the digest of what is written under one name."""
        digest = self._of_one.copy()
        _add(digest, [outgoing.name, outgoing.value, outgoing.metadata])
        return digest.digest()

    def of_source(self, source: Iterable[Wanted]) -> bytes:
        """Return the digest of all secrets of the source, independent of their order."""
        digest = self._of_all.copy()
        for secret in sorted(source, key=lambda secret: secret.key):
            _add(digest, [secret.key, secret.value, secret.metadata])
        return digest.digest()


def _add(digest: hmac.HMAC, content: object) -> None:
    packed = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    digest.update(len(packed).to_bytes(8, "big"))
    digest.update(packed)
