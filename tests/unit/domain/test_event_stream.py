"""One subscription to events, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId, OrganizationId, ProjectId
from keybearer.domain import event_stream as module
from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Principal, ProjectRole, Subject, Where
from keybearer.domain.errors import UnauthenticatedError
from keybearer.domain.event_stream import REFUSED, Ended, EventStream, Happened, Ping, Registration
from keybearer.domain.path_patterns import PathPattern, parse_pattern
from keybearer.domain.permissions import Effect, Permissions, Rule
from keybearer.store.records import Project
from keybearer.store.revisions import ChangeKind, ListChange
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time, settle

_DAY = datetime(2026, 3, 1, tzinfo=UTC)
_PROJECT = Project(
    id=ProjectId("p"),
    organization_id=OrganizationId("o"),
    name="p",
    slug="p-slug",
    description=None,
    type="secret-manager",
    auto_capitalization=False,
    has_delete_protection=False,
    revision=1,
    created_at=_DAY,
    updated_at=_DAY,
)
_ME = Principal(IdentityId("me"), OrganizationId("o"), "no-access", 1, "token")
_VIEWER = Permissions((ProjectRole.VIEWER,))
_ALL = [Registration(kind) for kind in ChangeKind]


def change(
    key: str = "KEY",
    kind: ChangeKind = ChangeKind.UPDATED,
    *,
    environment: str = "dev",
    path: str = "/",
    owner: str = "",
) -> ListChange:
    return ListChange(kind, ProjectId("p"), EnvironmentSlug(environment), FolderPath(path), key, owner)


class UnforeseenError(Exception):
    """A database that is gone, say."""


class Reader:
    """Reads a stream as fast as it can, unless the test holds it."""

    def __init__(
        self,
        registrations: list[Registration] | None = None,
        permissions: Permissions = _VIEWER,
        ends_at: datetime | None = None,
    ) -> None:
        self.items: list[Ping | Happened | Ended] = []
        self.now_allowed: Permissions | None = permissions
        self.fault: Exception | None = None
        self.checks = 0
        self.may_read = asyncio.Event()
        self.may_read.set()
        self.stream = EventStream(
            ProjectAccess(_ME, _PROJECT, permissions),
            registrations or _ALL,
            ends_at=ends_at,
            recheck=self._recheck,
            clock=LoopClock(),
        )

    @property
    def changes(self) -> list[ListChange]:
        return [one for item in self.items if isinstance(item, Happened) for one in item.changes]

    @property
    def pings(self) -> int:
        return sum(isinstance(item, Ping) for item in self.items)

    @property
    def end(self) -> str | None:
        last = self.items[-1]
        return last.message if isinstance(last, Ended) else None

    async def run(self) -> None:
        async for item in self.stream.items():
            self.items.append(item)
            await self.may_read.wait()

    async def _recheck(self) -> ProjectAccess:
        self.checks += 1
        if self.fault is not None:
            raise self.fault
        if self.now_allowed is None:
            raise UnauthenticatedError("revoked")
        return ProjectAccess(_ME, _PROJECT, self.now_allowed)


@asynccontextmanager
async def reading(reader: Reader) -> AsyncIterator[Reader]:
    running = asyncio.create_task(reader.run())
    await settle()
    yield reader
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


@in_virtual_time
async def test_a_ping_comes_at_once_and_each_fifteen_seconds() -> None:
    async with reading(Reader()) as reader:
        assert reader.pings == 1
        await asyncio.sleep(14.9)
        assert reader.pings == 1
        await asyncio.sleep(0.2)
        assert reader.pings == 2
        await asyncio.sleep(60)
        assert reader.pings == 6


@in_virtual_time
async def test_events_don_t_hold_pings_back() -> None:
    async with reading(Reader()) as reader:
        for number in range(100):
            reader.stream.offer([change(str(number))])
            await asyncio.sleep(1)
        assert reader.pings == 7
        assert len(reader.changes) == 100


@in_virtual_time
async def test_the_permission_is_rechecked_each_minute() -> None:
    async with reading(Reader()) as reader:
        await asyncio.sleep(301)
        assert reader.checks == 5
        assert reader.end is None


@pytest.mark.parametrize(
    ("now_allowed", "message"),
    [
        pytest.param(None, REFUSED, id="a token that was revoked"),
        pytest.param(Permissions((ProjectRole.ADMIN,)), "Permissions have changed", id="another role"),
    ],
)
def test_the_stream_ends_when_the_recheck_finds_something_else(
    now_allowed: Permissions | None, message: str
) -> None:
    @in_virtual_time
    async def check() -> None:
        async with reading(Reader()) as reader:
            reader.now_allowed = now_allowed
            await asyncio.sleep(61)
            assert reader.end is not None
            assert reader.end.startswith(message)
            assert message == REFUSED or "read anew" in reader.end

    check()


@in_virtual_time
async def test_the_stream_ends_when_the_recheck_fails() -> None:
    async with reading(Reader()) as reader:
        reader.fault = UnforeseenError()
        await asyncio.sleep(61)
        assert reader.end == REFUSED


@in_virtual_time
async def test_a_doubt_is_cleared_at_once() -> None:
    async with reading(Reader()) as reader:
        reader.stream.doubt()
        await settle()
        assert reader.checks == 1
        assert reader.end is None
        reader.now_allowed = None
        reader.stream.doubt()
        await settle()
        assert reader.end == REFUSED


@in_virtual_time
async def test_a_right_that_goes_during_a_recheck_is_noticed_before_anything_is_told() -> None:
    reader = Reader()

    async def recheck() -> ProjectAccess:
        """As of before the right went, for that is what it has read already."""
        if reader.now_allowed is not None:
            reader.now_allowed = None
            reader.stream.doubt()
            reader.stream.offer([change("HIDDEN")])
            return ProjectAccess(_ME, _PROJECT, _VIEWER)
        raise UnauthenticatedError("revoked")

    reader.stream._recheck = recheck
    async with reading(reader):
        reader.stream.doubt()
        await settle()
        assert reader.changes == []
        assert reader.end == REFUSED


@in_virtual_time
async def test_the_stream_ends_with_the_token() -> None:
    async with reading(Reader(ends_at=LoopClock().now() + timedelta(seconds=100))) as reader:
        await asyncio.sleep(99)
        assert isinstance(reader.items[-1], Ping)
        await asyncio.sleep(2)
        assert "expired" in (reader.end or "")


@in_virtual_time
async def test_nothing_comes_after_the_end_and_what_waited_is_dropped() -> None:
    async with reading(Reader()) as reader:
        reader.stream.offer([change()])
        reader.stream.end("the end")
        reader.stream.end("another end")
        reader.stream.offer([change("LATER")])
        await asyncio.sleep(1000)
        assert reader.changes == []
        assert reader.end == "the end"
        assert reader.pings == 1


@in_virtual_time
async def test_a_reader_that_is_too_slow_is_told_to_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PENDING_MAX", 100)
    async with reading(Reader()) as reader:
        reader.may_read.clear()
        reader.stream.offer(change(str(number)) for number in range(100))
        await settle()
        reader.may_read.set()
        await settle()
        assert len(reader.changes) == 100
        reader.may_read.clear()
        reader.stream.offer([change("taken")])
        await settle()
        reader.stream.offer(change(str(number)) for number in range(101))
        reader.may_read.set()
        await settle()
        assert reader.end is not None
        assert "read anew" in reader.end


@in_virtual_time
async def test_what_happens_again_while_it_waits_is_told_once_and_last() -> None:
    created, deleted = change(kind=ChangeKind.CREATED), change(kind=ChangeKind.DELETED)
    reader = Reader()
    reader.stream.offer([created, deleted])
    reader.stream.offer([created])
    async with reading(reader):
        assert reader.changes == [deleted, created]


@pytest.mark.parametrize(
    ("registration", "told"),
    [
        pytest.param(Registration(ChangeKind.UPDATED), True, id="the whole project"),
        pytest.param(Registration(ChangeKind.DELETED), False, id="another kind"),
        pytest.param(Registration(ChangeKind.UPDATED, Where("dev", "/")), True, id="the environment"),
        pytest.param(Registration(ChangeKind.UPDATED, Where("prod", "/")), False, id="another environment"),
        pytest.param(Registration(ChangeKind.UPDATED, Where("dev", "/app")), True, id="a folder above"),
        pytest.param(Registration(ChangeKind.UPDATED, Where("dev", "/app/web")), True, id="the folder"),
        pytest.param(
            Registration(ChangeKind.UPDATED, Where("dev", "/app/web/x")), False, id="a folder below"
        ),
        pytest.param(Registration(ChangeKind.UPDATED, Where("dev", "/app/we")), False, id="half a name"),
    ],
)
def test_a_registration_matches_its_folder_and_all_under_it(registration: Registration, told: bool) -> None:  # noqa: FBT001 - of the table
    assert registration.matches(change(path="/app/web")) is told


@in_virtual_time
async def test_only_what_may_be_read_is_told() -> None:
    granted = Rule(
        Effect.ALLOW,
        frozenset({Subject.SECRETS}),
        frozenset({Action.READ}),
        "dev",
        parse_pattern("/app/**"),
    )
    registrations = [Registration(ChangeKind.UPDATED, Where("dev", "/"))]
    reader = Reader(registrations, Permissions((), (granted,)))
    async with reading(reader):
        reader.stream.offer([change("OPEN", path="/app/web"), change("SECRET", path="/bank")])
        await settle()
        assert [one.key for one in reader.changes] == ["OPEN"]


@in_virtual_time
async def test_grants_are_weighed_once_for_each_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noted(pattern: PathPattern, path: str) -> bool:
        asked.append(path)
        return matches(pattern, path)

    matches = PathPattern.matches
    monkeypatch.setattr(PathPattern, "matches", noted)
    granted = Rule(
        Effect.ALLOW,
        frozenset({Subject.SECRETS}),
        frozenset({Action.READ}),
        "dev",
        parse_pattern("/app/**"),
    )
    reader = Reader([Registration(ChangeKind.UPDATED)], Permissions((), (granted,)))
    async with reading(reader):
        reader.stream.offer([change(f"K{number}", path=f"/app/{number % 2}") for number in range(1000)])
        await settle()
        assert len(reader.changes) == 1000
    assert sorted(asked) == ["/app/0", "/app/1"]


@in_virtual_time
async def test_a_personal_secret_is_told_to_its_owner_alone() -> None:
    async with reading(Reader()) as reader:
        reader.stream.offer([change("MINE", owner="me"), change("YOURS", owner="you")])
        await settle()
        assert [one.key for one in reader.changes] == ["MINE"]
