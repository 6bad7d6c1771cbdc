"""The root of the exception tree.

Every error that Keybearer raises on purpose descends from `KeybearerError`; each strand keeps its own
branch (`keybearer.domain.errors`, `keybearer.client.errors`, `keybearer.kube.errors`,
`keybearer.controllers.outcome`). Messages name the object and the remedy, never a secret value.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["ConfigurationError", "KeybearerError", "causes_of"]

_CAUSES_MAX = 10


class KeybearerError(Exception):
    """Anything Keybearer raises on purpose."""


class ConfigurationError(KeybearerError):
    """A setting, flag or file that the process was started with can't be used; the text says which."""


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what led to it; of a group, which several addresses of a name lead to, each member."""
    left = [] if error is None else [error]
    for _ in range(_CAUSES_MAX):
        if not left:
            return
        one = left.pop(0)
        yield one
        if isinstance(one, BaseExceptionGroup):
            left.extend(one.exceptions)
        cause = one.__cause__ or one.__context__
        if cause is not None:
            left.append(cause)
