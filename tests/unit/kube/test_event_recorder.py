from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import cast

import pytest

from keybearer.kube.errors import ForbiddenError, KubeError, NotFoundError
from keybearer.kube.event_recorder import EventCounts, EventRecorder
from keybearer.kube.events import ObjectReference, Occurrence
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import (
    CERTIFICATE_SIGNING_REQUESTS,
    EVENTS,
    NAMESPACES,
    SECRET_SYNCS,
    JsonObject,
    ObjectKey,
    Resource,
)
from support.virtual_time import VirtualTime

SYNC = ObjectReference(SECRET_SYNCS, ObjectKey("team-a", "db"), "u1")


def occurrence(message: str = "no answer", regarding: ObjectReference = SYNC) -> Occurrence:
    return Occurrence(regarding, "Warning", "ServiceUnavailable", "Reconcile", message)


class FakeGateway:
    """Keeps what is posted; fails as often as told."""

    def __init__(self) -> None:
        self.stored: dict[ObjectKey, JsonObject] = {}
        self.failures: list[KubeError] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def create(self, resource: Resource, key: ObjectKey, body: JsonObject) -> JsonObject:
        assert resource is EVENTS
        await self._fail_or_wait()
        self.stored[key] = body
        return {}

    async def merge_patch(self, resource: Resource, key: ObjectKey, patch: JsonObject) -> JsonObject:
        assert resource is EVENTS
        await self._fail_or_wait()
        if key not in self.stored:
            raise NotFoundError("gone")
        self.stored[key] = {**self.stored[key], **patch}
        return {}

    async def _fail_or_wait(self) -> None:
        await self.gate.wait()
        if self.failures:
            raise self.failures.pop(0)


class Desk:
    """A recorder at work, on a clock of the test's."""

    def __init__(self) -> None:
        self.gateway = FakeGateway()
        self.time = VirtualTime(datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC))
        self.idle = asyncio.Event()
        self.idle.set()
        self.recorder = EventRecorder(
            cast("Gateway", self.gateway), instance="pod-1", clock=self.time, idle=self._until_idle
        )

    async def _until_idle(self) -> None:
        await self.idle.wait()

    async def work_off(self) -> None:
        task = asyncio.create_task(self.recorder.run())
        await self.time.settle()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_an_event_says_what_happened_to_what() -> None:
    desk = Desk()
    desk.recorder.record(occurrence())
    await desk.work_off()

    ((key, body),) = desk.gateway.stored.items()
    assert key.namespace == "team-a"
    assert key.name.startswith("db.")
    assert body == {
        "eventTime": "2026-03-01T12:00:00.123456Z",
        "reportingController": "keybearer.dev/operator",
        "reportingInstance": "pod-1",
        "type": "Warning",
        "reason": "ServiceUnavailable",
        "action": "Reconcile",
        "note": "no answer",
        "regarding": {
            "apiVersion": "keybearer.dev/v1alpha1",
            "kind": "SecretSync",
            "namespace": "team-a",
            "name": "db",
            "uid": "u1",
        },
    }
    assert desk.recorder.counts == EventCounts(posted=1)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("db", "db"),
        ("db.prod-1", "db.prod-1"),
        ("Ann@example.com #1", "ann-example.com--1"),
        ("system:node:a", "system-node-a"),
        ("-a.-b-", "a.b"),
        ("@", "object"),
        ("a" * 229 + ".b", "a" * 229),
    ],
)
async def test_an_event_has_a_valid_name_whatever_its_object_is_called(name: str, stem: str) -> None:
    desk = Desk()
    about = ObjectReference(CERTIFICATE_SIGNING_REQUESTS, ObjectKey("", name), "u1")
    desk.recorder.record(occurrence(regarding=about))
    await desk.work_off()

    ((key, body),) = desk.gateway.stored.items()
    assert key.name.rpartition(".")[0] == stem
    assert cast("dict[str, str]", body["regarding"])["name"] == name


async def test_an_event_about_what_lives_in_no_namespace_is_kept_in_default() -> None:
    desk = Desk()
    desk.recorder.record(occurrence(regarding=ObjectReference(NAMESPACES, ObjectKey("", "team-a"), "u9")))
    await desk.work_off()

    ((key, body),) = desk.gateway.stored.items()
    assert key.namespace == "default"
    assert body["regarding"] == {"apiVersion": "v1", "kind": "Namespace", "name": "team-a", "uid": "u9"}


