"""Names and values that a place doesn't take, and as many and as large ones as it does."""

from __future__ import annotations

from keybearer.store.secret_syncs import JobStatus
from support.conformance.interposed import CHANGES, CallKind, answering
from support.conformance.remote_under_test import RemoteUnderTest
from support.conformance.scenario import Scenario, numbered
from support.conformance.scene import Scene

__all__ = ["SCENARIOS"]

_MANY = 1000


async def ten_bad_names_stop_nobody_and_are_told(scene: Scene) -> None:
    bad = scene.under_test.bad_keys
    assert len(bad) == 10
    await scene.put(dict.fromkeys(bad, "cnry-bad") | numbered(12) | {"ZZZ": "cnry-z"})
    await scene.create()
    message = await scene.failed()
    assert any(key in message for key in bad)
    assert scene.http.tried(CallKind.WRITE) == 13
    states = await scene.states()
    assert {key for key, (state, _) in states.items() if state == "failed"} == set(bad)
    assert all(told for state, told in states.values() if state == "failed")
    await scene.delete(*bad)
    await scene.holds_all()


async def names_that_the_remote_refuses_stop_nobody(scene: Scene) -> None:
    await scene.put(numbered(4) | {"ZZZ": "cnry-z"})
    scene.http.interpose(answering(422, b'{"message": "cnry-0"}'), CallKind.WRITE, times=2)
    await scene.create()
    await scene.failed()
    states = [state for state, _ in (await scene.states()).values()]
    assert sorted(states) == ["failed", "failed", "synced", "synced", "synced"]
    await scene.trigger()
    await scene.succeeded()
    await scene.holds_all()


async def values_of_the_largest_size_arrive_and_longer_ones_are_told_without_being_sent(scene: Scene) -> None:
    rules = scene.under_test.traits(scene.here).rules
    largest = rules.value_bytes_max or rules.value_chars_max or scene.under_test.largest
    is_bound = largest in (rules.value_bytes_max, rules.value_chars_max)
    letter = "e" if rules.value_chars_max is None else "é"
    await scene.put({"LARGEST": f"cnry-{letter * (largest - 5)}", "SMALL": "cnry-1"})
    await scene.create()
    await scene.succeeded()
    await scene.holds_all()
    if not is_bound:
        return
    scene.http.forget()
    before = dict(scene.here.values())
    await scene.push({"LARGEST": f"cnry-{letter * (largest - 4)}", "SMALL": "cnry-2"})
    message = await scene.failed()
    assert scene.names(["LARGEST"])["LARGEST"] in message
    assert scene.http.tried(*CHANGES) == 1
    small = scene.names(["SMALL"])["SMALL"]
    assert dict(scene.here.values()) == before | {small: "cnry-2"}


async def a_thousand_keys_arrive_or_as_many_as_the_place_takes(scene: Scene) -> None:
    most = min(scene.under_test.traits(scene.here).names_max or _MANY, _MANY)
    await scene.put(numbered(most))
    await scene.create()
    await scene.succeeded()
    await scene.holds_all()
    if scene.under_test.batch == 1:
        assert scene.http.count(CallKind.WRITE) == most
    scene.http.forget()
    await scene.push({"KEY_500": "cnry-new"}, "KEY_999")
    await scene.trigger()
    await scene.succeeded()
    assert scene.http.count(*CHANGES) <= 2
    await scene.holds_all()


async def more_names_than_the_place_takes_are_told_before_anything_is_written(scene: Scene) -> None:
    most = scene.under_test.traits(scene.here).names_max
    assert most is not None
    await scene.put(numbered(most + 1, width=4))
    await scene.create()
    assert str(most) in await scene.failed()
    assert scene.http.tried(*CHANGES) == 0
    assert (await scene.progress()).status == JobStatus.FAILED


def _has_bad_names(under_test: RemoteUnderTest) -> bool:
    return bool(under_test.bad_keys)


def _writes_one_at_a_time(under_test: RemoteUnderTest) -> bool:
    return under_test.batch == 1


def _is_bounded(under_test: RemoteUnderTest) -> bool:
    return under_test.kind.name == "codehost"


SCENARIOS = (
    Scenario(ten_bad_names_stop_nobody_and_are_told, _has_bad_names),
    Scenario(names_that_the_remote_refuses_stop_nobody, _writes_one_at_a_time),
    Scenario(values_of_the_largest_size_arrive_and_longer_ones_are_told_without_being_sent),
    Scenario(a_thousand_keys_arrive_or_as_many_as_the_place_takes, is_long=True),
    Scenario(more_names_than_the_place_takes_are_told_before_anything_is_written, _is_bounded),
)
