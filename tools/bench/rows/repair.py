"""Somebody edits or deletes a Secret that is ours: how long until it is right again.

The watch alone keeps the time. A sample starts when the damage is first known to be done (its answer, or its
event, whichever is earlier) and ends with the event of a Secret with the right bytes.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import orjson

from tools.bench.coldsync import Running, settle, synced, with_operator
from tools.bench.errors import NotInTimeError
from tools.bench.figures import Bar, Figure, Others, RowResult
from tools.bench.floor_run import PreparedFloor, prepared_floor
from tools.bench.kube import MERGE_PATCH, secret_path
from tools.bench.observer import Observer, Sighting
from tools.bench.options import Options
from tools.bench.population import populate, remove
from tools.bench.rows.cold import warm_up
from tools.bench.samples import Summary, summarize
from tools.bench.stage import Stage, open_stage
from tools.bench.workload import Key, encoded

__all__ = ["first_right_after", "first_right_after_deletion", "run"]

_PATIENCE_SECONDS = 30.0
_ROUNDS = 8
_PROBES = 2
_BARE = "one bare write"
_EDIT = {"data": {"KEY_0": "ZWRpdGVk"}}  # "edited"


@dataclass(slots=True)
class _Samples:
    """Milliseconds; infinite where the Secret was not right again in time."""

    edited: list[float] = field(default_factory=list)
    deleted: list[float] = field(default_factory=list)


def first_right_after(trail: list[Sighting], damage: int) -> Sighting | None:
    """Return the first sighting of the right bytes in a version younger than the damage, if there is one."""
    return next((one for one in trail if one.right and one.resource_version > damage), None)


def first_right_after_deletion(trail: list[Sighting]) -> Sighting | None:
    """Return the first sighting of the right bytes after the deletion was seen, if there is one."""
    gone = next((one for one in trail if one.kind == "DELETED"), None)
    return first_right_after(trail, gone.resource_version) if gone else None


async def run(options: Options, _earlier: Mapping[str, RowResult]) -> RowResult:
    """Damage Secrets one after the other at rest, and two at a time while a cold sync runs."""
    async with open_stage(options, "repair") as stage:
        await warm_up(stage)
        at_rest = await _at_rest(stage)
        bare = await _bare_writes(stage)
        busy, rounds = await _during_cold_syncs(stage)
    figures = (
        _p50("edited Secret restored at rest", at_rest.edited),
        _p99("edited Secret restored at rest", at_rest.edited, Others("32 ms", "never")),
        _p50("deleted Secret recreated at rest", at_rest.deleted),
        _p99("deleted Secret recreated at rest", at_rest.deleted, Others("60 ms", "never within 1 h")),
        _p50("edited Secret restored during a cold sync", busy.edited, bare),
        _p99(
            "edited Secret restored during a cold sync",
            busy.edited,
            Others("25 s in overload", "never"),
            bare,
        ),
        _p50("deleted Secret recreated during a cold sync", busy.deleted, bare),
        _p99(
            "deleted Secret recreated during a cold sync",
            busy.deleted,
            Others("never within 60 s in overload", "never within 1 h"),
            bare,
        ),
    )
    all_samples = [*at_rest.edited, *at_rest.deleted, *busy.edited, *busy.deleted]
    notes = (
        f"at rest: {len(at_rest.edited)} edits, {len(at_rest.deleted)} deletions, one at a time",
        f"in {rounds} cold syncs: {len(busy.edited)} edits, {len(busy.deleted)} deletions, two at a time",
        f"not right again within {_PATIENCE_SECONDS:g} s: {sum(map(math.isinf, all_samples))}",
    )
    return RowResult("repair", "Edited and deleted Secrets are put right", figures, notes)


def _p50(what: str, samples: list[float], bare: Summary | None = None) -> Figure:
    return Figure(
        f"{what}: p50",
        "ms",
        ours=summarize(samples).p50,
        floor=bare.p50 if bare else None,
        floor_name=_BARE if bare else "",
    )


def _p99(what: str, samples: list[float], others: Others, bare: Summary | None = None) -> Figure:
    return Figure(
        f"{what}: p99",
        "ms",
        ours=summarize(samples).p99,
        floor=bare.p99 if bare else None,
        floor_name=_BARE if bare else "",
        bar=Bar("p99 ≤ 50 ms", 50),
        others=others,
    )


async def _bare_writes(stage: Stage) -> Summary:
    """Return milliseconds of single writes while the floor writes: what the busy API server alone takes."""
    samples: list[float] = []
    async with prepared_floor(stage) as floor, asyncio.TaskGroup() as group:
        namespace, _ = floor.first
        group.create_task(floor.run(), name="floor")
        for number in range(_PROBES):
            bystander = (namespace, f"bystander-{number}")
            group.create_task(_write_meanwhile(stage, bystander, floor, samples), name=bystander[1])
    return summarize(samples)


async def _write_meanwhile(stage: Stage, key: Key, floor: PreparedFloor, samples: list[float]) -> None:
    api = stage.cluster.api
    metadata = {"name": key[1]}
    await api.send("POST", secret_path(key[0]), {"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    await floor.started.wait()
    while not floor.finished.is_set():
        started = time.monotonic()
        edit = {"data": encoded({"KEY_0": str(started)})}
        await api.send("PATCH", secret_path(*key), edit, content_type=MERGE_PATCH)
        samples.append((time.monotonic() - started) * 1000)


async def _at_rest(stage: Stage) -> _Samples:
    samples = _Samples()
    workload = stage.workload("rest")
    async with synced(stage, workload) as (running, _):
        await settle(running)
        targets = iter(list(running.observer.secret_at) * 2)  # small workloads are damaged again
        for _ in range(stage.options.repairs):
            samples.edited.append(await _edit(running, next(targets)))
            samples.deleted.append(await _delete(running, next(targets)))
    await remove(stage.cluster.api, workload)
    return samples


async def _during_cold_syncs(stage: Stage) -> tuple[_Samples, int]:
    """Enough samples of each kind, from as many cold syncs as it takes, but not without end."""
    samples = _Samples()
    rounds = 0
    while rounds < _ROUNDS and min(len(samples.edited), len(samples.deleted)) < stage.options.repairs:
        rounds += 1
        workload = stage.workload("busy")
        await populate(stage.cluster.api, workload, stage.identity)
        async with with_operator(stage, workload) as running:
            async with asyncio.TaskGroup() as group:
                victims = _Victims(running.observer)
                for number in range(_PROBES):
                    group.create_task(_damage(running, victims, samples, turn=number), name=f"probe {number}")
            await running.observer.until_complete(stage.options.deadline_seconds)
        await remove(stage.cluster.api, workload)
    return samples, rounds


class _Victims:
    """Secrets that are in sync already while others are not; each is given out once."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._taken: set[Key] = set()

    def take(self) -> Key | None:
        """Return one that was not taken yet, if there is one."""
        for key in self._observer.secret_at:
            if key not in self._taken:
                self._taken.add(key)
                return key
        return None


