from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from keybearer.base.ids import OrganizationId
from keybearer.base.origin import Origin, request_from
from keybearer.domain.audit import EventType, audited
from keybearer.domain.audit_trail import AuditTrail
from keybearer.store.audit import AuditActor, AuditEvent, AuditFilter, AuditRecord
from keybearer.store.database import Database
from keybearer.store.failures import BusyError
from keybearer.store.records import Organization
from keybearer.store.unit import UnitOfWork
from support.async_waiting import until
from support.databases import sqlite_with_tables
from support.unlocking import unlock_with
from unit.controllers.fakes.hand_clock import HandClock

HOME = OrganizationId("home")


@dataclass
class Scene:
    """A trail over an empty database, and the clock of both."""

    clock: HandClock
    database: Database
    trail: AuditTrail

    async def lines(self) -> list[AuditRecord]:
        """What is stored, the oldest first."""
        async with self.database.reading() as unit:
            return (await unit.audit_log.listed(AuditFilter(HOME), offset=0, limit=100_000))[::-1]

    async def has_lines(self) -> bool:
        return bool(await self.lines())

    async def counted(self) -> dict[str, int]:
        """How many lines of each type are stored, after what waits was written."""
        await self.trail.flush()
        found: dict[str, int] = {}
        for line in await self.lines():
            found[line.event_type] = found.get(line.event_type, 0) + 1
        return found


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    clock = HandClock()
    database = Database(sqlite_with_tables(tmp_path), clock)
    await database.prepare()
    await unlock_with(database)
    async with database.writing() as unit:
        await unit.identities.add_organization(Organization(HOME, "Home", "home", 1, clock.now()))
    yield Scene(clock, database, AuditTrail(database, clock, retention=timedelta(days=90)))
    await database.close()


def event(actor: str | None = "robot", *, address: str | None = None, kind: str = "get-secret") -> AuditEvent:
    who = AuditActor("machine", actor, actor or "", HOME if actor else None)
    with request_from(Origin(address, "agent", "req-1")):
        return audited(who, EventType(kind), key="A")


async def test_what_waits_is_written_when_it_is_flushed(scene: Scene) -> None:
    scene.trail.read(event())
    assert await scene.lines() == []
    await scene.trail.flush()
    (line,) = await scene.lines()
    assert (line.actor_id, line.event_type, line.details) == ("robot", "get-secret", {"key": "A"})
    assert (line.user_agent, line.request_id, line.created_at) == ("agent", "req-1", scene.clock.now())


async def test_what_waits_is_written_by_itself(scene: Scene) -> None:
    task = asyncio.create_task(scene.trail.keep_written())
    scene.trail.read(event())
    try:
        await until(scene.has_lines, awaited="a line in the log")
    finally:
        task.cancel()


