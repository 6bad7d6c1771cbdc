"""The domain of issuance at a virtual time."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TypeAlias

from support.virtual_time import VirtualTime
from tools.bench import issuing_domain as domain

__all__ = ["IssuingDomain", "issuing_domain"]

IssuingDomain: TypeAlias = domain.IssuingDomain[VirtualTime]


def issuing_domain(directory: Path) -> AbstractAsyncContextManager[IssuingDomain]:
    """Return the domain on a fresh database in the directory."""
    return domain.issuing_domain(directory, VirtualTime())
