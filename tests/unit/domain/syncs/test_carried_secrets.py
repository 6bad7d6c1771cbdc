"""What a run of the engine carries to a remote, takes in from it, and takes away there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keybearer.destinations.protocol import Traits
from keybearer.destinations.remote import RemoteUnavailableError
from keybearer.domain.syncs.queueing import DELETES_SYNC, IMPORT_BEHAVIOR, REMOVES_FOREIGN
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind
from support.async_waiting import until
from support.sync_scene import ONE_STAYED, SyncScene

pytestmark = pytest.mark.every_database


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


async def test_a_reference_that_its_owner_may_not_follow_is_not_carried_and_the_message_says_so(
    scene: SyncScene, project: Project
) -> None:
    other = await scene.domain.project("other")
    await scene.put(other, SECRET="cnry-of-others")
    await scene.put(project, OURS="x", THEIRS="${@other.dev.SECRET}", OWN="${@home.dev.OURS}")
    async with scene.running():
        sync_id = await scene.sync(project, owner=await scene.member(project))
        message = await scene.failed(sync_id)
        assert "the rights of its owner, member: Failed to expand" in message
        assert "THEIRS" in message
        assert "cnry" not in message
        assert scene.remotes["one"].content == {}
        await scene.delete(project, "THEIRS")
        await scene.holds(scene.remotes["one"], OURS="x", OWN="x")


async def test_a_sync_whose_owner_lost_a_right_or_is_gone_stops_and_what_was_pushed_stays(
    scene: SyncScene, project: Project
) -> None:
    remote, owner = scene.remotes["one"], await scene.member(project)
    await scene.domain.folder(project, "/shared")
    await scene.domain.folder(project, "/app")
    await scene.domain.add_import(project, "/app", "/shared")
    await scene.put(project, "/shared", A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project, path="/app", owner=owner)
        await scene.succeeded(sync_id)
        await scene.let_go(project, owner)
        await scene.put(project, "/shared", A="cnry-2")
        message = await scene.failed(sync_id)
        assert "the rights of its owner, member: You do not have permission" in message
        assert remote.content == {"A": "cnry-1"}

        async with scene.database.writing() as unit:
            await unit.identities.delete(owner)
        await scene.ask(sync_id)

        async def told() -> bool:
            return "no owner" in ((await scene.progress(sync_id)).message or "")

        await until(told, awaited="a message about the owner")
        assert remote.content == {"A": "cnry-1"}


async def test_what_came_from_elsewhere_stays_is_counted_and_goes_only_where_that_is_asked_for(
    scene: SyncScene, project: Project
) -> None:
    kept, cleaned = scene.remotes["kept"], scene.remotes["cleaned"]
    for remote in (kept, cleaned):
        remote.content = {"app-OLD": "x", "other": "y"}
    await scene.put(project, A="cnry-1")
    async with scene.running():
        first = await scene.sync(project, "kept", keySchema="app-{{secretKey}}", disableSecretDeletion=True)
        second = await scene.sync(project, "cleaned", keySchema="app-{{secretKey}}")
        await scene.succeeded(first, second, saying=ONE_STAYED)
        for remote in (kept, cleaned):
            assert remote.content == {"app-A": "cnry-1", "app-OLD": "x", "other": "y"}
        await scene.ask(first, JobKind.SYNC, **{REMOVES_FOREIGN: True})
        await scene.succeeded(first, saying=ONE_STAYED)
        assert kept.content == {"app-A": "cnry-1", "app-OLD": "x", "other": "y"}
        await scene.ask(second, JobKind.SYNC, **{REMOVES_FOREIGN: True})
        await scene.succeeded(second)
        assert cleaned.content == {"app-A": "cnry-1", "other": "y"}
        # It was asked for once.
        cleaned.content["app-LATER"] = "z"
        await scene.ask(second)
        await scene.succeeded(second, saying=ONE_STAYED)
        assert cleaned.content == {"app-A": "cnry-1", "app-LATER": "z", "other": "y"}


async def test_a_request_to_remove_foreign_names_is_not_lost_to_a_change_of_the_source(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    remote.content = {"OLD": "x"}
    await scene.put(project, A="cnry-1")
    sync_id = await scene.sync(project, is_automatic=False)
    await scene.ask(sync_id, JobKind.SYNC, **{REMOVES_FOREIGN: True})
    await scene.ask(sync_id)
    async with scene.running():
        await scene.succeeded(sync_id)
    assert remote.content == {"A": "cnry-1"}


async def test_two_syncs_to_one_place_leave_each_other_what_both_wrote_and_say_so(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.domain.folder(project, "/two")
    await scene.put(project, BOTH="cnry-1", FIRST="cnry-1")
    await scene.put(project, "/two", BOTH="cnry-1", SECOND="cnry-2")
    async with scene.running():
        first = await scene.sync(project, name="first", is_automatic=False)
        second = await scene.sync(project, name="second", path="/two", is_automatic=False)
        await scene.ask(first)
        await scene.succeeded(first)
        await scene.ask(second)
        await scene.succeeded(
            second, saying="1 secret of this sync is also written by others, such as the sync 'first'"
        )
        await scene.ask(first)
        await scene.succeeded(first, saying="such as the sync 'second'")
        assert remote.content == {"BOTH": "cnry-1", "FIRST": "cnry-1", "SECOND": "cnry-2"}
        await scene.delete(project, "BOTH")
        await scene.ask(first)
        await scene.succeeded(first)
        assert remote.content == {"BOTH": "cnry-1", "FIRST": "cnry-1", "SECOND": "cnry-2"}
        await scene.ask(second, JobKind.REMOVE)
        await scene.succeeded(second, kind=JobKind.REMOVE)
        assert remote.content == {"FIRST": "cnry-1"}


async def test_a_sync_of_another_project_is_not_named(scene: SyncScene, project: Project) -> None:
    other = await scene.domain.project("other")
    await scene.put(project, BOTH="cnry-1")
    await scene.put(other, BOTH="cnry-1")
    theirs = await scene.sync(other, name="confidential", is_automatic=False)
    ours = await scene.sync(project, is_automatic=False)
    connection_id = await scene.connection(project)
    async with scene.database.writing() as unit:
        sync = await unit.secret_syncs.get(theirs, for_change=True)
        connection = await unit.app_connections.get(connection_id)
        assert sync is not None
        assert connection is not None
        await unit.app_connections.update(replace(connection, project_id=None))
        await unit.secret_syncs.update(replace(sync.record, connection_id=connection_id))
    async with scene.running():
        await scene.ask(theirs)
        await scene.succeeded(theirs)
        await scene.ask(ours)
        await scene.succeeded(
            ours, saying="1 secret of this sync is also written by syncs of other projects:"
        )


async def test_what_was_told_of_others_stands_until_the_next_look(scene: SyncScene, project: Project) -> None:
    remote = scene.remotes["one"]
    remote.content = {"OTHERS": "x"}
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id, saying=ONE_STAYED)
        remote.forget_calls()
        await scene.put(project, A="cnry-2")
        await scene.holds(remote, A="cnry-2", OTHERS="x")
        await scene.succeeded(sync_id, saying=ONE_STAYED)
        assert remote.listings == 0
        remote.content.pop("OTHERS")
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)


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
        (
            "overwrite-destination",
            {"A": "cnry-a", "B": "cnry-b"},
            {"A": "cnry-a", "B": "cnry-b", "C": "there"},
        ),
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
        is_imported = "C" in source
        await scene.succeeded(sync_id, saying=None if is_imported else ONE_STAYED)
        assert await scene.values(project) == source
        assert remote.content == remote_holds
        # What was imported is the sync's, and goes from the destination with the source.
        if is_imported:
            await scene.delete(project, "C")
            await scene.holds(remote, **{key: value for key, value in remote_holds.items() if key != "C"})


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
        await scene.succeeded(sync_id, saying=ONE_STAYED)
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
