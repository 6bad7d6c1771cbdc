"""The MACs (message authentication codes) of the audit log's chains, and what they cover.

- The MAC of a line covers the chain's number, the line's sequence number, the MAC of the line before, and the
  content.
- The MAC before the first line covers the chain's number, the process that writes it, and when it began.
- The MAC of a chain's end covers the chain's number, and the sequence number and MAC of its last line. It can't be
  calculated from the MAC of that line without the key.

All are HMAC-SHA-256 (RFC 2104), 32 bytes.
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
    """The key of the MACs, and the key that seals the register of chains."""

    _macs: bytes = field(repr=False)
    register: SealingKey

    @classmethod
    def of(cls, material: bytes) -> AuditKeys:
        """Return the keys that are derived from this server key (32 bytes) with HMAC-SHA-256."""
        register = hmac.digest(material, b"keybearer audit log: register", hashlib.sha256)
        return cls(
            hmac.digest(material, b"keybearer audit log: macs", hashlib.sha256),
            SealingKey(key_name(_REGISTER_ID, 1), register),
        )

    def beginning(self, chain: int, writer_id: str, began_at: datetime) -> bytes:
        """Return the MAC before a chain's first line."""
        return self._mac(_PLACE.pack(b"new ", chain, milliseconds(began_at)) + writer_id.encode())

    def line(self, chain: int, sequence: int, before: bytes, content: bytes) -> bytes:
        """Return the MAC of a line; `before` is the MAC of the line before it."""
        return self._mac(_PLACE.pack(b"line", chain, sequence) + before + content)

    def end(self, chain: int, sequence: int, last: bytes) -> bytes:
        """Return the MAC of a chain's end; `sequence` and `last` are the number and the MAC of its last line."""
        return self._mac(_PLACE.pack(b"end ", chain, sequence) + last)

    def is_end(self, chain: int, sequence: object, last: object, end: object) -> bool:
        """Return whether `end` is the MAC of this end.

        The arguments are what the database holds: after an edit, numbers can be negative, and on SQLite all but the
        chain's can have any type.
        """
        return (
            isinstance(sequence, int)
            and sequence >= 0
            and chain >= 0
            and isinstance(last, bytes)
            and isinstance(end, bytes)
            and hmac.compare_digest(self.end(chain, sequence, last), end)
        )

    def _mac(self, text: bytes) -> bytes:
        return hmac.digest(self._macs, text, hashlib.sha256)


def content_of(record: AuditRecord) -> bytes:
    """Return the content of a line as its MAC covers it: the same bytes when it is written and when it is read."""
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
