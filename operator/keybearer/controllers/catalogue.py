"""Which destinations the operator knows: this version's, loaded by the first object that has one, or those given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from keybearer.destinations.catalogue import Catalogue

__all__ = ["CatalogueOf", "own_catalogue"]

CatalogueOf: TypeAlias = "Callable[[], Catalogue]"
"""Returns it; asked only for objects that push or connect."""


def own_catalogue() -> Catalogue:
    """Return what this version offers by itself."""
    from keybearer.destinations.catalogue import CATALOGUE

    return CATALOGUE
