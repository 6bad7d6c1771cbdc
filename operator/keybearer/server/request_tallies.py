"""What is counted of requests: by route, never by path, by method and by the first digit of the status."""

from __future__ import annotations

from collections.abc import Iterator

from keybearer.base.tally import Durations

__all__ = ["RequestTallies"]

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_Ended = tuple[str | None, str, int]


class RequestTallies:
    """Counts on the event loop: a look into a dictionary and three additions for each request."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._ended: dict[_Ended, Durations] = {}

    def ended(self, route: str | None, method: str, status: int, seconds: float) -> None:
        """Count a request that was answered.

        Args:
            route: its template; None where none matched.
            method: in capitals.
            status: of the answer; 0 where none was given.
            seconds: from its head to the end of its answer.
        """
        known = self._ended.get((route, method, status // 100))
        if known is None:
            key = (route, method if method in _METHODS else "other", status // 100)
            known = self._ended.setdefault(key, Durations())
        known.add(seconds)

    def items(self) -> Iterator[tuple[str, str, str, Durations]]:
        """Yield route, method and class of status (`2xx`), with what was counted of them."""
        for (route, method, digit), durations in sorted(self._ended.items(), key=lambda item: str(item[0])):
            yield route or "none", method, f"{digit}xx" if digit else "none", durations
