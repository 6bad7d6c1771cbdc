"""keybearer.controllers.secretsync.destination_names: what a push would do to the names at a destination."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.secretsync.destination_names import PlacedName, PlacedNames
from keybearer.controllers.target.changes import KeyChanges

_STATES = st.sampled_from(["synced", "pending", "failed", "removing", "foreign", "a word of tomorrow"])


def placed(**states: str) -> PlacedNames:
    """Names that are keys as well; what is removed, or is of others, has no key."""
    return PlacedNames(
        tuple(
            PlacedName(name, None if state in ("removing", "foreign") else name, state)
            for name, state in states.items()
        )
    )


def test_an_unchanged_source_changes_nothing() -> None:
    effect = placed(A="synced", B="synced").effect(("A", "B"), 2)
    assert (effect.changes, effect.before) == (KeyChanges(), 2)


def test_names_of_others_are_neither_ours_nor_changed() -> None:
    names = placed(A="synced", Z="foreign", Y="foreign")
    effect = names.effect(("A",), 1)
    assert (effect.changes, effect.before, names.foreign) == (KeyChanges(), 1, ("Y", "Z"))


def test_what_the_source_has_no_more_is_removed_however_the_service_calls_it() -> None:
    assert placed(A="synced", B="removing").effect(("A",), 2).changes.remove == ("B",)
    assert placed(A="synced", B="synced").effect(("A",), 2).changes.remove == ("B",)
    gone = PlacedNames((PlacedName("B", None, "failed", "no right to delete it"),))
    assert gone.effect((), None).changes.remove == ("B",)


def test_the_former_name_of_a_refused_secret_is_not_removed() -> None:
    names = PlacedNames(
        (
            PlacedName("NEW_A", "A", "synced"),
            PlacedName("NEW_B", "B", "failed", "no"),
            PlacedName("NEW_OLD_B", "OLD_B", "removing"),
            PlacedName("OLD_A", None, "removing"),
            PlacedName("OLD_B", None, "removing"),
        )
    )
    assert names.effect(("A", "B"), None).changes.remove == ("NEW_OLD_B", "OLD_A")


def test_what_the_service_doesn_t_know_yet_is_added() -> None:
    assert placed(A="synced").effect(("A", "NEW"), 1).changes == KeyChanges(add=("NEW",))


def test_new_names_aren_t_in_place_and_changed_ones_are() -> None:
    renamed = placed(A="removing", B="removing", C="pending", D="pending").effect(("C", "D"), 2)
    assert (renamed.changes, renamed.before) == (KeyChanges(add=("C", "D"), remove=("A", "B")), 2)
    rotated = placed(A="removing", B="pending", C="pending").effect(("B", "C"), 3)
    assert (rotated.changes, rotated.before) == (KeyChanges(change=("B", "C"), remove=("A",)), 3)


def test_after_a_push_that_failed_only_what_surely_arrived_is_in_place() -> None:
    effect = placed(A="synced", B="pending", C="failed", D="removing").effect(("A", "B", "C"), None)
    assert effect.before == 2


def test_the_key_schema_s_names_are_told_not_the_keys() -> None:
    names = PlacedNames((PlacedName("APP_A", "A", "synced"), PlacedName("APP_B", "B", "synced")))
    assert names.effect(("B",), 2).changes.remove == ("APP_A",)


def test_a_destination_that_folds_case_loses_nothing_by_it() -> None:
    names = PlacedNames((PlacedName("TOKEN", "TOKEN", "synced"),))
    assert names.effect(("token",), 1).changes == KeyChanges()


def test_a_sync_that_removes_nothing_has_nothing_to_be_held_back() -> None:
    assert placed(A="synced", B="removing").effect(("A",), 2, removes=False).changes == KeyChanges()


def test_what_failed_is_listed_with_why() -> None:
    names = PlacedNames(
        (
            PlacedName("B", "B", "failed", "too long"),
            PlacedName("A", "A", "failed"),
            PlacedName("C", "C", "synced"),
        )
    )
    assert [(one.name, one.message) for one in names.failed] == [("A", None), ("B", "too long")]


@given(st.dictionaries(st.text("ABCDEFG", min_size=1, max_size=2), _STATES), st.integers(0, 20))
def test_each_name_is_in_one_place_at_most_and_none_of_others_is_touched(
    states: dict[str, str], pushed: int
) -> None:
    names = placed(**states)
    wanted = {name for name, state in states.items() if state in ("synced", "pending")} | {"NEW"}
    effect = names.effect(wanted, pushed)
    changes = effect.changes
    listed = [*changes.add, *changes.change, *changes.remove]
    assert len(listed) == len(set(listed))
    assert not set(names.foreign) & set(listed)
    assert not set(changes.remove) & wanted
    assert len(changes.remove) <= effect.before


@pytest.mark.parametrize("pushed", [None, 0, 1, 100])
def test_growth_never_removes(pushed: int | None) -> None:
    effect = placed(A="synced", B="pending").effect(("A", "B", "C", "D"), pushed)
    assert effect.changes.remove == ()
