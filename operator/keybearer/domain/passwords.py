"""Passwords of users: argon2id (RFC 9106), in threads of its own, as many at once as memory allows."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from keybearer.domain.errors import LimitReachedError, SchemaViolationError

__all__ = ["Passwords", "require_strong"]

_T = TypeVar("_T")
_MEMORY_KIB = 46 * 1024
_PASSES = 1
"""With the memory above the first choice of OWASP's password storage cheat sheet; about 60 ms of one core."""
_NOBODYS = f"$argon2id$v=19$m={_MEMORY_KIB},t={_PASSES},p=1${'A' * 22}${'A' * 43}"
"""What is compared for a user that doesn't exist: salt and hash of zeros, so that no start waits for one."""
_AT_ONCE = 2
_WAITING_MAX = 200
"""About 6 s of waiting: who comes later is told to come again rather than left to time out."""


_COMMON = frozenset(
    {
        *(
            "password",
            "passwort",
            "passwd",
            "secret",
            "qwerty",
            "qwertz",
            "asdf",
            "asdfgh",
            "letmein",
            "welcome",
        ),
        *("changeme", "admin", "administrator", "root", "user", "test", "hello", "keybearer"),
    }
)
_UNEXPECTED_MIN = 8
_DIFFERENT_MIN = 5
_WORD = re.compile(r"[^\W\d_]+")


def require_strong(password: str, email: str, *, field: str) -> None:
    """Let pass a new password that isn't guessed first.

    Refused is what has no words but the commonest and those of the email, and what mostly repeats or continues
    itself: eight characters must not follow from the one before, five of them different. Length is bounded elsewhere.

    Raises:
        SchemaViolationError: it is weaker; it is not repeated.
    """
    folded = password.casefold()
    words = {_once(word) for word in _WORD.findall(folded)}
    known = _COMMON | set(_WORD.findall(email.casefold()))
    once = _once(folded)
    unexpected = [after for before, after in pairwise(f"\0{once}") if abs(ord(after) - ord(before)) > 1]
    if (
        (words and words <= known)
        or len(unexpected) < _UNEXPECTED_MIN
        or len(set(unexpected)) < _DIFFERENT_MIN
    ):
        raise SchemaViolationError(
            "The password is too easy to guess: it is mostly a sequence, a repetition, a common word or the email; "
            "take a longer one of random words or characters",
            field=field,
        )


def _once(text: str) -> str:
    """Return what is said twice in a row once."""
    half = text[: len(text) // 2]
    return half if half and text == half * 2 else text


class Passwords:
    """Hashes and compares. The work for a user that doesn't exist is the same as for one who does."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=_PASSES, memory_cost=_MEMORY_KIB, parallelism=1)
        # Its own threads, not a semaphore around shared ones: a request that is given up leaves its work
        # running, and what runs must stay counted.
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="passwords")
        self._waiting = 0

    async def hash(self, password: str) -> str:
        """Return what is kept of a password: hash, salt and costs in one text.

        Raises:
            LimitReachedError: too many others wait for the same.
        """
        return await self._run(lambda: self._hasher.hash(_bytes(password)))

    async def matches(self, kept: str | None, password: str) -> bool:
        """Return whether what is kept was made from this password; None never was, after the same work.

        Raises:
            LimitReachedError: too many others wait for the same.
        """
        return await self._run(lambda: self._matches(kept, password))

    def _matches(self, kept: str | None, password: str) -> bool:
        try:
            # The library compares in constant time.
            self._hasher.verify(_NOBODYS if kept is None else kept, _bytes(password))
        except (VerificationError, InvalidHashError):
            return False
        return kept is not None

    async def _run(self, work: Callable[[], _T]) -> _T:
        if self._waiting >= _WAITING_MAX:
            raise LimitReachedError("too many logins at once; try again in a few seconds")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1


def _bytes(password: str) -> bytes:
    # JSON may carry half of a surrogate pair, which strict UTF-8 refuses.
    return password.encode("utf-8", "surrogatepass")
