from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keybearer.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    KubeError,
    LeaseLostError,
    NotFoundError,
    UnavailableError,
)
from keybearer.kube.gateway import Gateway
from keybearer.kube.lease import LeaseKeeper
from keybearer.kube.lease_state import LeaseClaim
from keybearer.kube.resources import LEASES, JsonObject, ObjectKey, Resource
from support.virtual_time import VirtualTime

KEY = ObjectKey("keybearer", "operator")


class LeaseServer:
    """One Lease with the optimistic locking of the API server."""

    def __init__(self) -> None:
        self.lease: JsonObject | None = None
        self.failure: KubeError | None = None
        self.writes = 0
        self._versions = itertools.count(1)

    @property
    def spec(self) -> JsonObject:
        assert self.lease is not None
        return cast("JsonObject", self.lease["spec"])

    async def get(self, resource: Resource, key: ObjectKey) -> JsonObject | None:
        await self._arrive(resource, key)
        return self.lease

    async def create(self, resource: Resource, key: ObjectKey, body: JsonObject) -> JsonObject:
        await self._arrive(resource, key)
        if self.lease is not None:
            raise AlreadyExistsError("exists")
        return self._store(cast("JsonObject", body["spec"]))

    async def merge_patch(
        self, resource: Resource, key: ObjectKey, patch: JsonObject, *, resource_version: str
    ) -> JsonObject:
        await self._arrive(resource, key)
        if self.lease is None:
            raise NotFoundError("gone")
        if self.lease["metadata"] != {"resourceVersion": resource_version}:
            raise ConflictError("changed")
        return self._store({**self.spec, **cast("JsonObject", patch["spec"])})

    def touch(self) -> None:
        """Change the resourceVersion alone, as someone who sets a label does."""
        if self.lease is not None:
            self._store(self.spec)
            self.writes -= 1

    async def _arrive(self, resource: Resource, key: ObjectKey) -> None:
        assert (resource, key) == (LEASES, KEY)
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure

    def _store(self, spec: JsonObject) -> JsonObject:
        self.writes += 1
        metadata: JsonObject = {"resourceVersion": str(next(self._versions))}
        self.lease = {"metadata": metadata, "spec": spec}
        return {"metadata": metadata}


class Claimant:
    """A process that wants the Lease: takes it, holds it, until it is killed, frozen or ended."""

    def __init__(self, server: LeaseServer, time: VirtualTime, identity: str) -> None:
        self.identity = identity
        self.frozen = False
        self._time = time
        self.keeper = LeaseKeeper(
            cast("Gateway", self._through(server)),
            LeaseClaim(KEY, identity),
            clock=time,
            rng=random.Random(identity),  # noqa: S311 - spreads attempts
            sleep=time.sleep,
        )
        self.task = asyncio.create_task(self._live())

    async def _live(self) -> None:
        await self.keeper.acquire()
        await self.keeper.hold()

    def _through(self, server: LeaseServer) -> object:
        claimant = self

        class Door:
            """Lets nothing through while the process is frozen."""

            def __getattr__(self, verb: str) -> Callable[..., Awaitable[object]]:
                async def call(*args: object, **kwargs: object) -> object:
                    while claimant.frozen:
                        await claimant._time.sleep(0.1)
                    return await getattr(server, verb)(*args, **kwargs)

                return call

        return Door()

    def may_write(self) -> bool:
        return self.keeper.is_held

    async def end(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError, KubeError):
            await self.task


class Elsewhere:
    """The clocks of a machine that is a day ahead and was booted earlier."""

    def __init__(self, time: VirtualTime) -> None:
        self._time = time

    def now(self) -> datetime:
        return self._time.now() + timedelta(days=1)

    def monotonic(self) -> float:
        return self._time.monotonic() + 777

    def boottime(self) -> float:
        return self._time.boottime() + 99_999


