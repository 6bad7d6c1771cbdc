from __future__ import annotations

import asyncio
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime

import pytest

from keybearer.base.clock import SystemClock
from keybearer.kube.connection import Connection
from keybearer.kube.errors import LeaseLostError
from keybearer.kube.gateway import Gateway
from keybearer.kube.lease import LeaseKeeper
from keybearer.kube.lease_state import LeaseClaim
from keybearer.kube.resources import CONFIG_MAPS, LEASES, JsonObject, ObjectKey
from support import lease_holder
from support.async_waiting import until
from support.lease_holder import LEASE_NAME, TERMS
from tools.controlplane.controlplane import ControlPlane
from tools.local.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.integration


class Holder:
    """A process that writes while it holds the Lease."""

    def __init__(self, child: asyncio.subprocess.Process) -> None:
        self.child = child
        self.said: list[str] = []

    async def says(self, word: str) -> str:
        """Return the next line that begins with the word."""
        assert self.child.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            async for line in self.child.stdout:
                self.said.append(line.decode().strip())
                if self.said[-1].startswith(word):
                    return self.said[-1]
        pytest.fail(f"it ended without {word!r}; it said {self.said[-5:]}")


@asynccontextmanager
async def holder(cluster: ControlPlane, namespace: str, identity: str) -> AsyncIterator[Holder]:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        lease_holder.__name__,
        str(cluster.admin_kubeconfig),
        namespace,
        identity,
        stdout=asyncio.subprocess.PIPE,
        # Its terms are as long as the patience here.
        env={
            "PYTHONPATH": ":".join(path for path in sys.path if path),
            "KEYBEARER_TEST_PATIENCE": f"{PATIENCE_SECONDS:g}",
        },
    )
    try:
        yield Holder(child)
    finally:
        with suppress(ProcessLookupError):
            child.kill()
        await child.communicate()


async def revisions(gateway: Gateway, namespace: str, identity: str) -> list[int]:
    """Return the etcd revisions of what the process wrote, in order."""
    found = [
        item["metadata"]
        async for item in gateway.list(CONFIG_MAPS, namespace, metadata_only=True)
        if isinstance(item["metadata"], dict)
    ]
    return sorted(
        int(str(one["resourceVersion"])) for one in found if str(one["name"]).startswith(f"{identity}-")
    )


async def lease(gateway: Gateway, namespace: str) -> JsonObject:
    stored = await gateway.get(LEASES, ObjectKey(namespace, LEASE_NAME))
    assert stored is not None
    spec = stored["spec"]
    assert isinstance(spec, dict)
    return spec


async def test_of_two_processes_one_writes_and_the_other_follows_when_it_is_killed(
    control_plane: ControlPlane, gateway: Gateway, namespace: str
) -> None:
    async with holder(control_plane, namespace, "one") as one, holder(control_plane, namespace, "two") as two:
        first, second = await _first_and_second(one, two)
        assert await revisions(gateway, namespace, second[0]) == []
        renewed = (await lease(gateway, namespace))["renewTime"]
        first[1].child.kill()
        await second[1].says("wrote 5")

    spec = await lease(gateway, namespace)
    assert spec["holderIdentity"] == second[0]
    assert spec["leaseTransitions"] == 1
    acquired = datetime.fromisoformat(str(spec["acquireTime"]))
    assert acquired - datetime.fromisoformat(str(renewed)) >= TERMS.duration
    before, after = [await revisions(gateway, namespace, who) for who in (first[0], second[0])]
    assert before[-1] < after[0]


async def test_a_process_that_was_stopped_writes_nothing_when_it_goes_on(
    control_plane: ControlPlane, gateway: Gateway, namespace: str
) -> None:
    async with holder(control_plane, namespace, "one") as one, holder(control_plane, namespace, "two") as two:
        first, second = await _first_and_second(one, two)
        first[1].child.send_signal(signal.SIGSTOP)
        await second[1].says("wrote 5")
        first[1].child.send_signal(signal.SIGCONT)
        await first[1].says("lost")

    before, after = [await revisions(gateway, namespace, who) for who in (first[0], second[0])]
    assert before[-1] < after[0]


