"""Progress for people, on standard error: standard output belongs to the programs that use us."""

from __future__ import annotations

import sys

__all__ = ["report"]


def report(message: str) -> None:
    """One line on standard error, visible at once."""
    sys.stderr.write(f"control plane: {message}\n")
    sys.stderr.flush()
