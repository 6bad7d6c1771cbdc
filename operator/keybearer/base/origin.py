"""Where the request that is being served came from.

Every line of an audit log needs it and no rule is decided by it: so it travels beside the call, in a context
variable that the shell of each request sets, and no function passes it on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Origin", "current_origin", "request_from"]


@dataclass(frozen=True, slots=True)
class Origin:
    """The other end of a connection; the texts empty, and the address None, where nothing is known."""

    address: str | None = None
    user_agent: str = ""
    request_id: str = ""


_NOWHERE = Origin()
_current: ContextVar[Origin] = ContextVar("keybearer.origin", default=_NOWHERE)


@contextmanager
def request_from(origin: Origin) -> Iterator[None]:
    """Have what runs in the block, and the tasks it starts, come from there."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)


def current_origin() -> Origin:
    """Return where the present request comes from; nowhere, for what the service does by itself."""
    return _current.get()
