"""Names and values that a place doesn't take, and as many and as large ones as it does."""

from __future__ import annotations

import pytest

from keybearer.destinations import bounds
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
    # Where a secret is made before its value is, neither is asked for.
    assert not {400, 422} & {one.status for one in scene.http.sent}
    states = await scene.states()
    assert {key for key, (state, _) in states.items() if state == "failed"} == set(bad)
    assert all(told for state, told in states.values() if state == "failed")
    await scene.delete(*bad)
    scene.holds_all()


async def names_that_the_remote_refuses_stop_nobody(scene: Scene) -> None:
    await scene.put(numbered(4) | {"ZZZ": "cnry-z"})
    scene.http.interpose(answering(422, b'{"message": "cnry-0"}'), CallKind.WRITE, times=2)
    await scene.create()
    await scene.failed()
    states = [state for state, _ in (await scene.states()).values()]
    assert sorted(states) == ["failed", "failed", "synced", "synced", "synced"]
    await scene.trigger()
    await scene.succeeded()
    scene.holds_all()


async def the_former_name_of_a_secret_stays_while_the_remote_refuses_its_present_one(scene: Scene) -> None:
    await scene.put(numbered(3))
    await scene.create()
    former = dict(scene.here.values())
    scene.http.interpose(answering(422, b'{"message": "cnry-0"}'), CallKind.WRITE)
    schema = "S_{{secretKey}}"
    await scene.change(keySchema=schema)
    await scene.failed()
    (refused,) = (key for key, (state, _) in (await scene.states()).items() if state == "failed")
    there = scene.here.values()
    kept = {name: value for name, value in former.items() if name in there}
    assert len(kept) == 1
    assert all(there[name] == value for name, value in kept.items())
    assert refused.replace("_", "-") in min(kept).replace("_", "-")  # a place may spell it so
    await scene.trigger()
    await scene.succeeded()
    scene.holds_all(schema=schema)


async def values_of_the_largest_size_arrive_and_longer_ones_are_told_without_being_sent(scene: Scene) -> None:
    rules = scene.under_test.traits(scene.here).rules
    largest = rules.value_bytes_max or rules.value_chars_max or scene.under_test.largest
    is_bound = largest in (rules.value_bytes_max, rules.value_chars_max)
    letter = "e" if rules.value_chars_max is None else "é"
    await scene.put({"LARGEST": f"cnry-{letter * (largest - 5)}", "SMALL": "cnry-1"})
    await scene.create()
    await scene.succeeded()
    scene.holds_all()
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
    under_test = scene.under_test
    most = min(under_test.traits(scene.here).names_max or _MANY, under_test.most_keys or _MANY, _MANY)
    await scene.put(numbered(most))
    await scene.create()
    await scene.succeeded()
    scene.holds_all()
    if under_test.batch == 1:
        assert scene.http.count(CallKind.WRITE) == most
    elif under_test.most_keys:
        assert scene.http.count(CallKind.WRITE) == 1
    scene.http.forget()
    await scene.push({"KEY_100": "cnry-new"}, f"KEY_{most - 1}")
    await scene.trigger()
    await scene.succeeded()
    assert scene.http.count(*CHANGES) <= 2
    scene.holds_all()


async def more_names_than_the_place_takes_are_told_before_anything_is_written(scene: Scene) -> None:
    most = scene.under_test.traits(scene.here).names_max
    assert most is not None
    await scene.put(numbered(most + 1, width=4))
    await scene.make()
    await scene.step()
    assert scene.http.tried(*CHANGES) == 0
    assert str(most) in await scene.failed()


async def more_keys_than_one_write_takes_are_told_with_what_to_do(scene: Scene) -> None:
    most, foreign = scene.under_test.most_keys, {"FOREIGN": "cnry-f"}
    scene.here.put("FOREIGN", foreign["FOREIGN"])
    await scene.put(numbered(most, width=4))
    await scene.create()
    message = await scene.failed()
    assert f"{most + 1:,} keys" in message
    assert scene.under_test.remedy in message
    assert dict(scene.here.values()) == foreign
    await scene.delete("KEY_0000")
    await scene.trigger()
    scene.holds_all(foreign)


async def a_place_that_holds_more_than_memory_is_for_is_not_touched(scene: Scene) -> None:
    await scene.put(numbered(6))
    await scene.create()
    before = dict(scene.here.values())
    await scene.put({"KEY_000": "cnry-new"})
    for bound, most in (("_NAMES_MAX", 5), ("_BYTES_MAX", 5)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bounds, bound, most)
            scene.http.forget()
            await scene.trigger()
        assert "the destination holds more than" in await scene.failed()
        assert scene.http.tried(*CHANGES) == 0
        assert dict(scene.here.values()) == before
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "_NAMES_MAX", 6)
        await scene.trigger()
    scene.holds_all()


def _has_bad_names(under_test: RemoteUnderTest) -> bool:
    return bool(under_test.bad_keys)


def _writes_one_at_a_time(under_test: RemoteUnderTest) -> bool:
    return under_test.batch == 1


def _is_bounded(under_test: RemoteUnderTest) -> bool:
    return under_test.kind.name == "codehost"


def _is_written_as_a_whole(under_test: RemoteUnderTest) -> bool:
    return bool(under_test.most_keys)


SCENARIOS = (
    Scenario(ten_bad_names_stop_nobody_and_are_told, _has_bad_names),
    Scenario(names_that_the_remote_refuses_stop_nobody, _writes_one_at_a_time),
    Scenario(
        the_former_name_of_a_secret_stays_while_the_remote_refuses_its_present_one, _writes_one_at_a_time
    ),
    Scenario(values_of_the_largest_size_arrive_and_longer_ones_are_told_without_being_sent),
    Scenario(a_thousand_keys_arrive_or_as_many_as_the_place_takes, is_long=True),
    Scenario(more_names_than_the_place_takes_are_told_before_anything_is_written, _is_bounded),
    Scenario(more_keys_than_one_write_takes_are_told_with_what_to_do, _is_written_as_a_whole),
    Scenario(a_place_that_holds_more_than_memory_is_for_is_not_touched),
)
