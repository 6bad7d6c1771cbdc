"""keybearer.store.revision_check."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from keybearer.store.failures import ConnectError, UnavailableError
from keybearer.store.revision_check import RevisionCheck

if TYPE_CHECKING:
    import asyncpg


_LIMIT = timedelta(seconds=5)


@dataclass
class ScriptedConnection:
    """Answers each question when the test says so."""

    asked: list[set[str]] = field(default_factory=list)
    answers: asyncio.Queue[dict[str, int] | Exception] = field(default_factory=asyncio.Queue)
    ended: int = 0

    async def prepare(self, _statement: str) -> ScriptedConnection:
        return self

    async def fetch(self, wanted: Sequence[str], *, timeout: float) -> list[dict[str, object]]:  # noqa: ASYNC109
        assert timeout == _LIMIT.total_seconds()
        self.asked.append(set(wanted))
        answer = await self.answers.get()
        if isinstance(answer, Exception):
            raise answer
        return [{"id": name, "revision": revision} for name, revision in answer.items()]

    def terminate(self) -> None:
        self.ended += 1


def check_with(connection: ScriptedConnection, *, failures: int = 0) -> RevisionCheck:
    left = failures

    async def connect() -> asyncpg.Connection:
        nonlocal left
        if left:
            left -= 1
            raise ConnectError("the server doesn't answer")
        return cast("asyncpg.Connection", connection)

    return RevisionCheck(connect, _LIMIT)


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_who_comes_while_a_question_is_under_way_shares_the_next_one() -> None:
    connection = ScriptedConnection()
    check = check_with(connection)
    first = asyncio.create_task(check.latest({"a"}))
    await turns()
    others = [asyncio.create_task(check.latest({name})) for name in ("a", "b", "c")]
    await turns()
    assert connection.asked == [{"a"}]

    connection.answers.put_nowait({"a": 1})
    await turns()
    connection.answers.put_nowait({"a": 2, "b": 7})

    assert await first == {"a": 1}
    assert [await other for other in others] == [{"a": 2, "b": 7}] * 3
    assert connection.asked == [{"a"}, {"a", "b", "c"}]
    await check.close()


async def test_one_who_gives_up_takes_nothing_from_the_others() -> None:
    connection = ScriptedConnection()
    check = check_with(connection)
    given_up, patient = (asyncio.create_task(check.latest({name})) for name in "ab")
    await turns()
    given_up.cancel()
    await turns()
    connection.answers.put_nowait({"a": 1, "b": 1})

    assert await patient == {"a": 1, "b": 1}
    assert given_up.cancelled()
    await check.close()


async def test_a_connection_that_was_lost_is_made_again_once() -> None:
    connection = ScriptedConnection()
    check = check_with(connection)
    connection.answers.put_nowait({"a": 1})
    assert await check.latest({"a"}) == {"a": 1}
    connection.answers.put_nowait(ConnectionResetError())
    connection.answers.put_nowait({"a": 2})

    assert await check.latest({"a"}) == {"a": 2}
    assert connection.ended == 1
    await check.close()


async def test_a_database_that_is_away_fails_all_who_asked_and_serves_those_who_come_later() -> None:
    connection = ScriptedConnection()
    check = check_with(connection, failures=1)
    outcomes = await asyncio.gather(check.latest({"a"}), check.latest({"b"}), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [UnavailableError, UnavailableError]

    connection.answers.put_nowait({"a": 1})
    assert await check.latest({"a"}) == {"a": 1}
    await check.close()


async def test_closing_leaves_nobody_waiting() -> None:
    connection = ScriptedConnection()
    check = check_with(connection)
    asked, later = (asyncio.create_task(check.latest({"a"})) for _ in range(2))
    await turns()
    latest = asyncio.create_task(check.latest({"a"}))
    await turns()
    await check.close()

    outcomes = await asyncio.gather(asked, later, latest, return_exceptions=True)
    assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
    assert connection.ended == 1
