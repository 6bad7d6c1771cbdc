"""Laws are tested without a stopwatch: a machine that others use as well makes any deadline a chance."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
