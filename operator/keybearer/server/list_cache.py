"""Lists as they were answered, for as long as no revision they depend on has moved.

Where this process is the sole writer, a look at the revisions in memory says whether a list still stands, and
neither database nor keys are touched. Beside other processes it takes one statement, and no keys. Bounded in bytes;
plaintext in it is what was sent.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from keybearer.domain.authorization import Principal
from keybearer.domain.secrets.questions import Reached
from keybearer.store.audit import AuditEvent
from keybearer.store.database import Database

__all__ = ["ListCache", "ListKey", "ListedAnswer"]

_MAX_BYTES = 32 * 1024 * 1024
_MAX_ENTRY_BYTES = 2 * 1024 * 1024
_ENTRY_OVERHEAD_BYTES = 1024

ListKey = tuple[str, int, str, bytes]
"""Identity, its permission revision, route and raw query."""


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """An answer with its tag; `body` None where only the tag was needed so far."""

    tag: str
    reached: Reached
    body: bytes | None = field(repr=False)
    read: AuditEvent | None = None


class ListCache:
    """The answers used last."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._entries: OrderedDict[ListKey, ListedAnswer] = OrderedDict()
        self._bytes = 0

    @staticmethod
    def key(principal: Principal, route: str, query: bytes) -> ListKey:
        """Return what an answer is kept under."""
        return (principal.identity_id, principal.permission_revision, route, query)

    async def find(self, key: ListKey) -> ListedAnswer | None:
        """Return the answer if nothing it depends on has moved.

        Raises:
            UnavailableError: the database, which other processes write to, can't be asked.
        """
        answer = self._entries.get(key)
        if answer is None:
            return None
        if not await self._database.still_stand(answer.reached.revisions):
            if self._entries.get(key) is answer:
                self._drop(key)
            return None
        if key in self._entries:
            self._entries.move_to_end(key)
        return answer

    def keep(self, key: ListKey, answer: ListedAnswer) -> None:
        """Keep an answer, letting go of those unused for longest."""
        if _size(key, answer) > _MAX_ENTRY_BYTES:
            return
        self._drop(key)
        self._entries[key] = answer
        self._bytes += _size(key, answer)
        while self._bytes > _MAX_BYTES:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: ListKey) -> None:
        answer = self._entries.pop(key, None)
        if answer is not None:
            self._bytes -= _size(key, answer)


def _size(key: ListKey, answer: ListedAnswer) -> int:
    return _ENTRY_OVERHEAD_BYTES + len(key[3]) + (0 if answer.body is None else len(answer.body))
