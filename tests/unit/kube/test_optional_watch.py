from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.base.backoff import Backoff
from keybearer.kube import list_watch, optional_watch
from keybearer.kube.connection import Connection
from keybearer.kube.errors import KubeError, UnavailableError
from keybearer.kube.optional_watch import OptionalWatch, ServedGroups
from keybearer.kube.resources import CERTIFICATE_REQUESTS, JsonObject, ObjectKey
from support.async_waiting import until
from support.scripted_server import Reply, ScriptedServer, lines_of, write_kubeconfig

_GROUP = CERTIFICATE_REQUESTS.api_version
_MISSING = Reply(404, {"kind": "Status", "code": 404, "reason": "NotFound", "message": "no such resource"})
_BARE_MISSING = Reply(404, body=b"404 page not found\n")
_FORBIDDEN = Reply(403, {"kind": "Status", "code": 403, "message": "is forbidden"})


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    brief = timedelta(milliseconds=1)
    monkeypatch.setattr(list_watch, "_BACKOFF", Backoff(brief, brief))
    monkeypatch.setattr(list_watch, "_FORBIDDEN_BACKOFF", Backoff(brief, brief))
    monkeypatch.setattr(optional_watch, "_LOOK_EVERY", brief)


class Notes:
    """Writes down what it is told, and believes to exist what it was told of."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.there: set[ObjectKey] = set()
        self.older: list[tuple[str, bool]] = []
        self.finds_older: Callable[[], bool] = lambda: False

    def existing(self, namespace: str | None) -> set[ObjectKey]:
        return {key for key in self.there if namespace in (None, key.namespace)}

    def listed(self, key: ObjectKey, found: JsonObject) -> None:
        del found
        self.there.add(key)
        self.older.append((key.name, self.finds_older()))
        self.told.append(("listed", key.name))

    def changed(self, key: ObjectKey, found: JsonObject) -> None:
        del found
        self.there.add(key)
        self.told.append(("changed", key.name))

    def gone(self, key: ObjectKey, last: JsonObject | None) -> None:
        del last
        self.there.discard(key)
        self.told.append(("gone", key.name))


class Groups:
    """What the API server serves, in the test's hands; looks are counted."""

    def __init__(self) -> None:
        self.served: frozenset[str] | KubeError = frozenset()
        self.looks = 0

    async def ask(self) -> frozenset[str]:
        self.looks += 1
        if isinstance(self.served, KubeError):
            raise self.served
        return self.served


def listed(version: str, *names: str) -> Reply:
    items: list[JsonObject] = [
        {"metadata": {"namespace": "team-a", "name": name, "resourceVersion": version}} for name in names
    ]
    return Reply(body={"metadata": {"resourceVersion": version}, "items": items})


@asynccontextmanager
async def following(
    tmp_path: Path, groups: Groups, *replies: Reply
) -> AsyncIterator[tuple[OptionalWatch, Notes, list[int]]]:
    forever = asyncio.Event()
    hang = Reply(stream=lambda _: forever.wait())  # type: ignore[arg-type,return-value]
    followed: list[int] = []
    rng = random.Random(1)  # noqa: S311 - spreads reconnecting
    async with ScriptedServer(*replies, hang) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            served, notes = ServedGroups(groups.ask, rng), Notes()
            watch = OptionalWatch(
                connection,
                served,
                CERTIFICATE_REQUESTS,
                notes,
                rng=rng,
                namespaces=None,
                on_followed=lambda: followed.append(1),
            )
            notes.finds_older = lambda: watch.finds_older
            tasks = [asyncio.create_task(served.run()), asyncio.create_task(watch.run())]
            try:
                yield watch, notes, followed
            finally:
                for task in tasks:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
                forever.set()


async def _told(notes: Notes, *expected: tuple[str, str]) -> None:
    async def probe() -> bool:
        return notes.told[: len(expected)] == list(expected)

    await until(probe, awaited=f"{expected}, but {notes.told}")


