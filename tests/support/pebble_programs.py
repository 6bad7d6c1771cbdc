"""Pebble and what resolves names for it, built from the Go module `tests/pebble`.

`python -m support.pebble_programs` builds what the cache lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.controlplane.binaries import cached_programs
from tools.controlplane.recipes import Recipe, required_version

__all__ = ["PebblePrograms", "pebble_programs"]

_MODULE = Path(__file__).parents[1] / "pebble"
_SOURCE = "github.com/letsencrypt/pebble/v2"


@dataclass(frozen=True, slots=True)
class PebblePrograms:
    """Paths of an ACME authority, and of what resolves every name to this machine."""

    pebble: Path
    resolver: Path


def pebble_programs() -> PebblePrograms:
    """Paths in the cache, built if need be; BuildError when they can't be."""
    packages = {name: f"{_SOURCE}/cmd/{name}" for name in ("pebble", "pebble-challtestsrv")}
    recipe = Recipe("pebble", _MODULE, required_version(_MODULE, _SOURCE), packages, {})
    found = cached_programs(recipe, list(packages))
    return PebblePrograms(found["pebble"], found["pebble-challtestsrv"])


if __name__ == "__main__":
    pebble_programs()
