"""What a watcher from outside makes of the Secrets while they change: when what arrived, and what must not be."""

from __future__ import annotations

import time

from tools.bench.workload import Key
from tools.soak.freshness import Arrivals, Repairs
from tools.soak.ledger import SourceLedger
from tools.soak.population import Judged, Population

__all__ = ["Sight"]

_VIOLATIONS_MAX = 200


class Sight:
    """Judges each state of each Secret that its watch shows.

    Args:
        population: what may be in them.

    Attributes:
        began: the `time.monotonic` that seconds of the run count from.
        violations: what was wrong, with names only; a bounded number of them.
        wrong: how many there were.
        right: Secrets that were right at least once, and are there.
    """

    def __init__(self, population: Population) -> None:
        self._population = population
        self.began = time.monotonic()
        self.arrivals = Arrivals()
        self.repairs = Repairs()
        self.violations: list[str] = []
        self.wrong = 0
        self.right: set[Key] = set()

    def begin(self) -> None:
        """Seconds count from now on."""
        self.began = time.monotonic()

    def now(self) -> float:
        """Return the second of the run."""
        return time.monotonic() - self.began

    def committed(self, ledger: SourceLedger, at: float) -> None:
        """Note that the service has answered the newest change of a source, at that `time.monotonic`."""
        self.arrivals.committed(ledger.revision, at - self.began, self._population.dependents(ledger.number))

    def left(self, key: Key) -> None:
        """Note that a SecretSync leaves its Secret, or its source."""
        self.arrivals.forget(key)
        self.repairs.forget(key)
        self.right.discard(key)

    def changed(self, key: Key, data: dict[str, str] | None, at: float) -> None:
        """Take in one event of the watch: the `data` of a Secret, None when it is gone."""
        second = at - self.began
        if data is None:
            self._gone(key, second)
            return
        reading = self._population.read(key, data)
        if reading is None:
            return
        match reading.judged:
            case Judged.WRONG:
                self._report(
                    f"{'/'.join(key)} held what its source never held; keys: {', '.join(sorted(data))}"
                )
            case Judged.EDITED:
                if key in self.right:
                    self.repairs.damaged(key, second)
            case Judged.REVISION if reading.revision is not None:
                self.right.add(key)
                self.repairs.right(key, second)
                if not self.arrivals.seen(key, reading.revision, second):
                    self._report(f"{'/'.join(key)} went back to revision {reading.revision} of its source")
            case Judged.REVISION:
                pass  # still of a source that its SecretSync read before

    def _gone(self, key: Key, second: float) -> None:
        if key in self._population.members and key in self.right:
            self.repairs.damaged(key, second)

    def _report(self, violation: str) -> None:
        self.wrong += 1
        if len(self.violations) < _VIOLATIONS_MAX:
            self.violations.append(violation)
