"""What becomes of a change: of a value, of a key, of the place, and of what others do there."""

from __future__ import annotations

from support.conformance.interposed import CHANGES, CallKind
from support.conformance.remote_under_test import RemoteUnderTest
from support.conformance.scenario import Scenario, numbered
from support.conformance.scene import Scene

__all__ = ["SCENARIOS"]

_TEXTS = {
    "PLAIN": "cnry-1",
    "LINES": "cnry-one\ntwo\r\n\tthree\n\nfive",
    "UNICODE": "cnry-ü 秘密 🚀 \u2028 é",
    "SIGNS": "cnry- ${HOME} $$ %s {{x}} \\n \"'`<&>; #",
    "SPACES": "cnry-  two  spaces",
    "JSON": '{"a": ["cnry-1", null]}',
    "EMPTY": "",
}


async def values_arrive_as_they_are_of_several_lines_and_in_any_script(scene: Scene) -> None:
    await scene.put(_TEXTS)
    await scene.create()
    await scene.succeeded()
    assert await scene.source() == _TEXTS
    scene.holds_all()


async def a_run_without_changes_writes_nothing(scene: Scene) -> None:
    await scene.put(numbered(scene.under_test.page + 5))
    await scene.create()
    scene.holds_all()
    scene.http.forget()
    await scene.push()
    await scene.succeeded()
    assert scene.http.sent == []
    await scene.trigger()
    await scene.succeeded()
    assert scene.http.sent != []
    assert scene.http.tried(*CHANGES) == 0


async def a_changed_or_a_new_key_is_one_write(scene: Scene) -> None:
    await scene.put(numbered(5))
    await scene.create()
    for number, looks in enumerate((False, True)):
        for key in ("KEY_002", f"NEW_{number}"):
            scene.http.forget()
            await scene.put({key: f"cnry-new-{number}"})
            await (scene.ask() if looks else scene.notice())
            # At the first attempt: another one would look, and mend what this one doesn't know.
            await scene.step()
            await scene.succeeded()
            assert scene.http.count(CallKind.WRITE) == 1
            # A new one may be updated in vain before it is created, where nobody looked.
            assert scene.http.tried(CallKind.WRITE) == 1 or (key != "KEY_002" and not looks)
            assert scene.http.tried(CallKind.REMOVE) == 0
            scene.holds_all()


async def a_removed_key_is_removed_alone_and_may_be_gone_before(scene: Scene) -> None:
    await scene.put(numbered(6))
    await scene.create()
    for key, looks in (("KEY_001", False), ("KEY_004", True)):
        scene.http.forget()
        await scene.delete(key)
        await (scene.trigger() if looks else scene.push())
        await scene.succeeded()
        assert scene.http.count(CallKind.REMOVE, CallKind.WRITE) == 1
        scene.holds_all()
    await scene.change_by_hand({}, scene.names(["KEY_002"])["KEY_002"])
    await scene.push({}, "KEY_002")
    await scene.succeeded()
    scene.holds_all()


async def an_emptied_value_goes_where_the_place_holds_none_and_a_key_that_comes_back_is_there_again(
    scene: Scene,
) -> None:
    await scene.put(numbered(3))
    await scene.create()
    await scene.push({"KEY_001": ""})
    await scene.succeeded()
    scene.holds_all()
    await scene.push({}, "KEY_001")
    await scene.push({"KEY_001": "cnry-again"})
    await scene.succeeded()
    scene.holds_all()


async def nothing_is_removed_where_deletion_is_off(scene: Scene) -> None:
    await scene.put(numbered(2))
    await scene.create(disableSecretDeletion=True)
    kept = {scene.names(["KEY_001"])["KEY_001"]: "cnry-1"}
    await scene.delete("KEY_001")
    for number, looks in enumerate((True, False)):
        await scene.put({"KEY_000": f"cnry-new-{number}"})
        await (scene.trigger() if looks else scene.push())
        await scene.succeeded()
        scene.holds_all(kept)


