from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from keybearer.base.backoff import Backoff
from keybearer.controllers.intake import EventIntake
from keybearer.controllers.objects import KindReading, ObjectStore, ObservedObject, TargetKey
from keybearer.controllers.observed_targets import ObservedStore
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.secretsync.targets import targets_of
from keybearer.controllers.settings import OperatorSettings
from keybearer.controllers.target.observed import observe_target
from keybearer.controllers.target_resync import TargetResync
from keybearer.controllers.work import Lane
from keybearer.kube.errors import GoneError, UnavailableError
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import FINGERPRINTER, Body, desired, new_spec, stored
from unit.controllers.fakes.virtual_loop import in_virtual_time

_WEB = TargetKey("Secret", "team-a", "web")


class Desk:
    def __init__(self, *namespaces: str) -> None:
        self.gateway = FakeGateway()
        self.objects, self.observed = ObjectStore(), ObservedStore()
        backoff = Backoff(timedelta(seconds=5), timedelta(minutes=5))
        self.queue = WorkQueue(HandClock(), backoff, SteadyChance())
        intake = EventIntake(
            HandClock(),
            self.queue,
            self.objects,
            self.observed,
            FINGERPRINTER,
            {"SecretSync": KindReading(targets_of)},
            lambda _: None,
        )
        self.resync = TargetResync(
            self.gateway,
            self.objects,
            self.observed,
            self.queue,
            intake,
            OperatorSettings(namespaces=namespaces),
            SteadyChance(),
        )

    def sync(self, own_name: str, **target: str) -> None:
        meta = {"namespace": "team-a", "name": own_name, "uid": own_name}
        body: Body = {"metadata": meta, "spec": {"target": target}}
        self.objects.put(ObservedObject.from_body("SecretSync", body, trigger_at=0, targets_of=targets_of))

    def target(self, kind: str = "Secret", name: str = "web") -> Body:
        """Let a target exist, and be seen."""
        body = self.gateway.put(stored(desired(new_spec(kind=kind, name=name), {"A": "cnry-a"}).body))
        self.see(kind, body)
        return body

    def see(self, kind: str, body: Body) -> None:
        self.observed.put(observe_target(kind, body, FINGERPRINTER))

    def called(self) -> list[str]:
        """Return who is on the queue."""
        assert self.queue.depth()[Lane.URGENT] == len(self.queue)
        return sorted(key.name for key in self.queue._waiting)


async def test_targets_that_are_there_call_nobody() -> None:
    desk = Desk()
    desk.sync("web")
    desk.target()
    desk.target("ConfigMap", "config")

    await desk.resync.resync()
    assert desk.called() == []


async def test_a_target_that_vanished_unseen_calls_all_its_writers() -> None:
    desk = Desk()
    desk.sync("web")
    desk.sync("other", name="web")
    desk.sync("config", kind="ConfigMap")
    desk.target()
    desk.target("ConfigMap", "config")
    desk.gateway.remove("Secret", "web")

    await desk.resync.resync()
    assert desk.called() == ["other", "web"]
    assert desk.observed.get(_WEB) is None


async def test_a_target_that_was_replaced_unseen_has_vanished_too() -> None:
    desk = Desk()
    desk.sync("web")
    body = desk.target()
    body["metadata"]["uid"] = "another-uid"

    await desk.resync.resync()
    assert desk.called() == ["web"]


async def test_a_target_that_was_edited_unseen_is_taken_in_and_calls_its_writers() -> None:
    desk = Desk()
    desk.sync("web")
    edited = desk.gateway.put(desk.target() | {"data": {"A": "Y25yeS14"}})

    await desk.resync.resync()
    assert desk.called() == ["web"]
    seen = desk.observed.get(_WEB)
    assert seen is not None
    assert seen.resource_version == edited["metadata"]["resourceVersion"]


async def test_an_edit_that_the_watch_showed_meanwhile_is_not_read_again() -> None:
    desk = Desk()
    desk.sync("web")
    edited = desk.gateway.put(desk.target() | {"data": {"A": "Y25yeS14"}})

    def show(_: str, kind: str) -> None:
        if kind == "ConfigMap":
            desk.see("Secret", edited)

    desk.gateway.before = show

    await desk.resync.resync()
    assert desk.called() == []


async def test_a_target_that_lost_our_label_is_no_longer_watched_and_so_has_vanished() -> None:
    desk = Desk()
    desk.sync("web")
    desk.target()["metadata"]["labels"] = {}

    await desk.resync.resync()
    assert desk.called() == ["web"]


async def test_what_the_watch_showed_while_the_list_came_in_is_newer_than_the_list() -> None:
    desk = Desk()
    desk.sync("web")
    body = desk.target()
    desk.gateway.remove("Secret", "web")

    def recreate(_: str, kind: str) -> None:
        if kind == "ConfigMap":  # the Secrets were listed already
            desk.see("Secret", {**body, "metadata": {**body["metadata"], "uid": "new-uid"}})

    desk.gateway.before = recreate

    await desk.resync.resync()
    assert desk.called() == []
    assert desk.observed.get(_WEB) is not None


async def test_a_target_that_appeared_during_the_resync_is_none_of_its_business() -> None:
    desk = Desk()
    desk.sync("web")

    def appear(_: str, kind: str) -> None:
        if kind == "ConfigMap":
            desk.see("Secret", stored(desired(new_spec(), {"A": "cnry-a"}).body))

    desk.gateway.before = appear

    await desk.resync.resync()
    assert desk.called() == []


async def test_an_operator_of_some_namespaces_lists_only_those() -> None:
    desk = Desk("team-a", "team-b")
    desk.sync("web")
    desk.target()

    await desk.resync.resync()
    assert desk.called() == []


@pytest.mark.parametrize(
    "error", [UnavailableError("no answer"), GoneError("expired")], ids=["outage", "expired"]
)
@in_virtual_time
async def test_a_resync_that_fails_is_tried_again_and_drops_nothing(error: UnavailableError) -> None:
    desk = Desk()
    desk.sync("web")
    desk.target()
    desk.gateway.remove("Secret", "web")
    desk.gateway.fail("list", "ConfigMap", error)
    resyncing = asyncio.create_task(desk.resync.run())
    await asyncio.sleep(330)
    assert desk.called() == []
    await asyncio.sleep(300)

    assert desk.called() == ["web"]
    resyncing.cancel()
    with suppress(asyncio.CancelledError):
        await resyncing
