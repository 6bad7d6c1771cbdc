"""Whose connection or sync it is: a mark in its description, since the service keeps no labels. Pure.

One whose status was lost is found again by it, and two clusters on one service never take for theirs what
the other made (decision 0012).
"""

from __future__ import annotations

import hashlib
import re
from enum import Enum

__all__ = ["Ownership", "is_own", "mark_of", "marked", "ownership_of"]

_MARK = re.compile(r"(?:^| )\[keybearer ([0-9a-f]{24})\]$")


class Ownership(Enum):
    """Who manages it, as its description says."""

    OURS = "ours"
    OTHERS = "others"
    NOBODY = "nobody"


def mark_of(cluster_id: str, uid: str) -> str:
    """Return what stands for one object of one cluster: a digest, as the service need not know either."""
    return hashlib.sha256(f"{cluster_id}/{uid}".encode()).hexdigest()[:24]


def marked(description: str | None, mark: str) -> str:
    """Return the description with the mark at its end."""
    return f"{description} [keybearer {mark}]" if description else f"[keybearer {mark}]"


def ownership_of(description: str | None, mark: str) -> Ownership:
    """Return who manages what has this description."""
    found = _MARK.search(description or "")
    if found is None:
        return Ownership.NOBODY
    return Ownership.OURS if found[1] == mark else Ownership.OTHERS


def is_own(description: str | None, mark: str, *, takes_unmarked: bool) -> bool:
    """Return whether an object may change, or delete, what has this description.

    Args:
        description: of the connection or sync.
        mark: of the object.
        takes_unmarked: whether it may without anybody's mark as well: it is the very one that the object made (a
            person who took the mark off has only edited its description), or is to be taken over.
    """
    whose = ownership_of(description, mark)
    return whose is Ownership.OURS or (whose is Ownership.NOBODY and takes_unmarked)