async def what_others_changed_or_deleted_is_put_right_after_a_look(scene: Scene) -> None:
    await scene.put(numbered(4))
    await scene.create()
    names = scene.names(scene.written)
    scene.here.put(names["KEY_001"], "cnry-by-hand")
    await scene.change_by_hand({}, names["KEY_002"])
    scene.http.forget()
    await scene.trigger()
    await scene.succeeded()
    scene.holds_all()
    assert scene.http.count(CallKind.WRITE) == (2 if scene.under_test.batch == 1 else 1)


async def a_changed_key_schema_removes_the_former_names(scene: Scene) -> None:
    await scene.put(numbered(3))
    await scene.create()
    for schema in ("S_{{secretKey}}", "S_{{secretKey}}_{{environment}}"):
        await scene.change(keySchema=schema)
        await scene.succeeded()
        scene.holds_all(schema=schema)


async def another_place_gets_all_and_the_former_one_keeps_nothing_of_ours(scene: Scene) -> None:
    for place in (scene.here, scene.remote.elsewhere):
        place.put("FOREIGN", "cnry-f")
    await scene.put(numbered(3))
    await scene.create()
    await scene.change(place=scene.remote.elsewhere)
    scene.holds_all({"FOREIGN": "cnry-f"}, place=scene.remote.elsewhere)
    assert dict(scene.here.values()) == {"FOREIGN": "cnry-f"}


async def what_is_there_is_imported_where_that_is_offered(scene: Scene) -> None:
    given = {"BOTH": "cnry-there", "THERE": "cnry-lines\nof\nthem", "LATER": "cnry-later"}
    for name in ("BOTH", "THERE"):
        scene.here.put(name, given[name])
    await scene.put({"BOTH": "cnry-source", "SOURCE": "cnry-1"})
    await scene.create(initialSyncBehavior="import-prioritize-destination")
    await scene.succeeded()
    assert await scene.source() == {"BOTH": given["BOTH"], "THERE": given["THERE"], "SOURCE": "cnry-1"}
    scene.holds_all()
    scene.here.put("LATER", given["LATER"])
    await scene.bring_back()
    assert await scene.source() == {**given, "SOURCE": "cnry-1"}
    scene.holds_all()


async def a_run_that_changes_something_is_one_redeploy(scene: Scene) -> None:
    finishes = scene.under_test.finishes
    await scene.put(numbered(4))
    await scene.create()
    assert scene.http.count(CallKind.FINISH) == finishes
    scene.http.forget()
    await scene.push({"KEY_000": "cnry-new", "NEW": "cnry-n"}, "KEY_001", "KEY_002")
    assert scene.http.count(CallKind.FINISH) == finishes
    scene.http.forget()
    await scene.trigger()
    assert scene.http.count(CallKind.FINISH) == 0


def _redeploys(under_test: RemoteUnderTest) -> bool:
    return under_test.finishes > 0


def _imports(under_test: RemoteUnderTest) -> bool:
    return under_test.kind.can_import


SCENARIOS = (
    Scenario(values_arrive_as_they_are_of_several_lines_and_in_any_script),
    Scenario(a_run_without_changes_writes_nothing),
    Scenario(a_changed_or_a_new_key_is_one_write),
    Scenario(a_removed_key_is_removed_alone_and_may_be_gone_before),
    Scenario(an_emptied_value_goes_where_the_place_holds_none_and_a_key_that_comes_back_is_there_again),
    Scenario(nothing_is_removed_where_deletion_is_off),
    Scenario(what_others_changed_or_deleted_is_put_right_after_a_look),
    Scenario(a_changed_key_schema_removes_the_former_names),
    Scenario(another_place_gets_all_and_the_former_one_keeps_nothing_of_ours),
    Scenario(what_is_there_is_imported_where_that_is_offered, _imports),
    Scenario(a_run_that_changes_something_is_one_redeploy, _redeploys),
)
