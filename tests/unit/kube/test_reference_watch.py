from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web

from keybearer.base.backoff import Backoff
from keybearer.kube import list_watch as module
from keybearer.kube.connection import Connection
from keybearer.kube.reference_watch import ReferenceWatch
from keybearer.kube.resources import SECRETS, JsonObject, ObjectKey
from support.scripted_server import Reply, ScriptedServer, lines_of, write_kubeconfig
from tools.local.waiting import PATIENCE_SECONDS

DB = ObjectKey("team-a", "db")
EXPIRED: JsonObject = {"kind": "Status", "code": 410, "reason": "Expired"}


@pytest.fixture(autouse=True)
def _quick_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BACKOFF", Backoff(timedelta(milliseconds=1), timedelta(milliseconds=1)))


def item(name: str, version: str) -> JsonObject:
    return {"metadata": {"namespace": "team-a", "name": name, "resourceVersion": version}}


def listed(version: str, *items: JsonObject) -> Reply:
    return Reply(body={"metadata": {"resourceVersion": version}, "items": list(items)})


def events(*found: tuple[str, JsonObject]) -> Reply:
    return Reply(body=lines_of({"type": kind, "object": about} for kind, about in found))


class Calls:
    """Collects what is called back, and waits for it."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[frozenset[str]] = asyncio.Queue()

    def __call__(self, owners: frozenset[str]) -> None:
        self.queue.put_nowait(owners)

    async def next(self) -> frozenset[str]:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.queue.get()


@asynccontextmanager
async def watching(
    tmp_path: Path, *replies: Reply, namespaces: list[str] | None = None
) -> AsyncIterator[tuple[ReferenceWatch[str], Calls, ScriptedServer]]:
    forever = asyncio.Event()
    hang = Reply(stream=lambda _: forever.wait())  # type: ignore[arg-type,return-value]
    async with ScriptedServer(*replies, hang) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            calls = Calls()
            watch: ReferenceWatch[str] = ReferenceWatch(
                connection,
                SECRETS,
                on_change=calls,
                rng=random.Random(1),  # noqa: S311 - spreads reconnecting
                namespaces=namespaces,
            )
            task = asyncio.create_task(watch.run())
            yield watch, calls, server
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            forever.set()


async def test_nothing_is_asked_before_anyone_follows(tmp_path: Path) -> None:
    async with watching(tmp_path, listed("1")) as (watch, _, server):
        await asyncio.sleep(0.01)  # enough for a request on loopback, were there one
        assert server.seen == []
        watch.follow("one", [DB])
        await server.arrived(2)

    assert server.seen[0].path == "/api/v1/secrets"
    assert server.seen[1].query["watch"] == "1"
    assert server.seen[1].query["resourceVersion"] == "1"
    assert {seen.query["labelSelector"] for seen in server.seen} == {"keybearer.dev/managed!=true"}
    assert all("PartialObjectMetadata" in seen.headers["Accept"] for seen in server.seen)


async def test_a_change_an_appearance_and_a_removal_call_back(tmp_path: Path) -> None:
    stream = events(
        ("MODIFIED", item("foreign", "2")),
        ("MODIFIED", item("db", "3")),
        ("DELETED", item("db", "4")),
        ("ADDED", item("db", "5")),
    )
    async with watching(tmp_path, listed("1", item("db", "1")), stream) as (watch, calls, _):
        watch.follow("one", [DB])
        watch.seen("one", DB, "1")
        found = [await calls.next() for _ in range(3)]

    assert found == [{"one"}] * 3
    assert calls.queue.empty()


async def test_what_the_owner_has_read_already_calls_nobody(tmp_path: Path) -> None:
    stream = events(
        ("MODIFIED", item("db", "1")), ("BOOKMARK", item("", "9")), ("MODIFIED", item("db", "10"))
    )
    async with watching(tmp_path, listed("1", item("db", "1")), stream) as (watch, calls, _):
        watch.follow("one", [DB])
        watch.seen("one", DB, "1")
        assert await calls.next() == {"one"}

    assert calls.queue.empty()


async def test_the_watch_goes_on_from_the_last_line(tmp_path: Path) -> None:
    first = events(("MODIFIED", item("foreign", "2")), ("BOOKMARK", item("", "8")))
    second = events(("MODIFIED", item("db", "9")))
    async with watching(tmp_path, listed("1"), first, second) as (watch, calls, server):
        watch.follow("one", [DB])
        assert await calls.next() == {"one"}
        await server.arrived(4)

    assert [seen.query["resourceVersion"] for seen in server.seen[1:]] == ["1", "8", "9"]


@pytest.mark.parametrize(
    "expired",
    [
        pytest.param(Reply(410, EXPIRED), id="as an answer"),
        pytest.param(events(("ERROR", EXPIRED)), id="as an event"),
    ],
)
async def test_an_expired_version_lists_anew_and_finds_what_changed_meanwhile(
    tmp_path: Path, expired: Reply
) -> None:
    web_key, gone = ObjectKey("team-a", "web"), ObjectKey("team-a", "gone")
    before = listed("1", item("db", "1"), item("web", "1"), item("gone", "1"))
    after = listed("9", item("db", "7"), item("web", "1"))
    async with watching(tmp_path, before, expired, after) as (watch, calls, server):
        for owner, key in (("db", DB), ("web", web_key), ("gone", gone)):
            watch.follow(owner, [key])
            watch.seen(owner, key, "1")
        assert {*await calls.next(), *await calls.next()} == {"db", "gone"}
        await server.arrived(4)

    assert server.seen[3].query["resourceVersion"] == "9"
    assert calls.queue.empty()


async def test_it_outlives_refusals_and_broken_connections(tmp_path: Path) -> None:
    async def break_off(response: web.StreamResponse) -> None:
        await response.write(lines_of([{"type": "MODIFIED", "object": item("foreign", "5")}]))
        assert response._req is not None
        assert response._req.transport is not None
        response._req.transport.close()

    # After each watch that broke, a look at the versions of the API server comes first.
    troubles = [
        Reply(403),
        Reply(500),
        listed("1"),
        Reply(401),
        listed("1"),
        Reply(stream=break_off),
        listed("5"),
        Reply(429),
        listed("5"),
        Reply(body=b""),
        listed("5"),
    ]
    async with watching(tmp_path, *troubles, events(("ADDED", item("db", "6")))) as (watch, calls, server):
        watch.follow("one", [DB])
        assert await calls.next() == {"one"}

    resumed = [seen.query.get("resourceVersion") for seen in server.seen[3:] if "watch" in seen.query]
    assert resumed[:5] == ["1", "1", "5", "5", "5"]


async def test_each_of_the_namespaces_has_its_watch(tmp_path: Path) -> None:
    async with watching(tmp_path, listed("1"), namespaces=["team-a", "team-b"]) as (watch, _, server):
        watch.follow("one", [DB])
        await server.arrived(2)

    assert {seen.path for seen in server.seen} == {
        "/api/v1/namespaces/team-a/secrets",
        "/api/v1/namespaces/team-b/secrets",
    }


async def test_foreign_objects_are_not_remembered(tmp_path: Path) -> None:
    many = events(
        *(("ADDED", item(f"foreign-{number}", "2")) for number in range(500)), ("ADDED", item("db", "3"))
    )
    async with watching(tmp_path, listed("1"), many) as (watch, calls, _):
        watch.follow("one", [DB])
        assert await calls.next() == {"one"}
        assert watch.followed == 1
        watch.follow("one", [])
        assert watch.followed == 0