async def test_what_could_not_be_written_goes_on_waiting(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.trail.read(event())

    def busy() -> None:
        raise BusyError("no turn")

    with monkeypatch.context() as patched:
        patched.setattr(scene.database, "writing", busy)
        with pytest.raises(BusyError):
            await scene.trail.flush()
    assert await scene.counted() == {"get-secret": 1}


@pytest.fixture
def strict(scene: Scene) -> Scene:
    """The same with a strict trail."""
    return replace(scene, trail=AuditTrail(scene.database, scene.clock, strict=True))


async def test_only_who_is_strict_waits_for_the_line_of_a_reading(scene: Scene, strict: Scene) -> None:
    scene.trail.read(event())
    await scene.trail.settle()
    assert await scene.lines() == []
    strict.trail.read(event())
    await strict.trail.settle()
    assert len(await strict.lines()) == 1


async def test_a_strict_trail_has_a_line_for_every_reading_also_of_what_was_read_before(
    strict: Scene,
) -> None:
    for _ in range(1001):
        strict.trail.read(event())
    for _ in range(3):
        strict.trail.read_again("answer", event())
    await strict.trail.settle()
    assert await strict.counted() == {"get-secret": 1004}


async def test_who_settles_waits_for_what_another_is_writing(
    strict: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, is_writing, may_go_on = strict.database.writing, asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def slow() -> AsyncIterator[UnitOfWork]:
        async with writing() as unit:
            yield unit
            is_writing.set()
            await may_go_on.wait()

    monkeypatch.setattr(strict.database, "writing", slow)
    strict.trail.read(event())
    first = asyncio.create_task(strict.trail.settle())
    await is_writing.wait()
    second = asyncio.create_task(strict.trail.settle())
    for _ in range(5):
        await asyncio.sleep(0)
    assert not second.done()
    may_go_on.set()
    await asyncio.gather(first, second)
    assert len(await strict.lines()) == 1


async def test_a_strict_trail_that_cannot_be_written_refuses_readings(
    strict: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy() -> None:
        raise BusyError("no turn")

    with monkeypatch.context() as patched:
        patched.setattr(strict.database, "writing", busy)
        strict.trail.read(event())
        with pytest.raises(BusyError):
            await strict.trail.settle()
        for _ in range(9_999):
            strict.trail.read(event())
        with pytest.raises(BusyError, match="audit log"):
            strict.trail.read(event())
    await strict.trail.settle()
    strict.trail.read(event())


async def test_what_may_have_been_written_is_not_written_twice(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that is cut off may have happened."""
    writing = scene.database.writing

    @asynccontextmanager
    async def cut_off() -> AsyncIterator[UnitOfWork]:
        async with writing() as unit:
            yield unit
        raise BusyError("cut off")

    for _ in range(3):
        scene.trail.read(event())
    with monkeypatch.context() as patched:
        patched.setattr(scene.database, "writing", cut_off)
        with pytest.raises(BusyError):
            await scene.trail.flush()
    scene.trail.read(event())
    assert await scene.counted() == {"get-secret": 4}


async def test_an_end_without_a_database_tells_how_much_is_lost(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.trail.read(event())

    def busy() -> None:
        raise BusyError("no turn")

    monkeypatch.setattr(scene.database, "writing", busy)
    with capture_logs() as told:
        await scene.trail.close()
    assert [(line["event"], line["events"], line["kind"]) for line in told] == [
        ("audit_events_lost", 1, "BusyError")
    ]


@pytest.mark.parametrize(
    ("take", "each", "everybody"),
    [
        pytest.param(lambda trail: trail.read, 1000, 5000, id="of readings"),
        pytest.param(lambda trail: trail.refused, 30, 300, id="of refusals"),
    ],
)
async def test_a_minute_has_room_for_so_many(
    scene: Scene, take: Callable[[AuditTrail], Callable[[AuditEvent], None]], each: int, everybody: int
) -> None:
    for _ in range(each + 5):
        take(scene.trail)(event("loud"))
    take(scene.trail)(event("quiet"))
    assert await scene.counted() == {"get-secret": each + 1}
    for number in range(20):
        for _ in range(each):
            take(scene.trail)(event(f"crowd{number}"))
    assert await scene.counted() == {"get-secret": everybody}


async def test_what_had_no_room_is_told_when_the_minute_is_over(scene: Scene) -> None:
    for _ in range(37):
        scene.trail.refused(event(None, address="192.0.2.7", kind="login-failed"))
    scene.clock.seconds += 60
    scene.trail.refused(event(None, address="192.0.2.7", kind="login-failed"))
    assert await scene.counted() == {"login-failed": 31, "audit-events-omitted": 1}
    (told,) = [line for line in await scene.lines() if line.event_type == "audit-events-omitted"]
    assert (told.ip_address, told.details) == ("192.0.2.7", {"kind": "refused", "count": 7})


async def test_addresses_without_an_identity_are_bounded_each_for_itself(scene: Scene) -> None:
    for number in range(3):
        for _ in range(100):
            scene.trail.refused(event(None, address=f"192.0.2.{number}", kind="login-failed"))
    assert await scene.counted() == {"login-failed": 90}


async def test_a_crowd_beyond_the_bound_is_told_of_in_few_lines(scene: Scene) -> None:
    for number in range(500):
        scene.trail.refused(event(None, address=f"2001:db8::{number:x}", kind="login-failed"))
    scene.clock.seconds += 60
    scene.trail.read(event())
    assert await scene.counted() == {"login-failed": 300, "audit-events-omitted": 21, "get-secret": 1}
    told = [line for line in await scene.lines() if line.event_type == "audit-events-omitted"]
    assert sum(int(str(line.details["count"])) for line in told) == 200
    assert [line.details["count"] for line in told if line.ip_address is None] == [180]


async def test_an_answer_given_out_again_leaves_one_line_a_minute_and_address(scene: Scene) -> None:
    first = event(address="192.0.2.1")
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2"):
        with request_from(Origin(address, "agent", "req-2")):
            scene.trail.read_again("answer", first)
    assert await scene.counted() == {"get-secret": 2}
    assert {(line.ip_address, line.request_id) for line in await scene.lines()} == {
        ("192.0.2.1", "req-2"),
        ("192.0.2.2", "req-2"),
    }
    scene.clock.seconds += 60
    scene.trail.read_again("answer", first)
    assert await scene.counted() == {"get-secret": 3}


async def test_what_nobody_did_stands_in_the_oldest_organization(scene: Scene) -> None:
    later = Organization(OrganizationId("later"), "Later", "later", 1, scene.clock.now() + timedelta(days=1))
    async with scene.database.writing() as unit:
        await unit.identities.add_organization(later)
    scene.trail.refused(event(None, kind="login-failed"))
    assert await scene.counted() == {"login-failed": 1}


async def test_lines_older_than_the_retention_go_in_batches(scene: Scene) -> None:
    for lines, days_until_the_next in ((2500, 2), (3, 89)):
        async with scene.database.writing() as unit:
            await unit.audit_log.add(AuditRecord.of(event(), scene.clock.now()) for _ in range(lines))
        scene.clock.seconds += timedelta(days=days_until_the_next).total_seconds()
    await scene.trail.prune()
    assert len(await scene.lines()) == 3


def test_an_event_is_bounded_in_every_part() -> None:
    origin = Origin("a" * 100, "b" * 1000, "req-1")
    with request_from(origin):
        made = audited(
            AuditActor("user", "id", "n" * 1000, HOME),
            EventType.CREATE_SECRETS,
            None,
            secretPath="/" * 5000,
            secretKeys=[f"K{number}" for number in range(1000)],
        )
    assert (len(made.ip_address or ""), len(made.user_agent), len(made.actor.name)) == (64, 255, 255)
    assert len(str(made.details["secretPath"])) == 1024
    assert made.details["secretKeysTotal"] == 1000
    assert made.details["secretKeys"] == [f"K{number}" for number in range(50)]


def test_the_names_of_an_event_are_bounded_together() -> None:
    made = audited(
        AuditActor("user", "id", "n", HOME), EventType.CREATE_SECRETS, None, secretKeys=["K" * 512] * 3
    )
    assert made.details == {"secretKeys": ["K" * 512] * 2, "secretKeysTotal": 3}


def test_what_the_service_does_by_itself_comes_from_nowhere() -> None:
    made = audited(AuditActor("service", None, "keybearer", None), EventType.ROTATE_ROOT_KEY)
    assert (made.ip_address, made.user_agent, made.request_id) == (None, "", "")
