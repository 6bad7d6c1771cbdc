"""One secret as a source shows it: what every kind that reads sources works on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

__all__ = ["SourceSecret"]


@dataclass(frozen=True, slots=True)
class SourceSecret:
    """A secret with its place in the service; the value never shows in a repr.

    Attributes:
        hidden: the identity may see that it exists, but not its value.
    """

    key: str
    value: str = field(repr=False)
    path: str
    environment: str
    version: int
    updated_at: datetime | None = None
    hidden: bool = False
