"""What the present work is about: named in each of its log lines, and passed on by no function."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar

__all__ = ["log_subject", "subject_of_work"]

_NOTHING: Mapping[str, object] = {}
_current: ContextVar[Mapping[str, object]] = ContextVar("keybearer.log_subject", default=_NOTHING)


class log_subject:  # noqa: N801 - read as the verb of a with statement
    """Have the log lines of what runs in the block, and of tasks it starts, carry these keys.

    A class, since each reconcile passes it: a generator would take five times as long.
    """

    __slots__ = ("_subject", "_token")

    def __init__(self, subject: Mapping[str, object]) -> None:
        self._subject = subject

    def __enter__(self) -> None:
        self._token = _current.set(self._subject)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


def subject_of_work() -> Mapping[str, object]:
    """Return what the present work is about; empty where nobody said."""
    return _current.get()
