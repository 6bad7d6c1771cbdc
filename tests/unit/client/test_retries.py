"""What is sent again, when, and what never is."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.backoff import Backoff
from keybearer.client import (
    NO_RETRIES,
    InvalidArgument,
    NotFound,
    RateLimited,
    RetryPolicy,
    Secret,
    ServerFailure,
    SuppliedToken,
    TransportError,
    UniversalAuth,
)
from keybearer.client.auth import perform
from keybearer.client.errors import TransportError as Failure
from keybearer.client.messages import Response
from keybearer.client.operation import Repeat
from keybearer.client.operations.status import GetStatus
from keybearer.client.options import ClientOptions, open_session
from keybearer.client.steps import Transmit, Wait
from unit.client.harness import FakeClock, FakeService, Reply, Runner, secret_body

STATUS = "/api/status"
WRITE = "/api/v4/secrets/A"
OK = httpx.Response(200, json={"message": "Ok"})
WRITTEN = httpx.Response(200, json={"secret": secret_body("A")})
WHO = SuppliedToken("cnry-token")
PASSING: list[Any] = [
    pytest.param(httpx.ConnectError("x"), id="no connection"),
    pytest.param(httpx.ConnectTimeout("x"), id="no connection in time"),
    pytest.param(httpx.PoolTimeout("x"), id="no free connection"),
    pytest.param(httpx.ReadTimeout("x"), id="no answer in time"),
    pytest.param(httpx.ReadError("x"), id="connection reset"),
    pytest.param(httpx.RemoteProtocolError("x"), id="connection ended"),
    pytest.param(httpx.Response(429), id="429"),
    pytest.param(httpx.Response(502), id="502"),
    pytest.param(httpx.Response(503), id="503"),
    pytest.param(httpx.Response(504), id="504"),
]


@pytest.mark.parametrize("trouble", PASSING)
async def test_a_read_is_repeated_after_trouble_that_passes(
    runner: Runner, service: FakeService, trouble: Reply
) -> None:
    service.on(STATUS, trouble, trouble, OK)
    assert await runner.of(runner.client().status.get()) == "Ok"
    assert len(service.seen) == 3
    assert len(runner.clock.slept) == 2


@pytest.mark.parametrize("status", [500, 501, 400, 404, 422, 302])
async def test_a_read_is_not_repeated_after_an_answer_that_would_come_again(
    runner: Runner, service: FakeService, status: int
) -> None:
    service.on(STATUS, httpx.Response(status), OK)
    with pytest.raises(Exception, match=str(status)):
        await runner.of(runner.client().status.get())
    assert len(service.seen) == 1


@pytest.mark.parametrize("trouble", PASSING[:3])
async def test_a_write_is_repeated_when_it_surely_was_not_sent(
    runner: Runner, service: FakeService, trouble: Reply
) -> None:
    service.on(WRITE, trouble, WRITTEN)
    client = runner.client(WHO)
    await runner.of(client.secrets.create("A", "cnry-v", project_id="p-1", environment="dev"))
    assert len(service.seen) == 2


@pytest.mark.parametrize("trouble", PASSING[3:])
async def test_a_write_that_may_have_arrived_is_never_repeated(
    runner: Runner, service: FakeService, trouble: Reply
) -> None:
    service.on(WRITE, trouble, WRITTEN)
    client = runner.client(WHO)
    writes: tuple[Callable[[], Awaitable[Secret] | Secret], ...] = (
        lambda: client.secrets.create("A", "cnry-v", project_id="p-1", environment="dev"),
        lambda: client.secrets.update("A", secret_value="cnry-v", project_id="p-1", environment="dev"),
        lambda: client.secrets.delete("A", project_id="p-1", environment="dev"),
    )
    for number, write in enumerate(writes, start=1):
        service.on(WRITE, trouble, WRITTEN)
        with pytest.raises((TransportError, RateLimited, ServerFailure)) as error:
            await runner.of(write())
        assert len(service.seen) == number
        assert error.value.is_retryable
        if isinstance(error.value, TransportError):
            assert error.value.sent


async def test_attempts_are_bounded_and_the_last_failure_is_the_error(
    runner: Runner, service: FakeService
) -> None:
    service.on(STATUS, httpx.Response(503), httpx.ReadTimeout("x"), httpx.Response(502))
    with pytest.raises(ServerFailure, match="502"):
        await runner.of(
            runner.client(options=replace(runner.options, retry=RetryPolicy(attempts=3))).status.get()
        )
    assert len(service.seen) == 3


async def test_retries_can_be_turned_off(runner: Runner, service: FakeService) -> None:
    service.on(STATUS, httpx.ConnectError("x"), OK)
    with pytest.raises(TransportError) as error:
        await runner.of(runner.client(options=replace(runner.options, retry=NO_RETRIES)).status.get())
    assert not error.value.sent
    assert runner.clock.slept == []


async def test_the_service_is_waited_for_as_long_as_it_asks(runner: Runner, service: FakeService) -> None:
    in_ten = "Sun, 01 Mar 2026 12:00:17 GMT"
    service.on(
        STATUS,
        httpx.Response(429, headers={"Retry-After": "7"}),
        httpx.Response(503, headers={"Retry-After": in_ten}),
        OK,
    )
    await runner.of(runner.client().status.get())
    assert runner.clock.slept == [7.0, 10.0]


async def test_a_service_that_asks_for_too_long_a_wait_is_not_pressed(
    runner: Runner, service: FakeService
) -> None:
    service.on(STATUS, httpx.Response(429, headers={"Retry-After": "31"}), OK)
    with pytest.raises(RateLimited) as error:
        await runner.of(runner.client().status.get())
    assert error.value.retry_after == timedelta(seconds=31)
    assert len(service.seen) == 1


async def test_waits_grow_and_are_jittered(runner: Runner, service: FakeService) -> None:
    service.on(STATUS, httpx.Response(503))
    policy = RetryPolicy(
        attempts=6, backoff=Backoff(floor=timedelta(seconds=1), ceiling=timedelta(seconds=8), jitter=0.5)
    )
    with pytest.raises(ServerFailure):
        await runner.of(runner.client(options=replace(runner.options, retry=policy)).status.get())
    slept = runner.clock.slept
    assert len(slept) == 5
    assert all(whole / 2 <= wait <= whole for wait, whole in zip(slept, (1, 2, 4, 8, 8), strict=True))
    assert slept != [1, 2, 4, 8, 8]


async def test_an_answer_of_another_kind_ends_the_retries(runner: Runner, service: FakeService) -> None:
    service.on(STATUS, httpx.Response(503), httpx.Response(404, json={"message": "Route not found"}))
    with pytest.raises(NotFound):
        await runner.of(runner.client().status.get())


async def test_an_argument_that_makes_no_request_logs_nobody_in(runner: Runner, service: FakeService) -> None:
    service.on("/api/v1/auth/universal-auth/login", OK)
    client = runner.client(UniversalAuth("id", "cnry-secret"))
    with pytest.raises(InvalidArgument):
        await runner.of(client.secrets.update("A", project_id="p-1", environment="dev"))
    assert service.seen == []


OUTCOMES = st.one_of(
    st.builds(Response, st.integers(200, 599), st.just({}), st.just(b"")),
    st.builds(lambda sent, again: Failure("x", sent=sent, is_retryable=again), st.booleans(), st.booleans()),
)


@given(st.sampled_from(Repeat), OUTCOMES, st.integers(1, 10), st.integers(1, 10))
def test_no_write_that_may_have_arrived_is_ever_sent_again(
    repeat: Repeat, outcome: Response | Failure, tries: int, attempts: int
) -> None:
    policy = RetryPolicy(attempts=attempts)
    now = datetime(2026, 3, 1, tzinfo=UTC)
    wait = policy.wait(repeat, outcome, tries, now=now, rng=random.Random(1))  # noqa: S311 - jitter
    if wait is not None:
        assert tries < attempts
        assert timedelta() <= wait <= policy.longest_wait
        assert repeat is Repeat.FREELY or (isinstance(outcome, Failure) and not outcome.sent)
        assert isinstance(outcome, Failure) or outcome.status in {429, 502, 503, 504}


def test_the_logic_of_a_call_can_be_taken_step_by_step() -> None:
    """No network, no clock, no event loop: the steps are asked for, and answered by hand."""
    session = open_session(None, ClientOptions(clock=FakeClock(), process_env={}))
    steps: Generator[Any, Any, str] = perform(session, GetStatus())
    first = next(steps)
    assert isinstance(first, Transmit)
    assert (str(first.request), first.bearer) == ("GET /api/status", None)
    pause = steps.send(Failure("reset", sent=True))
    assert isinstance(pause, Wait)
    assert steps.send(None) == first
    with pytest.raises(StopIteration) as end:
        steps.send(Response(200, {}, b'{"message": "Ok"}'))
    assert end.value.value == "Ok"
