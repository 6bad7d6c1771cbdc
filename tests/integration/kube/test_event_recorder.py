from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import pytest

from keybearer.base.clock import SystemClock
from keybearer.kube.event_recorder import EventCounts, EventRecorder
from keybearer.kube.events import ObjectReference, Occurrence
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import CONFIG_MAPS, EVENTS, JsonObject, ObjectKey
from support.async_waiting import until
from tools.controlplane.controlplane import ControlPlane

pytestmark = pytest.mark.integration


async def at_once() -> None:
    """There is no work that Events could hold up."""


async def about(gateway: Gateway, key: ObjectKey) -> ObjectReference:
    stored = await gateway.create(CONFIG_MAPS, key, {})
    metadata = stored["metadata"]
    assert isinstance(metadata, dict)
    return ObjectReference(CONFIG_MAPS, key, str(metadata["uid"]))


async def post(
    recorder: EventRecorder, *occurrences: Occurrence, done: Callable[[EventCounts], bool]
) -> None:
    task = asyncio.create_task(recorder.run())
    for occurrence in occurrences:
        recorder.record(occurrence)

    async def is_done() -> bool:
        return done(recorder.counts)

    await until(is_done, awaited="every Event posted, counted or failed")
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def events_in(gateway: Gateway, namespace: str) -> list[JsonObject]:
    return [item async for item in gateway.list(EVENTS, namespace)]


async def test_an_event_reads_in_kubectl_and_repetitions_are_counted_in_it(
    control_plane: ControlPlane, gateway: Gateway, namespace: str
) -> None:
    regarding = await about(gateway, ObjectKey(namespace, "db"))
    occurrence = Occurrence(
        regarding, "Warning", "ServiceUnavailable", "Reconcile", "the service does not answer"
    )
    recorder = EventRecorder(gateway, instance="pod-1", clock=SystemClock(), idle=at_once)
    await post(recorder, *[occurrence] * 2, done=lambda counts: counts.posted + counts.repeated == 2)

    (event,) = await events_in(gateway, namespace)
    series = event["series"]
    assert isinstance(series, dict)
    assert series["count"] == 2
    shown = await asyncio.to_thread(
        control_plane.kubectl, "describe", "configmap", "db", f"--namespace={namespace}"
    )
    assert "ServiceUnavailable" in shown
    assert "x2 over" in shown
    assert "the service does not answer" in shown


async def test_the_longest_texts_are_accepted(gateway: Gateway, namespace: str) -> None:
    regarding = await about(gateway, ObjectKey(namespace, "n" * 253))
    occurrence = Occurrence(regarding, "Normal", "R" * 400, "A" * 400, "ü" * 2000)
    recorder = EventRecorder(gateway, instance="i" * 400, clock=SystemClock(), idle=at_once)
    await post(recorder, occurrence, done=lambda counts: counts.posted + counts.failed == 1)

    assert recorder.counts == EventCounts(posted=1)


async def test_an_event_that_was_deleted_is_posted_anew(gateway: Gateway, namespace: str) -> None:
    regarding = await about(gateway, ObjectKey(namespace, "db"))
    occurrence = Occurrence(regarding, "Normal", "Synced", "Apply", "done")
    recorder = EventRecorder(gateway, instance="pod-1", clock=SystemClock(), idle=at_once)
    await post(recorder, occurrence, done=lambda counts: counts.posted == 1)
    (event,) = await events_in(gateway, namespace)
    metadata = event["metadata"]
    assert isinstance(metadata, dict)
    await gateway.delete(EVENTS, ObjectKey(namespace, str(metadata["name"])), uid=str(metadata["uid"]))
    await post(recorder, occurrence, done=lambda counts: counts.posted == 2)

    assert len(await events_in(gateway, namespace)) == 1


async def test_events_about_a_namespace_that_does_not_exist_fail_without_harm(
    gateway: Gateway, namespace: str
) -> None:
    lost = ObjectReference(CONFIG_MAPS, ObjectKey(f"{namespace}-not", "db"), "u1")
    found = await about(gateway, ObjectKey(namespace, "db"))
    recorder = EventRecorder(gateway, instance="pod-1", clock=SystemClock(), idle=at_once)
    await post(
        recorder,
        Occurrence(lost, "Normal", "Synced", "Apply", "done"),
        Occurrence(found, "Normal", "Synced", "Apply", "done"),
        done=lambda counts: counts.posted + counts.failed == 2,
    )

    assert recorder.counts == EventCounts(posted=1, failed=1)