async def test_the_first_takes_it_and_the_second_waits() -> None:
    time, server = VirtualTime(), LeaseServer()
    one, two = Claimant(server, time, "one"), Claimant(server, time, "two")
    await time.advance(60)

    assert one.may_write()
    assert not two.may_write()
    assert server.spec["holderIdentity"] == "one"
    assert server.spec["leaseTransitions"] == 0
    one.keeper.check()
    with pytest.raises(LeaseLostError, match="keybearer/operator"):
        two.keeper.check()
    await one.end()
    await two.end()


async def test_a_holder_that_ends_in_good_order_is_followed_within_one_retry() -> None:
    time, server = VirtualTime(), LeaseServer()
    one, two = Claimant(server, time, "one"), Claimant(server, time, "two")
    await time.advance(30)
    await one.end()

    assert server.spec["holderIdentity"] == ""
    assert not one.may_write()
    await time.advance(2.4)
    assert two.may_write()
    assert server.spec["leaseTransitions"] == 1
    await two.end()


async def test_a_holder_that_dies_is_followed_after_the_duration_and_not_before() -> None:
    time, server = VirtualTime(), LeaseServer()
    one, two = Claimant(server, time, "one"), Claimant(server, time, "two")
    await time.advance(30)
    one.frozen = True

    await time.advance(12)
    assert not two.may_write()
    await time.advance(6)
    assert two.may_write()
    one.frozen = False
    await one.end()
    await two.end()


async def test_a_lease_that_runs_out_is_taken_at_that_instant_not_at_the_next_look() -> None:
    time, server = VirtualTime(), LeaseServer()
    one, two = Claimant(server, time, "one"), Claimant(server, time, "two")
    await time.advance(30)
    seen_at = two.keeper._election.free_at - 15
    while two.keeper._election.free_at - 15 == seen_at:
        await time.advance(0.01)
    one.frozen = True
    free_at = two.keeper._election.free_at

    await time.advance(free_at - time.boottime() - 0.01)
    assert not two.may_write()
    await time.advance(0.11)
    assert two.may_write()
    one.frozen = False
    await one.end()
    await two.end()


async def test_a_standby_bears_the_refusals_of_a_server_that_begins_but_not_for_ever() -> None:
    time, server = VirtualTime(), LeaseServer()
    one, two = Claimant(server, time, "one"), Claimant(server, time, "two")
    await time.advance(30)
    for _ in range(3):
        server.failure = ForbiddenError("no rules read yet")
        await time.advance(8)
        server.failure = None
        await time.advance(30)
    assert not two.task.done()
    assert one.may_write()

    server.failure = ForbiddenError("no right to leases any more")
    await time.advance(70)
    assert isinstance(two.task.exception(), ForbiddenError)
    await one.end()


async def test_a_holder_that_was_frozen_may_not_write_when_it_wakes() -> None:
    time, server = VirtualTime(), LeaseServer()
    one, two = Claimant(server, time, "one"), Claimant(server, time, "two")
    await time.advance(30)
    one.frozen = True
    await time.advance(30)
    one.frozen = False

    with pytest.raises(LeaseLostError):
        one.keeper.check()
    await time.advance(5)
    assert isinstance(one.task.exception(), LeaseLostError)
    assert two.may_write()
    await two.end()


async def test_a_server_that_is_away_ends_the_writing_after_the_deadline() -> None:
    time, server = VirtualTime(), LeaseServer()
    one = Claimant(server, time, "one")
    await time.advance(30)
    server.failure = UnavailableError("away")

    await time.advance(7)
    assert one.may_write(), "a short absence is survived"
    await time.advance(5)
    assert not one.may_write()
    await time.advance(3)
    assert isinstance(one.task.exception(), LeaseLostError)


async def test_a_server_that_comes_back_in_the_last_moment_finds_the_holder_there() -> None:
    time, server = VirtualTime(), LeaseServer()
    one = Claimant(server, time, "one")
    await time.advance(30)
    server.failure = UnavailableError("away")
    await time.advance(one.keeper._election.may_write_until - time.boottime() - 0.5)
    server.failure = None
    await time.advance(5)

    assert one.may_write()
    await one.end()


