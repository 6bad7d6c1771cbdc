from __future__ import annotations

import asyncio
import copy
from contextlib import suppress
from datetime import timedelta

import pytest

from keybearer.base.backoff import Backoff
from keybearer.controllers.intake import EventIntake
from keybearer.controllers.object_resync import ObjectResync
from keybearer.controllers.objects import KindReading, ObjectStore, TargetKey
from keybearer.controllers.observed_targets import ObservedStore
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.settings import OperatorSettings
from keybearer.controllers.work import Lane, WorkKey
from keybearer.kube.errors import GoneError, UnavailableError
from keybearer.kube.resources import ObjectKey
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import FINGERPRINTER, Body, desired, new_spec, stored
from unit.controllers.fakes.virtual_loop import in_virtual_time

_KINDS = ("SecretSync", "AppConnection", "CertificateProfile")


class Desk:
    """A cluster, and what is known of it."""

    def __init__(self, *namespaces: str) -> None:
        self.gateway = FakeGateway()
        self.objects, self.observed = ObjectStore(), ObservedStore()
        clock = HandClock()
        self.queue = WorkQueue(clock, Backoff(timedelta(seconds=5), timedelta(minutes=5)), SteadyChance())
        self.forgotten: list[str] = []
        self.intake = EventIntake(
            clock,
            self.queue,
            self.objects,
            self.observed,
            FINGERPRINTER,
            dict.fromkeys(_KINDS, KindReading()),
            lambda key: self.forgotten.append(key.name),
        )
        settings = OperatorSettings(namespaces=namespaces)
        self.resync = ObjectResync(self.gateway, self.objects, self.intake, settings, SteadyChance())

    def put(self, name: str, kind: str = "SecretSync", *, namespace: str = "team-a") -> Body:
        """An object is made or changed, and no watch tells so."""
        before = self.gateway.find(kind, name, namespace)
        meta = {"namespace": namespace, "name": name} if before is None else before["metadata"]
        generation = int(meta.get("generation", 0)) + 1
        return self.gateway.put(
            {"kind": kind, "metadata": {**meta, "generation": generation}, "spec": {"n": generation}}
        )

    def show(self, body: Body, event_type: str = "MODIFIED") -> None:
        """A watch tells of an object."""
        self.intake.custom_resource(body["kind"], event_type, body)

    def held(self) -> dict[str, int]:
        """Return the generation of each object that is held."""
        return {one.key.name: one.generation for one in self.objects}

    def queued(self) -> set[str]:
        """Return who is on the queue."""
        return {key.name for key in self.queue._waiting}


@in_virtual_time
async def test_what_was_made_changed_or_deleted_unseen_is_found_and_looked_at() -> None:
    desk = Desk()
    for name in ("same", "changed", "deleted"):
        desk.show(desk.put(name))
    desk.put("made")
    desk.put("changed")
    desk.gateway.remove("SecretSync", "deleted")
    for key in [WorkKey("SecretSync", "team-a", name) for name in ("same", "changed", "deleted")]:
        desk.queue.forget(key)
    await desk.resync.resync()

    assert desk.held() == {"same": 1, "changed": 2, "made": 1}
    assert desk.queued() == {"changed", "made"}
    assert desk.forgotten == ["deleted"]


@in_virtual_time
async def test_every_kind_is_looked_at_in_every_served_namespace_and_in_no_other() -> None:
    desk = Desk("team-a", "team-b")
    for kind in _KINDS:
        desk.put(kind.lower(), kind, namespace="team-b")
        desk.put("others", kind, namespace="elsewhere")
    await desk.resync.resync()

    assert desk.held() == {kind.lower(): 1 for kind in _KINDS}


@in_virtual_time
async def test_an_object_that_was_replaced_unseen_is_another_one() -> None:
    desk = Desk()
    former = desk.put("web")
    desk.show(former)
    desk.gateway.remove("SecretSync", "web")
    new = desk.put("web")
    await desk.resync.resync()

    assert desk.forgotten == ["web"]
    assert desk.objects.find(new["metadata"]["uid"]) == WorkKey("SecretSync", "team-a", "web")
    assert desk.objects.find(former["metadata"]["uid"]) is None


@in_virtual_time
async def test_what_a_watch_tells_while_the_list_comes_in_is_newer_than_the_list() -> None:
    desk = Desk()
    for name in ("edited", "deleted"):
        desk.show(desk.put(name))
    deleted = desk.gateway.find("SecretSync", "deleted")
    assert deleted is not None
    listing = desk.gateway.identities

    async def late(*given: object, **more: object) -> object:
        listed = await listing(*given, **more)  # type: ignore[arg-type] # what it was called with
        if listed.objects:
            desk.show(desk.put("made"), "ADDED")
            desk.show(desk.put("edited"))
            desk.show(deleted, "DELETED")
            desk.gateway.remove("SecretSync", "deleted")
        return listed

    desk.gateway.identities = late  # type: ignore[method-assign, assignment] # with an event in between
    await desk.resync.resync()

    assert desk.held() == {"made": 1, "edited": 2}
    assert desk.gateway.reads == []


