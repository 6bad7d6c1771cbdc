"""`keybearer` with a clock that is wrong: `shifted_clock.py SECONDS ARGUMENT...`, seconds ahead of the machine's.

All that is decided by the clock asks `SystemClock`; connections and logs keep the machine's time.
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta

from keybearer.base.clock import SystemClock
from keybearer.cli.main import app

__all__: list[str] = []


def _main() -> None:
    ahead = timedelta(seconds=float(sys.argv.pop(1)))
    right = SystemClock.now

    def now(self: SystemClock) -> datetime:
        return right(self) + ahead

    setattr(SystemClock, "now", now)  # noqa: B010 - a method is changed, for this process
    app()


if __name__ == "__main__":
    _main()
