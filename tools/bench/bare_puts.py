"""The floor of pushes: the same writes to the same remote by httpx alone, from a process of its own.

`python -m tools.bench.bare_puts URL PATH COUNT AT_ONCE` writes so many parameters below the path, so many at a time,
each over a connection that is kept, and prints how many seconds that took. It signs nothing, looks at nothing of an
answer but its status, and remembers nothing.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import httpx
import orjson

from tools.bench.errors import BenchError
from tools.local.plain_http import TRUSTS_NOBODY

__all__ = ["bare_puts", "main"]

_ROOT = Path(__file__).parents[2]
_VALUE = "value".ljust(32, ".")
_HEADERS = {"x-amz-target": "AmazonSSM.PutParameter", "content-type": "application/x-amz-json-1.1"}


async def bare_puts(url: str, path: str, count: int, *, at_once: int) -> float:
    """Return the seconds that a process of its own takes for these writes, its start apart.

    Raises:
        BenchError: it could not make them.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tools.bench.bare_puts", url, path, str(count), str(at_once)),
        env={"PATH": os.defpath, "PYTHONPATH": str(_ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaint = await process.communicate()
    if process.returncode != 0:
        msg = f"bare writes failed: {complaint.decode(errors='replace')[-400:]}"
        raise BenchError(msg)
    return float(printed)


async def _put(url: str, path: str, count: int, at_once: int) -> float:
    numbers = iter(range(count))
    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx.AsyncClient(
        base_url=url, headers=_HEADERS, limits=limits, verify=TRUSTS_NOBODY
    ) as client:

        async def work() -> None:
            for number in numbers:
                name = {
                    "Name": f"{path}KEY_{number}",
                    "Value": _VALUE,
                    "Type": "SecureString",
                    "Overwrite": True,
                }
                (await client.post("/", content=orjson.dumps(name))).raise_for_status()

        before = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(work())
        return time.monotonic() - before


def main() -> None:
    """Write, and print the seconds."""
    url, path, count, at_once = sys.argv[1:]
    print(asyncio.run(_put(url, path, int(count), int(at_once))))


if __name__ == "__main__":
    main()
