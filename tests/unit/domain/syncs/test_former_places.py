"""A sync that is set up otherwise removes what it left, after the new place has its secrets, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from keybearer.base.backoff import Backoff
from keybearer.destinations.protocol import Traits
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteRefusedError,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.domain.audit import EventType
from keybearer.domain.syncs.queueing import DELETES_SYNC, queue_failed
from keybearer.store.audit import AuditFilter
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind, JobStatus
from support.async_waiting import until
from support.sync_scene import FAST, MANY, ONE_STAYED, SyncScene

pytestmark = pytest.mark.every_database


async def moved(scene: SyncScene, project: Project) -> str:
    """Return a sync that wrote A and B to the place one, among others' names, and goes to the place two."""
    scene.remotes["one"].content = {"OTHERS": "x"}
    await scene.put(project, A="cnry-1", B="cnry-2")
    sync_id = await scene.sync(project)
    await scene.succeeded(sync_id, saying=ONE_STAYED)
    await scene.change(sync_id, config={"place": "two"})
    return sync_id


async def test_what_was_written_at_the_former_place_goes_and_what_others_keep_there_stays(
    scene: SyncScene, project: Project
) -> None:
    async with scene.running():
        sync_id = await moved(scene, project)
        await scene.succeeded(sync_id)
        assert scene.remotes["two"].content == {"A": "cnry-1", "B": "cnry-2"}
        assert scene.remotes["one"].content == {"OTHERS": "x"}
        assert await scene.left(sync_id) == {}


async def test_nothing_goes_before_the_new_place_has_its_secrets(scene: SyncScene, project: Project) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    two.on_put["B"] = [RemoteRefusedError("no such name")]
    async with scene.running():
        sync_id = await moved(scene, project)
        await scene.failed(sync_id)
        assert one.content == {"A": "cnry-1", "B": "cnry-2", "OTHERS": "x"}
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert one.content == {"OTHERS": "x"}


async def test_several_changes_in_a_row_leave_nothing_at_any_place(
    scene: SyncScene, project: Project
) -> None:
    async with scene.running():
        two = scene.remotes["two"]
        two.on_put["B"] = [RemoteRefusedError("no such name")]
        sync_id = await moved(scene, project)
        await scene.failed(sync_id)
        await scene.change(sync_id, config={"place": "three"})
        await scene.succeeded(sync_id)
        assert scene.remotes["one"].content == {"OTHERS": "x"}
        assert two.content == {}
        assert scene.remotes["three"].content == {"A": "cnry-1", "B": "cnry-2"}


