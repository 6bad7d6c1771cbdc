"""How many connections one address may have, but for those that an accepted token came by."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from keybearer.domain.addresses import source_of

__all__ = ["ConnectionShares"]

Connection = TypeVar("Connection", bound=Hashable)


class ConnectionShares(Generic[Connection]):
    """The connections that count, by source of addresses.

    Whether a token was accepted is asked only when an address has too many: so it costs requests nothing.
    """

    def __init__(self, most: int, is_admitted: Callable[[Connection], bool]) -> None:
        """Begin without connections.

        Args:
            most: of one address.
            is_admitted: tells whether an accepted token came by the connection; it counts no more from then on.
        """
        self._most = most
        self._is_admitted = is_admitted
        self._by_source: dict[str, set[Connection]] = {}

    def take(self, address: str | None, connection: Connection) -> bool:
        """Count the connection, or return False where its address has as many as it may."""
        present = self._by_source.setdefault(source_of(address), set())
        if len(present) >= self._most:
            present -= {other for other in present if self._is_admitted(other)}
        if len(present) >= self._most:
            return False
        present.add(connection)
        return True

    def give_back(self, address: str | None, connection: Connection) -> None:
        """Count it no more; it may have been counted, or not."""
        source = source_of(address)
        present = self._by_source.get(source)
        if present is not None:
            present.discard(connection)
            if not present:
                del self._by_source[source]
