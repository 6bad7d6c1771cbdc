"""The sync engine on both databases, against remotes that do what the test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.audit import EventType
from keybearer.domain.syncs.queueing import DELETES_SYNC, IMPORT_BEHAVIOR, queue
from keybearer.outbound.destinations.protocol import Traits
from keybearer.outbound.remote import (
    RemoteDeniedError,
    RemoteRefusedError,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.store.audit import AuditFilter
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind, JobStatus, SecretSyncs
from keybearer.store.secrets import Location
from support.async_waiting import until
from support.databases import OwnDatabase, on_every_database
from support.sync_scene import SyncScene, sync_scene


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_every_database(metafunc)


@pytest.fixture
async def scene(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[SyncScene]:
    """Yield a scene whose engine doesn't run yet."""
    async with sync_scene(tmp_path, own_database.engine_url(tmp_path)) as made:
        yield made


@pytest.fixture
async def project(scene: SyncScene) -> Project:
    return await scene.domain.project("home")


async def test_a_new_sync_carries_the_folder_and_a_changed_key_is_one_call(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        assert remote.content == {"A": "cnry-1", "B": "cnry-2"}
        remote.forget_calls()
        await scene.put(project, A="cnry-3")
        await scene.holds(remote, A="cnry-3", B="cnry-2")
        await scene.succeeded(sync_id)
        assert (remote.listings, remote.puts) == (0, ["A"])
        await scene.delete(project, "B")
        await scene.holds(remote, A="cnry-3")
        await scene.succeeded(sync_id)
        assert remote.listings == 0


async def test_imports_and_references_are_carried_and_a_change_in_either_sets_the_sync_off(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    for path in ("/app", "/shared", "/deep"):
        await scene.domain.folder(project, path)
    await scene.domain.add_import(project, "/app", "/shared")
    await scene.put(project, "/deep", HOST="cnry-h1")
    await scene.put(project, "/shared", S="cnry-s1", OWN="cnry-not-this")
    await scene.put(project, "/app", OWN="cnry-own", URL="cnry-//${dev.deep.HOST}")
    async with scene.running():
        sync_id = await scene.sync(project, path="/app")
        await scene.succeeded(sync_id)
        assert remote.content == {"OWN": "cnry-own", "S": "cnry-s1", "URL": "cnry-//cnry-h1"}
        remote.forget_calls()
        await scene.put(project, "/shared", S="cnry-s2")
        await scene.holds(remote, OWN="cnry-own", S="cnry-s2", URL="cnry-//cnry-h1")
        await scene.put(project, "/deep", HOST="cnry-h2")
        await scene.holds(remote, OWN="cnry-own", S="cnry-s2", URL="cnry-//cnry-h2")
        await scene.succeeded(sync_id)
        assert (remote.listings, remote.puts) == (0, ["S", "URL"])


async def test_a_reference_into_another_project_is_not_carried_and_the_message_says_so(
    scene: SyncScene, project: Project
) -> None:
    other = await scene.domain.project("other")
    await scene.put(other, SECRET="cnry-of-others")
    await scene.put(project, OURS="x", THEIRS="${@other.dev.SECRET}", OWN="${@home.dev.OURS}")
    async with scene.running():
        sync_id = await scene.sync(project)
        message = await scene.failed(sync_id)
        assert "Failed to expand" in message
        assert "THEIRS" in message
        assert "cnry" not in message
        assert scene.remotes["one"].content == {}
        await scene.delete(project, "THEIRS")
        await scene.holds(scene.remotes["one"], OURS="x", OWN="x")


async def test_nothing_is_deleted_where_that_is_disabled_and_foreign_names_are_never_touched(
    scene: SyncScene, project: Project
) -> None:
    kept, cleaned = scene.remotes["kept"], scene.remotes["cleaned"]
    for remote in (kept, cleaned):
        remote.content = {"app-OLD": "x", "other": "y"}
    await scene.put(project, A="cnry-1")
    async with scene.running():
        first = await scene.sync(project, "kept", keySchema="app-{{secretKey}}", disableSecretDeletion=True)
        second = await scene.sync(project, "cleaned", keySchema="app-{{secretKey}}")
        await scene.succeeded(first, second)
    assert kept.content == {"app-A": "cnry-1", "app-OLD": "x", "other": "y"}
    assert cleaned.content == {"app-A": "cnry-1", "other": "y"}


async def test_a_run_by_hand_looks_at_the_remote_and_mends_what_others_did(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        remote.edit("A", "by hand")
        remote.content.pop("B")
        remote.forget_calls()
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert remote.content == {"A": "cnry-1", "B": "cnry-2"}
        assert remote.listings == 1
        remote.forget_calls()
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert (remote.listings, remote.writes) == (1, 0)


async def test_where_values_do_not_come_back_versions_tell_what_others_did(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    remote.traits = Traits(has_readable_values=False)
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        remote.forget_calls()
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert remote.writes == 0
        remote.edit("A", "by hand")
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert (remote.puts, remote.content["A"]) == (["A"], "cnry-1")


@pytest.mark.parametrize(
    ("behavior", "source", "remote_holds"),
    [
        ("overwrite-destination", {"A": "cnry-a", "B": "cnry-b"}, {"A": "cnry-a", "B": "cnry-b"}),
        (
            "import-prioritize-source",
            {"A": "cnry-a", "B": "cnry-b", "C": "there"},
            {"A": "cnry-a", "B": "cnry-b", "C": "there"},
        ),
        (
            "import-prioritize-destination",
            {"A": "there", "B": "cnry-b", "C": "there"},
            {"A": "there", "B": "cnry-b", "C": "there"},
        ),
    ],
)
async def test_the_first_sync_resolves_what_is_there_as_it_is_told(
    scene: SyncScene, project: Project, behavior: str, source: dict[str, str], remote_holds: dict[str, str]
) -> None:
    remote = scene.remotes["one"]
    remote.content = {"A": "there", "B": "", "C": "there"}
    await scene.put(project, A="cnry-a", B="cnry-b")
    async with scene.running():
        sync_id = await scene.sync(project, initialSyncBehavior=behavior)
        await scene.succeeded(sync_id)
        assert await scene.values(project) == source
        assert remote.content == remote_holds
        # The first sync is over: what appears later is not ours to keep.
        remote.content["LATER"] = "x"
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert remote.content == remote_holds


@pytest.mark.parametrize(
    ("behavior", "wanted"), [("prioritize-source", "cnry-a"), ("prioritize-destination", "there")]
)
async def test_an_import_takes_in_what_is_missing_and_pushes_nothing(
    scene: SyncScene, project: Project, behavior: str, wanted: str
) -> None:
    remote = scene.remotes["one"]
    remote.content = {"A": "there", "NEW": "there"}
    await scene.put(project, A="cnry-a", HOME="cnry-h")
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id, JobKind.IMPORT, **{IMPORT_BEHAVIOR: behavior})
        await scene.succeeded(sync_id, kind=JobKind.IMPORT)
        assert await scene.values(project) == {"A": wanted, "HOME": "cnry-h", "NEW": "there"}
        assert remote.writes == 0
        assert (await scene.progress(sync_id)).status is None


async def test_names_that_are_no_secrets_names_are_not_imported(scene: SyncScene, project: Project) -> None:
    scene.remotes["one"].content = {"a:b": "x", "c/d": "y", "FINE": "z"}
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id, JobKind.IMPORT, **{IMPORT_BEHAVIOR: "prioritize-source"})
        message = await scene.failed(sync_id, JobKind.IMPORT)
    assert message.startswith("Found 2 invalid secret name(s)")
    assert "'a:b', 'c/d'" in message
    assert await scene.values(project) == {}


async def test_removal_takes_away_what_is_ours_and_the_sync_may_go_with_it(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False, disableSecretDeletion=True)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        remote.content["OTHERS"] = "x"
        await scene.ask(sync_id, JobKind.REMOVE)
        await scene.succeeded(sync_id, kind=JobKind.REMOVE)
        assert remote.content == {"OTHERS": "x"}
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert remote.content == {"A": "cnry-1", "B": "cnry-2", "OTHERS": "x"}
        remote.on_read.append(RemoteUnavailableError("the remote took too long to answer"))
        await scene.ask(sync_id, JobKind.REMOVE, **{DELETES_SYNC: True})
        # One attempt: it stays, and says so.
        assert await scene.failed(sync_id, JobKind.REMOVE) == "the remote took too long to answer"
        await scene.ask(sync_id, JobKind.REMOVE, **{DELETES_SYNC: True})

        async def is_gone() -> bool:
            return await scene.record(sync_id) is None

        await until(is_gone, awaited="an end of the sync")
        assert remote.content == {"OTHERS": "x"}


async def test_an_outage_midway_is_gone_through_and_what_arrived_is_not_written_again(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    remote.traits = Traits(has_readable_values=False)
    remote.on_put["B"] = [RemoteUnavailableError("no usable answer came"), RemoteThrottledError("later")]
    await scene.put(project, A="cnry-1", B="cnry-2", C="cnry-3")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
    assert remote.content == {"A": "cnry-1", "B": "cnry-2", "C": "cnry-3"}
    # The version of A is not known after the first attempt: it is written twice, and the third time it is.
    assert remote.puts.count("B") == remote.puts.count("C") == 1


async def test_a_remote_that_throttles_for_ever_is_given_up_after_five_attempts(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    text = "the remote throttles requests and kept asking to come later"
    remote.on_put["A"] = [RemoteThrottledError(text) for _ in range(9)]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        assert await scene.failed(sync_id) == text
        assert len(remote.on_put["A"]) == 4
        assert (await scene.progress(sync_id)).at is None
        remote.on_put.clear()
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)


@pytest.mark.parametrize(
    "error",
    [RemoteDeniedError("the token cnry-token-of-the-vault is refused"), RemoteRefusedError("no such name")],
)
async def test_what_will_not_get_better_ends_at_once_and_no_message_holds_a_credential(
    scene: SyncScene, project: Project, error: RemoteDeniedError
) -> None:
    remote = scene.remotes["one"]
    remote.on_read = [error] * 2
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        message = await scene.failed(sync_id)
    assert message == str(error).replace("cnry-token-of-the-vault", "[redacted]")
    assert len(remote.on_read) == 1


async def test_a_message_shows_no_value_and_is_not_endless(scene: SyncScene, project: Project) -> None:
    scene.remotes["one"].on_read = [RemoteRefusedError("it said cnry-value-1 " + "x" * 3000)]
    await scene.put(project, A="cnry-value-1")
    async with scene.running():
        message = await scene.failed(await scene.sync(project))
    assert message.startswith("it said [redacted] x")
    assert len(message) == 1024


async def test_a_plan_that_cannot_be_is_told_without_a_call_that_writes(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    remote.traits = Traits(names_max=1)
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        message = await scene.failed(await scene.sync(project))
    assert message.startswith("The destination takes 1 secrets at most, and the source has 2")
    assert remote.writes == 0


async def test_a_folder_that_is_gone_is_told(scene: SyncScene, project: Project) -> None:
    await scene.domain.folder(project, "/app")
    async with scene.running():
        sync_id = await scene.sync(project, path="/app")
        await scene.succeeded(sync_id)
        async with scene.database.writing() as unit:
            folder = await unit.folders.at(project.id, EnvironmentSlug("dev"), FolderPath("/app"))
            assert folder is not None
            await unit.folders.delete(folder.id)
        await scene.ask(sync_id)
        assert (await scene.failed(sync_id)).startswith(
            "Invalid source configuration: folder no longer exists."
        )


async def test_a_change_during_a_run_queues_another(scene: SyncScene, project: Project) -> None:
    remote = scene.remotes["one"]
    remote.hold.clear()
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)

        async def is_writing() -> bool:
            return remote.busy == 1

        await until(is_writing, awaited="a run")
        assert (await scene.progress(sync_id)).status == JobStatus.RUNNING
        await scene.put(project, A="cnry-2")

        async def is_pending() -> bool:
            return (await scene.progress(sync_id)).status == JobStatus.PENDING

        await until(is_pending, awaited="another job")
        remote.hold.set()
        await scene.succeeded(sync_id)
        assert remote.content == {"A": "cnry-2"}
        assert remote.most_busy == 1


async def test_five_run_for_one_connection_and_others_are_not_held_up(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1")
    busy, free = scene.remotes["busy"], scene.remotes["free"]
    busy.hold.clear()
    many = [await scene.sync(project, "busy", connection="many") for _ in range(12)]
    async with scene.running():

        async def is_full() -> bool:
            return busy.busy == 5

        await until(is_full, awaited="five runs")
        await scene.succeeded(await scene.sync(project, "free", connection="few"))
        assert free.content == {"A": "cnry-1"}
        assert busy.busy == 5
        busy.hold.set()
        await scene.succeeded(*many)
    assert busy.most_busy == 5


async def test_what_happened_while_nobody_listened_is_found_at_the_start_and_nothing_else_moves(
    scene: SyncScene, project: Project
) -> None:
    other = await scene.domain.project("other")
    one, two = scene.remotes["one"], scene.remotes["two"]
    await scene.domain.folder(project, "/apart")
    await scene.put(project, A="cnry-1")
    await scene.put(other, A="cnry-1")
    async with scene.running():
        first, second = await scene.sync(project, "one"), await scene.sync(other, "two")
        await scene.succeeded(first, second)
    before = await scene.record(second)
    one.forget_calls()
    two.forget_calls()
    await scene.put(project, A="cnry-2")
    await scene.put(other, B="cnry-3")
    await scene.delete(other, "B")
    async with scene.running():
        await scene.holds(one, A="cnry-2")
        await scene.succeeded(first, second)

        async def is_reached() -> bool:
            record = await scene.record(second)
            return record is not None and before is not None and record.reached != before.reached

        await until(is_reached, awaited="a note of what was found the same")
    after = await scene.record(second)
    assert before is not None
    assert after == replace(before, reached=after.reached if after else None)
    assert (two.listings, two.writes) == (0, 0)


async def test_an_engine_that_is_told_to_stop_lets_its_runs_end(scene: SyncScene, project: Project) -> None:
    remote = scene.remotes["one"]
    remote.hold.clear()
    await scene.put(project, A="cnry-1")
    sync_id = await scene.sync(project)
    engine = scene.engine()
    task = asyncio.create_task(engine.run())

    async def is_writing() -> bool:
        return remote.busy == 1

    await until(is_writing, awaited="a run")
    engine.stop()
    remote.hold.set()
    await task
    await scene.succeeded(sync_id)


async def test_a_run_that_is_cut_off_is_taken_up_and_looks_before_it_writes(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        remote.hold.clear()
        await scene.put(project, A="cnry-3")

        async def is_writing() -> bool:
            return remote.busy == 1

        await until(is_writing, awaited="a run")
    remote.hold.set()
    remote.forget_calls()
    async with scene.running():
        await scene.succeeded(sync_id)
    assert remote.content == {"A": "cnry-3", "B": "cnry-2"}
    assert remote.listings == 1


async def test_a_change_of_one_folder_moves_no_sync_of_another(scene: SyncScene, project: Project) -> None:
    await scene.domain.folder(project, "/apart")
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        before = await scene.record(sync_id)
        await scene.put(project, "/apart", X="cnry-9")
        marker = await scene.sync(project, "marker", path="/apart")
        await scene.succeeded(marker)
        assert await scene.record(sync_id) == before


async def test_where_there_is_no_sync_a_change_costs_nothing(scene: SyncScene, project: Project) -> None:
    async with scene.running():
        # A sync that changes don't set off says when the start is over.
        await scene.put(project, A="cnry-1")
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        await scene.put(project, A="cnry-2", B="cnry-3")
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert scene.followed == 0
        await scene.succeeded(await scene.sync(project, "two"))
        await scene.put(project, A="cnry-4")
        await scene.holds(scene.remotes["two"], A="cnry-4", B="cnry-3")
        assert scene.followed > 0


async def test_new_credentials_are_looked_through_before_anything_is_trusted(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        # Another account, in which nothing is.
        remote.content.clear()
        async with scene.database.writing() as unit:
            opened = await unit.app_connections.opened(await scene.connection(project))
            assert opened is not None
            await unit.app_connections.update(opened.connection, opened.credentials)
        await scene.put(project, A="cnry-3")
        await scene.holds(remote, A="cnry-3", B="cnry-2")


async def test_the_audit_log_tells_what_was_read_and_what_became_of_it(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
    await scene.trail.flush()
    async with scene.database.reading() as unit:
        lines = await unit.audit_log.listed(AuditFilter(project.organization_id), offset=0, limit=100)
    told = {line.event_type: line for line in lines if line.details.get("syncId") == sync_id}
    read, done = told[EventType.GET_SECRETS], told[EventType.SYNC_SECRETS]
    assert read.details["secretKeys"] == ["A"]
    assert (done.details["status"], done.details["written"]) == ("succeeded", 1)
    assert (done.actor_id, done.actor_kind) == (None, "machine")


async def test_a_change_that_is_told_of_a_whole_organization_is_found_as_well(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        place = Location(EnvironmentSlug("dev"), FolderPath("/"), "A")
        async with scene.database.writing() as unit:
            await unit.move_project(project.id)
            (secret,) = await unit.secrets.at(project.id, [place])
            await unit.secrets.update(project.id, [replace(secret, value="cnry-2", version=2)])
            unit.changes.folders.clear()
            unit.changes.organizations.add(project.organization_id)
        await scene.holds(scene.remotes["one"], A="cnry-2")


async def test_a_sync_that_is_set_up_otherwise_during_a_run_is_looked_at_again(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    two.content = {"OLD": "x"}
    one.hold.clear()
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)

        async def is_writing() -> bool:
            return one.busy == 1

        await until(is_writing, awaited="a run")
        async with scene.database.writing() as unit:
            sync = await unit.secret_syncs.get(sync_id, for_change=True)
            assert sync is not None
            changed = replace(sync.record, destination_config={"place": "two"}, version=2)
            await unit.secret_syncs.update(changed)
            await queue(unit, replace(sync, record=changed), JobKind.SYNC, {}, scene.clock.now())
        one.hold.set()
        await scene.holds(two, A="cnry-1")
        await scene.succeeded(sync_id)


async def test_a_change_is_not_missed_while_it_is_looked_up_whether_there_are_syncs(
    scene: SyncScene, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = SecretSyncs.any_automatic
    changes = [{"B": "cnry-2"}, {"B": "cnry-3"}]

    async def look_slowly(self: SecretSyncs) -> bool:
        found = await look(self)
        if armed.is_set() and changes:
            await scene.put(project, **changes.pop())
        return found

    armed = asyncio.Event()
    monkeypatch.setattr(SecretSyncs, "any_automatic", look_slowly)
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        armed.set()
        await scene.put(project, A="cnry-4")
        await scene.holds(scene.remotes["one"], A="cnry-4", B="cnry-2")


async def test_a_sync_of_which_no_run_can_be_made_keeps_no_other_from_running(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1")
    places = {await scene.sync(project, place, connection=place): place for place in ("one", "two", "three")}
    async with scene.running():
        await scene.succeeded(*places)
    # The first that is looked at; a number of this size can't be digested.
    broken, *others = sorted(places)
    record = await scene.record(broken)
    assert record is not None
    config = {**record.destination_config, "number": 1 << 70}
    async with scene.database.writing() as unit:
        await unit.secret_syncs.update(replace(record, destination_config=config))
    await scene.put(project, A="cnry-2")
    async with scene.running():
        for other in others:
            await scene.holds(scene.remotes[places[other]], A="cnry-2")
        assert "TypeError" in await scene.failed(broken)
