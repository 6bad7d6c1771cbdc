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
from keybearer.kube.optional_watch import OptionalWatch, ServedVersions
from keybearer.kube.resources import (
    CLUSTER_TRUST_BUNDLES,
    POD_CERTIFICATE_REQUESTS,
    JsonObject,
    ObjectKey,
    Resource,
)
from support.async_waiting import until
from support.rows import each_row
from support.scripted_server import Reply, ScriptedServer, lines_of, write_kubeconfig

_NEW, _OLD = POD_CERTIFICATE_REQUESTS.versions
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


class ApiServer:
    """Which resources are served, in the test's hands; looks are counted."""

    def __init__(self, *served: Resource) -> None:
        self.served: set[Resource] | KubeError = set(served)
        self.asked: list[str] = []
        self.told: list[tuple[str, str]] = []

    async def ask(self, resource: Resource) -> frozenset[str]:
        self.asked.append(resource.api_version)
        if isinstance(self.served, KubeError):
            raise self.served
        return frozenset(one.plural for one in self.served if one.api_version == resource.api_version)

    def tell(self, kind: str, version: str) -> None:
        self.told.append((kind, version))


def listed(version: str, *names: str) -> Reply:
    items: list[JsonObject] = [
        {"metadata": {"namespace": "team-a", "name": name, "resourceVersion": version}} for name in names
    ]
    return Reply(body={"metadata": {"resourceVersion": version}, "items": items})


def _open_until(end: asyncio.Event) -> Reply:
    """A watch that tells nothing until then."""
    return Reply(stream=lambda _: end.wait())  # type: ignore[arg-type,return-value]


@asynccontextmanager
async def following(
    tmp_path: Path, api: ApiServer, *replies: Reply
) -> AsyncIterator[tuple[OptionalWatch, Notes, list[int], ScriptedServer]]:
    forever = asyncio.Event()
    hang = _open_until(forever)
    followed: list[int] = []
    rng = random.Random(1)  # noqa: S311 - spreads reconnecting
    async with ScriptedServer(*replies, hang) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            served, notes = ServedVersions(api.ask, [POD_CERTIFICATE_REQUESTS], rng, api.tell), Notes()
            watch = OptionalWatch(
                connection,
                served,
                POD_CERTIFICATE_REQUESTS,
                notes,
                rng=rng,
                namespaces=None,
                on_followed=lambda: followed.append(1),
            )
            notes.finds_older = lambda: watch.finds_older
            tasks = [asyncio.create_task(served.run()), asyncio.create_task(watch.run())]
            try:
                yield watch, notes, followed, server
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


async def test_nothing_is_asked_of_a_resource_that_is_not_served(tmp_path: Path) -> None:
    api = ApiServer()
    async with following(tmp_path, api, listed("1", "a")) as (watch, notes, _, _server):

        async def looked_often() -> bool:
            return len(api.asked) > 5

        await until(looked_often, awaited="further looks")
        assert notes.told == []
        assert watch.trouble is not None

        api.served = {_NEW}
        await _told(notes, ("listed", "a"))


async def test_only_a_first_listing_of_what_was_served_before_finds_what_is_older(tmp_path: Path) -> None:
    api = ApiServer(_NEW)
    replies = (listed("1", "a"), Reply(body=b""), _MISSING, listed("9", "c"))
    async with following(tmp_path, api, *replies) as (watch, notes, _, _server):
        assert not watch.finds_older, "nobody has looked yet"

        async def is_back() -> bool:
            return ("listed", "c") in notes.told

        await until(is_back, awaited="the resource once more")
        assert notes.older == [("a", True), ("c", False)]


async def test_what_came_only_after_us_is_not_older(tmp_path: Path) -> None:
    api = ApiServer()
    async with following(tmp_path, api, listed("1", "a")) as (_, notes, _followed, _server):

        async def looked() -> bool:
            return len(api.asked) > 1

        await until(looked, awaited="a look")
        api.served = {_NEW}
        await _told(notes, ("listed", "a"))
        assert notes.older == [("a", False)]


@pytest.mark.parametrize("missing", [_MISSING, _BARE_MISSING], ids=["as a Status", "as text"])
async def test_what_goes_is_told_as_gone_and_looked_for_again(tmp_path: Path, missing: Reply) -> None:
    api = ApiServer(_NEW)
    event = lines_of(
        [{"type": "ADDED", "object": {"metadata": {"name": "b", "namespace": "n", "resourceVersion": "2"}}}]
    )
    replies = (listed("1", "a"), Reply(body=event), missing, missing, listed("9", "c"))
    async with following(tmp_path, api, *replies) as (watch, notes, followed, _server):
        await _told(notes, ("listed", "a"), ("changed", "b"))

        async def is_back() -> bool:
            return ("listed", "c") in notes.told and watch.trouble is None

        await until(is_back, awaited="the resource once more")
        assert {("gone", "a"), ("gone", "b")} <= set(notes.told)
        assert len(followed) == 2


async def test_a_right_that_is_missing_ends_nothing_and_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api = ApiServer(_NEW)
    async with following(tmp_path, api, *[_FORBIDDEN] * 4, listed("1", "a")) as (
        _,
        notes,
        _followed,
        _server,
    ):
        await _told(notes, ("listed", "a"))

    assert capsys.readouterr().out.count("watch_broken") == 1


