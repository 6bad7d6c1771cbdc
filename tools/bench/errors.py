"""What stops a measurement; what it measures never does."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["BenchError", "NotInTimeError", "RefusedError", "causes"]

_NAMED = 20
_LINES = 16
_COLUMNS = 240


class BenchError(RuntimeError):
    """A part that the measurement needs did not do what it should; the message says which."""


class RefusedError(BenchError):
    """The API server refused; `status` says how."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


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


def causes(error: BaseException) -> Iterator[str]:
    """Yield each single error inside, then its notes; of long texts the end, of long lines the beginning."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from causes(inner)
    else:
        yield _shortened(str(error))
    for note in getattr(error, "__notes__", ()):
        yield _shortened(note)


def _shortened(text: str) -> str:
    first, *rest = text.splitlines() or [""]
    lines = [first, *rest[-_LINES:]]
    return "\n".join(line if len(line) <= _COLUMNS else f"{line[:_COLUMNS]}..." for line in lines)
