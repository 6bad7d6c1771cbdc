"""What is not ours at a place: names of people, and those of other syncs."""

from __future__ import annotations

from keybearer.store.secret_syncs import JobKind
from support.conformance.interposed import CallKind
from support.conformance.scenario import Scenario, numbered
from support.conformance.scene import Scene

__all__ = ["SCENARIOS"]

_FOREIGN = {"FOREIGN": "cnry-f", "OTHERS": "cnry-o\nline"}
_STAYED = "came from elsewhere and stayed"
_SCHEMA = "S_{{secretKey}}"


def _plant(scene: Scene) -> dict[str, str]:
    """Have somebody write names that keys make as they are, and one that the schema makes of a key."""
    planted = {scene.under_test.spelt(name): value for name, value in _FOREIGN.items()}
    planted[scene.names(["FOREIGN"], _SCHEMA)["FOREIGN"] if _is_table(scene) else "S_FOREIGN"] = "cnry-s"
    for name, value in planted.items():
        scene.here.put(name, value)
    return planted


def _is_table(scene: Scene) -> bool:
    return not scene.under_test.traits(scene.here).is_one_object


async def foreign_names_stay_through_creation_changes_removal_and_deletion(scene: Scene) -> None:
    foreign = _plant(scene)
    await scene.put(numbered(4))
    await scene.create()
    await scene.succeeded(saying=f"3 secrets at the destination {_STAYED}")
    scene.holds_all(foreign)
    await scene.push({"KEY_000": "cnry-new"}, "KEY_001")
    await scene.trigger()
    scene.holds_all(foreign)
    await scene.change(keySchema=_SCHEMA)
    scene.holds_all(foreign, schema=_SCHEMA)
    await scene.remove()
    await scene.succeeded(kind=JobKind.REMOVE)
    assert dict(scene.here.values()) == foreign
    await scene.trigger()
    scene.holds_all(foreign, schema=_SCHEMA)
    await scene.delete_sync()
    assert not await scene.has_sync()
    assert dict(scene.here.values()) == foreign


async def foreign_names_are_removed_once_by_consent(scene: Scene) -> None:
    await scene.put(numbered(3))
    await scene.create()
    _plant(scene)
    await scene.trigger(removes_foreign=True)
    await scene.succeeded()
    scene.holds_all()
    # Another name: where there is a recovery window, a removed one can't be made anew at once.
    foreign = {"LATER": "cnry-l"}
    scene.here.put("LATER", foreign["LATER"])
    scene.http.forget()
    await scene.trigger()
    await scene.succeeded(saying=_STAYED)
    scene.holds_all(foreign)
    assert scene.http.tried(CallKind.REMOVE) == 0


async def a_second_sync_to_a_place_never_removes_the_names_of_the_first(scene: Scene) -> None:
    await scene.put({"ONE": "cnry-1", "BOTH": "cnry-1"})
    await scene.domain.folder(scene.project, "/second")
    await scene.put({"TWO": "cnry-2", "BOTH": "cnry-1"}, "/second")
    first = await scene.create()
    second = await scene.create(path="/second")
    both = {"ONE": "cnry-1", "TWO": "cnry-2", "BOTH": "cnry-1"}
    assert dict(scene.here.values()) == both
    for sync_id in (first, second):
        await scene.trigger(sync_id, removes_foreign=True)
        assert dict(scene.here.values()) == both
    await scene.delete("BOTH")
    await scene.trigger(first)
    assert dict(scene.here.values()) == both
    await scene.delete_sync()
    assert dict(scene.here.values()) == {"TWO": "cnry-2", "BOTH": "cnry-1"}


SCENARIOS = (
    Scenario(foreign_names_stay_through_creation_changes_removal_and_deletion),
    Scenario(foreign_names_are_removed_once_by_consent),
    Scenario(a_second_sync_to_a_place_never_removes_the_names_of_the_first),
)