async def test_who_comes_back_to_a_place_has_its_names_again_and_writes_nothing_anew(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    one.traits = two.traits = Traits(has_readable_values=False)
    two.on_put["B"] = [RemoteRefusedError("no such name")]
    async with scene.running():
        sync_id = await moved(scene, project)
        await scene.failed(sync_id)
        one.forget_calls()
        await scene.change(sync_id, config={"place": "one"})
        await scene.succeeded(sync_id, saying=ONE_STAYED)
        assert await scene.pushed(sync_id) == ["A", "B"]
        assert one.writes == 0
        assert two.content == {}


async def test_a_name_that_another_sync_wrote_to_the_former_place_stays(
    scene: SyncScene, project: Project
) -> None:
    one = scene.remotes["one"]
    await scene.domain.folder(project, "/two")
    await scene.put(project, "/two", A="cnry-9")
    async with scene.running():
        sync_id = await moved(scene, project)
        await scene.succeeded(sync_id)
        await scene.change(sync_id, config={"place": "one"})
        await scene.succeeded(sync_id, saying=ONE_STAYED)
        other = await scene.sync(project, path="/two")
        assert (await scene.ended(other))[0].status == JobStatus.SUCCEEDED
        await scene.change(sync_id, config={"place": "two"})
        await scene.succeeded(sync_id)
        assert one.content == {"A": "cnry-9", "OTHERS": "x"}
        assert await scene.left(sync_id) == {}


@pytest.mark.parametrize("at_once", [True, False])
async def test_where_deletion_is_disabled_nothing_goes_and_the_place_is_forgotten(
    scene: SyncScene, project: Project, *, at_once: bool
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    await scene.put(project, A="cnry-1")
    two.on_put["A"] = [RemoteRefusedError("no such name")]
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        disabled = {"disableSecretDeletion": True}
        await scene.change(sync_id, config={"place": "two"}, options=disabled if at_once else None)
        await scene.failed(sync_id)
        if not at_once:
            assert await scene.left(sync_id) == {"one": ["A"]}
        await scene.change(sync_id, options=disabled)
        await scene.succeeded(sync_id)
        assert await scene.left(sync_id) == {}
        assert (one.content, two.content) == ({"A": "cnry-1"}, {"A": "cnry-1"})


async def test_a_former_place_that_fails_is_told_of_and_tried_again_and_nothing_is_written_anew(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    async with scene.running():
        scene.remotes["one"].content = {"OTHERS": "x"}
        await scene.put(project, A="cnry-1", B="cnry-2")
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id, saying=ONE_STAYED)
        one.on_read = [RemoteDeniedError("the token cnry-token-of-the-vault is refused") for _ in range(MANY)]
        told: list[str] = []
        await scene.change(sync_id, config={"place": "two"})

        async def is_told() -> bool:
            progress = await scene.progress(sync_id)
            if progress.message is not None and progress.message not in told:
                told.append(progress.message)
            return any("former" in message for message in told) and len(one.on_read) <= MANY - 6

        await until(is_told, awaited="attempts at the former place")
        one.on_read.clear()

        async def is_over() -> bool:
            return not await scene.left(sync_id)

        await until(is_over, awaited="a former place without anything")
        await scene.succeeded(sync_id)
        assert one.content == {"OTHERS": "x"}
        assert (two.puts, two.content) == (["A", "B"], {"A": "cnry-1", "B": "cnry-2"})
    later = [message for message in told if "former" in message]
    assert later
    assert all(
        message.startswith(
            "2 secrets at the former place (place one; connection 'one') could not be removed: "
            "the token [redacted] is refused; the next attempt is at 20"
        )
        for message in later
    )


async def test_pauses_between_attempts_at_a_former_place_grow(scene: SyncScene, project: Project) -> None:
    one = scene.remotes["one"]
    async with scene.running():
        await scene.put(project, A="cnry-1")
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        one.on_read = [RemoteUnavailableError("no usable answer came") for _ in range(4)]
        attempts: dict[int, timedelta] = {}
        await scene.change(sync_id, config={"place": "two"})

        async def is_over() -> bool:
            async with scene.database.reading() as unit:
                for place in await unit.former_places.of_sync(sync_id):
                    attempts[place.attempts] = place.next_attempt_at - place.created_at
            return not await scene.left(sync_id)

        await until(is_over, awaited="a former place without anything")
    assert sorted(attempts.values()) == [attempts[number] for number in sorted(attempts)]


async def test_new_credentials_of_its_connection_have_a_former_place_tried_at_once(
    scene: SyncScene, project: Project
) -> None:
    hour = timedelta(hours=1)
    scene.terms = replace(FAST, backoff=Backoff(floor=hour, ceiling=hour))
    one = scene.remotes["one"]
    async with scene.running():
        await scene.put(project, A="cnry-1")
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        one.on_read = [RemoteDeniedError("refused")]
        await scene.change(
            sync_id, config={"place": "two"}, connection=await scene.connection(project, "other")
        )

        async def is_told() -> bool:
            return "refused" in str((await scene.progress(sync_id)).message)

        await until(is_told, awaited="a word about the former place")
        assert one.content == {"A": "cnry-1"}
        async with scene.database.writing() as unit:
            await queue_failed(unit, await scene.connection(project), scene.clock.now())
        await scene.succeeded(sync_id)
        assert one.content == {}


@pytest.mark.parametrize("is_readable", [True, False])
async def test_another_connection_to_the_same_place_removes_nothing_of_what_is_wanted(
    scene: SyncScene, project: Project, *, is_readable: bool
) -> None:
    one = scene.remotes["one"]
    one.traits = Traits(has_readable_values=is_readable)
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        other = await scene.connection(project, "other")
        await scene.change(sync_id, connection=other)
        await scene.succeeded(
            sync_id, saying="2 secrets of the former place (place one) are here just as there"
        )
        assert one.content == {"A": "cnry-1", "B": "cnry-2"}
        assert one.deletes == []
        assert await scene.left(sync_id) == {}
        # It is the sync's still, over the new connection.
        await scene.delete(project, "B")
        await scene.holds(one, A="cnry-1")


async def test_a_place_under_another_description_is_recognized_though_the_source_changed_meanwhile(
    scene: SyncScene, project: Project
) -> None:
    one = scene.remotes["one"]
    scene.remotes.alias("one-by-another-name", "one")
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
    await scene.put(project, A="cnry-3")
    await scene.delete(project, "B")
    await scene.change(sync_id, config={"place": "one-by-another-name"})
    async with scene.running():
        await scene.ended(sync_id)
        assert (await scene.progress(sync_id)).status == JobStatus.SUCCEEDED
        # What is wanted stays, and what is not goes.
        assert one.content == {"A": "cnry-3"}
        assert one.deletes == ["B"]


async def test_a_place_that_holds_other_values_under_the_same_names_is_another_one(
    scene: SyncScene, project: Project
) -> None:
    scene.remotes["two"].content = {"A": "by hand", "B": "by hand"}
    async with scene.running():
        sync_id = await moved(scene, project)
        await scene.succeeded(sync_id)
        assert scene.remotes["two"].content == {"A": "cnry-1", "B": "cnry-2"}
        assert scene.remotes["one"].content == {"OTHERS": "x"}


async def test_a_document_that_another_key_schema_names_loses_the_keys_that_it_was_given(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.change(sync_id, config={"place": "one", "isDocument": True})
        scene.remotes["one/doc"].content = {"OTHERS": "x"}
        await scene.ask(sync_id)
        await scene.succeeded(sync_id, saying=ONE_STAYED)
        assert scene.remotes["one/doc"].content == {"A": "cnry-1", "OTHERS": "x"}
        await scene.change(sync_id, options={"keySchema": "new-{{secretKey}}"})
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert scene.remotes["one/new-doc"].content == {"A": "cnry-1"}
        assert scene.remotes["one/doc"].content == {"OTHERS": "x"}


async def test_another_key_schema_at_the_same_place_removes_the_former_names(
    scene: SyncScene, project: Project
) -> None:
    one = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        await scene.change(sync_id, options={"keySchema": "new-{{secretKey}}"})
        await scene.succeeded(sync_id)
        assert one.content == {"new-A": "cnry-1"}


@pytest.mark.parametrize("goes", [True, False])
async def test_removal_reaches_former_places(scene: SyncScene, project: Project, *, goes: bool) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    two.on_put["B"] = [RemoteRefusedError("no such name")]
    async with scene.running():
        sync_id = await moved(scene, project)
        await scene.failed(sync_id)
        one.on_read = [RemoteUnavailableError("no usable answer came")]
        await scene.ask(sync_id, JobKind.REMOVE, **{DELETES_SYNC: goes})
        message = await scene.failed(sync_id, JobKind.REMOVE)
        assert message == (
            "2 secrets at the former place (place one; connection 'one') could not be removed: "
            "no usable answer came; to leave them there, set disableSecretDeletion"
        )
        await scene.ask(sync_id, JobKind.REMOVE, **{DELETES_SYNC: goes})

        async def is_removed() -> bool:
            record = await scene.record(sync_id)
            return record is None if goes else record is not None and record.remove_status == "succeeded"

        await until(is_removed, awaited="a removal")
        assert (one.content, two.content) == ({"OTHERS": "x"}, {})


@pytest.mark.parametrize("goes", [True, False])
async def test_a_removal_waits_for_the_time_that_a_former_place_asks_for(
    scene: SyncScene, project: Project, *, goes: bool
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    two.on_put["B"] = [RemoteRefusedError("no such name")]
    async with scene.running():
        sync_id = await moved(scene, project)
        await scene.failed(sync_id)
        await scene.ended(sync_id)
        one.on_read = [RemoteThrottledError("limited", wait=timedelta(hours=1))]
        await scene.ask(sync_id, JobKind.REMOVE, **{DELETES_SYNC: goes})

        async def is_put_off() -> bool:
            message = (await scene.progress(sync_id, JobKind.REMOVE)).message
            return message is not None and message.startswith("limited; what arrived is noted, and the rest")

        await until(is_put_off, awaited="a removal that waits")
        assert two.content == {}
        assert await scene.pushed(sync_id) == []
        await scene.ask(sync_id, JobKind.REMOVE, **{DELETES_SYNC: goes})  # people don't wait

        async def is_removed() -> bool:
            record = await scene.record(sync_id)
            return record is None if goes else record is not None and record.remove_status == "succeeded"

        await until(is_removed, awaited="a removal")
        assert one.content == {"OTHERS": "x"}


async def test_what_a_later_attempt_removed_is_in_the_audit_log(scene: SyncScene, project: Project) -> None:
    async with scene.running():
        await scene.put(project, A="cnry-1")
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        scene.remotes["one"].on_read = [RemoteUnavailableError("no usable answer came")]
        await scene.change(sync_id, config={"place": "two"})
        await scene.succeeded(sync_id)
    await scene.trail.flush()
    async with scene.database.reading() as unit:
        lines = await unit.audit_log.listed(AuditFilter(project.organization_id), offset=0, limit=100)
    removed = [line for line in lines if line.event_type == EventType.REMOVE_SECRETS]
    assert [line.details["removedElsewhere"] for line in removed] == [1]


async def test_of_two_places_that_were_told_apart_either_is_cleared_though_both_hold_the_same(
    scene: SyncScene, project: Project
) -> None:
    hour = timedelta(hours=1)
    scene.terms = replace(FAST, backoff=Backoff(floor=hour, ceiling=hour))
    one, two = scene.remotes["one"], scene.remotes["two"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        one.on_read = [RemoteUnavailableError("no usable answer came")]
        await scene.change(sync_id, config={"place": "two"})

        async def is_told() -> bool:
            return (await scene.progress(sync_id)).message is not None

        await until(is_told, awaited="a word about the former place")
        assert one.content == two.content == {"A": "cnry-1"}
        await scene.change(sync_id, config={"place": "one"})

        async def is_cleared() -> bool:
            return await scene.left(sync_id) == {}

        await until(is_cleared, awaited="an end of the former place")
        assert (one.content, two.content) == ({"A": "cnry-1"}, {})


async def test_a_run_that_is_cut_off_while_it_clears_a_former_place_is_gone_on_from(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    await scene.put(project, A="cnry-1", B="cnry-2", C="cnry-3")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        one.hold.clear()
        await scene.change(sync_id, config={"place": "two"})

        async def is_clearing() -> bool:
            return one.busy == 1

        await until(is_clearing, awaited="a removal at the former place")
        assert two.content == {"A": "cnry-1", "B": "cnry-2", "C": "cnry-3"}
    one.hold.set()
    two.forget_calls()
    async with scene.running():

        async def is_cleared() -> bool:
            return await scene.left(sync_id) == {}

        await until(is_cleared, awaited="an end of the former place")
        await scene.succeeded(sync_id)
    assert one.content == {}
    assert two.writes == 0


async def test_that_a_former_place_is_another_one_says_nothing_of_the_next_place(
    scene: SyncScene, project: Project
) -> None:
    hour = timedelta(hours=1)
    scene.terms = replace(FAST, backoff=Backoff(floor=hour, ceiling=hour))
    one = scene.remotes["one"]
    scene.remotes.alias("one-by-another-name", "one")
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        one.on_read = [RemoteUnavailableError("no usable answer came")]
        await scene.change(sync_id, config={"place": "two"})

        async def is_told() -> bool:
            return (await scene.progress(sync_id)).message is not None

        await until(is_told, awaited="a word about the former place")
        await scene.change(sync_id, config={"place": "one-by-another-name"})

        async def is_pushed() -> bool:
            record = await scene.record(sync_id)
            return record is not None and record.is_settled and record.sync_status == JobStatus.SUCCEEDED

        await until(is_pushed, awaited="a push")
        assert one.content == {"A": "cnry-1"}
        assert one.deletes == []
