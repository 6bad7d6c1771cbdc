"""Chance that a test can foresee."""

from __future__ import annotations

import random

__all__ = ["SteadyChance"]


class SteadyChance(random.Random):
    """Draws one half for ever: `jittered` then gives the interval itself, `Backoff` its middle."""

    def random(self) -> float:
        return 0.5