async def test_a_server_that_comes_back_in_time_changes_nothing() -> None:
    time, server = VirtualTime(), LeaseServer()
    one = Claimant(server, time, "one")
    await time.advance(30)
    for _ in range(5):
        server.failure = UnavailableError("away")
        await time.advance(6)
        server.failure = None
        await time.advance(3)
        assert one.may_write()
    await one.end()


async def test_a_lease_that_was_touched_or_deleted_by_hand_is_kept() -> None:
    time, server = VirtualTime(), LeaseServer()
    one = Claimant(server, time, "one")
    await time.advance(5)
    server.touch()
    await time.advance(9)
    assert one.may_write()
    server.lease = None
    await time.advance(9)

    assert one.may_write()
    assert server.spec["holderIdentity"] == "one"
    await one.end()


async def test_a_lease_that_was_given_to_another_by_hand_is_lost_at_the_next_renewal() -> None:
    time, server = VirtualTime(), LeaseServer()
    one = Claimant(server, time, "one")
    await time.advance(5)
    server.lease = {"metadata": {"resourceVersion": "x"}, "spec": {**server.spec, "holderIdentity": "other"}}
    await time.advance(5)

    assert isinstance(one.task.exception(), LeaseLostError)
    assert not one.may_write()


async def test_holding_costs_one_request_in_two_seconds() -> None:
    time, server = VirtualTime(), LeaseServer()
    one = Claimant(server, time, "one")
    await time.advance(60)

    assert 25 <= server.writes <= 31
    await one.end()


async def test_a_right_that_is_missing_is_told_at_once() -> None:
    time, server = VirtualTime(), LeaseServer()
    server.failure = ForbiddenError("no right to leases")
    one = Claimant(server, time, "one")
    await time.advance(0)

    assert isinstance(one.task.exception(), ForbiddenError)


async def test_a_standby_waits_out_a_server_that_is_away() -> None:
    time, server = VirtualTime(), LeaseServer()
    server.failure = UnavailableError("away")
    one = Claimant(server, time, "one")
    await time.advance(600)
    server.failure = None
    await time.advance(3)

    assert one.may_write()
    await one.end()


async def test_a_restarted_process_of_the_same_identity_goes_on_at_once() -> None:
    time, server = VirtualTime(), LeaseServer()
    before = Claimant(server, time, "one")
    await time.advance(5)
    before.frozen = True
    after = Claimant(server, time, "one")
    await time.advance(0)

    assert after.may_write()
    before.frozen = False
    await before.end()
    await after.end()


async def test_clocks_of_the_wall_that_differ_by_a_day_change_nothing() -> None:
    time, server = VirtualTime(), LeaseServer()
    one = Claimant(server, time, "one")
    await time.advance(5)
    ahead = Claimant(server, time, "two")
    ahead.keeper._clock = Elsewhere(time)
    await time.advance(60)

    assert one.may_write()
    assert server.spec["holderIdentity"] == "one"
    await one.end()
    await ahead.end()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["freeze", "thaw", "away", "back", "touch"]), st.integers(0, 2), st.floats(0, 20)
        ),
        max_size=25,
    )
)
def test_at_no_instant_may_two_write(steps: list[tuple[str, int, float]]) -> None:
    asyncio.run(_play(steps))


async def _play(steps: list[tuple[str, int, float]]) -> None:
    time, server = VirtualTime(), LeaseServer()
    claimants = [Claimant(server, time, name) for name in ("one", "two", "three")]
    for what, number, pause in steps:
        match what:
            case "freeze" | "thaw":
                claimants[number].frozen = what == "freeze"
            case "away":
                server.failure = UnavailableError("away")
            case "back":
                server.failure = None
            case _:
                server.touch()
        passed = 0.0
        while passed <= pause:
            await time.advance(0.5)
            passed += 0.5
            assert sum(claimant.may_write() for claimant in claimants) <= 1
    for claimant in claimants:
        claimant.frozen = False
        await claimant.end()
