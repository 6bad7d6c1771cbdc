"""Things that stand in an order of their own: environments of a project, imports of a folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from keybearer.store.records import Environment
from keybearer.store.tables.imports import SecretImport

__all__ = ["renumbered"]

_T = TypeVar("_T", Environment, SecretImport)


def renumbered(ordered: Sequence[_T], stored: Iterable[_T]) -> list[_T]:
    """Number all of them from 1 in this order; return those stored ones that move, with their new positions."""
    known = {item.id for item in stored}
    return [
        replace(item, position=position)
        for position, item in enumerate(ordered, start=1)
        if item.position != position and item.id in known
    ]
