"""Where the request that is being served came from.

Every line of an audit log needs it and no rule is decided by it: so it travels beside the call, in a context
variable that the shell of each request sets, and no function passes it on.
"""

from __future__ import annotations

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


class request_from:  # noqa: N801 - read as the verb of a with statement
    """Have what runs in the block, and the tasks it starts, come from there.

    A class, since each request passes it: a generator would take five times as long.
    """

    __slots__ = ("_origin", "_token")

    def __init__(self, origin: Origin) -> None:
        self._origin = origin

    def __enter__(self) -> None:
        self._token = _current.set(self._origin)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


def current_origin() -> Origin:
    """Return where the present request comes from; nowhere, for what the service does by itself."""
    return _current.get()
