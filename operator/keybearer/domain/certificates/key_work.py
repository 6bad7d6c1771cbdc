"""Making keys and slow signatures: away from the event loop, in threads of its own, as many at once as is useful."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.domain.errors import LimitReachedError
from keybearer.pki.keys import PrivateKey, generate_private_key

__all__ = ["KeyWork"]

_T = TypeVar("_T")
_AT_ONCE = 2
_WAITING_MAX = 100
"""An RSA-4096 key takes up to a second: who comes later is told to come again rather than left to time out."""


class KeyWork:
    """Does what takes more than about a millisecond beside the event loop, the rest at once."""

    def __init__(self) -> None:
        # Its own threads, not a semaphore around shared ones: a request that is given up leaves its work
        # running, and what runs must stay counted.
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="certificate-keys")
        self._waiting = 0

    async def new_key(self, algorithm: KeyAlgorithm) -> PrivateKey:
        """Return a fresh key.

        Raises:
            UnsupportedAlgorithmError: keys of this kind can't be made here.
            LimitReachedError: too many others wait for theirs.
        """
        if not algorithm.is_rsa:
            return generate_private_key(algorithm)
        return await self.aside(lambda: generate_private_key(algorithm))

    async def with_key_of(self, algorithm: KeyAlgorithm, work: Callable[[], _T]) -> _T:
        """Return what the work returns, which signs with a key of that kind.

        Raises:
            LimitReachedError: too many others wait for their signatures.
        """
        return await self.aside(work) if algorithm.is_rsa else work()

    async def aside(self, work: Callable[[], _T]) -> _T:
        """Return what the work returns, done in a thread.

        Raises:
            LimitReachedError: too many others wait.
        """
        if self._waiting >= _WAITING_MAX:
            raise LimitReachedError("Too many keys are being made at the moment; try again in a few seconds")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1
