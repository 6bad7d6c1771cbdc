"""A place that takes effect by one last call gets it, whatever became of the run that wrote."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import orjson
import pytest

from keybearer.destinations.app import Answers, App
from keybearer.destinations.catalogue import Catalogue
from keybearer.destinations.content import text_of
from keybearer.destinations.engine.table import TableDestination
from keybearer.destinations.form import DestinationKind, Place, config_of
from keybearer.destinations.hashicorp_vault import HASHICORP_VAULT
from keybearer.destinations.listing import Listing, Row
from keybearer.destinations.protocol import Present, Traits
from keybearer.destinations.remote import NO_LIMITS, Limits, RemoteAnswer, RemoteRequest
from keybearer.destinations.session import Call, Session
from keybearer.destinations.table import Put, Remove, Table
from keybearer.domain.syncs.queueing import queue
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind
from support.async_waiting import until
from support.scripted_remote import SCRIPTED, ScriptedConfig
from support.sync_scene import SyncScene

APP = App(
    name="redeploys",
    title="Redeploys",
    # Connections of the scene have a method of its.
    methods=HASHICORP_VAULT.app.methods,
    root=lambda _: "",
    answers=Answers(who="the place"),
    authorize=lambda request, _parts, _session: request,
)


@dataclass
class Redeploys:
    """A place in memory, behind an HTTP client, whose last call can be held or fail.

    Attributes:
        redeploys: how many last calls ended well.
        failures: statuses that the next of them are answered with.
        refused: names that it doesn't take.
    """

    content: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    redeploys: int = 0
    failures: list[int] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    hold: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.hold.set()

    def now(self) -> datetime:
        return datetime(2026, 3, 1, tzinfo=UTC)

    async def pause(self, _wait: timedelta) -> None:
        return

    async def send(
        self, request: RemoteRequest, *, limits: Limits = NO_LIMITS, place: str = ""
    ) -> RemoteAnswer:
        _ = limits, place
        self.asked.append(f"{request.method} {request.url}")
        if request.url == "/redeploy":
            await self.hold.wait()
            if self.failures:
                return RemoteAnswer(self.failures.pop(0), {}, b"")
            self.redeploys += 1
        elif request.method == "PUT":
            if request.url.removeprefix("/") in self.refused:
                return RemoteAnswer(422, {}, b"")
            self.content[request.url.removeprefix("/")] = orjson.loads(request.content)
        elif request.method == "DELETE":
            self.content.pop(request.url.removeprefix("/"), None)
        listed = [{"name": name, "value": value} for name, value in self.content.items()]
        return RemoteAnswer(200, {}, orjson.dumps(listed))

    @property
    def kind(self) -> DestinationKind:
        """A destination that leads here."""
        return DestinationKind(
            name=SCRIPTED,
            title="Redeploys",
            app=APP,
            can_import=True,
            config=config_of(ScriptedConfig),
            open=self.open,
        )

    def open(self, place: Place) -> TableDestination:
        """Return the destination of a run."""
        session = Session(APP, place.session.credentials, replace(place.session.context, http=self))
        table = Table(
            place="the place",
            listing=Listing(
                first=lambda: Call(method="GET", path="/", to="list"),
                rows=lambda page: page,
                row=lambda one: Row(text_of(one, "name"), Present(text_of(one, "value"))),
            ),
            write=Put(call=lambda one: Call(method="PUT", path=f"/{one.name}", to="write", body=one.value)),
            remove=Remove(lambda name: Call(method="DELETE", path=f"/{name}", to="remove")),
            finish=Call(method="POST", path="/redeploy", to="redeploy"),
        )
        return TableDestination(session, table, Traits(), place.naming)


def catalogue_of(kind: DestinationKind) -> Catalogue:
    """Return a catalogue of one destination, and of the app that connections of the scene are made to."""
    return Catalogue((kind,), (HASHICORP_VAULT.app,))


@pytest.fixture
def place(scene: SyncScene, monkeypatch: pytest.MonkeyPatch) -> Redeploys:
    """Return the place that all syncs of the scene lead to."""
    place = Redeploys()
    monkeypatch.setattr(scene.remotes, "catalogue", catalogue_of(place.kind))
    return place


async def finishing(place: Redeploys, times: int) -> None:
    """Return when so many last calls were begun."""

    async def probe() -> bool:
        return place.asked.count("POST /redeploy") >= times

    await until(probe, awaited=f"{times} last calls")


def changes(asked: Sequence[str]) -> list[str]:
    return [one for one in asked if not one.startswith("GET ")]


async def test_a_run_that_was_cut_off_before_its_last_call_is_followed_by_one_that_makes_it(
    scene: SyncScene, project: Project, place: Redeploys
) -> None:
    place.hold.clear()
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await finishing(place, 1)
    assert place.redeploys == 0
    place.asked, before = [], place.asked
    place.hold.set()
    async with scene.running():
        await scene.succeeded(sync_id)
    assert before.count("PUT /A") == 1
    assert changes(place.asked) == ["POST /redeploy"]
    assert place.redeploys == 1


async def test_a_last_call_that_fails_is_made_by_the_next_attempt(
    scene: SyncScene, project: Project, place: Redeploys
) -> None:
    place.failures = [503]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
    assert changes(place.asked) == ["PUT /A", "POST /redeploy", "POST /redeploy"]


async def test_what_removes_all_of_a_sync_makes_its_last_call_too(
    scene: SyncScene, project: Project, place: Redeploys
) -> None:
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        place.hold.clear()
        await scene.ask(sync_id, JobKind.REMOVE)
        await finishing(place, 2)
    place.asked = []
    place.hold.set()
    async with scene.running():
        await scene.succeeded(sync_id, kind=JobKind.REMOVE)
    assert place.content == {}
    assert changes(place.asked) == ["POST /redeploy"]


@pytest.mark.parametrize("values", [{"A": "cnry-1"}, {}], ids=["one secret", "none"])
async def test_runs_that_change_nothing_make_no_last_call(
    scene: SyncScene, project: Project, place: Redeploys, values: Mapping[str, str]
) -> None:
    await scene.put(project, **values)
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        place.asked = []
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        async with scene.database.writing() as unit:
            sync = await unit.secret_syncs.get(sync_id, for_change=True)
            assert sync is not None
            await queue(unit, sync, JobKind.SYNC, {}, scene.clock.now())
        await scene.succeeded(sync_id)
    assert changes(place.asked) == []
    assert place.redeploys == len(values)


async def test_a_refused_name_has_no_last_call_made_again_by_each_push(
    scene: SyncScene, project: Project, place: Redeploys
) -> None:
    place.refused = {"B"}
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.failed(sync_id)
        assert changes(place.asked) == ["PUT /A", "PUT /B", "POST /redeploy"]
        place.asked = []
        for _ in range(2):
            await scene.ask(sync_id)
            await scene.ended(sync_id)
            await scene.failed(sync_id)
        assert changes(place.asked) == ["PUT /B", "PUT /B"]


def one_or_another(one: Redeploys, other: Redeploys) -> Catalogue:
    """Return a catalogue whose destination leads to `one`, or to the other where another place is configured."""

    def opened(given: Place) -> TableDestination:
        assert isinstance(given.config, ScriptedConfig)
        return (one if given.config.place == "one" else other).open(given)

    return catalogue_of(replace(one.kind, open=opened))


async def test_what_is_removed_at_a_former_place_takes_effect_there_though_the_first_attempt_was_cut_off(
    scene: SyncScene, project: Project, place: Redeploys, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
    monkeypatch.setattr(scene.remotes, "catalogue", one_or_another(place, Redeploys()))
    place.hold.clear()
    async with scene.running():
        await scene.change(sync_id, config={"place": "two"})
        await finishing(place, 2)
    assert place.content == {}
    place.hold.set()
    async with scene.running():

        async def is_cleared() -> bool:
            return await scene.left(sync_id) == {}

        await until(is_cleared, awaited="an end of the former place")
        await scene.succeeded(sync_id)
    assert place.redeploys == 2
