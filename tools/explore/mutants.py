"""Operators that lack one safeguard: the search must find that, or it finds nothing.

Run as a program, it starts the `keybearer` command with the safeguard taken out in memory; nothing of the package is
changed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from keybearer.cli.main import app
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.objects import ObjectStore
from keybearer.controllers.target.recreation import Recreation
from keybearer.controllers.work import WorkKey

__all__ = ["MUTANTS", "mutant_program"]


def _without_uid_check() -> None:
    """Take an object for the one that had its name before."""
    end = ObjectStore.end

    def end_any(self: ObjectStore, key: WorkKey, uid: str) -> None:
        held = self.get(key)
        end(self, key, uid if held is None else held.uid)

    ObjectStore.end = end_any  # type: ignore[method-assign]


def _without_dry_run() -> None:
    async def accept(*_: object) -> None:
        """Accept anything."""

    Recreation._require_accepted = accept  # type: ignore[method-assign,assignment] # noqa: SLF001 - this is what a mutant is


def _without_budget() -> None:
    def allow(*_: object, **__: object) -> None:
        """Let everything pass."""

    EffectBudgets.take = allow  # type: ignore[method-assign]


MUTANTS: Mapping[str, Callable[[], None]] = {
    "uid": _without_uid_check,
    "dry-run": _without_dry_run,
    "budget": _without_budget,
}
"""By name: what takes the safeguard out."""


def mutant_program(name: str) -> tuple[str | Path, ...]:
    """Return what runs as such an operator, to be followed by the arguments of `keybearer`."""
    return (sys.executable, Path(__file__), name)


if __name__ == "__main__":
    MUTANTS[sys.argv[1]]()
    sys.argv[1:2] = []
    app()
