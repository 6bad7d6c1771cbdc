"""How many connections one address may have, but for those that an accepted token came by."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from keybearer.domain.addresses import source_of

__all__ = ["ConnectionShares"]

Connection = TypeVar("Connection", bound=Hashable)


class ConnectionShares(Generic[Connection]):
    """The connections that count, by source of addresses, the oldest first.

    Which of them need not count is asked only when an address has too many: so it costs requests nothing.
    """

    def __init__(
        self,
        most: int,
        is_admitted: Callable[[Connection], bool],
        end_if_idle: Callable[[Connection], bool],
    ) -> None:
        """Begin without connections.

        Args:
            most: of one address.
            is_admitted: tells whether an accepted token came by the connection; it counts no more from then on.
            end_if_idle: ends the connection if it only waits for another request, and tells whether it did: logins
                leave such ones behind, each for seconds.
        """
        self._most = most
        self._is_admitted = is_admitted
        self._end_if_idle = end_if_idle
        self._by_source: dict[str, dict[Connection, None]] = {}

    def take(self, address: str | None, connection: Connection) -> bool:
        """Count the connection, or return False where its address has as many as it may."""
        present = self._by_source.setdefault(source_of(address), {})
        if len(present) >= self._most:
            for other in [other for other in present if self._is_admitted(other)]:
                del present[other]
        if len(present) >= self._most:
            idle = next((other for other in present if self._end_if_idle(other)), None)
            if idle is None:
                return False
            del present[idle]
        present[connection] = None
        return True

    def give_back(self, address: str | None, connection: Connection) -> None:
        """Count it no more; it may have been counted, or not."""
        source = source_of(address)
        present = self._by_source.get(source)
        if present is not None:
            present.pop(connection, None)
            if not present:
                del self._by_source[source]
