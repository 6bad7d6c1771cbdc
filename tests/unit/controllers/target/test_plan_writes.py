"""What is planned for a target that may be written: what changes, whether just once, or only as a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from keybearer.controllers.target.changes import KeyChanges, plan_status
from keybearer.controllers.target.decisions import (
    ApplyTarget,
    CreateTarget,
    PlanContext,
    ReplaceTarget,
    TargetPlan,
)
from keybearer.controllers.target.desired import MANAGED_LABEL
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.status import PLAN_NAMES_MAX, PlanStatus
from support.rows import each_row
from unit.controllers.fakes.target_plans import LESS, NOW, ONE, OTHER, patched_metadata, plan, verdict_of
from unit.controllers.fakes.targets import (
    AT,
    UID,
    Body,
    Change,
    b64,
    controlled_by_another,
    desired,
    foreign,
    immutable,
    new_spec,
    there,
)


class TestAbsent:
    def test_a_missing_target_is_created_and_all_keys_are_new(self) -> None:
        planned = plan(new_spec(), ONE, None)

        assert isinstance(planned.action, CreateTarget)
        assert planned.changes == KeyChanges(add=("A",))

    def test_a_target_that_was_deleted_is_created_again_even_under_create_once(self) -> None:
        assert isinstance(plan(new_spec(mode="CreateOnce"), ONE, None).action, CreateTarget)

    def test_merging_waits_for_the_target_to_be_created_by_somebody(self) -> None:
        planned = plan(new_spec(creationPolicy="Merge"), ONE, None)

        assert verdict_of(planned) == (TargetReason.MISSING, False)

    def test_plan_mode_shows_the_keys_and_writes_nothing(self) -> None:
        planned = plan(new_spec(mode="Plan"), ONE, None)

        assert verdict_of(planned) == (TargetReason.PLANNED, False)
        assert planned.changes.add == ("A",)

    @pytest.mark.parametrize("policy", ["Owner", "Merge"])
    def test_without_keys_there_is_nothing_to_create(self, policy: str) -> None:
        assert verdict_of(plan(new_spec(creationPolicy=policy), {}, None)) == (TargetReason.NO_KEYS, True)


class TestOwned:
    def test_a_target_as_planned_is_left_as_it_is(self) -> None:
        assert plan(new_spec(), NOW, there(NOW)) == TargetPlan()

    def test_a_changed_value_is_applied_to_that_very_object(self) -> None:
        planned = plan(new_spec(), OTHER, there(NOW))

        assert isinstance(planned.action, ApplyTarget)
        assert planned.action.uid == "target-uid"
        assert planned.changes == KeyChanges(change=("A",))

    def test_a_key_that_must_go_is_removed_by_a_patch_at_the_version_seen(self) -> None:
        planned = plan(new_spec(), {**LESS, "A": "cnry-changed"}, there(NOW))

        assert isinstance(planned.action, ReplaceTarget)
        assert (planned.action.uid, planned.action.resource_version) == ("target-uid", "7")
        assert planned.action.patch["data"] == {
            "A": b64("cnry-changed"),
            "B": b64("cnry-b"),
            "C": b64("cnry-c"),
            "D": None,
        }
        assert planned.changes == KeyChanges(change=("A",), remove=("D",))

    def test_a_key_that_somebody_added_is_removed_again(self) -> None:
        def meddle(body: Body) -> None:
            body["data"]["EXTRA"] = b64("cnry-extra")

        planned = plan(new_spec(), NOW, there(NOW, meddle))

        assert isinstance(planned.action, ReplaceTarget)
        assert planned.changes == KeyChanges(remove=("EXTRA",))

    @pytest.mark.parametrize("section", ["labels", "annotations"])
    def test_labels_and_annotations_of_others_stay_and_ours_of_earlier_plans_are_removed(
        self, section: str
    ) -> None:
        def meddle(body: Body) -> None:
            body["metadata"].setdefault(section, {})["theirs"] = "x"

        ours: dict[str, Any] = {section: {"ours": "y"}}
        assert plan(new_spec(**ours), NOW, there(NOW, meddle, **ours)) == TargetPlan()
        planned = plan(new_spec(), NOW, there(NOW, meddle, **ours))

        assert patched_metadata(planned)[section]["ours"] is None
        assert "theirs" not in patched_metadata(planned)[section]
        assert not planned.changes, "no key of the data changes"

    @pytest.mark.parametrize("section", ["labels", "annotations"])
    def test_what_is_as_planned_is_not_written_whoever_wrote_it(self, section: str) -> None:
        def take_over(body: Body) -> None:
            body["metadata"]["managedFields"] = []

        ours: dict[str, Any] = {section: {"ours": "y"}}
        now = there(NOW, take_over, **ours)

        assert now.fingerprint != desired(new_spec(**ours), NOW).fingerprint
        assert plan(new_spec(**ours), NOW, now) == TargetPlan()

    def test_a_planned_label_that_was_removed_comes_back_by_apply(self) -> None:
        def meddle(body: Body) -> None:
            del body["metadata"]["labels"][MANAGED_LABEL]

        assert isinstance(plan(new_spec(), NOW, there(NOW, meddle)).action, ApplyTarget)

    def test_a_key_that_becomes_binary_leaves_the_text_half_of_a_config_map(self) -> None:
        spec = new_spec(kind="ConfigMap")
        planned = plan(spec, {"A": b"\xff\x00"}, there(ONE, kind="ConfigMap"))

        assert isinstance(planned.action, ReplaceTarget)
        assert planned.action.patch["data"] == {"A": None}
        assert planned.action.patch["binaryData"] == {"A": b64(b"\xff\x00")}
        assert planned.changes == KeyChanges(change=("A",)), "for people it is one key that changes"

    def test_retaining_from_now_on_takes_our_owner_reference_off_and_leaves_others(self) -> None:
        other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}

        def referred(body: Body) -> None:
            body["metadata"]["ownerReferences"].append(other)

        planned = plan(new_spec(onDelete="Retain"), NOW, there(NOW, referred))

        assert patched_metadata(planned)["ownerReferences"] == [other]

    def test_owning_from_now_on_adds_our_reference_and_keeps_that_of_others(self) -> None:
        def referred(body: Body) -> None:
            body["metadata"]["ownerReferences"] = [
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}
            ]
            body["data"]["EXTRA"] = b64("cnry-extra")

        planned = plan(new_spec(), NOW, there(NOW, referred, onDelete="Retain"))

        assert [one["uid"] for one in patched_metadata(planned)["ownerReferences"]] == ["x", UID]

    def test_making_it_immutable_is_a_change_that_kubernetes_takes(self) -> None:
        planned = plan(new_spec(immutable=True), OTHER, there(NOW))

        assert isinstance(planned.action, ApplyTarget)
        assert planned.action.desired.body["immutable"] is True

    def test_making_it_immutable_travels_with_a_removal(self) -> None:
        planned = plan(new_spec(immutable=True), LESS, there(NOW))

        assert isinstance(planned.action, ReplaceTarget)
        assert planned.action.patch["immutable"] is True


class TestPlanMode:
    def test_the_message_counts_the_keys_and_says_how_to_go_on(self) -> None:
        planned = plan(new_spec(mode="Plan"), {"A": "cnry-x", "B": "cnry-b", "NEW": "cnry-n"}, there(LESS))

        assert planned.verdict is not None
        assert "3 keys of Secret web would change" in planned.verdict.message
        assert "keybearer.dev/request: approve-plan" in planned.verdict.message

    def test_exactly_the_plan_that_was_seen_may_be_carried_out(self) -> None:
        spec, now = new_spec(mode="Plan"), there(NOW)
        seen = plan_status(plan(spec, OTHER, now).changes)

        approved = plan(spec, OTHER, now, PlanContext(UID, "no keys", AT, approved=seen, written_before=True))

        assert isinstance(approved.action, ApplyTarget)
        assert approved.verdict is None

    @pytest.mark.parametrize(
        "seen",
        [
            pytest.param(PlanStatus(change=("B",)), id="another key"),
            pytest.param(PlanStatus(add=("A",)), id="another verb"),
            pytest.param(PlanStatus(), id="an empty plan"),
            pytest.param(PlanStatus(change=("A",), omitted=1), id="a longer plan"),
            pytest.param(None, id="no plan"),
        ],
    )
    def test_another_plan_than_the_one_seen_is_shown_first(self, seen: PlanStatus | None) -> None:
        context = PlanContext(UID, "no keys", AT, approved=seen, written_before=True)

        assert verdict_of(plan(new_spec(mode="Plan"), OTHER, there(NOW), context))[0] is TargetReason.PLANNED

    def test_a_plan_that_only_restores_metadata_needs_approval_too(self) -> None:
        spec, now = new_spec(mode="Plan"), there(NOW, labels={"earlier": "plan"})
        assert verdict_of(plan(spec, NOW, now))[0] is TargetReason.PLANNED
        approved = PlanContext(UID, "no keys", AT, approved=PlanStatus(), written_before=True)
        assert isinstance(plan(spec, NOW, now, approved).action, ReplaceTarget)

    def test_what_the_guard_holds_takes_a_release_and_nothing_else(self) -> None:
        spec, now = new_spec(mode="Plan"), there(NOW)
        held = plan(spec, ONE, now)
        assert held.verdict is not None
        assert held.verdict.reason is TargetReason.GUARDED
        assert "keybearer.dev/request: release-guard" in held.verdict.message

        approved = PlanContext(UID, "no keys", AT, approved=plan_status(held.changes), written_before=True)
        assert plan(spec, ONE, now, approved).guarded
        released = PlanContext(UID, "no keys", AT, released=plan_status(held.changes), written_before=True)
        assert isinstance(plan(spec, ONE, now, released).action, ReplaceTarget)

    def test_outside_plan_mode_an_approval_releases_nothing(self) -> None:
        now = there(NOW)
        held = plan(new_spec(), ONE, now)

        approved = PlanContext(UID, "no keys", AT, approved=plan_status(held.changes), written_before=True)
        assert plan(new_spec(), ONE, now, approved).guarded

    def test_a_release_of_another_change_approves_no_plan(self) -> None:
        shown = plan_status(plan(new_spec(), ONE, there(NOW)).changes)
        released = PlanContext(UID, "no keys", AT, released=shown, written_before=True)

        assert verdict_of(plan(new_spec(mode="Plan"), OTHER, there(NOW), released))[0] is TargetReason.PLANNED

    def test_what_is_as_planned_needs_no_approval(self) -> None:
        assert plan(new_spec(mode="Plan"), NOW, there(NOW)) == TargetPlan()

    def test_names_in_a_plan_are_bounded_and_the_rest_is_counted(self) -> None:
        shown = plan_status(
            KeyChanges(add=tuple(f"K{number:03}" for number in range(PLAN_NAMES_MAX + 3)), remove=("X",))
        )

        assert len(shown.add) == PLAN_NAMES_MAX
        assert (shown.remove, shown.omitted) == (("X",), 3)


class TestCreateOnce:
    def test_the_first_write_happens(self) -> None:
        assert isinstance(
            plan(new_spec(mode="CreateOnce"), ONE, None, PlanContext(UID, "no keys", AT)).action, CreateTarget
        )

    @each_row(
        ("data", "changes"),
        [
            pytest.param(OTHER, [], id="the source changed"),
            pytest.param(NOW, [foreign], id="somebody took the labels off"),
            pytest.param(NOW, [controlled_by_another], id="it has another controller by now"),
            pytest.param({}, [], id="the source was emptied"),
            pytest.param(OTHER, [immutable], id="somebody made it immutable"),
            pytest.param(NOW, [], id="nothing happened"),
        ],
    )
    @each_row("policy", ["Owner", "Merge"])
    def test_from_then_on_the_target_may_be_whatever_it_is(
        self, data: Mapping[str, str], changes: list[Change], policy: str
    ) -> None:
        planned = plan(new_spec(mode="CreateOnce", creationPolicy=policy), data, there(NOW, *changes))

        assert planned == TargetPlan(left_alone=True)

    def test_a_target_that_exists_before_the_first_write_is_judged_as_ever(self) -> None:
        planned = plan(new_spec(mode="CreateOnce"), ONE, there(NOW, foreign), PlanContext(UID, "no keys", AT))

        assert verdict_of(planned)[0] is TargetReason.CONFLICT
