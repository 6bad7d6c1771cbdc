"""A run that meets an error goes on or ends, and it is told why without a value."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.destinations.protocol import Traits
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteRefusedError,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.domain.audit import EventType
from keybearer.domain.syncs.jobs import JobTerms, SyncQueue
from keybearer.domain.syncs.outcomes import Failure
from keybearer.store.audit import AuditFilter
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobStatus, Progress
from support.async_waiting import until
from support.sync_scene import MANY, SyncScene
from support.virtual_time import VirtualTime

pytestmark = pytest.mark.every_database


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
    assert remote.puts == ["A", "B", "C"]


async def test_many_keys_and_a_place_that_takes_few_at_a_time_are_one_write_each(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    remote.traits = Traits(has_readable_values=False)
    names = [f"KEY_{number:02}" for number in range(30)]
    # The place takes ten, then asks to come later.
    remote.on_put |= {name: [RemoteThrottledError("later")] for name in names[9::10]}
    await scene.put(project, **dict.fromkeys(names, "cnry-1"))
    async with scene.running():
        await scene.succeeded(await scene.sync(project))
    assert remote.puts == names


async def test_names_are_not_written_again_where_their_versions_could_not_be_looked_up_after_the_last_of_them(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    remote.traits = Traits(has_readable_values=False)
    remote.hold.clear()
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)

        async def is_writing() -> bool:
            return remote.busy == 1

        await until(is_writing, awaited="a run that has looked at the remote")
        remote.on_read = [RemoteThrottledError("later", wait=timedelta(milliseconds=50))]
        remote.hold.set()
        await scene.succeeded(sync_id)
    assert not remote.on_read
    assert remote.puts == ["A", "B"]


async def test_a_remote_that_does_not_answer_is_tried_until_it_does_and_said_to_fail_from_the_fifth_time_on(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    text = "the remote throttles requests and kept asking to come later"
    remote.on_put["A"] = [RemoteThrottledError(text) for _ in range(MANY)]
    told: list[Progress] = []
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)

        async def has_failed() -> bool:
            progress = await scene.progress(sync_id)
            told.append(progress)
            return progress.status == JobStatus.FAILED

        await until(has_failed, awaited="a word about the failure")
        assert len(remote.on_put["A"]) <= MANY - 5
        assert told[-1].at is None
        message = str(told[-1].message)
        assert message.startswith(f"{text}; the next attempt is at 20")
        remote.on_put.clear()
        await scene.succeeded(sync_id)
    assert remote.content == {"A": "cnry-1"}


async def test_pauses_between_attempts_grow_to_an_hour_and_never_end(
    scene: SyncScene, project: Project
) -> None:
    scene.clock = time = VirtualTime()
    await scene.put(project, A="cnry-1")
    sync_id = await scene.sync(project)
    queue = SyncQueue(scene.database, time, JobTerms())
    pauses: list[float] = []
    for _ in range(12):
        (begun,) = await queue.claim(1)
        assert await queue.fail(begun, Failure("away", is_retryable=True))
        wait = (await queue.due()).next
        assert wait is not None
        pauses.append(wait.total_seconds())
        await time.advance(wait.total_seconds())
    assert all(2.4 * 2**n <= pause <= 3 * 2**n for n, pause in enumerate(pauses[:10]))
    assert all(2880 <= pause <= 3600 for pause in pauses[11:])
    progress = await scene.progress(sync_id)
    assert progress.status == JobStatus.FAILED


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
            await unit.folders.delete(project.id, folder)
        await scene.ask(sync_id)
        assert (await scene.failed(sync_id)).startswith(
            "Invalid source configuration: folder no longer exists."
        )


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
