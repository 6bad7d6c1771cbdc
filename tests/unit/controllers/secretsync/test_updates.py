"""How a SecretSync shows the way in which changes arrive."""

from __future__ import annotations

import pytest

from keybearer.controllers.event_feed import RefusalKind
from unit.controllers.fakes.source_session import FakeSession, listing
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import new_world


@pytest.mark.parametrize(
    ("shown", "known", "then_shown"),
    [
        pytest.param(None, None, "Polling", id="what isn't known yet is polling at first"),
        pytest.param(None, True, "Events", id="events at once"),
        pytest.param(False, True, "Events", id="from polling to events"),
        pytest.param(True, False, "Polling", id="from events to polling"),
        pytest.param(True, None, "Events", id="as before while it isn't known"),
    ],
)
def test_the_status_says_how_changes_arrive(shown: bool | None, known: bool | None, then_shown: str) -> None:  # noqa: FBT001 - of the table
    @in_virtual_time
    async def check() -> None:
        async with new_world(FakeSession(listing("cnry-v"))) as world:
            world.put_sync()
            world.follower.others = shown
            await world.reconcile()
            world.follower.others = known
            await world.reconcile()
            assert world.status["updates"] == then_shown

    check()


@in_virtual_time
async def test_what_isn_t_known_again_after_a_restart_writes_no_status() -> None:
    async with new_world(FakeSession(listing("cnry-v"))) as world:
        world.put_sync()
        world.follower.others = True
        await world.reconcile()
        world.written()
        world.follower.others = None
        await world.reconcile()
        assert world.written() == []


@pytest.mark.parametrize(
    ("why", "told"),
    [
        pytest.param(RefusalKind.DENIED, "EventsDenied", id="a right that is missing"),
        pytest.param(RefusalKind.UNAVAILABLE, "EventsUnavailable", id="a service without events"),
        pytest.param(RefusalKind.CROWDED, "TooManyStreams", id="too many streams"),
        pytest.param(RefusalKind.FAILED, "EventsFailed", id="an attempt that failed"),
    ],
)
def test_the_status_says_why_changes_are_polled(why: RefusalKind, told: str) -> None:
    @in_virtual_time
    async def check() -> None:
        async with new_world(FakeSession(listing("cnry-v"))) as world:
            world.put_sync()
            world.follower.others, world.follower.why = False, why
            await world.reconcile()
            assert (world.status["updates"], world.status["pollingReason"]) == ("Polling", told)
            world.follower.others = None
            await world.reconcile()
            assert world.status["pollingReason"] == told
            world.follower.others = True
            await world.reconcile()
            assert (world.status["updates"], world.status.get("pollingReason")) == ("Events", None)

    check()