async def test_a_process_that_ends_in_good_order_is_followed_at_once(
    control_plane: ControlPlane, gateway: Gateway, namespace: str
) -> None:
    async with holder(control_plane, namespace, "one") as one, holder(control_plane, namespace, "two") as two:
        first, second = await _first_and_second(one, two)
        first[1].child.terminate()
        await first[1].says("released")
        await second[1].says("held")

    assert (await lease(gateway, namespace))["holderIdentity"] == second[0]


async def _first_and_second(one: Holder, two: Holder) -> tuple[tuple[str, Holder], tuple[str, Holder]]:
    """Return the one that writes, then the one that waits."""
    tasks = {
        asyncio.create_task(each.says("wrote 5")): (name, each) for name, each in (("one", one), ("two", two))
    }
    done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    return tasks[done.pop()], tasks[waiting.pop()]


async def test_the_lease_is_as_kubernetes_writes_it(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "defaults")
    keeper = LeaseKeeper(
        gateway,
        LeaseClaim(key, "me"),
        clock=SystemClock(),
        rng=random.Random(1),  # noqa: S311 - spreads attempts
    )
    with pytest.raises(LeaseLostError):
        keeper.check()
    await keeper.acquire()
    keeper.check()
    held = await gateway.get(LEASES, key)
    holding = asyncio.create_task(keeper.hold())
    await asyncio.sleep(0)
    holding.cancel()
    with suppress(asyncio.CancelledError):
        await holding
    released = await gateway.get(LEASES, key)

    assert held is not None
    assert released is not None
    match held["spec"], released["spec"]:
        case {"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 0, **times}, dict(spec):
            assert times["acquireTime"] == times["renewTime"]
            assert not spec.get("holderIdentity")
        case other:
            pytest.fail(f"the Lease says {other}")
    with pytest.raises(LeaseLostError):
        keeper.check()


async def test_an_account_with_the_charts_rights_can_hold_it(
    control_plane: ControlPlane, gateway: Gateway, namespace: str
) -> None:
    for command in (
        ("create", "serviceaccount", "operator"),
        ("create", "role", "make", "--verb=create", "--resource=leases"),
        ("create", "role", "keep", "--verb=get,patch", "--resource=leases", "--resource-name=defaults"),
        ("create", "rolebinding", "make", "--role=make", f"--serviceaccount={namespace}:operator"),
        ("create", "rolebinding", "keep", "--role=keep", f"--serviceaccount={namespace}:operator"),
    ):
        await asyncio.to_thread(control_plane.kubectl, *command, f"--namespace={namespace}")
    config = await asyncio.to_thread(control_plane.service_account_kubeconfig, namespace, "operator")
    async with await Connection.open(kubeconfig=str(config)) as connection:
        keeper = LeaseKeeper(
            Gateway(connection, may_write=lambda: None),
            LeaseClaim(ObjectKey(namespace, "defaults"), "me", TERMS),
            clock=SystemClock(),
            rng=random.Random(1),  # noqa: S311 - spreads attempts
        )
        async with asyncio.timeout(PATIENCE_SECONDS):
            await keeper.acquire()
        holding = asyncio.create_task(keeper.hold())
        first = await lease_of(gateway, namespace)

        async def is_renewed() -> bool:
            return await lease_of(gateway, namespace) != first

        await until(is_renewed, awaited="a renewal of the Lease")
        holding.cancel()
        with suppress(asyncio.CancelledError):
            await holding


async def lease_of(gateway: Gateway, namespace: str) -> object:
    stored = await gateway.get(LEASES, ObjectKey(namespace, "defaults"))
    return stored and stored["spec"]
