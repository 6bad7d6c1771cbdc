"""What stops a release; the message says what to do."""

from __future__ import annotations

__all__ = ["ReleaseError"]


class ReleaseError(Exception):
    """Nothing was released, and `dist/` is as it was."""