async def test_nothing_is_asked_of_a_group_that_is_not_served(tmp_path: Path) -> None:
    groups = Groups()
    groups.served = frozenset({"apps/v1"})
    async with following(tmp_path, groups, listed("1", "a")) as (watch, notes, _):

        async def looked_often() -> bool:
            return groups.looks > 5

        await until(looked_often, awaited="further looks")
        assert notes.told == []
        assert watch.trouble is not None

        groups.served = frozenset({"apps/v1", _GROUP})
        await _told(notes, ("listed", "a"))


async def test_only_a_first_listing_of_what_was_served_before_finds_what_is_older(tmp_path: Path) -> None:
    groups = Groups()
    groups.served = frozenset({_GROUP})
    replies = (listed("1", "a"), Reply(body=b""), _MISSING, listed("9", "c"))
    async with following(tmp_path, groups, *replies) as (watch, notes, _):
        assert not watch.finds_older, "nobody has looked yet"

        async def is_back() -> bool:
            return ("listed", "c") in notes.told

        await until(is_back, awaited="the resource once more")
        assert notes.older == [("a", True), ("c", False)]


async def test_what_came_only_after_us_is_not_older(tmp_path: Path) -> None:
    groups = Groups()
    groups.served = frozenset({"apps/v1"})
    async with following(tmp_path, groups, listed("1", "a")) as (_, notes, _followed):

        async def looked() -> bool:
            return groups.looks > 1

        await until(looked, awaited="a look")
        groups.served = frozenset({_GROUP})
        await _told(notes, ("listed", "a"))
        assert notes.older == [("a", False)]


@pytest.mark.parametrize("missing", [_MISSING, _BARE_MISSING], ids=["as a Status", "as text"])
async def test_what_goes_is_told_as_gone_and_looked_for_again(tmp_path: Path, missing: Reply) -> None:
    groups = Groups()
    groups.served = frozenset({_GROUP})
    event = lines_of(
        [{"type": "ADDED", "object": {"metadata": {"name": "b", "namespace": "n", "resourceVersion": "2"}}}]
    )
    replies = (listed("1", "a"), Reply(body=event), missing, missing, listed("9", "c"))
    async with following(tmp_path, groups, *replies) as (watch, notes, followed):
        await _told(notes, ("listed", "a"), ("changed", "b"))

        async def is_back() -> bool:
            return ("listed", "c") in notes.told and watch.trouble is None

        await until(is_back, awaited="the resource once more")
        assert {("gone", "a"), ("gone", "b")} <= set(notes.told)
        assert len(followed) == 2


async def test_a_right_that_is_missing_ends_nothing_and_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = Groups()
    groups.served = frozenset({_GROUP})
    async with following(tmp_path, groups, *[_FORBIDDEN] * 4, listed("1", "a")) as (_, notes, _followed):
        await _told(notes, ("listed", "a"))

    assert capsys.readouterr().out.count("watch_broken") == 1


async def test_an_api_server_that_knows_no_rights_yet_is_asked_again_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was away for long, and refuses everybody in its first moment."""
    brief = timedelta(milliseconds=1)
    monkeypatch.setattr(list_watch, "_FORBIDDEN_BACKOFF", Backoff(brief, timedelta(minutes=1)))
    groups = Groups()
    groups.served = frozenset({_GROUP})
    replies = [*[Reply(503)] * 20, _FORBIDDEN, _FORBIDDEN, listed("1", "a")]
    async with following(tmp_path, groups, *replies) as (_, notes, _followed):
        await _told(notes, ("listed", "a"))


async def test_an_api_server_that_can_t_be_asked_leaves_what_is_known(tmp_path: Path) -> None:
    groups = Groups()
    groups.served = UnavailableError("away")
    async with following(tmp_path, groups, listed("1", "a")) as (_, notes, _followed):

        async def looked_often() -> bool:
            return groups.looks > 3

        await until(looked_often, awaited="further looks")
        groups.served = frozenset({_GROUP})
        await _told(notes, ("listed", "a"))
