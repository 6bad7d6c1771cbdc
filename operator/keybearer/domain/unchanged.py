"""A field that a change doesn't speak of."""

from __future__ import annotations

from typing import Final

__all__ = ["UNCHANGED", "Unchanged"]


class Unchanged:
    """Stands for a field that stays, where None takes it away."""

    __slots__ = ()


UNCHANGED: Final = Unchanged()
