"""What is told of faults that nobody foresaw: where they arose, never what they say, which could quote a value."""

from __future__ import annotations

from collections.abc import Iterable

from keybearer.base.logs import get_logger
from keybearer.controllers.custom_resource import Condition
from keybearer.controllers.work import WorkKey

__all__ = ["report_fault"]

_log = get_logger(__name__)

_FRAMES = 8


def report_fault(error: Exception, key: WorkKey, before: Iterable[Condition], reconcile_id: str) -> str:
    """Log that a run broke off, and return what its conditions are to say: where the log tells more.

    As long as the same happens that is the first run's id: another text each time would be a status write each time.

    Args:
        error: what was raised.
        key: what was reconciled.
        before: the conditions of before.
        reconcile_id: of this run.
    """
    _log.error(
        "reconcile_failed",
        kind=key.kind,
        namespace=key.namespace,
        name=key.name,
        reconcile_id=reconcile_id,
        error=type(error).__name__,
        at=_where_raised(error),
    )
    what = f"an unexpected {type(error).__name__}; the operator's log tells more under reconcile_id "
    told = (condition.message for condition in before)
    return next((message for message in told if message.startswith(what)), f"{what}{reconcile_id}")


def _where_raised(error: BaseException) -> list[str]:
    """Return the innermost places that the error came through, as `file:line function`."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return frames[-_FRAMES:]