@in_virtual_time
async def test_an_event_that_is_under_way_is_awaited_before_the_object_is_read() -> None:
    desk = Desk()
    body = desk.put("web")
    resyncing = asyncio.create_task(desk.resync.resync())
    await asyncio.sleep(1)
    desk.show(body, "ADDED")
    await resyncing

    assert desk.gateway.reads == []
    assert desk.held() == {"web": 1}


@in_virtual_time
async def test_the_late_event_of_an_object_that_a_list_lacked_brings_no_ghost_back() -> None:
    desk = Desk()
    never_seen, seen = desk.put("never-seen"), desk.put("seen")
    desk.show(seen)
    for name in ("never-seen", "seen"):
        desk.gateway.remove("SecretSync", name)
    await desk.resync.resync()
    for body in (never_seen, seen):
        desk.show(body)

    assert desk.held() == {}
    desk.show(desk.put("never-seen"), "ADDED")
    assert desk.held() == {"never-seen": 1}


@in_virtual_time
async def test_an_object_that_was_taken_for_gone_and_is_there_is_found_again() -> None:
    desk = Desk()
    body = desk.put("web")
    desk.show(body)
    desk.objects.end(WorkKey("SecretSync", "team-a", "web"), body["metadata"]["uid"])
    await desk.resync.resync()

    assert desk.held() == {"web": 1}
    assert desk.queued() == {"web"}


@in_virtual_time
async def test_after_a_restore_of_the_cluster_nothing_that_was_known_counts() -> None:
    desk = Desk()
    lost, kept, back = desk.put("lost"), desk.put("kept"), desk.put("back")
    for body in (lost, kept, back):
        desk.show(body)
    desk.show(back, "DELETED")
    desk.gateway.restore()
    desk.gateway.remove("SecretSync", "lost")
    for body in (kept, back):
        desk.gateway.put(body)
    await desk.resync.resync()

    assert desk.held() == {"kept": 1, "back": 1}
    desk.show(desk.put("kept"))
    assert desk.held() == {"kept": 2, "back": 1}


@in_virtual_time
async def test_a_restore_that_goes_on_with_higher_versions_is_noticed_by_an_object_that_is_older() -> None:
    """As by `etcdutl snapshot restore --bump-revision`: objects are of before, and the list is newer than all."""
    desk = Desk()
    of_before = copy.deepcopy(desk.put("edited"))
    same = desk.put("same")
    desk.show(of_before)
    desk.show(same)
    desk.show(desk.put("edited"))
    assert desk.held() == {"edited": 2, "same": 1}
    desk.gateway.objects["SecretSync", ObjectKey("team-a", "edited")] = of_before
    await desk.resync.resync()

    assert desk.held() == {"edited": 1, "same": 1}
    assert desk.queued() == {"edited", "same"}


@in_virtual_time
async def test_after_a_restore_nothing_is_believed_of_targets() -> None:
    desk = Desk()
    body = desk.put("web")
    desk.show(body)
    secret = stored(desired(new_spec(), {"A": "cnry-1"}).body)
    desk.intake.target_listed("Secret", secret)
    desk.observed.expect(TargetKey("Secret", "team-a", "web"), "as planned")
    desk.gateway.restore()
    desk.gateway.put(body)
    await desk.resync.resync()

    assert len(desk.observed) == 0
    assert desk.queued() == {"web"}


@in_virtual_time
async def test_our_own_write_while_the_list_comes_in_is_no_restore() -> None:
    desk = Desk()
    body = desk.put("web")
    desk.show(body)
    listing = desk.gateway.identities

    async def late(*given: object, **more: object) -> object:
        listed = await listing(*given, **more)  # type: ignore[arg-type] # what it was called with
        meta = desk.put("web")["metadata"]
        key = WorkKey("SecretSync", "team-a", "web")
        desk.objects.put_status(key, meta["uid"], b'{"x":1}', meta["resourceVersion"])
        return listed

    desk.gateway.identities = late  # type: ignore[method-assign, assignment] # with a write in between
    await desk.resync.resync()

    assert desk.forgotten == []
    assert desk.held() == {"web": 1}


@pytest.mark.parametrize(
    "error", [UnavailableError("no answer"), GoneError("expired")], ids=["outage", "expired"]
)
@in_virtual_time
async def test_a_resync_that_fails_drops_nothing_and_comes_again(error: UnavailableError) -> None:
    desk = Desk()
    desk.show(desk.put("web"))
    desk.gateway.remove("SecretSync", "web")
    desk.gateway.fail("list", "SecretSync", error)
    resyncing = asyncio.create_task(desk.resync.run())
    await asyncio.sleep(305)
    assert desk.held() == {"web": 1}
    await asyncio.sleep(300)

    assert desk.held() == {}
    resyncing.cancel()
    with suppress(asyncio.CancelledError):
        await resyncing


@in_virtual_time
async def test_a_resync_that_is_asked_for_comes_soon() -> None:
    desk = Desk()
    desk.put("web")
    resyncing = asyncio.create_task(desk.resync.run())
    await asyncio.sleep(1)
    desk.resync.ask()
    await asyncio.sleep(10)

    assert desk.held() == {"web": 1}
    assert desk.queue.is_waiting(Lane.FIRST)
    resyncing.cancel()
    with suppress(asyncio.CancelledError):
        await resyncing
