"""A program that writes for as long as it holds a Lease: `lease_holder.py KUBECONFIG NAMESPACE IDENTITY`.

It prints `held`, then `wrote N REVISION` for each write, and at the end `lost` or `released`.
"""

from __future__ import annotations

import asyncio
import math
import random
import signal
import sys
from datetime import timedelta

from keybearer.base.clock import SystemClock
from keybearer.kube.connection import Connection
from keybearer.kube.errors import LeaseLostError
from keybearer.kube.gateway import Gateway
from keybearer.kube.lease import LeaseKeeper
from keybearer.kube.lease_state import LeaseClaim, LeaseTerms
from keybearer.kube.resources import CONFIG_MAPS, ObjectKey
from tools.local.waiting import PROBE_SECONDS

__all__ = ["LEASE_NAME", "TERMS"]

LEASE_NAME = "writer"
_DURATION = timedelta(seconds=math.ceil(PROBE_SECONDS))
TERMS = LeaseTerms(_DURATION, 0.8 * _DURATION, 0.08 * _DURATION)
"""Short, but longer than a machine that does other things as well lets a program stand still."""


def _say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def _write(gateway: Gateway, namespace: str, identity: str) -> None:
    for number in range(100_000):
        stored = await gateway.create(CONFIG_MAPS, ObjectKey(namespace, f"{identity}-{number}"), {})
        metadata = stored["metadata"]
        _say("wrote", number, metadata["resourceVersion"] if isinstance(metadata, dict) else "")
        await asyncio.sleep(0.01)


async def _main(kubeconfig: str, namespace: str, identity: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with await Connection.open(kubeconfig=kubeconfig) as connection:
        keeper = LeaseKeeper(
            Gateway(connection, may_write=lambda: None),
            LeaseClaim(ObjectKey(namespace, LEASE_NAME), identity, TERMS),
            clock=SystemClock(),
            rng=random.Random(identity),  # noqa: S311 - spreads attempts
        )
        await keeper.acquire()
        _say("held")
        holding = asyncio.create_task(keeper.hold())
        writing = asyncio.create_task(
            _write(Gateway(connection, may_write=keeper.check), namespace, identity)
        )
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({holding, writing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        for task in (writing, stopping, holding):
            task.cancel()
        ends = await asyncio.gather(writing, stopping, holding, return_exceptions=True)
        _say("lost" if any(isinstance(end, LeaseLostError) for end in ends) else "released")


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
