"""A remote that fails, credentials that do, and a process that is killed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keybearer.domain.errors import InvalidError
from keybearer.store.secret_syncs import JobStatus
from support.conformance.interposed import CHANGES, CallKind, answering, killed, reset
from support.conformance.scenario import Scenario, numbered
from support.conformance.scene import Scene

__all__ = ["SCENARIOS"]

_HOUR = timedelta(hours=1)


async def one_failure_of_a_moment_is_not_seen_and_a_write_is_made_twice_at_most(scene: Scene) -> None:
    await scene.put(numbered(3))
    await scene.create()
    for number, instead in enumerate((answering(503), answering(500), reset)):
        scene.http.forget()
        scene.http.interpose(instead, CallKind.READ)
        # With the last of them the remote has written, and only its answer is lost.
        scene.http.interpose(instead, CallKind.WRITE, is_after=instead is reset)
        await scene.put({"KEY_001": f"cnry-new-{number}"})
        await scene.ask()
        await scene.step()
        await scene.succeeded()
        assert scene.http.tried(CallKind.WRITE) == 2
        scene.holds_all()


async def after_an_outage_at_half_the_rest_is_written_and_only_then_the_old_removed(scene: Scene) -> None:
    await scene.put({"OLD": "cnry-old"})
    await scene.create()
    old, half = scene.names(["OLD"])["OLD"], 4 if scene.under_test.batch == 1 else 0
    scene.http.forget()
    scene.http.interpose(answering(503), *CHANGES, times=-1, spared=half)
    await scene.put(numbered(8))
    await scene.delete("OLD")
    await scene.ask()
    await scene.step()
    there = dict(scene.here.values())
    assert there.pop(old, None) == "cnry-old"
    # A secret may be made before its value is.
    assert sum(1 for value in there.values() if value) == half
    assert (await scene.progress()).status == JobStatus.RUNNING
    scene.http.get_well()
    await scene.settle()
    await scene.succeeded()
    assert scene.http.count(CallKind.WRITE) == (8 if half else 1)
    scene.holds_all()


async def a_remote_that_is_away_for_an_hour_gets_all_without_anybodys_help(scene: Scene) -> None:
    await scene.put(numbered(3))
    scene.connection_id = await scene.connect(scene.remote.right)
    scene.http.interpose(reset, times=-1)
    await scene.make()
    ends_at = scene.clock.now() + _HOUR
    while scene.clock.now() < ends_at:
        await scene.step()
        job = await scene.put_off()
        scene.clock.move(max(job.due_at - scene.clock.now(), timedelta(seconds=1)))
    assert "the next attempt is at" in await scene.failed()
    scene.http.get_well()
    await scene.settle(_HOUR)
    await scene.succeeded()
    scene.holds_all()


async def credentials_that_are_wrong_are_refused_and_once_mended_all_arrives(scene: Scene) -> None:
    with pytest.raises(InvalidError, match="Unable to validate connection") as caught:
        await scene.connect(scene.remote.wrong)
    assert "cnry-" not in str(caught.value)
    scene.connection_id = await scene.connect(scene.remote.wrong, was_right=True)
    await scene.put(numbered(3))
    await scene.create()
    assert "cnry-" not in await scene.failed()
    assert await scene.waiting() == []
    assert dict(scene.here.values()) == {}
    with pytest.raises(InvalidError):
        await scene.mend(scene.remote.wrong)
    await scene.mend(scene.remote.right)
    await scene.settle(timedelta(seconds=10))
    await scene.succeeded()
    scene.holds_all()


async def a_push_that_is_killed_at_half_goes_on_where_it_was(scene: Scene) -> None:
    await scene.put({"OLD": "cnry-old"})
    await scene.create()
    spared = 4 if scene.under_test.batch == 1 else 0
    for number, is_after in enumerate((False, True)):
        source = numbered(8, mark=f"{number}-")
        await scene.put(source)
        await scene.notice()
        scene.http.forget()
        scene.http.interpose(killed, CallKind.WRITE, spared=spared, is_after=is_after)
        assert await scene.dies()
        await _goes_on(scene, len(source))
        scene.holds_all()


async def _goes_on(scene: Scene, wanted: int) -> None:
    """Hold that the next process writes the rest, and no name more often than once."""
    http, under_test = scene.http, scene.under_test
    assert http.count(CallKind.WRITE) <= wanted
    source = scene.written
    names, there = scene.names(source), scene.here.values()
    missing = sum(1 for key, value in source.items() if there.get(names[key]) != value)
    http.forget()
    await scene.restart()
    await scene.succeeded_in_any_words()
    if under_test.batch != 1:
        assert http.count(CallKind.WRITE) <= 1
    elif under_test.traits(scene.here).has_readable_values:
        assert http.count(CallKind.WRITE) == missing
    else:
        assert missing <= http.count(CallKind.WRITE) <= wanted


async def a_push_that_is_killed_at_any_call_ends_with_the_wanted_names_and_keeps_foreign_ones(
    scene: Scene,
) -> None:
    foreign = {"FOREIGN": "cnry-f"}
    fewer = numbered(2, mark="old-") | {"STALE": "cnry-stale"}
    more = numbered(4)
    scene.here.put("FOREIGN", foreign["FOREIGN"])
    await scene.put(fewer)
    await scene.create()
    for is_after in (False, True):
        at, has_died = 0, True
        while has_died:
            has_died = False
            # There and back: names are made, changed and removed both ways.
            for wanted in (more, fewer):
                scene.http.forget()
                scene.http.interpose(killed, spared=at, is_after=is_after)
                await scene.put(wanted)
                await scene.delete(*(scene.written.keys() - wanted.keys()))
                await scene.notice()
                if await scene.dies():
                    has_died = True
                    await _goes_on(scene, len(wanted))
                scene.http.get_well()
                scene.holds_all(foreign)
            at += scene.under_test.steps
        assert at > 1


SCENARIOS = (
    Scenario(one_failure_of_a_moment_is_not_seen_and_a_write_is_made_twice_at_most),
    Scenario(after_an_outage_at_half_the_rest_is_written_and_only_then_the_old_removed),
    Scenario(a_remote_that_is_away_for_an_hour_gets_all_without_anybodys_help),
    Scenario(credentials_that_are_wrong_are_refused_and_once_mended_all_arrives),
    Scenario(a_push_that_is_killed_at_half_goes_on_where_it_was),
    Scenario(
        a_push_that_is_killed_at_any_call_ends_with_the_wanted_names_and_keeps_foreign_ones, is_long=True
    ),
)