async def test_an_api_server_that_knows_no_rights_yet_is_asked_again_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was away for long, and refuses everybody in its first moment."""
    brief = timedelta(milliseconds=1)
    monkeypatch.setattr(list_watch, "_FORBIDDEN_BACKOFF", Backoff(brief, timedelta(minutes=1)))
    api = ApiServer(_NEW)
    replies = [*[Reply(503)] * 20, _FORBIDDEN, _FORBIDDEN, listed("1", "a")]
    async with following(tmp_path, api, *replies) as (_, notes, _followed, _server):
        await _told(notes, ("listed", "a"))


async def test_an_api_server_that_can_t_be_asked_leaves_what_is_known(tmp_path: Path) -> None:
    api = ApiServer()
    api.served = UnavailableError("away")
    async with following(tmp_path, api, listed("1", "a")) as (_, notes, _followed, _server):

        async def looked_often() -> bool:
            return len(api.asked) > 3

        await until(looked_often, awaited="further looks")
        api.served = {_NEW}
        await _told(notes, ("listed", "a"))


async def test_what_is_served_in_another_version_from_now_on_is_followed_there(tmp_path: Path) -> None:
    api = ApiServer(_OLD)
    upgrade = asyncio.Event()
    replies = (listed("1", "a", "b"), _open_until(upgrade), _MISSING, listed("9", "b", "c"))
    async with following(tmp_path, api, *replies) as (watch, notes, followed, server):
        await _told(notes, ("listed", "a"), ("listed", "b"))
        api.served = {_NEW}
        upgrade.set()

        async def has_gone_over() -> bool:
            return ("listed", "c") in notes.told and watch.trouble is None

        await until(has_gone_over, awaited="the other version")
        gone = [name for verb, name in notes.told if verb == "gone"]
        assert gone == ["a"], "what is still there has not gone"
        assert len(followed) == 2
        paths = [one.path for one in server.seen]
        assert paths[0].startswith("/apis/certificates.k8s.io/v1beta1/")
        assert paths[-1].startswith("/apis/certificates.k8s.io/v1/")
        assert [older for _, older in notes.older] == [True, True, False, False]


async def test_what_is_served_in_no_version_any_more_is_gone(tmp_path: Path) -> None:
    api = ApiServer(_OLD)
    change = asyncio.Event()
    replies = (listed("1", "a"), _open_until(change), _MISSING)
    async with following(tmp_path, api, *replies) as (_, notes, _followed, _server):
        await _told(notes, ("listed", "a"))
        api.served = set()
        change.set()
        await _told(notes, ("listed", "a"), ("gone", "a"))


_BUNDLES, _BETA_BUNDLES = CLUSTER_TRUST_BUNDLES.versions


@each_row(
    "served, pods, bundles",
    [
        ((), "none", "none"),
        ((_OLD, _BETA_BUNDLES), "v1beta1", "v1beta1"),
        ((_NEW, _BUNDLES), "v1", "v1"),
        ((_NEW, _BUNDLES, _OLD, _BETA_BUNDLES), "v1", "v1"),
        ((_NEW, _BETA_BUNDLES), "v1", "v1beta1"),
        ((_OLD,), "v1beta1", "none"),
    ],
)
async def test_each_resource_is_spoken_of_in_the_preferred_version_that_it_has(
    served: tuple[Resource, ...], pods: str, bundles: str
) -> None:
    api = ApiServer(*served)
    async with looking(api) as versions:
        await _looks(api)
        assert api.told == [("PodCertificateRequest", pods), ("ClusterTrustBundle", bundles)]
        for resource, version in ((_NEW, pods), (_BUNDLES, bundles)):
            assert versions.served_from_start(resource) is (version != "none")
            assert versions.of(resource).version == version.replace("none", "v1")


async def test_a_version_that_has_all_is_the_only_one_that_is_asked_for() -> None:
    api = ApiServer(_NEW, _BUNDLES)
    async with looking(api):
        await _looks(api)
    assert set(api.asked) == {"certificates.k8s.io/v1"}


async def test_a_version_stays_while_it_is_served_and_each_change_is_told_once() -> None:
    api = ApiServer(_OLD)
    async with looking(api) as versions:
        await _looks(api)
        api.served = {_OLD, _NEW}
        await _looks(api)
        assert versions.of(_NEW) == _OLD
        api.served = UnavailableError("away")
        await _looks(api)
        assert versions.of(_NEW) == _OLD
        api.served = {_NEW}
        await _looks(api)
        assert versions.of(_NEW) == _NEW
        api.served = set()
        await _looks(api)

    told = [version for kind, version in api.told if kind == "PodCertificateRequest"]
    assert told == ["v1beta1", "v1", "none"]


@asynccontextmanager
async def looking(api: ApiServer) -> AsyncIterator[ServedVersions]:
    rng = random.Random(1)  # noqa: S311 - spreads the looks
    versions = ServedVersions(api.ask, [POD_CERTIFICATE_REQUESTS, CLUSTER_TRUST_BUNDLES], rng, api.tell)
    task = asyncio.create_task(versions.run())
    try:
        yield versions
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _looks(api: ApiServer) -> None:
    """Looks that began since now have ended; one asks for each of two versions at most."""
    before = len(api.asked)

    async def looked() -> bool:
        return len(api.asked) > before + 4

    await until(looked, awaited="further looks")
