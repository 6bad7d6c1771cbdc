"""A run costs few transactions: what it needs to know is one snapshot, and what it did is noted at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from keybearer.domain.syncs.jobs import SyncQueue
from keybearer.domain.syncs.queueing import queue
from keybearer.domain.syncs.run import Run
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind, JobStatus
from support.sync_scene import SyncScene

pytestmark = pytest.mark.every_database


@dataclass(frozen=True)
class Transactions:
    reading: int
    writing: int


class Meter:
    """Counts the transactions that begin within a block."""

    def __init__(self, scene: SyncScene) -> None:
        self._tallies = scene.database.tallies
        self.counted: list[Transactions] = []

    @contextmanager
    def counting(self) -> Iterator[None]:
        before = self._now()
        yield
        now = self._now()
        self.counted.append(Transactions(now.reading - before.reading, now.writing - before.writing))

    def _now(self) -> Transactions:
        return Transactions(sum(self._tallies.read_waits.counts), sum(self._tallies.write_waits.counts))


async def run_one(scene: SyncScene, meter: Meter) -> None:
    """Claim, perform and end the job that waits; each is counted by itself."""
    jobs = SyncQueue(scene.database, scene.clock, scene.terms)
    with meter.counting():
        (begun,) = await jobs.claim(1)
    with meter.counting():
        done = await Run(scene.pushing(), begun).perform()
    with meter.counting():
        await jobs.end(begun, done)


async def test_a_push_of_new_names_reads_twice_and_announces_them_once(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1", B="cnry-2")
    sync_id = await scene.sync(project)
    meter = Meter(scene)
    await run_one(scene, meter)
    # The second reading asks, after the listing, what other syncs wrote to the same place.
    assert meter.counted == [Transactions(0, 1), Transactions(2, 1), Transactions(0, 1)]
    assert (await scene.progress(sync_id)).status == JobStatus.SUCCEEDED


async def test_a_push_of_a_changed_value_reads_once_and_writes_only_its_end(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1", B="cnry-2")
    sync_id = await scene.sync(project)
    await run_one(scene, Meter(scene))
    await scene.put(project, A="cnry-3")
    # As a change queues it: nobody asked for a listing.
    async with scene.database.writing() as unit:
        sync = await unit.secret_syncs.get(sync_id)
        assert sync is not None
        await queue(unit, sync, JobKind.SYNC, {}, scene.clock.now())
    meter = Meter(scene)
    await run_one(scene, meter)
    assert meter.counted == [Transactions(0, 1), Transactions(1, 0), Transactions(0, 1)]
    assert await scene.pushed(sync_id) == ["A", "B"]
    await scene.holds(scene.remotes["one"], A="cnry-3", B="cnry-2")
