"""keybearer.controllers.process: who leads writes through a gateway that asks the Lease first."""

from __future__ import annotations

import asyncio
import random
from functools import partial
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from keybearer.controllers import process
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.probes import ProbeState
from keybearer.controllers.settings import OperatorSettings
from keybearer.controllers.telemetry import OperatorMetrics
from keybearer.kube.connection import Connection
from keybearer.kube.errors import LeaseLostError
from keybearer.kube.gateway import Gateway
from keybearer.kube.lease import LeaseKeeper
from keybearer.kube.lease_state import LeaseTerms
from keybearer.kube.resources import SECRETS, ObjectKey
from support.scripted_server import Reply, ScriptedServer, write_kubeconfig
from unit.controllers.fakes.hand_clock import HandClock

NO_LEASE = Reply(404)
TAKEN = Reply(201, {"metadata": {"uid": "u1", "resourceVersion": "7"}})
WRITTEN = Reply(201, {"metadata": {"uid": "u2", "resourceVersion": "8"}})


async def never(_: float) -> None:
    """Sleep on: the Lease isn't renewed."""
    await asyncio.get_running_loop().create_future()


async def test_a_leader_whose_lease_was_not_renewed_in_time_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, stop = HandClock(), asyncio.Event()

    async def write_twice(_: object, gateway: Gateway, key: ObjectKey, found: list[Fingerprinter]) -> None:
        assert found == []
        await gateway.create(SECRETS, ObjectKey(key.namespace, "in-time"), {})
        clock.seconds += LeaseTerms().renew_deadline.total_seconds()
        with pytest.raises(LeaseLostError):
            await gateway.create(SECRETS, ObjectKey(key.namespace, "too-late"), {})
        stop.set()
        await never(0)

    monkeypatch.setattr(process, "_await_cluster", write_twice)
    monkeypatch.setattr(process, "LeaseKeeper", partial(LeaseKeeper, sleep=never))
    async with ScriptedServer(NO_LEASE, TAKEN, WRITTEN) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            await process._lead(
                process._Process(
                    settings=OperatorSettings(),
                    clock=clock,
                    rng=random.Random(1),  # noqa: S311 - jitter
                    connection=connection,
                    metrics=OperatorMetrics(CollectorRegistry()),
                    probes=ProbeState(),
                    stop=stop,
                )
            )

    assert stop.is_set()
    created = [seen.path.rpartition("/")[2] for seen in server.seen if seen.method == "POST"]
    assert created == ["leases", "secrets"]
