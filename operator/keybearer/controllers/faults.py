"""What is told of faults that nobody foresaw: where they arose, never what they say, which could quote a value."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["internal_message", "where_raised"]

_FRAMES = 8


def internal_message(error: Exception, told: Iterable[str], reconcile_id: str) -> str:
    """Return where the log tells more: as long as the same happens, under the first run's id.

    Args:
        error: what was raised.
        told: messages of the conditions of before.
        reconcile_id: of this run.
    """
    what = f"an unexpected {type(error).__name__}; the operator's log tells more under reconcile_id "
    return next((message for message in told if message.startswith(what)), f"{what}{reconcile_id}")


def where_raised(error: BaseException) -> list[str]:
    """Return the innermost places that the error came through, as `file:line function`."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return frames[-_FRAMES:]
