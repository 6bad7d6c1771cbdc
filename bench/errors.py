"""What stops a measurement; what it measures never does."""

from __future__ import annotations

__all__ = ["BenchError", "NotInTimeError"]


class BenchError(RuntimeError):
    """A part that the measurement needs did not do what it should; the message says which."""


class NotInTimeError(BenchError):
    """A condition was not met by its deadline.

    Args:
        awaited: completes "did not see".
        within_seconds: the deadline.
        missing: what was still awaited; the message names the first few.
    """

    def __init__(self, awaited: str, within_seconds: float, missing: list[str]) -> None:
        named = ", ".join(missing[:_NAMED]) + (", ..." if len(missing) > _NAMED else "")
        super().__init__(
            f"did not see {awaited} within {within_seconds:g} s; {len(missing)} missing: {named}"
        )
        self.missing = missing


_NAMED = 20
