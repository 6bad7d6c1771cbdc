"""What nobody waits for any more is cancelled in the service."""

from __future__ import annotations

import pytest

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.outcome import WaitingError
from keybearer.controllers.work import WorkKey
from keybearer.kube.errors import (
    ConflictError,
    NotFoundError,
)
from support.signing_objects import (
    signer_of,
)
from tools.local.kube_api import Body
from unit.controllers.fakes.asked_signatures import (
    kubernetes,
    manager,
)
from unit.controllers.fakes.signing_world import SigningWorld, condition


def _withdraw(world: SigningWorld, body: Body) -> WorkKey:
    """Somebody deletes the object, and the watch tells so; return its key."""
    meta = body["metadata"]
    world.gateway.remove(body["kind"], meta["name"], meta["namespace"])
    world.end(body)
    return world.queued[-1]


async def test_what_nobody_waits_for_any_more_is_cancelled_in_the_service(world: SigningWorld) -> None:
    world.service.status = RequestStatus.PENDING_APPROVAL
    body = await world.sign(manager())

    await world.run(_withdraw(world, body))

    assert world.service.cancelled == ["request-1"]


async def test_what_was_withdrawn_is_cancelled_though_another_of_its_name_is_there(
    world: SigningWorld,
) -> None:
    world.service.status = RequestStatus.PENDING_APPROVAL
    body = await world.sign(manager())
    withdrawn = _withdraw(world, body)
    world.service.status = RequestStatus.ISSUED
    assert world.show(manager()) == withdrawn

    await world.run(withdrawn)

    assert world.service.cancelled == ["request-1"]
    assert len(world.service.orders) == 2
    assert condition(world.object(body), "Ready") == ("True", "Issued")


async def test_an_object_that_took_another_s_name_unseen_is_another_request(world: SigningWorld) -> None:
    """The end of the first falls into a gap of the watch; the second names another profile."""
    world.service.status = RequestStatus.PENDING_APPROVAL
    body = await world.sign(kubernetes())
    first = world.queued[-1]
    world.gateway.remove("CertificateSigningRequest", "csr-1", "")
    other = kubernetes(signer=signer_of("team-b", "web"))
    world.watch(world.gateway.put({**other, "metadata": {"namespace": "", **other["metadata"]}}), listed=True)

    assert world.requests.get(first) is None
    assert len(world.requests) == 1
    await world.run(first)

    assert world.service.cancelled == ["request-1"]
    assert len(world.service.orders) == 1
    assert body["metadata"]["name"] == "csr-1"


@pytest.mark.parametrize("is_changed", [False, True], ids=["not found", "changed, then gone"])
async def test_what_went_before_the_watch_told_so_is_cancelled_too(
    world: SigningWorld, *, is_changed: bool
) -> None:
    world.service.status = RequestStatus.PENDING_APPROVAL
    body = await world.sign(manager())
    found = world.watch(body)
    assert found is not None
    world.service.decide(RequestStatus.PENDING)
    error = ConflictError("changed") if is_changed else NotFoundError("gone")
    world.gateway.fail("merge_patch", "CertificateRequest", error)
    world.gateway.remove("CertificateRequest", body["metadata"]["name"])

    await world.run(found)
    await world.run(found)

    assert world.service.cancelled == ["request-1"]


async def test_a_request_with_its_answer_is_not_cancelled(world: SigningWorld) -> None:
    body = await world.sign(manager())
    queued = len(world.queued)

    await world.run(_withdraw(world, body))

    assert len(world.queued) == queued
    assert world.service.cancelled == []


async def test_a_service_that_can_t_cancel_is_no_obstacle(world: SigningWorld) -> None:
    def refuse(what: str) -> None:
        if what == "cancel":
            raise WaitingError("ServiceUnavailable", "away")

    world.service.status = RequestStatus.PENDING_APPROVAL
    body = await world.sign(manager())
    world.service.before = refuse

    assert not (await world.run(_withdraw(world, body))).failed
