"""One place that a sync of an earlier version pushed to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Json", "OldPlace"]

Json = dict[str, Any]


@dataclass(frozen=True)
class OldPlace:
    """One place, what a sync to it is given, and what a person sees there.

    Attributes:
        title: of the place, and of the folder that is pushed there.
        values: what it holds, by names.
        put: writes one name as somebody else.
        changes: how many requests it had that change something.
        moves: whether it is somewhere else each time, so that connection and sync have to be told.
        left: what it holds, as JSON, with all that a sync sees of it.
        restore: has it hold that again.
    """

    title: str
    destination: str
    app: str
    method: str
    credentials: Mapping[str, str] = field(repr=False)
    config: Mapping[str, object]
    values: Callable[[], Mapping[str, object]]
    put: Callable[[str, str], None]
    changes: Callable[[], int]
    left: Callable[[], Json]
    restore: Callable[[Json], None]
    options: Mapping[str, object] = field(default_factory=dict)
    moves: bool = False

    def name_of(self, key: str) -> str:
        """Return what the sync makes of a key."""
        return str(self.options.get("keySchema", "{{secretKey}}")).replace("{{secretKey}}", key)
