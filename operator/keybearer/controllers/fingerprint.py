"""Keyed fingerprints: what a Secret holds, said so that nobody without the key can test a guess.

HMAC-SHA-256 over a canonical form, with a key kept in a Secret of the operator. Never a plain hash: statuses are
read by more people than Secrets are.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping

__all__ = ["KEY_BYTES", "Fingerprinter", "is_same_content"]

KEY_BYTES = 32
_HEX_LENGTH = 32
"""128 bits of the MAC: as much as a status needs to tell two contents apart."""
_KEY_ID_LENGTH = 8


def is_same_content(before: str, now: str) -> bool | None:
    """Tell whether two fingerprints of `of_kept_content` are of the same content; None: they have different keys.

    Those of before there were ids of keys count as made with the present key.
    """
    if before == now:
        return True
    (content_before, _, key_before), (content, _, key) = before.partition("."), now.partition(".")
    return None if key_before not in ("", key) else content_before == content


class Fingerprinter:
    """Makes fingerprints under one key."""

    __slots__ = ("_base", "key_id")

    def __init__(self, key: bytes) -> None:
        if len(key) < KEY_BYTES:
            msg = f"the fingerprint key has {len(key)} bytes; {KEY_BYTES} are needed"
            raise ValueError(msg)
        self._base = hmac.new(key, digestmod=hashlib.sha256)
        self.key_id = self.of_parts("id of the key", ())[:_KEY_ID_LENGTH]
        """Tells this key from others, and says nothing of it."""

    def of_parts(self, purpose: str, parts: Iterable[str]) -> str:
        """Return the fingerprint of a list of texts; the purpose keeps two uses apart."""
        mac = self._base.copy()
        chunks = [purpose, *parts]
        # Lengths make the form unambiguous: no two different lists feed the same bytes.
        mac.update("".join(f"{len(chunk)}:{chunk}" for chunk in chunks).encode())
        return mac.hexdigest()[:_HEX_LENGTH]

    def of_kept_content(self, purpose: str, head: Iterable[str], *mappings: Mapping[str, str]) -> str:
        """Return a fingerprint for a status, which may outlive the key: as `of_mappings`, and which key it was."""
        return f"{self.of_mappings(purpose, head, *mappings)}.{self.key_id}"

    def of_mappings(self, purpose: str, head: Iterable[str], *mappings: Mapping[str, str]) -> str:
        """Return the fingerprint of some texts and of mappings, whose order of keys doesn't matter."""
        begin = tuple(head)
        parts = [str(len(begin)), *begin]
        for mapping in mappings:
            parts.append(str(len(mapping)))
            for key in sorted(mapping):
                parts += (key, mapping[key])
        return self.of_parts(purpose, parts)
