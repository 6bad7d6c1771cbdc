"""Many items parted into runs that one request or statement can carry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

__all__ = ["in_chunks", "in_runs"]

_T = TypeVar("_T")


def in_chunks(items: Iterable[_T], count_max: int) -> Iterator[list[_T]]:
    """Yield the items in order, in runs of bounded number."""
    iterator = iter(items)
    while chunk := list(islice(iterator, count_max)):
        yield chunk


def in_runs(
    items: Iterable[_T], weight_of: Callable[[_T], int], *, count_max: int, weight_max: int
) -> Iterator[list[_T]]:
    """Yield the items in order, in runs of bounded number and weight; one that is too heavy is a run by itself."""
    run: list[_T] = []
    weight = 0
    for item in items:
        added = weight_of(item)
        if run and (len(run) >= count_max or weight + added > weight_max):
            yield run
            run, weight = [], 0
        run.append(item)
        weight += added
    if run:
        yield run
