"""Everything that every destination does."""

from __future__ import annotations

from support.conformance import changes, failures, limits, others, sizes

__all__ = ["SCENARIOS"]

SCENARIOS = (
    *changes.SCENARIOS,
    *others.SCENARIOS,
    *limits.SCENARIOS,
    *failures.SCENARIOS,
    *sizes.SCENARIOS,
)