async def _damage(running: Running, victims: _Victims, samples: _Samples, turn: int) -> None:
    """Edit and delete by turns, until everything is in sync."""
    observer = running.observer
    while not observer.complete:
        key = victims.take()
        if key is None:
            await _another(observer, running.stage.options.deadline_seconds)
            continue
        turn += 1
        if turn % 2:
            samples.edited.append(await _edit(running, key))
        else:
            samples.deleted.append(await _delete(running, key))


async def _another(observer: Observer, within_seconds: float) -> None:
    """One more Secret is right, or all are."""
    seen = len(observer.secret_at)
    await observer.until(
        lambda: len(observer.secret_at) > seen or observer.complete,
        "another Secret",
        within_seconds,
        observer.missing,
    )


async def _edit(running: Running, key: Key) -> float:
    """Return milliseconds from an edit until the Secret was right again."""
    observer = running.observer
    trail = observer.follow(key)
    answer = await running.stage.cluster.api.send("PATCH", secret_path(*key), _EDIT, content_type=MERGE_PATCH)
    done = time.monotonic()
    version = int(orjson.loads(answer)["metadata"]["resourceVersion"])
    try:
        restored = await _restored(observer, key, lambda: first_right_after(trail, version))
    finally:
        observer.unfollow(key)
    seen = [one.at for one in trail if one.resource_version == version]
    return (restored - min([done, *seen])) * 1000


async def _delete(running: Running, key: Key) -> float:
    """Return milliseconds from a deletion until a right Secret was there again."""
    observer = running.observer
    trail = observer.follow(key)
    await running.stage.cluster.api.send("DELETE", secret_path(*key))
    done = time.monotonic()
    try:
        restored = await _restored(observer, key, lambda: first_right_after_deletion(trail))
    finally:
        observer.unfollow(key)
    seen = [one.at for one in trail if one.kind == "DELETED"]
    return (restored - min([done, *seen])) * 1000


async def _restored(observer: Observer, key: Key, look: Callable[[], Sighting | None]) -> float:
    """Return when it was seen; infinity when it was not in time."""
    try:
        await observer.until(
            lambda: look() is not None,
            "a Secret right again",
            _PATIENCE_SECONDS,
            lambda: [f"{key[0]}/{key[1]}"],
        )
    except NotInTimeError:
        return math.inf
    restored = look()
    return restored.at if restored else math.inf
