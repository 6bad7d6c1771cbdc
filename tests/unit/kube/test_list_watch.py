from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.base.backoff import Backoff
from keybearer.kube import list_watch as module
from keybearer.kube.connection import Connection
from keybearer.kube.list_watch import ListWatch
from keybearer.kube.resources import SECRETS, JsonObject, ObjectKey
from support.async_waiting import until
from support.scripted_server import Reply, ScriptedServer, lines_of, write_kubeconfig
from tools.local.waiting import PATIENCE_SECONDS

_EXPIRED: JsonObject = {"kind": "Status", "code": 410, "reason": "Expired"}


@pytest.fixture(autouse=True)
def _quick_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BACKOFF", Backoff(timedelta(milliseconds=1), timedelta(milliseconds=1)))


class Notes:
    """Writes down what it is told, and believes to exist what it was told of."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[tuple[str, str, str | None]] = asyncio.Queue()
        self.there: set[ObjectKey] = set()

    def existing(self, namespace: str | None) -> set[ObjectKey]:
        return {key for key in self.there if namespace in (None, key.namespace)}

    def listed(self, key: ObjectKey, found: JsonObject) -> None:
        self.there.add(key)
        self._tell("listed", key, found)

    def changed(self, key: ObjectKey, found: JsonObject) -> None:
        self.there.add(key)
        self._tell("changed", key, found)

    def gone(self, key: ObjectKey, last: JsonObject | None) -> None:
        self.there.discard(key)
        self._tell("gone", key, last)

    async def next(self, count: int) -> list[tuple[str, str, str | None]]:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return [await self.told.get() for _ in range(count)]

    def _tell(self, what: str, key: ObjectKey, found: JsonObject | None) -> None:
        metadata = found["metadata"] if found is not None else None
        version = metadata["resourceVersion"] if isinstance(metadata, dict) else None
        self.told.put_nowait((what, key.name, str(version) if version is not None else None))


def item(name: str, version: str) -> JsonObject:
    return {"metadata": {"namespace": "team-a", "name": name, "resourceVersion": version}, "data": {}}


def listed(version: str, *items: JsonObject, following: str = "") -> Reply:
    metadata = {"resourceVersion": version} | ({"continue": following} if following else {})
    return Reply(body={"metadata": metadata, "items": list(items)})


def events(*found: tuple[str, JsonObject]) -> Reply:
    return Reply(body=lines_of({"type": kind, "object": about} for kind, about in found))


@asynccontextmanager
async def watching(tmp_path: Path, *replies: Reply) -> AsyncIterator[tuple[ListWatch, Notes, ScriptedServer]]:
    forever = asyncio.Event()
    hang = Reply(stream=lambda _: forever.wait())  # type: ignore[arg-type,return-value]
    async with ScriptedServer(*replies, hang) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            notes = Notes()
            watch = ListWatch(
                connection,
                SECRETS,
                notes,
                label_selector="ours=true",
                metadata_only=False,
                rng=random.Random(1),  # noqa: S311 - spreads reconnecting
            )
            task = asyncio.create_task(watch.run())
            yield watch, notes, server
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            forever.set()


async def test_what_exists_is_told_page_by_page_and_then_what_happens_to_it(tmp_path: Path) -> None:
    first, second = listed("1", item("a", "1"), following="more"), listed("1", item("b", "1"))
    stream = events(("MODIFIED", item("a", "2")), ("ADDED", item("c", "3")), ("DELETED", item("b", "4")))
    async with watching(tmp_path, first, second, stream) as (_, notes, server):
        told = await notes.next(5)

    assert told == [
        ("listed", "a", "1"),
        ("listed", "b", "1"),
        ("changed", "a", "2"),
        ("changed", "c", "3"),
        ("gone", "b", "4"),
    ]
    assert {seen.query["labelSelector"] for seen in server.seen} == {"ours=true"}
    assert {seen.headers["Accept"] for seen in server.seen} == {"application/json"}


async def test_what_ended_between_two_watches_is_told_by_the_listing_after_them(tmp_path: Path) -> None:
    before = listed("1", item("a", "1"), item("b", "1"))
    after = listed("9", item("a", "7"))
    async with watching(tmp_path, before, events(("ERROR", _EXPIRED)), after) as (_, notes, _server):
        told = await notes.next(4)

    assert told[2:] == [("listed", "a", "7"), ("gone", "b", None)]


@pytest.mark.parametrize(
    ("now", "is_listed_anew"),
    [("6", True), ("7", False), ("8", False), ("opaque", False)],
    ids=["of before", "the same", "of later", "no number"],
)
async def test_a_cluster_that_was_restored_to_older_versions_is_listed_anew(
    tmp_path: Path, now: str, *, is_listed_anew: bool
) -> None:
    stream = events(("MODIFIED", item("a", "7")))
    replies = (listed("1", item("a", "1")), stream, Reply(503), listed(now, item("other", "1")))
    after = (listed("6", item("b", "6")),) if is_listed_anew else ()
    async with watching(tmp_path, *replies, *after) as (_, notes, server):
        told = await notes.next(4 if is_listed_anew else 2)
        await server.arrived(6 if is_listed_anew else 5)

    assert told[2:] == ([("listed", "b", "6"), ("gone", "a", None)] if is_listed_anew else [])
    assert notes.told.empty()
    asked, last = server.seen[3], server.seen[-1]
    assert (asked.query["limit"], "labelSelector" in asked.query, "watch" in asked.query) == (
        "1",
        False,
        False,
    )
    assert last.query["resourceVersion"] == ("6" if is_listed_anew else "7")


async def test_trouble_is_named_until_the_api_server_agrees_to_the_watch(tmp_path: Path) -> None:
    refusal = Reply(403, {"kind": "Status", "code": 403, "message": "secrets is forbidden"})
    opened = asyncio.Event()
    silent = Reply(stream=lambda _: opened.wait())  # type: ignore[arg-type,return-value]
    replies = (refusal, refusal, listed("1", item("a", "1")), refusal, listed("1"), silent)
    async with watching(tmp_path, *replies) as (watch, notes, server):
        assert watch.trouble == "secrets of all namespaces: not listed yet"
        await server.arrived(2)
        assert watch.trouble is not None
        assert "forbidden" in watch.trouble
        await notes.next(1)
        await server.arrived(6)

        async def is_over() -> bool:
            return watch.trouble is None

        await until(is_over, awaited="an end of the trouble")
        opened.set()


async def test_who_forgets_when_refused_is_told_all_anew(tmp_path: Path) -> None:
    refusal = Reply(403, {"kind": "Status", "code": 403, "message": "secrets is forbidden"})
    there = listed("1", item("a", "1"))
    async with watching(tmp_path, there, refusal, there) as (watch, notes, server):
        refusals: list[str | None] = []
        watch.on_refused = lambda: refusals.append(watch.trouble)
        told = await notes.next(2)
        await server.arrived(4)

    assert told == [("listed", "a", "1"), ("listed", "a", "1")]
    assert len(refusals) == 1
    assert "forbidden" in str(refusals[0])
