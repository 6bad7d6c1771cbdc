"""The MACs of the audit log's chain, and what they are over.

A line's MAC is over its chain, its sequence number, the MAC of the line before it and its content; that before the
first line is over the chain, the process that writes it and the instant at which it began. The end of a chain has a
MAC of its own, which nobody can make of the last line's. All are HMAC-SHA-256 (RFC 2104), 32 bytes.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import orjson

from keybearer.store.audit import AuditRecord
from keybearer.store.columns import milliseconds
from keybearer.store.sealing.envelope import SealingKey, key_name

__all__ = ["AUDIT_KEY", "AuditKeys", "content_of"]

AUDIT_KEY = "audit log"
"""The name of the server key that these keys are derived from."""

_REGISTER_ID = UUID("6b657962-6561-7265-7220-617564697421")
_PLACE = struct.Struct(">4sQQ")


@dataclass(frozen=True, slots=True)
class AuditKeys:
    """The key of the MACs, and the one that the register of chains is sealed with."""

    _macs: bytes = field(repr=False)
    register: SealingKey

    @classmethod
    def of(cls, material: bytes) -> AuditKeys:
        """Return the keys that are derived from this server key (32 bytes)."""
        register = hmac.digest(material, b"keybearer audit log: register", hashlib.sha256)
        return cls(
            hmac.digest(material, b"keybearer audit log: macs", hashlib.sha256),
            SealingKey(key_name(_REGISTER_ID, 1), register),
        )

    def beginning(self, chain: int, writer_id: str, began_at: datetime) -> bytes:
        """Return what stands in the place of the MAC before a chain's first line."""
        return self._mac(_PLACE.pack(b"new ", chain, milliseconds(began_at)) + writer_id.encode())

    def line(self, chain: int, sequence: int, before: bytes, content: bytes) -> bytes:
        """Return the MAC of a line; `before` is that of the line before it."""
        return self._mac(_PLACE.pack(b"line", chain, sequence) + before + content)

    def end(self, chain: int, sequence: int, last: bytes) -> bytes:
        """Return the MAC that says with which line, and with which MAC of it, a chain ends."""
        return self._mac(_PLACE.pack(b"end ", chain, sequence) + last)

    def is_end(self, chain: int, sequence: object, last: object, end: object) -> bool:
        """Return whether a chain ends there, whatever the database holds in the place of number and MACs."""
        return (
            isinstance(sequence, int)
            and sequence >= 0
            and isinstance(last, bytes)
            and isinstance(end, bytes)
            and hmac.compare_digest(self.end(chain, sequence, last), end)
        )

    def _mac(self, text: bytes) -> bytes:
        return hmac.digest(self._macs, text, hashlib.sha256)


def content_of(record: AuditRecord) -> bytes:
    """Return what a MAC is over: the same for what was written and for what is read again."""
    return orjson.dumps(
        (
            record.id,
            milliseconds(record.created_at),
            record.organization_id,
            record.project_id,
            record.actor_kind,
            record.actor_id,
            record.actor_name,
            record.event_type,
            record.ip_address,
            record.user_agent,
            record.request_id,
            record.details,
        ),
        default=dict,
        option=orjson.OPT_SORT_KEYS,
    )
