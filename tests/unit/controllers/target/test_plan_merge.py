"""Planning under `creationPolicy: Merge`: keys of ours in an object of somebody else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from keybearer.controllers.target.changes import KeyChanges
from keybearer.controllers.target.decisions import MergeTarget, PlanContext, TargetPlan
from keybearer.controllers.target.observed import PresentTarget, merge_manager
from keybearer.controllers.target.plan import plan_target
from keybearer.controllers.target.reasons import TargetReason
from unit.controllers.fakes.targets import (
    AT,
    UID,
    Body,
    Field,
    controlled_by_another,
    desired,
    merged_into,
    new_spec,
)

_NOW = {"A": "cnry-a", "B": "cnry-b", "C": "cnry-c", "D": "cnry-d"}
_LESS = {"A": "cnry-a", "B": "cnry-b", "C": "cnry-c"}
_ONE = {"A": "cnry-a"}
_WRITTEN = PlanContext(UID, "no keys", AT, written_before=True)


def plan(
    data: Mapping[str, str], now: PresentTarget, context: PlanContext = _WRITTEN, **target: Field
) -> TargetPlan:
    spec = new_spec(creationPolicy="Merge", **target)
    return plan_target(desired(spec, data), now, spec.write_rules, context)


def merge_of(planned: TargetPlan) -> MergeTarget:
    assert isinstance(planned.action, MergeTarget), planned
    return planned.action


def is_merge(planned: TargetPlan) -> bool:
    return merge_of(planned).uid == "target-uid"


def test_keys_are_added_to_those_of_others_without_force() -> None:
    planned = plan(_ONE, merged_into({"THEIRS": "cnry-t"}, {}))

    assert merge_of(planned).force is False
    assert planned.changes == KeyChanges(add=("A",))


def test_a_complete_merge_is_left_as_it_is() -> None:
    assert plan(_ONE, merged_into({"THEIRS": "cnry-t"}, _ONE)) == TargetPlan()


def test_a_value_that_is_there_by_chance_is_still_written_so_that_it_is_ours() -> None:
    planned = plan(_ONE, merged_into(_ONE, {}))

    assert is_merge(planned)
    assert not planned.changes


def test_our_keys_go_and_those_of_others_stay() -> None:
    planned = plan(_LESS, merged_into({"THEIRS": "cnry-t"}, _NOW))

    assert is_merge(planned)
    assert planned.changes == KeyChanges(remove=("D",))


def test_a_key_of_ours_that_somebody_changed_is_taken_back_by_force() -> None:
    now = merged_into({"A": "cnry-theirs"}, {})
    context = PlanContext(UID, "no keys", AT, merged_keys=frozenset({"A"}), written_before=True)
    planned = plan(_ONE, now, context)

    assert merge_of(planned).force is True


@pytest.mark.parametrize("adopt", [True, False])
def test_other_values_of_others_are_taken_over_only_when_asked(*, adopt: bool) -> None:
    now = merged_into({"A": "cnry-theirs"}, {})
    planned = plan(_ONE, now, adopt=adopt)

    if adopt:
        assert merge_of(planned).force is True
    else:
        assert planned.action is None
        assert planned.verdict is not None
        assert (planned.verdict.reason, planned.verdict.stalled) == (TargetReason.CONFLICT, True)
        assert "other values under A," in planned.verdict.message


@pytest.mark.parametrize("section", ["labels", "annotations"])
def test_another_planned_label_or_annotation_is_merged(section: str) -> None:
    wanted: dict[str, Any] = {section: {"team": "a"}}

    assert is_merge(plan(_ONE, merged_into({}, _ONE), **wanted))
    assert plan(_ONE, merged_into({}, _ONE, **wanted), **wanted) == TargetPlan()


@pytest.mark.parametrize("section", ["labels", "annotations"])
def test_a_label_or_annotation_of_ours_that_is_planned_no_longer_is_let_go(section: str) -> None:
    before: dict[str, Any] = {section: {"team": "a"}}

    assert is_merge(plan(_ONE, merged_into({}, _ONE, **before)))


def test_labels_of_others_are_their_own_business() -> None:
    def labelled(body: Body) -> None:
        body["metadata"]["labels"]["theirs"] = "x"

    assert plan(_ONE, merged_into({}, _ONE, labelled)) == TargetPlan()


def test_another_objects_merge_into_the_same_target_is_not_ours() -> None:
    def by_another(body: Body) -> None:
        body["metadata"]["managedFields"][0]["manager"] = merge_manager("another-uid")

    planned = plan({"NEW": "cnry-n"}, merged_into({}, _NOW, by_another))

    assert is_merge(planned)
    assert planned.changes == KeyChanges(add=("NEW",)), "nothing of the other's may be removed"


def test_nothing_to_merge_and_nothing_merged_before_is_no_keys() -> None:
    planned = plan({}, merged_into({"THEIRS": "cnry-t"}, {}))

    assert planned.action is None
    assert planned.verdict is not None
    assert planned.verdict.reason is TargetReason.NO_KEYS


def test_a_controller_of_the_target_is_no_hindrance() -> None:
    planned = plan(_ONE, merged_into({}, {}, controlled_by_another))

    assert is_merge(planned)
