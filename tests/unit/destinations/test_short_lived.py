from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from keybearer.destinations import short_lived
from keybearer.destinations.app import Issued
from keybearer.destinations.short_lived import ShortLived

START = datetime(2026, 1, 2, tzinfo=UTC)
KEY = ("app", "digest")


@dataclass
class Clock:
    """Goes on when told."""

    instant: datetime = START

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return 0.0

    def boottime(self) -> float:
        return 0.0


@dataclass
class Issuer:
    """A remote that gives tokens, numbered, and counts."""

    clock: Clock
    lasting: timedelta = timedelta(hours=1)
    count: int = 0
    gate: asyncio.Event | None = None
    failures: list[Exception] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self) -> Issued:
        self.count += 1
        self.begun.set()
        number = self.count
        if self.gate is not None:
            await self.gate.wait()
        if self.failures:
            raise self.failures.pop()
        return Issued({"token": f"cnry-{number}"}, self.clock.now() + self.lasting)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kept(clock: Clock) -> ShortLived:
    return ShortLived(clock)


async def test_a_token_is_got_once_while_it_holds(clock: Clock, kept: ShortLived) -> None:
    issue = Issuer(clock)
    assert [(await kept.get(KEY, issue))["token"] for _ in range(3)] == ["cnry-1"] * 3
    clock.instant += timedelta(minutes=59)
    assert (await kept.get(KEY, issue))["token"] == "cnry-1"


async def test_a_token_that_ends_within_a_minute_is_not_begun_with(clock: Clock, kept: ShortLived) -> None:
    issue = Issuer(clock)
    await kept.get(KEY, issue)
    clock.instant += timedelta(minutes=59, seconds=1)
    assert (await kept.get(KEY, issue))["token"] == "cnry-2"


async def test_a_token_that_never_lasts_is_used_all_the_same(clock: Clock, kept: ShortLived) -> None:
    issue = Issuer(clock, timedelta(seconds=5))
    assert [(await kept.get(KEY, issue))["token"] for _ in range(2)] == ["cnry-1", "cnry-2"]


async def test_who_comes_at_the_same_time_waits_for_one_token(clock: Clock, kept: ShortLived) -> None:
    issue = Issuer(clock, gate=asyncio.Event())
    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(kept.get(KEY, issue)) for _ in range(20)]
        await issue.begun.wait()
        assert issue.gate is not None
        issue.gate.set()
    assert issue.count == 1
    assert {task.result()["token"] for task in waiting} == {"cnry-1"}


async def test_other_credentials_do_not_wait(clock: Clock, kept: ShortLived) -> None:
    slow, quick = Issuer(clock, gate=asyncio.Event()), Issuer(clock)
    async with asyncio.TaskGroup() as group:
        group.create_task(kept.get(KEY, slow))
        await slow.begun.wait()
        assert (await kept.get(("app", "another"), quick))["token"] == "cnry-1"
        assert slow.gate is not None
        slow.gate.set()


async def test_a_failure_is_told_and_not_kept(clock: Clock, kept: ShortLived) -> None:
    issue = Issuer(clock, failures=[RuntimeError("away")])
    with pytest.raises(RuntimeError, match="away"):
        await kept.get(KEY, issue)
    assert (await kept.get(KEY, issue))["token"] == "cnry-2"


async def test_who_gives_up_leaves_the_turn_to_the_next(clock: Clock, kept: ShortLived) -> None:
    issue = Issuer(clock, gate=asyncio.Event())
    first = asyncio.create_task(kept.get(KEY, issue))
    await issue.begun.wait()
    second = asyncio.create_task(kept.get(KEY, issue))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert issue.gate is not None
    issue.gate.set()
    assert (await second)["token"] == "cnry-2"


async def test_a_forgotten_token_is_got_anew(clock: Clock, kept: ShortLived) -> None:
    issue = Issuer(clock)
    await kept.get(KEY, issue)
    kept.forget(KEY)
    kept.forget(("app", "unknown"))
    assert (await kept.get(KEY, issue))["token"] == "cnry-2"


async def test_the_longest_unused_is_dropped_first(
    clock: Clock, kept: ShortLived, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short_lived, "_KEPT_MAX", 2)
    issue = Issuer(clock)
    for name in ("a", "b", "a", "c", "a"):
        await kept.get((name,), issue)
    assert issue.count == 3, "a stays"
    await kept.get(("b",), issue)
    assert issue.count == 4


def test_a_token_does_not_show() -> None:
    assert "cnry" not in repr(Issued({"token": "cnry-token"}, START))