async def test_a_repetition_raises_the_count_of_the_first_and_further_ones_wait() -> None:
    desk = Desk()
    for _ in range(3):
        desk.recorder.record(occurrence())
    await desk.work_off()

    (body,) = desk.gateway.stored.values()
    assert body["series"] == {"count": 2, "lastObservedTime": "2026-03-01T12:00:00.123456Z"}
    assert desk.recorder.counts == EventCounts(posted=1, repeated=1, held_back=1)


async def test_an_event_that_has_expired_is_posted_anew() -> None:
    desk = Desk()
    desk.recorder.record(occurrence())
    await desk.work_off()
    desk.gateway.stored.clear()
    desk.recorder.record(occurrence())
    await desk.work_off()

    (body,) = desk.gateway.stored.values()
    assert "series" not in body
    assert desk.recorder.counts == EventCounts(posted=2)


async def test_an_event_waits_until_the_work_pauses() -> None:
    desk = Desk()
    desk.idle.clear()
    desk.recorder.record(occurrence())
    task = asyncio.create_task(desk.recorder.run())
    await desk.time.settle()
    assert not desk.gateway.stored
    desk.idle.set()
    await desk.time.settle()

    assert len(desk.gateway.stored) == 1
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_the_event_that_waits_is_posted_at_the_end_before_the_others() -> None:
    desk = Desk()
    desk.idle.clear()
    for number in range(3):
        desk.recorder.record(occurrence(f"message {number}"))
    await desk.work_off()

    assert [body["note"] for body in desk.gateway.stored.values()] == [f"message {n}" for n in range(3)]


async def test_an_event_that_has_waited_long_enough_is_posted_whatever_else_goes_on() -> None:
    desk = Desk()
    desk.idle.clear()
    desk.recorder.record(occurrence())
    await desk.time.advance(2.0)
    task = asyncio.create_task(desk.recorder.run())
    await desk.time.settle()

    assert len(desk.gateway.stored) == 1
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_refusal_is_counted_and_the_next_is_tried() -> None:
    desk = Desk()
    desk.gateway.failures = [ForbiddenError("no"), ForbiddenError("no")]
    for message in ("a", "b", "c"):
        desk.recorder.record(occurrence(message))
    await desk.work_off()

    assert [body["note"] for body in desk.gateway.stored.values()] == ["c"]
    assert desk.recorder.counts == EventCounts(posted=1, failed=2)


async def test_what_could_not_be_posted_is_no_series() -> None:
    desk = Desk()
    desk.gateway.failures = [ForbiddenError("no")]
    desk.recorder.record(occurrence())
    desk.recorder.record(occurrence())
    await desk.work_off()

    assert desk.recorder.counts == EventCounts(posted=1, failed=1)


async def test_a_flood_about_one_object_is_held_back() -> None:
    desk = Desk()
    for number in range(100):
        desk.recorder.record(occurrence(str(number)))
    await desk.work_off()

    assert len(desk.gateway.stored) == 25
    assert desk.recorder.counts == EventCounts(posted=25, held_back=75)


async def test_a_recorder_that_cannot_post_neither_waits_nor_grows() -> None:
    desk = Desk()
    for number in range(5000):
        desk.recorder.record(occurrence(str(number)))

    assert desk.recorder.counts == EventCounts(overflowed=5000 - 1024)


async def test_what_is_queued_when_it_is_cancelled_is_still_posted() -> None:
    desk = Desk()
    desk.gateway.gate.clear()
    task = asyncio.create_task(desk.recorder.run())
    desk.recorder.record(occurrence("cut off"))
    await desk.time.settle()
    desk.recorder.record(occurrence("queued"))
    task.cancel()
    desk.gateway.gate.set()
    with suppress(asyncio.CancelledError):
        await task

    assert [body["note"] for body in desk.gateway.stored.values()] == ["queued"]


async def test_long_texts_are_cut_to_what_the_api_server_accepts() -> None:
    desk = Desk()
    about = ObjectReference(SECRET_SYNCS, ObjectKey("team-a", "n" * 253), "u1")
    desk.recorder.record(Occurrence(about, "Normal", "R" * 300, "A" * 300, "ü" * 1000))
    await desk.work_off()

    ((key, body),) = desk.gateway.stored.items()
    assert len(key.name) <= 253
    assert (len(str(body["reason"])), len(str(body["action"]))) == (128, 128)
    assert body["note"] == "ü" * 512
