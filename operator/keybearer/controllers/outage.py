"""An API server that is away: nobody takes work meanwhile, so that all of it goes on at once when it is back.

Without this every object would fail some times during an outage, and wait for minutes after it: each failure doubles
the wait of its key.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta

from keybearer.base.backoff import Backoff
from keybearer.base.logs import get_logger
from keybearer.kube.errors import KubeError, UnavailableError

__all__ = ["ApiServerOutage"]

_log = get_logger(__name__)

_THRESHOLD = 3
"""Failures in a row, over all objects, that make an outage of them."""
_BACKOFF = Backoff(floor=timedelta(seconds=0.5), ceiling=timedelta(seconds=5))


class ApiServerOutage:
    """Told of each request whether it was answered; holds workers back while none is."""

    def __init__(self, probe: Callable[[], Awaitable[object]], rng: random.Random) -> None:
        """Remember how to ask.

        Args:
            probe: asks the API server for something small; raises UnavailableError while it is away.
            rng: for the jitter between two questions.
        """
        self._probe = probe
        self._rng = rng
        self._failures = 0
        self._over = asyncio.Event()
        self._over.set()
        self._began = asyncio.Event()

    @property
    def lasts(self) -> bool:
        """Whether work is being held back."""
        return not self._over.is_set()

    def note(self, *, answered: bool) -> None:
        """Take in how a request ended."""
        if answered:
            self._failures = 0
            return
        self._failures += 1
        if self._failures >= _THRESHOLD and not self.lasts:
            self._over.clear()
            self._began.set()

    async def pass_by(self) -> None:
        """Wait until there is none."""
        await self._over.wait()

    async def run(self) -> None:
        """Find out when an outage is over, until cancelled."""
        while True:
            await self._began.wait()
            self._began.clear()
            _log.warning("api_server_away", failures=self._failures)
            tries = 0
            while not await self._is_back():
                tries += 1
                await asyncio.sleep(_BACKOFF.delay(tries, self._rng).total_seconds())
            self._failures = 0
            self._over.set()
            _log.info("api_server_back", tries=tries)

    async def _is_back(self) -> bool:
        try:
            await self._probe()
        except UnavailableError:
            return False
        except KubeError:
            return True  # a refusal is an answer
        return True
