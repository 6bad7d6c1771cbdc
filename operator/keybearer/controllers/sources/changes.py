"""Since when a source is as it is: by the service's own clock, else since its change was heard of. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keybearer.base.clock import parse_instant

__all__ = ["ChangeTimes"]


@dataclass(slots=True)
class ChangeTimes:
    """What is remembered of one source to tell since when its content is what it is.

    Attributes:
        changed_at: that instant, in seconds of the epoch; None where nobody can tell.
        heard_at: when the change was heard of that is to be read next, by our clock.
    """

    changed_at: float | None = None
    heard_at: float | None = None
    _newest: str = ""

    def heard(self, at: float) -> None:
        """Note that a change was heard of, unless one is still to be read."""
        if self.heard_at is None:
            self.heard_at = at

    def read(self, updated: Sequence[str]) -> None:
        """Take in what a reading brought that is not as it was.

        The oldest of the changes that are new counts: it waited for longest. What leaves no such trace, a secret that
        was deleted or one that another is made of, is as old as the news of it; without news nobody can tell.

        Args:
            updated: when each secret was changed last, as the service writes it: texts that sort as instants do.
        """
        fresh = [instant for instant in updated if instant > self._newest]
        newest = max(updated, default="")
        # Of a first reading it is not known which changes are new.
        since = newest if not self._newest else min(fresh, default="")
        told = _seconds(since)
        self.changed_at = self.heard_at if told is None else told
        self._newest = max(self._newest, newest)


def _seconds(text: str) -> float | None:
    try:
        return parse_instant(text).timestamp() if text else None
    except ValueError:
        return None
