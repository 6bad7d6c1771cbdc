"""A name that is refused keeps no other from being written or removed, and the sync says which and why."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from keybearer.base.backoff import Backoff
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import Refused, Traits
from keybearer.destinations.remote import RemoteUnavailableError
from keybearer.domain.syncs.refusals import REFUSALS_MAX, Refusals, told_of_refused
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind, JobStatus
from keybearer.store.sync_names import FOREIGN_MAX, NameState
from support.async_waiting import until
from support.scripted_remote import ScriptedRemote
from support.sync_scene import FAST, MANY, ONE_STAYED, SyncScene

pytestmark = pytest.mark.every_database

SOON = replace(FAST, look_interval=timedelta(seconds=0.4))
RULES = NameRules(pattern="[A-Z0-9_]+", words="letters, digits and underscores")


async def known(scene: SyncScene, sync_id: str, state: NameState = NameState.FAILED) -> dict[str, str | None]:
    async with scene.database.reading() as unit:
        return {one.name: one.message for one in await unit.sync_names.of_sync(sync_id) if one.state == state}


async def test_many_bad_names_keep_no_good_one_back_and_what_is_unwanted_goes(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    good = {f"KEY_{number:02}": "cnry-1" for number in range(60)}
    await scene.put(project, OLD="cnry-1", **good)
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        remote.traits = Traits(rules=RULES)
        await scene.delete(project, "OLD")
        bad = {f"A-{number:02}": "cnry-2" for number in range(30)}
        await scene.put(project, KEY_59="cnry-3", **bad)
        await scene.ask(sync_id)
        message = await scene.failed(sync_id)
        await scene.holds(remote, **{**good, "KEY_59": "cnry-3"})
        assert message.startswith("30 secrets were refused, and all others are in place. 'A-00', 'A-01', ")
        assert message.endswith(
            "'A-29': a name there takes letters, digits and underscores; rename the secret, or change the key schema"
        )
        assert (await known(scene, sync_id)).keys() == bad.keys()
        remote.forget_calls()
        await scene.delete(project, *bad)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
    assert remote.writes == 0
    assert await known(scene, sync_id) == {}


async def test_a_name_that_the_remote_refuses_is_told_without_a_value_until_it_is_taken(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    remote.refuses["B"] = "the remote said cnry-value-b is no good"
    await scene.put(project, A="cnry-1", B="cnry-value-b", C="cnry-3")
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id)
        message = await scene.failed(sync_id)
        said = "the remote said [redacted] is no good"
        assert message == f"1 secret was refused, and all others are in place. 'B': {said}"
        assert await known(scene, sync_id) == {"B": said}
        await scene.holds(remote, A="cnry-1", C="cnry-3")
        remote.refuses.clear()
        remote.forget_calls()
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
    assert remote.puts == ["B"]
    assert await known(scene, sync_id) == {}


async def test_a_refused_name_keeps_the_value_that_it_had(scene: SyncScene, project: Project) -> None:
    remote = scene.remotes["one"]
    remote.traits = Traits(rules=NameRules(value_bytes_max=12))
    await scene.put(project, A="cnry-1", B="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        await scene.put(project, A="cnry-much-too-long", B="cnry-2")
        await scene.failed(sync_id)
        await scene.holds(remote, A="cnry-1", B="cnry-2")
        assert remote.deletes == []
        await scene.put(project, A="cnry-3")
        await scene.holds(remote, A="cnry-3", B="cnry-2")
        await scene.succeeded(sync_id)


async def test_what_the_first_run_brought_is_not_brought_again_because_a_name_was_refused(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    remote.edit("A", "cnry-theirs")
    remote.refuses["B"] = "no"
    await scene.put(project, A="cnry-ours", B="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project, initialSyncBehavior="import-prioritize-destination")
        await scene.failed(sync_id)
        assert (await scene.values(project))["A"] == "cnry-theirs"
        await scene.put(project, A="cnry-newer")
        await scene.holds(remote, A="cnry-newer")
    assert (await scene.values(project))["A"] == "cnry-newer"


async def test_a_remote_that_refuses_one_name_after_the_other_is_asked_for_no_more(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    names = [f"KEY_{number:02}" for number in range(REFUSALS_MAX + 5)]
    remote.refuses |= dict.fromkeys(names, "the place is full")
    await scene.put(project, **dict.fromkeys(names, "cnry-1"))
    async with scene.running():
        sync_id = await scene.sync(project)
        message = await scene.failed(sync_id)
    assert message == (
        "The destination refused 20 names in a row, so no others were tried. 'KEY_19': the place is full"
    )
    assert list(await known(scene, sync_id)) == names[:REFUSALS_MAX]


async def test_refusals_between_which_names_are_taken_stop_nothing(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    names = [f"KEY_{number:03}" for number in range(3 * REFUSALS_MAX)]
    remote.refuses |= dict.fromkeys(names[::2], "no")
    await scene.put(project, **dict.fromkeys(names, "cnry-1"))
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.failed(sync_id)
    assert remote.puts == names[1::2]


async def test_names_that_failed_are_known_also_of_a_run_that_was_cut_off(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    remote.refuses["A"] = "no"
    remote.on_put["B"] = [RemoteUnavailableError("away") for _ in range(MANY)]
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        assert (await scene.failed(sync_id)).startswith("away; the next attempt is at")
        assert await known(scene, sync_id) == {"A": "no"}


async def test_names_of_others_are_kept_as_the_last_look_found_them_and_bounded(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    for number in range(FOREIGN_MAX + 1):
        remote.edit(f"OTHER_{number:04}", "cnry-x")
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id, saying=f"{FOREIGN_MAX + 1} secrets at the destination")
        assert list(await known(scene, sync_id, NameState.FOREIGN)) == [
            f"OTHER_{number:04}" for number in range(FOREIGN_MAX)
        ]
        await scene.ask(sync_id, JobKind.SYNC, removesForeign=True)
        await scene.succeeded(sync_id)
    assert await known(scene, sync_id, NameState.FOREIGN) == {}


def test_a_message_of_many_refusals_is_bounded_and_counts_those_that_it_does_not_name() -> None:
    message = told_of_refused({f"NAME_{number:05}" * 20: "r" * 2000 for number in range(10_000)})
    assert len(message) <= 1024
    assert message.startswith(
        "10,000 secrets were refused, and all others are in place. 'NAME_00000NAME_00000"
    )
    assert message.endswith("; and 9,996 more")


def test_refusals_by_rules_that_are_known_here_never_stop_a_run() -> None:
    refusals = Refusals({})
    for number in range(1000):
        refusals.add(Refused(f"A{number}", "no", is_local=True))
    assert len(refusals.reasons) == 1000


async def test_a_value_of_which_only_the_beginning_has_room_in_a_reason_is_not_told(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    value = "cnry-" + "v" * 40
    remote.refuses["A"] = "r" * 480 + value
    await scene.put(project, A=value)
    async with scene.running():
        message = await scene.failed(await scene.sync(project))
    assert "cnry" not in message


async def test_a_sync_with_another_place_knows_nothing_of_names_at_the_former_one(
    scene: SyncScene, project: Project
) -> None:
    scene.remotes["one"].refuses["A"] = "no"
    scene.remotes["one"].edit("OTHER", "cnry-x")
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.failed(sync_id)
        assert (await known(scene, sync_id)).keys() == {"A"}
        assert (await known(scene, sync_id, NameState.FOREIGN)).keys() == {"OTHER"}
    await scene.change(sync_id, config={"place": "two"})
    assert await known(scene, sync_id) == {}
    assert await known(scene, sync_id, NameState.FOREIGN) == {}


async def looked_at(remote: ScriptedRemote, more: int) -> None:
    target = remote.listings + more

    async def probe() -> bool:
        return remote.listings >= target

    await until(probe, awaited=f"{more} looks")


@pytest.mark.parametrize("is_refused_by_a_rule", [True, False])
async def test_a_run_that_wrote_all_that_can_be_written_is_settled_and_has_failed(
    scene: SyncScene, project: Project, *, is_refused_by_a_rule: bool
) -> None:
    remote = scene.remotes["one"]
    if is_refused_by_a_rule:
        remote.traits = Traits(rules=RULES)
    else:
        remote.refuses["B-1"] = "no"
    await scene.put(project, **{"A": "cnry-1", "B-1": "cnry-2"})
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.failed(sync_id)
        record = await scene.record(sync_id)
        assert record is not None
        assert (record.is_settled, record.last_synced_at) == (True, None)
        assert record.listed_at is not None
        assert record.reached
    await scene.domain.folder(project, "/other")
    async with scene.running():
        await scene.sync(project, "two", path="/other")
        await scene.put(project, "/other", C="cnry-3")
        await scene.holds(scene.remotes["two"], C="cnry-3")
        # What is found out when a process starts was found by now: its source is as it was.
        assert (await scene.progress(sync_id)).job_id == record.last_sync_job_id
        await scene.put(project, A="cnry-4")
        await scene.holds(remote, A="cnry-4")


async def test_a_refused_name_keeps_no_other_at_a_former_place_and_stays_there_itself(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    two.traits = Traits(rules=RULES)
    two.refuses["C"] = "no"
    await scene.put(project, **{"A": "cnry-1", "B-1": "cnry-2", "C": "cnry-3", "D": "cnry-4"})
    async with scene.running():
        sync_id = await scene.sync(project, keySchema="{{secretKey}}_x")
        await scene.succeeded(sync_id)
        await scene.change(sync_id, config={"place": "two"}, options={})
        message = await scene.failed(sync_id)
        assert message.startswith("2 secrets were refused, and all others are in place. 'B-1'")
        assert (
            "2 secrets at the former place (place one; connection 'one') could not be removed: the new place refuses "
            "them; the next attempt is at "
        ) in message
        assert two.content == {"A": "cnry-1", "D": "cnry-4"}
        assert one.content == {"B-1_x": "cnry-2", "C_x": "cnry-3"}
        assert await scene.left(sync_id) == {"one": ["B-1_x", "C_x"]}
        two.refuses.clear()
        two.traits = Traits()
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert one.content == {}
        assert await scene.left(sync_id) == {}


async def test_names_of_a_former_key_schema_stay_until_the_remote_takes_the_names_of_the_present_one(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project, keySchema="OLD_{{secretKey}}")
        await scene.succeeded(sync_id)
        remote.refuses["NEW_B"] = "no"
        await scene.change(sync_id, options={"keySchema": "NEW_{{secretKey}}"})
        await scene.failed(sync_id)
        assert remote.content == {"OLD_B": "cnry-2", "NEW_A": "cnry-1"}
        remote.refuses.clear()
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert remote.content == {"NEW_A": "cnry-1", "NEW_B": "cnry-2"}


async def test_a_place_with_too_little_room_for_both_key_schemas_gets_the_present_one(
    scene: SyncScene, project: Project
) -> None:
    """It refuses names while the former ones fill it; these go but for those of the refused secrets."""
    scene.terms = SOON
    remote = scene.remotes["one"]
    keys = [f"KEY_{number:02}" for number in range(57)]
    await scene.put(project, **dict.fromkeys(keys, "cnry-1"))
    async with scene.running():
        sync_id = await scene.sync(project, keySchema="OLD_{{secretKey}}")
        await scene.succeeded(sync_id)
        remote.room = 100
        await scene.change(sync_id, options={"keySchema": "NEW_{{secretKey}}"})
        await scene.holds(remote, **{f"NEW_{key}": "cnry-1" for key in keys})
        await scene.succeeded(sync_id)


async def test_looks_that_follow_each_other_do_not_remove_former_names_of_a_refused_secret(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    scene.terms = replace(FAST, backoff=Backoff(timedelta(milliseconds=1), timedelta(milliseconds=2)))
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project, keySchema="OLD_{{secretKey}}")
        await scene.succeeded(sync_id)
        # What stays at the former place has the present one looked at again and again.
        one.on_read = [RemoteUnavailableError("away") for _ in range(MANY)]
        await scene.change(sync_id, config={"place": "two"})
        await scene.holds(two, OLD_A="cnry-1", OLD_B="cnry-2")
        two.refuses["NEW_B"] = "no"
        await scene.change(sync_id, options={"keySchema": "NEW_{{secretKey}}"})
        await scene.failed(sync_id)
        before = await scene.progress(sync_id)
        await looked_at(two, 5)
        after = await scene.progress(sync_id)
        assert (after.status, after.job_id) == (before.status, before.job_id)
        assert two.content == {"OLD_B": "cnry-2", "NEW_A": "cnry-1"}


async def test_a_former_place_keeps_a_refused_secret_under_an_older_key_schema_too(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    one.refuses["NEW_B"] = two.refuses["NEW_B"] = "no"
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project, keySchema="OLD_{{secretKey}}")
        await scene.succeeded(sync_id)
        await scene.change(sync_id, options={"keySchema": "NEW_{{secretKey}}"})
        await scene.failed(sync_id)
        await scene.change(sync_id, config={"place": "two"})
        await scene.failed(sync_id)
    assert two.content == {"NEW_A": "cnry-1"}
    assert one.content == {"OLD_B": "cnry-2"}


async def test_what_a_former_place_keeps_of_a_refused_name_stays_until_a_push_brought_what_replaces_it(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    two.traits = Traits(rules=RULES)
    await scene.put(project, **{"A": "cnry-1", "B-1": "cnry-2"})
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        await scene.change(sync_id, config={"place": "two"})
        await scene.ask(sync_id)
        await scene.failed(sync_id)
        assert one.content == {"B-1": "cnry-2"}
        await scene.delete(project, "B-1")
        await scene.put(project, B_1="cnry-2")
        await looked_at(two, 3)
        assert one.content == {"B-1": "cnry-2"}
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert two.content == {"A": "cnry-1", "B_1": "cnry-2"}
        assert one.content == {}


async def test_a_place_that_refuses_one_name_after_the_other_takes_nothing_from_a_former_one(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    names = [f"KEY_{number:02}" for number in range(REFUSALS_MAX + 5)]
    two.refuses |= dict.fromkeys(names, "the place is full")
    await scene.put(project, **dict.fromkeys(names, "cnry-1"))
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        await scene.change(sync_id, config={"place": "two"})
        await scene.failed(sync_id)
        await scene.ended(sync_id)
    assert sorted(one.content) == names
    record = await scene.record(sync_id)
    assert record is not None
    assert not record.is_settled


async def test_what_others_changed_is_put_right_also_of_a_sync_with_a_refused_name(
    scene: SyncScene, project: Project
) -> None:
    scene.terms = SOON
    remote = scene.remotes["one"]
    remote.traits = Traits(rules=RULES)
    await scene.put(project, **{"A": "cnry-1", "B-1": "cnry-2"})
    async with scene.running():
        sync_id = await scene.sync(project)
        message = await scene.failed(sync_id)
        before = await scene.progress(sync_id)
        await looked_at(remote, 3)
        # A look that finds nothing to do shows nowhere, and sets no push off.
        assert await scene.progress(sync_id) == before
        remote.edit("A", "by hand")
        await scene.holds(remote, A="cnry-1")
        assert await scene.failed(sync_id) == message
        assert (await scene.progress(sync_id)).at is None


async def test_a_name_that_the_remote_refused_is_tried_again_by_looks_until_it_is_taken(
    scene: SyncScene, project: Project
) -> None:
    scene.terms = SOON
    remote = scene.remotes["one"]
    remote.refuses["B"] = "the place is full"
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        message = await scene.failed(sync_id)
        await looked_at(remote, 3)
        assert await scene.failed(sync_id) == message
        remote.refuses.clear()
        await scene.holds(remote, A="cnry-1", B="cnry-2")
        await scene.succeeded(sync_id)
    assert remote.puts == ["A", "B"]


async def test_looks_that_follow_each_other_do_not_try_a_refused_name_each_time(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    scene.terms = replace(FAST, backoff=Backoff(timedelta(milliseconds=1), timedelta(milliseconds=2)))
    two.refuses["B"] = "no"
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        one.forget_calls()
        await scene.change(sync_id, config={"place": "two"})
        await scene.failed(sync_id)
        before = await scene.progress(sync_id)
        # What stays at the former place has it looked at again and again.
        await looked_at(two, 5)
        after = await scene.progress(sync_id)
        assert (after.status, after.job_id) == (before.status, before.job_id)
        assert one.deletes == ["A"]
        assert one.listings == 1


async def test_a_sync_whose_names_other_rules_take_or_refuse_is_pushed_and_says_so(
    scene: SyncScene, project: Project
) -> None:
    scene.terms = SOON
    remote = scene.remotes["one"]
    await scene.put(project, **{"A": "cnry-1", "B-1": "cnry-2"})
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        remote.traits = Traits(rules=RULES)
        await scene.failed(sync_id)
        assert remote.content == {"A": "cnry-1", "B-1": "cnry-2"}
        remote.traits = Traits()

        async def is_well() -> bool:
            return (await scene.progress(sync_id)).status == JobStatus.SUCCEEDED

        await until(is_well, awaited="a push that refuses nothing")
        await scene.succeeded(sync_id)


async def test_a_look_that_misses_a_name_at_the_present_place_leaves_it_at_the_former_one(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        one.on_read = [RemoteUnavailableError("away") for _ in range(MANY)]
        await scene.change(sync_id, config={"place": "two"})
        await scene.holds(two, A="cnry-1", B="cnry-2")
        two.hold_reads.clear()  # the push has listed it before it wrote: the first look waits here

        async def is_told() -> bool:
            return "former place" in str((await scene.progress(sync_id)).message)

        await until(is_told, awaited="a word about the former place")
        two.refuses["A"] = "no more"
        del two.content["A"]
        one.on_read.clear()
        two.hold_reads.set()
        await scene.failed(sync_id)
    assert one.content == {"A": "cnry-1"}


async def test_a_sync_of_which_one_name_was_refused_imports_nothing_with_its_next_pushes(
    scene: SyncScene, project: Project
) -> None:
    scene.terms = SOON
    one = scene.remotes["one"]
    one.refuses["C"] = "no"
    await scene.put(project, A="cnry-1", C="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project, initialSyncBehavior="import-prioritize-source")
        await scene.failed(sync_id)
        await scene.ended(sync_id)
        one.content["FOREIGN"] = "x"
        one.refuses.clear()
        await scene.holds(one, A="cnry-1", C="cnry-2", FOREIGN="x")
        await scene.succeeded(sync_id, saying=ONE_STAYED)
        assert await scene.pushed(sync_id) == ["A", "C"]
