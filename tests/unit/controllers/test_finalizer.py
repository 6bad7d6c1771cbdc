"""keybearer.controllers.finalizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import cast

import pytest

from keybearer.base.clock import Clock, format_instant
from keybearer.controllers.finalizer import FINALIZER, TRUST_FINALIZER, FinalizerKeeper
from keybearer.controllers.objects import ObservedObject, no_targets
from keybearer.controllers.outcome import ObjectGoneError
from keybearer.kube.errors import ConflictError
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import Body

_FOREIGN = "example.com/other"


class World:
    def __init__(self) -> None:
        self.gateway = FakeGateway()
        self.keeper = FinalizerKeeper(cast("Clock", HandClock()), self.gateway)
        self.looks: list[str] = []
        self.gateway.before = lambda verb, _kind: self.looks.append(verb)

    def put(
        self, finalizers: Sequence[str] = (), *, uid: str = "uid-1", status: Mapping[str, int] | None = None
    ) -> ObservedObject:
        meta: Body = {"namespace": "team-a", "name": "web", "uid": uid, "generation": 1}
        body = self.gateway.put(
            {
                "kind": "CertificateProfile",
                "metadata": {**meta, "finalizers": [*finalizers]},
                "spec": {},
                "status": None if status is None else dict(status),
            }
        )
        return ObservedObject.from_body("CertificateProfile", body, trigger_at=0.0, targets_of=no_targets)

    @property
    def finalizers(self) -> list[str]:
        body = self.gateway.find("CertificateProfile", "web")
        assert body is not None
        listed: list[str] = body["metadata"]["finalizers"]
        return listed


@pytest.fixture
def world() -> World:
    return World()


async def test_a_new_object_is_marked_without_a_look(world: World) -> None:
    await world.keeper.set(world.put([_FOREIGN]), present=True)

    assert world.finalizers == [_FOREIGN, FINALIZER]
    assert world.looks == ["merge_patch"]


async def test_marks_of_other_parts_come_with_the_same_write(world: World) -> None:
    await world.keeper.set(world.put(), present=True, besides=[TRUST_FINALIZER])

    assert world.finalizers == [FINALIZER, TRUST_FINALIZER]
    assert world.looks == ["merge_patch"]


async def test_but_they_are_no_reason_for_one(world: World) -> None:
    await world.keeper.set(world.put([FINALIZER]), present=True, besides=[TRUST_FINALIZER])

    assert world.looks == []


async def test_what_others_wrote_meanwhile_stays(world: World) -> None:
    seen = world.put()
    world.put([_FOREIGN])

    await world.keeper.set(seen, present=True)

    assert world.finalizers == [_FOREIGN, FINALIZER]
    assert world.looks == ["merge_patch", "get", "merge_patch"]


async def test_one_with_a_status_is_looked_at_first(world: World) -> None:
    """Our own write of the status brings its version, and not the finalizers that others set before it."""
    await world.keeper.set(world.put([_FOREIGN], status={"observedGeneration": 1}), present=True)

    assert world.finalizers == [_FOREIGN, FINALIZER]
    assert world.looks == ["get", "merge_patch"]


async def test_what_is_there_already_is_not_written_again(world: World) -> None:
    seen = world.put(status={"observedGeneration": 1})
    world.put([FINALIZER])

    await world.keeper.set(seen, present=True)

    assert world.looks == ["get"]


async def test_it_goes_and_others_stay(world: World) -> None:
    await world.keeper.set(world.put([FINALIZER, TRUST_FINALIZER]), present=False)

    assert world.finalizers == [TRUST_FINALIZER]


@pytest.mark.parametrize("successor", [False, True], ids=["gone", "another one"])
async def test_an_object_that_was_deleted_is_missed(world: World, *, successor: bool) -> None:
    seen = world.put()
    world.gateway.remove("CertificateProfile", "web")
    if successor:
        world.put(uid="uid-2")

    with pytest.raises(ObjectGoneError):
        await world.keeper.set(seen, present=True)


async def test_who_never_gets_a_word_in_gives_up(world: World) -> None:
    world.gateway.fail("merge_patch", "CertificateProfile", ConflictError("changed"), times=3)

    with pytest.raises(ConflictError):
        await world.keeper.set(world.put(), present=True)


@pytest.mark.parametrize(
    ("ahead_hours", "known_for_minutes", "is_over"),
    [(0, 9, False), (0, 11, True), (17, 9, False), (17, 11, True)],
    ids=["in time", "too late", "dated later, in time", "dated later, too late"],
)
def test_a_clock_that_is_behind_holds_no_object_longer(
    ahead_hours: int, known_for_minutes: int, *, is_over: bool
) -> None:
    clock = HandClock()
    keeper = FinalizerKeeper(cast("Clock", clock), FakeGateway())
    deleted_at = format_instant(clock.now() + timedelta(hours=ahead_hours))
    meta: Body = {"namespace": "team-a", "name": "web", "uid": "uid-1", "deletionTimestamp": deleted_at}
    seen = ObservedObject.from_body(
        "CertificateProfile", {"metadata": meta}, trigger_at=clock.monotonic(), targets_of=no_targets
    )
    clock.seconds += 60 * known_for_minutes

    assert (keeper.time_left(seen) is None) is is_over
