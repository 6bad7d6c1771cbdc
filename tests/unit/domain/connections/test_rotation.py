"""Credentials made anew, cut off between any two steps, and by two processes at once."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from keybearer.destinations.app import App, Rotation
from keybearer.destinations.catalogue import Catalogue
from keybearer.destinations.cloud_app import CLOUD
from keybearer.destinations.cloud_credentials import AccessKeyCredentials, AssumeRoleCredentials
from keybearer.destinations.remote import RemoteDeniedError, RemoteError, RemoteUnavailableError
from keybearer.destinations.session import Session
from keybearer.domain.connections.credentials import credentials_of, retiring_of
from keybearer.domain.connections.proving import Proving
from keybearer.domain.connections.requests import AppConnectionChange, NewAppConnection
from keybearer.domain.connections.rotation import ConnectionRotation
from keybearer.domain.connections.rotation_terms import NEVER, Terms, next_rotation
from keybearer.domain.connections.service import AppConnections
from keybearer.domain.errors import InvalidError
from keybearer.domain.outbound import OutboundSettings, outbound_of
from keybearer.store.app_connections import AppConnection, OpenedConnection
from keybearer.store.sealing.envelope import UnsealError
from keybearer.store.tables.app_connections import AppConnectionRow
from keybearer.wire.credentials import Credentials
from support.databases import OwnDatabase
from support.service_domain import ServiceDomain, service_domain

START = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
EVERY_WEEK = Terms(is_automatic=True, interval_days=7, hour=3, minute=15)
CREDENTIALS = "auth methods"


@dataclass
class Clock:
    """Goes on when told."""

    instant: datetime = START

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return (self.instant - START).total_seconds()

    def boottime(self) -> float:
        return self.monotonic()


class PowerFailureError(BaseException):
    """The process is gone; nothing in it catches this."""


@dataclass
class Cloud:
    """A remote with users' keys, at most two at a time, as the real one has it.

    Attributes:
        keys: that work.
        fails: raised in place of the next step of that name.
        dies_after: the step after which the process is gone.
        after_renewal: what happens right after a key was made.
    """

    keys: set[str] = field(default_factory=lambda: {"key-0"})
    fails: dict[str, list[Exception]] = field(default_factory=dict)
    dies_after: str = ""
    after_renewal: Callable[[], Awaitable[None]] | None = None
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def check(self, session: Session) -> None:
        self._demand(session.credentials)

    async def renew(self, session: Session) -> Credentials:
        self._fail("renew")
        self._demand(session.credentials)
        if len(self.keys) >= 2:
            raise RemoteDeniedError("LimitExceeded")
        new = key(f"key-{next(self._numbers)}")
        self.keys.add(new.access_key_id)
        self._die("renew")
        if self.after_renewal is not None:
            await self.after_renewal()
        return new

    async def retire(self, session: Session, old: Credentials) -> None:
        self._fail("retire")
        self._demand(session.credentials)
        assert isinstance(old, AccessKeyCredentials)
        self.keys.discard(old.access_key_id)
        self._die("retire")

    def _demand(self, credentials: Credentials) -> None:
        assert isinstance(credentials, AccessKeyCredentials)
        if credentials.access_key_id not in self.keys:
            raise RemoteDeniedError("InvalidClientTokenId")

    def _fail(self, step: str) -> None:
        if self.fails.get(step):
            raise self.fails[step].pop()

    def _die(self, step: str) -> None:
        if self.dies_after == step:
            self.dies_after = ""
            raise PowerFailureError


def key(key_id: str) -> AccessKeyCredentials:
    return AccessKeyCredentials(access_key_id=key_id, secret_access_key=f"cnry-{key_id}")


@dataclass
class World:
    """A service with one remote, and one connection to it."""

    domain: ServiceDomain
    clock: Clock
    cloud: Cloud
    connections: AppConnections
    rotation: ConnectionRotation
    model: App

    async def connect(self, terms: Terms = NEVER, *, name: str = "c") -> AppConnection:
        new = NewAppConnection(self.model, "access-key", name, None, None, key("key-0"), terms)
        return (await self.connections.create(self.domain.admin, new)).connection

    async def opened(self, connection: AppConnection) -> OpenedConnection:
        async with self.domain.database.reading() as unit:
            found = await unit.app_connections.opened(connection.id)
        assert found is not None
        return found

    async def key_of(self, connection: AppConnection) -> str:
        credentials = credentials_of(self.model, await self.opened(connection))
        assert isinstance(credentials, AccessKeyCredentials)
        return credentials.access_key_id

    async def rotate(self, connection: AppConnection) -> AppConnection:
        return (await self.rotation.rotate(self.domain.admin, self.model, connection.id)).connection


@pytest.fixture
async def world(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[World]:
    async with service_domain(tmp_path, own_database.engine_url(tmp_path)) as domain:
        clock, cloud = Clock(), Cloud()
        asked = replace(
            CLOUD,
            check=cloud.check,
            rotation=Rotation(cloud.renew, cloud.retire),
        )
        catalogue = Catalogue((), (asked,))
        proving = Proving(outbound_of(OutboundSettings(), clock).remotes)
        connections = AppConnections(domain.database, catalogue, proving, clock)
        rotation = ConnectionRotation(domain.database, catalogue, connections, proving, clock)
        yield World(domain, clock, cloud, connections, rotation, asked)


async def test_on_demand_the_new_key_is_kept_and_the_old_one_is_gone(world: World) -> None:
    made = await world.connect()
    rotated = await world.rotate(made)
    assert world.cloud.keys == {"key-1"} == {await world.key_of(made)}
    assert (rotated.rotation_status, rotated.last_rotation_message, rotated.next_rotation_at) == (
        "success",
        None,
        None,
    )
    assert rotated.credentials_hash != made.credentials_hash
    assert (rotated.version, rotated.shown) == (2, {"accessKeyId": "key-1"})
    await world.rotate(made)
    assert world.cloud.keys == {"key-2"}


async def test_by_itself_it_happens_when_it_is_time_and_not_before(world: World) -> None:
    made = await world.connect(EVERY_WEEK)
    due = datetime(2026, 3, 8, 3, 15, tzinfo=UTC)
    assert made.next_rotation_at == due
    world.clock.instant = due - timedelta(milliseconds=1)
    assert await world.rotation.rotate_due() == 0
    world.clock.instant = due + timedelta(minutes=2)
    assert await world.rotation.rotate_due() == 1
    after = (await world.opened(made)).connection
    assert (after.rotation_status, after.next_rotation_at) == ("success", due + timedelta(days=7))
    assert world.cloud.keys == {"key-1"}
    assert await world.rotation.rotate_due() == 0


async def test_a_remote_that_refuses_is_told_and_asked_again_in_an_hour(world: World) -> None:
    made = await world.connect(EVERY_WEEK)
    assert made.next_rotation_at is not None
    world.clock.instant = made.next_rotation_at
    world.cloud.fails["renew"] = [RemoteUnavailableError("the remote answers 503")]
    await world.rotation.rotate_due()
    failed = (await world.opened(made)).connection
    assert failed.rotation_status == "failed"
    assert failed.last_rotation_message is not None
    assert failed.last_rotation_message.startswith("the remote answers 503; see whether the host")
    assert failed.next_rotation_at == world.clock.instant + timedelta(hours=1)
    assert failed.credentials_hash == made.credentials_hash
    world.clock.instant += timedelta(hours=1)
    assert await world.rotation.rotate_due() == 1
    assert (await world.opened(made)).connection.rotation_status == "success"
    assert world.cloud.keys == {"key-1"}


async def test_after_a_failure_somebody_may_try_again_at_once(world: World) -> None:
    made = await world.connect()
    world.cloud.fails["renew"] = [RemoteDeniedError("AccessDenied")]
    with pytest.raises(InvalidError, match="Unable to rotate credentials: verify credentials: AccessDenied"):
        await world.rotate(made)
    assert (await world.rotate(made)).rotation_status == "success"


@pytest.mark.parametrize("error", [RemoteUnavailableError("away"), TimeoutError()], ids=["away", "slow"])
async def test_an_old_key_that_could_not_be_withdrawn_is_withdrawn_later(
    world: World, error: Exception
) -> None:
    made = await world.connect()
    world.cloud.fails["retire"] = [error]
    with pytest.raises(InvalidError, match="in use, but the former ones are not withdrawn yet"):
        await world.rotate(made)
    assert world.cloud.keys == {"key-0", "key-1"}
    assert await world.key_of(made) == "key-1", "which works"
    assert await world.rotation.rotate_due() == 0, "not at once"
    world.clock.instant += timedelta(hours=1)
    assert await world.rotation.rotate_due() == 1
    assert world.cloud.keys == {"key-1"}, "no other one was made"
    after = await world.opened(made)
    assert (after.connection.rotation_status, after.retiring, after.connection.next_rotation_at) == (
        "success",
        None,
        None,
    )
    assert await world.rotation.rotate_due() == 0


@pytest.mark.parametrize("terms", [NEVER, EVERY_WEEK], ids=["on demand", "by itself"])
async def test_a_process_that_dies_before_the_old_key_is_gone_leaves_that_to_the_next(
    world: World, terms: Terms
) -> None:
    made = await world.connect(terms)
    world.clock.instant = made.next_rotation_at or START
    world.cloud.dies_after = "retire"
    with pytest.raises(PowerFailureError):
        await (world.rotation.rotate_due() if terms.is_automatic else world.rotate(made))
    left = await world.opened(made)
    assert retiring_of(world.model, left) == key("key-0")
    assert await world.rotation.rotate_due() == 0, "the other process may be there still"
    world.clock.instant += timedelta(minutes=5)
    world.cloud.keys.add("key-0")  # as if it had died before
    assert await world.rotation.rotate_due() == 1
    assert (await world.opened(made)).retiring is None
    if not terms.is_automatic:
        assert world.cloud.keys == {"key-1"}
    assert await world.key_of(made) in world.cloud.keys
    assert "key-0" not in world.cloud.keys


async def test_a_process_that_dies_before_the_new_key_is_kept_leaves_a_connection_that_works(
    world: World,
) -> None:
    made = await world.connect(EVERY_WEEK)
    assert made.next_rotation_at is not None
    world.clock.instant = made.next_rotation_at
    world.cloud.dies_after = "renew"
    with pytest.raises(PowerFailureError):
        await world.rotation.rotate_due()
    assert await world.key_of(made) == "key-0"
    world.clock.instant += timedelta(minutes=5)
    await world.rotation.rotate_due()
    told = (await world.opened(made)).connection
    assert (told.rotation_status, told.last_rotation_message) == (
        "failed",
        "verify credentials: LimitExceeded",
    )
    world.cloud.keys.remove("key-1")  # as somebody does who reads that
    await world.rotate(made)
    assert world.cloud.keys == {"key-2"}


async def test_two_processes_never_rotate_the_same_connection(world: World) -> None:
    made = await world.connect(EVERY_WEEK)
    assert made.next_rotation_at is not None
    world.clock.instant = made.next_rotation_at
    others = [
        ConnectionRotation(
            world.domain.database,
            world.rotation._catalogue,
            world.connections,
            world.rotation._proving,
            world.clock,
        )
        for _ in range(4)
    ]
    counts = await asyncio.gather(*(one.rotate_due() for one in others))
    assert sum(counts) == 1
    assert world.cloud.keys == {"key-1"}


async def test_what_another_has_rotated_since_it_was_found_due_is_left_alone(world: World) -> None:
    made = await world.connect(EVERY_WEEK)
    assert made.next_rotation_at is not None
    now = made.next_rotation_at
    world.clock.instant = now
    async with world.domain.database.reading() as unit:
        assert await unit.app_connections.due_for_rotation(now, 10) == [made.id]
    assert await world.rotation.rotate_due() == 1

    async with world.domain.database.writing() as unit:
        later = now + timedelta(minutes=5)
        assert not await unit.app_connections.hold_rotation(made.id, now, later, only_if_due=True)


async def test_who_asks_while_it_is_under_way_is_told_so(world: World) -> None:
    made = await world.connect()
    now = world.clock.now()
    async with world.domain.database.writing() as unit:
        assert await unit.app_connections.hold_rotation(
            made.id, now, now + timedelta(minutes=5), only_if_due=False
        )
    with pytest.raises(InvalidError, match="being rotated already"):
        await world.rotate(made)
    world.clock.instant += timedelta(minutes=5)
    await world.rotate(made)


async def test_credentials_that_somebody_gave_meanwhile_stay(world: World) -> None:
    made = await world.connect()
    cloud = world.cloud

    async def somebody_gives_another_key() -> None:
        cloud.keys.add("key-of-somebody")
        given: Mapping[str, Credentials] = {"access-key": key("key-of-somebody")}
        await world.connections.update(
            world.domain.admin, world.model, made.id, AppConnectionChange(credentials=given)
        )

    cloud.after_renewal = somebody_gives_another_key
    with pytest.raises(InvalidError, match="was changed meanwhile"):
        await world.rotate(made)
    assert await world.key_of(made) == "key-of-somebody"
    assert "key-1" not in cloud.keys, "nobody would know of it"


async def test_a_person_who_gives_credentials_ends_what_was_left_over(world: World) -> None:
    made = await world.connect()
    world.cloud.fails["retire"] = [RemoteUnavailableError("away")]
    with pytest.raises(InvalidError):
        await world.rotate(made)
    change = AppConnectionChange(credentials={"access-key": key("key-1")})
    await world.connections.update(world.domain.admin, world.model, made.id, change)
    assert (await world.opened(made)).retiring is None


async def test_credentials_of_another_method_are_refused(world: World) -> None:
    made = await world.connect()
    role = AssumeRoleCredentials(role_arn="arn:aws:iam::123456789012:role/r")
    change = AppConnectionChange(credentials={"assume-role": role})
    with pytest.raises(
        InvalidError, match="Invalid credential format for AWS Connection with method access-key"
    ):
        await world.connections.update(world.domain.admin, world.model, made.id, change)


class TestTerms:
    async def test_they_need_a_method_that_can(self, world: World) -> None:
        role = AssumeRoleCredentials(role_arn="arn:aws:iam::123456789012:role/r")
        new = NewAppConnection(world.model, "assume-role", "r", None, None, role, EVERY_WEEK)
        with pytest.raises(InvalidError, match="not supported for AWS Connections with method assume-role"):
            await world.connections.create(world.domain.admin, new)

    async def test_by_itself_needs_a_time(self, world: World) -> None:
        with pytest.raises(InvalidError, match="needs a rotation"):
            await world.connect(Terms(is_automatic=True))

    async def test_they_can_be_given_changed_and_ended(self, world: World) -> None:
        made = await world.connect()

        async def change(asked: AppConnectionChange) -> AppConnection:
            view = await world.connections.update(world.domain.admin, world.model, made.id, asked)
            return view.connection

        begun = await change(AppConnectionChange(is_auto_rotation_enabled=True, rotation=EVERY_WEEK))
        assert begun.next_rotation_at == datetime(2026, 3, 8, 3, 15, tzinfo=UTC)
        world.clock.instant += timedelta(days=1)
        assert (await change(AppConnectionChange(name="other"))).next_rotation_at == begun.next_rotation_at
        assert (
            await change(AppConnectionChange(is_auto_rotation_enabled=True))
        ).next_rotation_at == begun.next_rotation_at
        daily = await change(AppConnectionChange(rotation=Terms(interval_days=1, hour=0, minute=0)))
        assert (daily.is_auto_rotation_enabled, daily.next_rotation_at) == (
            True,
            datetime(2026, 3, 3, tzinfo=UTC),
        )
        ended = await change(AppConnectionChange(is_auto_rotation_enabled=False))
        assert (ended.next_rotation_at, ended.rotation_interval_days) == (None, 1)

    @pytest.mark.parametrize("minute", [0, 59])
    @pytest.mark.parametrize("hour", [0, 23])
    @pytest.mark.parametrize("days", [1, 365])
    def test_the_next_rotation_is_after_now(self, days: int, hour: int, minute: int) -> None:
        terms = Terms(is_automatic=True, interval_days=days, hour=hour, minute=minute)
        for now in (START, START.replace(hour=23, minute=59), START.replace(hour=0, minute=0)):
            planned = next_rotation(terms, now)
            assert planned is not None
            assert planned > now
            assert (planned.date() - now.date()).days == days
            assert (planned.hour, planned.minute) == (hour, minute)


async def test_credentials_open_between_any_two_steps_of_a_new_sealing_key(world: World) -> None:
    made = await world.connect()
    world.cloud.fails["retire"] = [RemoteUnavailableError("away")]
    with pytest.raises(InvalidError):
        await world.rotate(made)
    present = (await world.opened(made)).connection

    async def stands() -> None:
        left = await world.opened(made)
        assert (credentials_of(world.model, left), retiring_of(world.model, left)) == (
            key("key-1"),
            key("key-0"),
        )
        assert left.connection == present, "nothing that anybody sees has changed"

    database = world.domain.database
    async with database.writing() as unit:
        await unit.credential_resealing.begin()
    for remaining in (2, 1):
        await stands()
        async with database.reading() as unit:
            under_way = await unit.credential_resealing.under_way()
        assert under_way is not None
        assert under_way.remaining == remaining
        async with database.writing() as unit:
            assert not await unit.credential_resealing.finish()
        async with database.writing() as unit:
            assert await unit.credential_resealing.advance(1) == 1
    async with database.writing() as unit:
        assert await unit.credential_resealing.finish()
    await stands()
    async with database.reading() as unit:
        assert len(await unit.keys.line(CREDENTIALS)) == 1


async def test_credentials_that_are_moved_to_another_connection_do_not_open(world: World) -> None:
    one, other = await world.connect(), await world.connect(name="d")
    async with world.domain.database.writing() as unit:
        of_one = select(AppConnectionRow.credentials).where(AppConnectionRow.id == one.id)
        envelope = (await unit._connection.execute(of_one)).scalar_one()
        await unit._connection.execute(
            update(AppConnectionRow).where(AppConnectionRow.id == other.id).values(credentials=envelope)
        )
    assert await world.key_of(one) == "key-0"
    with pytest.raises(UnsealError):
        await world.opened(other)


def test_no_credential_shows() -> None:
    new = NewAppConnection(CLOUD, "access-key", "c", None, None, key("key-0"), NEVER)
    change = AppConnectionChange(credentials={"access-key": key("key-0")})
    assert "cnry" not in repr((new, change, RemoteError("x")))
