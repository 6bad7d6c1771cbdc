from __future__ import annotations

import asyncio

import pytest

from keybearer.controllers.outage import ApiServerOutage
from keybearer.kube.errors import ForbiddenError, UnavailableError
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.virtual_loop import in_virtual_time, settle


class Probe:
    """An API server that is away until it is let back."""

    def __init__(self) -> None:
        self.error: Exception | None = UnavailableError("away")
        self.asked = 0

    async def __call__(self) -> str:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return "v1.36.3"


def _fail(outage: ApiServerOutage, times: int) -> None:
    for _ in range(times):
        outage.note(answered=False)


@in_virtual_time
async def test_single_failures_hold_nobody_back() -> None:
    outage = ApiServerOutage(Probe(), SteadyChance())
    for _ in range(10):
        _fail(outage, 2)
        outage.note(answered=True)

    assert not outage.lasts
    await outage.pass_by()


@in_virtual_time
async def test_work_waits_until_the_api_server_answers_again() -> None:
    probe = Probe()
    outage = ApiServerOutage(probe, SteadyChance())
    asking = asyncio.create_task(outage.run())
    _fail(outage, 3)
    waiting = asyncio.create_task(outage.pass_by())
    await asyncio.sleep(300)
    assert not waiting.done()
    assert 50 < probe.asked < 150, "it is asked every few seconds, never hot"
    probe.error = None
    await asyncio.sleep(8)

    assert waiting.done()
    assert not outage.lasts
    asking.cancel()


@in_virtual_time
async def test_a_second_outage_is_noticed_like_the_first() -> None:
    probe = Probe()
    outage = ApiServerOutage(probe, SteadyChance())
    asking = asyncio.create_task(outage.run())
    for _ in range(2):
        probe.error = UnavailableError("away")
        _fail(outage, 5)
        await asyncio.sleep(30)
        assert outage.lasts
        probe.error = None
        await asyncio.sleep(8)
        assert not outage.lasts
    asking.cancel()


@in_virtual_time
async def test_a_refusal_is_an_answer_and_a_late_failure_of_before_begins_no_new_outage() -> None:
    probe = Probe()
    probe.error = ForbiddenError("no")
    outage = ApiServerOutage(probe, SteadyChance())
    asking = asyncio.create_task(outage.run())
    _fail(outage, 3)
    await settle()
    assert not outage.lasts
    _fail(outage, 2)
    assert not outage.lasts
    asking.cancel()


@in_virtual_time
async def test_what_the_probe_did_not_foresee_is_not_swallowed() -> None:
    probe = Probe()
    probe.error = RuntimeError("a fault")
    outage = ApiServerOutage(probe, SteadyChance())
    asking = asyncio.create_task(outage.run())
    _fail(outage, 3)
    with pytest.raises(RuntimeError, match="a fault"):
        await asking
