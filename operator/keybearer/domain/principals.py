"""Tokens that were checked a moment ago, so that the next request with one of them asks no database."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from keybearer.domain.authorization import Principal
from keybearer.store.revisions import Changes

__all__ = ["CheckedToken", "PrincipalCache", "token_digest"]

_MAX_ENTRIES = 10_000
_TTL_SECONDS = 10.0


def token_digest(text: str) -> bytes:
    """Return the key of the cache: tokens themselves are not kept in memory."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


@dataclass(frozen=True, slots=True)
class CheckedToken:
    """The outcome of a check; `expires_at` None for a token without end."""

    principal: Principal
    expires_at: datetime | None
    trusted_ips: tuple[str, ...]


class PrincipalCache:
    """Bounded in number and in time; what a commit changed is dropped at once, or when it is heard.

    Should a commit of another process go unheard, an entry's time is the longest that a revocation can take.
    """

    def __init__(self) -> None:
        self._entries: OrderedDict[bytes, tuple[float, CheckedToken]] = OrderedDict()
        self.generation = 0

    def find(self, digest: bytes, monotonic: float) -> CheckedToken | None:
        """Return the check's outcome if it is recent enough."""
        entry = self._entries.get(digest)
        if entry is None:
            return None
        until, checked = entry
        if monotonic >= until:
            del self._entries[digest]
            return None
        return checked

    def keep(self, digest: bytes, checked: CheckedToken, *, monotonic: float, generation: int) -> None:
        """Keep an outcome, unless something changed since `generation` was read, before the check."""
        if generation != self.generation:
            return
        self._entries[digest] = (monotonic + _TTL_SECONDS, checked)
        if len(self._entries) > _MAX_ENTRIES:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        """Drop everything: a change may have been missed."""
        self.generation += 1
        self._entries.clear()

    def forget(self, changes: Changes) -> None:
        """Drop what a commit made untrue."""
        if not changes.identities and not changes.tokens:
            return
        self.generation += 1
        stale = [
            digest
            for digest, (_, checked) in self._entries.items()
            if checked.principal.identity_id in changes.identities
            or checked.principal.token_id in changes.tokens
        ]
        for digest in stale:
            del self._entries[digest]
