"""Processes that are killed at a step, and answers that were lost: one certificate for each request."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from keybearer.controllers.issuance.service import Order, OrderAnswer
from keybearer.controllers.outcome import WaitingError
from keybearer.kube.errors import (
    ConflictError,
    LeaseLostError,
    UnavailableError,
)
from tools.local.kube_api import Body
from unit.controllers.fakes.asked_signatures import (
    kubernetes,
    manager,
    pod,
)
from unit.controllers.fakes.signing_world import SigningWorld, condition


class Killed(BaseException):
    """The process ends here."""


_STEPS = ("requests_of", "issue", "after issue", "write", "after write")


@pytest.mark.parametrize("make", [manager, kubernetes, pod], ids=["cert-manager", "kubernetes", "pod"])
@pytest.mark.parametrize("step", _STEPS)
async def test_a_process_that_is_killed_at_any_step_leaves_one_certificate(
    world: SigningWorld, step: str, make: Callable[[], Body]
) -> None:
    def kill(what: str) -> None:
        if what == step:
            world.service.before = lambda _: None
            world.gateway.before = lambda *_: None
            raise Killed

    body = make()
    world.service.before = kill
    if step == "write":
        world.gateway.before = lambda verb, _: kill("write") if verb == "merge_patch" else None
    world.settle()
    found = world.show(body)
    assert found is not None
    if step == "after write":
        await world.run(found)
    else:
        with pytest.raises(Killed):
            await world.run(found)

    world.start()
    again = world.watch(world.object(body), listed=True)
    if again is not None:
        early = await world.run(again)
        if len(world.service.orders) == 0:
            assert early.requeue_after is not None, "an order of the process before may be on its way"
            world.settle()
            await world.run(again)

    assert len(world.service.orders) == 1
    status = world.object(body)["status"]
    assert {"certificate", "certificateChain"} & status.keys()


async def test_an_answer_that_was_lost_is_looked_for_before_it_is_asked_again(world: SigningWorld) -> None:
    def lose(what: str) -> None:
        if what == "after issue":
            world.service.before = lambda _: None
            raise WaitingError("ServiceUnavailable", "timed out")

    world.service.before = lose
    body = await world.sign(manager())
    found = world.watch(body)
    assert found is not None
    await world.run(found)

    assert condition(world.object(body), "Ready") == ("True", "Issued")
    assert len(world.service.orders) == 1


async def test_an_order_that_may_still_arrive_is_not_sent_again_at_once(world: SigningWorld) -> None:
    def lose(what: str) -> None:
        if what == "issue":
            raise WaitingError("ServiceUnavailable", "timed out")

    world.service.before = lose
    body = await world.sign(manager())
    world.service.before = lambda _: None
    found = world.watch(body)
    assert found is not None
    early = await world.run(found)
    assert early.requeue_after is not None
    assert world.service.orders == []

    world.settle()
    await world.run(found)
    assert len(world.service.orders) == 1


class Frozen:
    """A service that takes an order in and stands still: who sent it gives up, and it goes on later."""

    def __init__(self, world: SigningWorld) -> None:
        self._service, self._issue = world.service, world.service.issue
        self._order: Order | None = None
        world.service.issue = self._stand_still  # type: ignore[method-assign]

    async def _stand_still(self, order: Order) -> OrderAnswer:
        self._order = order
        self._service.issue = self._issue  # type: ignore[method-assign]
        raise WaitingError("ServiceUnavailable", "timed out")

    async def go_on(self) -> None:
        assert self._order is not None
        await self._issue(self._order)


@pytest.mark.parametrize("restarted", [False, True], ids=["the same process", "another process"])
@pytest.mark.parametrize("frozen_seconds", [10, 3600])
async def test_what_a_frozen_service_takes_up_when_it_goes_on_is_not_ordered_twice(
    world: SigningWorld, frozen_seconds: float, *, restarted: bool
) -> None:
    frozen = Frozen(world)
    body = await world.sign(manager())
    world.clock.seconds += frozen_seconds
    if restarted:
        world.start()
    key = world.watch(world.object(body), listed=restarted)
    assert key is not None
    # Both lie before the service when it goes on, and the look is answered first.
    early = await world.run(key)
    await frozen.go_on()
    assert early.requeue_after is not None

    world.clock.seconds += early.requeue_after.total_seconds()
    await world.run(key)

    assert condition(world.object(body), "Ready") == ("True", "Issued")
    assert len(world.service.orders) == 1


async def test_a_new_object_is_ordered_for_at_once_however_young_the_process(world: SigningWorld) -> None:
    key = world.show(manager())
    assert key is not None

    await world.run(key)

    assert len(world.service.orders) == 1


async def test_a_replica_that_no_longer_leads_orders_nothing(world: SigningWorld) -> None:
    key = world.show(manager())
    assert key is not None
    world.gateway.leads = False

    with pytest.raises(LeaseLostError):
        await world.run(key)

    assert world.service.orders == []


async def test_somebody_else_s_write_is_no_obstacle(world: SigningWorld) -> None:
    world.gateway.fail("merge_patch", "CertificateRequest", ConflictError("changed"))
    body = await world.sign(manager())
    assert condition(body, "Ready") is None

    found = world.watch(body)
    assert found is not None
    await world.run(found)

    assert condition(world.object(body), "Ready") == ("True", "Issued")
    assert len(world.service.orders) == 1


async def test_an_api_server_that_can_t_be_asked_is_asked_again(world: SigningWorld) -> None:
    world.gateway.fail("merge_patch", "CertificateRequest", UnavailableError("away"))
    world.settle()
    found = world.show(manager())
    assert found is not None

    assert (await world.run(found)).failed
    assert not (await world.run(found)).failed
    assert len(world.service.orders) == 1


async def test_a_profile_that_the_watch_has_not_shown_yet_is_awaited_in_silence(world: SigningWorld) -> None:
    profile = next(iter(world.objects))
    world.objects.end(profile.key, profile.uid)
    body = await world.sign(manager())

    assert condition(body, "Ready") is None
