from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from keybearer.controllers.secretsync.changes import KeyChanges, plan_status
from keybearer.controllers.secretsync.desired import MANAGED_LABEL, OWNER_LABEL
from keybearer.controllers.secretsync.observed import PresentTarget
from keybearer.controllers.secretsync.plan import (
    ApplyTarget,
    CreateTarget,
    PlanContext,
    RecreateTarget,
    ReplaceTarget,
    TargetAction,
    TargetPlan,
    plan_target,
)
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import PLAN_NAMES_MAX, PlanStatus
from unit.controllers.fakes.targets import (
    UID,
    Body,
    Change,
    b64,
    controlled_by_another,
    desired,
    foreign,
    immutable,
    merged_into,
    new_spec,
    of_type_tls,
    there,
)

_NOW = {"A": "cnry-a", "B": "cnry-b", "C": "cnry-c", "D": "cnry-d"}
_LESS = {"A": "cnry-a", "B": "cnry-b", "C": "cnry-c"}
_ONE = {"A": "cnry-a"}
_OTHER = {"A": "cnry-changed", "B": "cnry-b", "C": "cnry-c", "D": "cnry-d"}
_WRITTEN = PlanContext(UID, written_before=True)


def plan(
    spec: SecretSyncSpec,
    data: Mapping[str, str | bytes],
    now: PresentTarget | None,
    context: PlanContext = _WRITTEN,
) -> TargetPlan:
    return plan_target(desired(spec, data), now, spec, context)


def verdict_of(planned: TargetPlan) -> tuple[Reason, bool]:
    assert planned.action is None
    assert planned.verdict is not None, planned
    return planned.verdict.reason, planned.verdict.stalled


def patched_metadata(planned: TargetPlan) -> dict[str, Any]:
    assert isinstance(planned.action, ReplaceTarget)
    metadata: Any = planned.action.patch["metadata"]
    assert isinstance(metadata, dict)
    return metadata


class TestAbsent:
    def test_a_missing_target_is_created_and_all_keys_are_new(self) -> None:
        planned = plan(new_spec(), _ONE, None)

        assert isinstance(planned.action, CreateTarget)
        assert planned.changes == KeyChanges(add=("A",))

    def test_a_target_that_was_deleted_is_created_again_even_under_create_once(self) -> None:
        assert isinstance(plan(new_spec(mode="CreateOnce"), _ONE, None).action, CreateTarget)

    def test_merging_waits_for_the_target_to_be_created_by_somebody(self) -> None:
        planned = plan(new_spec(creationPolicy="Merge"), _ONE, None)

        assert verdict_of(planned) == (Reason.TARGET_MISSING, False)

    def test_plan_mode_shows_the_keys_and_writes_nothing(self) -> None:
        planned = plan(new_spec(mode="Plan"), _ONE, None)

        assert verdict_of(planned) == (Reason.PLANNED, False)
        assert planned.changes.add == ("A",)

    @pytest.mark.parametrize("policy", ["Owner", "Merge"])
    def test_without_keys_there_is_nothing_to_create(self, policy: str) -> None:
        assert verdict_of(plan(new_spec(creationPolicy=policy), {}, None)) == (Reason.NO_KEYS, True)


class TestOwned:
    def test_a_target_as_planned_is_left_as_it_is(self) -> None:
        assert plan(new_spec(), _NOW, there(_NOW)) == TargetPlan()

    def test_a_changed_value_is_applied_to_that_very_object(self) -> None:
        planned = plan(new_spec(), _OTHER, there(_NOW))

        assert isinstance(planned.action, ApplyTarget)
        assert planned.action.uid == "target-uid"
        assert planned.changes == KeyChanges(change=("A",))

    def test_a_key_that_must_go_is_removed_by_a_patch_at_the_version_seen(self) -> None:
        planned = plan(new_spec(), {**_LESS, "A": "cnry-changed"}, there(_NOW))

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

        planned = plan(new_spec(), _NOW, there(_NOW, meddle))

        assert isinstance(planned.action, ReplaceTarget)
        assert planned.changes == KeyChanges(remove=("EXTRA",))

    @pytest.mark.parametrize("section", ["labels", "annotations"])
    def test_labels_and_annotations_that_are_not_planned_are_removed(self, section: str) -> None:
        def meddle(body: Body) -> None:
            body["metadata"].setdefault(section, {})["theirs"] = "x"

        ours: dict[str, Any] = {section: {"ours": "y"}}
        planned = plan(new_spec(**ours), _NOW, there(_NOW, meddle, **ours))

        assert patched_metadata(planned)[section]["theirs"] is None
        assert not planned.changes, "no key of the data changes"

    def test_a_planned_label_that_was_removed_comes_back_by_apply(self) -> None:
        def meddle(body: Body) -> None:
            del body["metadata"]["labels"][MANAGED_LABEL]

        assert isinstance(plan(new_spec(), _NOW, there(_NOW, meddle)).action, ApplyTarget)

    def test_a_key_that_becomes_binary_leaves_the_text_half_of_a_config_map(self) -> None:
        spec = new_spec(kind="ConfigMap")
        planned = plan(spec, {"A": b"\xff\x00"}, there(_ONE, kind="ConfigMap"))

        assert isinstance(planned.action, ReplaceTarget)
        assert planned.action.patch["data"] == {"A": None}
        assert planned.action.patch["binaryData"] == {"A": b64(b"\xff\x00")}
        assert planned.changes == KeyChanges(change=("A",)), "for people it is one key that changes"

    def test_retaining_from_now_on_takes_our_owner_reference_off_and_leaves_others(self) -> None:
        other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}

        def referred(body: Body) -> None:
            body["metadata"]["ownerReferences"].append(other)

        planned = plan(new_spec(onDelete="Retain"), _NOW, there(_NOW, referred))

        assert patched_metadata(planned)["ownerReferences"] == [other]

    def test_owning_from_now_on_adds_our_reference_and_keeps_that_of_others(self) -> None:
        def referred(body: Body) -> None:
            body["metadata"]["ownerReferences"] = [
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}
            ]
            body["data"]["EXTRA"] = b64("cnry-extra")

        planned = plan(new_spec(), _NOW, there(_NOW, referred, onDelete="Retain"))

        assert [one["uid"] for one in patched_metadata(planned)["ownerReferences"]] == ["x", UID]

    def test_making_it_immutable_is_a_change_that_kubernetes_takes(self) -> None:
        planned = plan(new_spec(immutable=True), _OTHER, there(_NOW))

        assert isinstance(planned.action, ApplyTarget)
        assert planned.action.desired.body["immutable"] is True

    def test_making_it_immutable_travels_with_a_removal(self) -> None:
        planned = plan(new_spec(immutable=True), _LESS, there(_NOW))

        assert isinstance(planned.action, ReplaceTarget)
        assert planned.action.patch["immutable"] is True


class TestOwnership:
    @pytest.mark.parametrize(
        ("change", "adopt", "outcome"),
        [
            pytest.param(foreign, False, Reason.TARGET_CONFLICT, id="somebody else's is not touched"),
            pytest.param(foreign, True, ReplaceTarget, id="nobody's is adopted when asked"),
            pytest.param(
                controlled_by_another, False, Reason.TARGET_CONFLICT, id="a controlled one is not touched"
            ),
            pytest.param(
                controlled_by_another, True, Reason.TARGET_CONFLICT, id="a controlled one is never adopted"
            ),
        ],
    )
    def test_whose_object_it_is_decides(
        self, change: Change, *, adopt: bool, outcome: Reason | type[TargetAction]
    ) -> None:
        planned = plan(new_spec(adopt=adopt), _OTHER, there(_NOW, change))

        if isinstance(outcome, Reason):
            assert verdict_of(planned) == (outcome, True)
        else:
            assert isinstance(planned.action, outcome)

    def test_a_controlled_target_names_its_controller(self) -> None:
        planned = plan(new_spec(), _OTHER, there(_NOW, controlled_by_another))

        assert planned.verdict is not None
        assert "controlled by Deployment web" in planned.verdict.message

    def test_an_adopted_target_loses_foreign_labels_and_gets_ours(self) -> None:
        labels = patched_metadata(plan(new_spec(adopt=True), _NOW, there(_NOW, foreign)))["labels"]

        assert labels["theirs"] is None
        assert labels[OWNER_LABEL] == UID

    def test_adopting_counts_foreign_keys_for_the_guard(self) -> None:
        planned = plan(new_spec(adopt=True), {"NEW": "cnry-new"}, there(_NOW, foreign))

        assert verdict_of(planned) == (Reason.GUARDED, True)

    def test_the_owner_is_told_by_uid_not_by_name(self) -> None:
        """A SecretSync that was deleted and created again does not find its old self's target its own."""
        planned = plan_target(
            desired(new_spec(), _OTHER, uid="reborn"),
            there(_NOW, onDelete="Retain"),
            new_spec(),
            PlanContext("reborn"),
        )

        assert verdict_of(planned) == (Reason.TARGET_CONFLICT, True)


class TestGuard:
    @pytest.mark.parametrize(
        ("percent", "before", "removed", "held"),
        [
            pytest.param(0, 100, 1, True, id="0 percent holds a single key"),
            pytest.param(0, 100, 0, False, id="0 percent lets changes pass"),
            pytest.param(50, 4, 2, False, id="half of four is 50 percent"),
            pytest.param(50, 4, 3, True, id="three of four are more"),
            pytest.param(50, 3, 1, False, id="one of three is less"),
            pytest.param(50, 3, 2, True, id="two of three are more"),
            pytest.param(50, 1, 1, True, id="the only key is all keys"),
            pytest.param(33, 3, 1, True, id="one of three is more than 33 percent"),
            pytest.param(34, 3, 1, False, id="and less than 34"),
            pytest.param(100, 10, 9, False, id="100 percent lets all but one go"),
            pytest.param(100, 10, 10, True, id="and never all at once"),
        ],
    )
    @pytest.mark.parametrize("policy", ["Owner", "Merge"])
    def test_the_share_that_may_go_at_once(
        self, percent: int, before: int, removed: int, policy: str, *, held: bool
    ) -> None:
        all_keys = {f"K{number:03}": f"cnry-{number}" for number in range(before)}
        left = dict(list(all_keys.items())[removed:]) | {"NEW": "cnry-new"}
        spec = new_spec(max_deletions=percent, creationPolicy=policy)
        now = there(all_keys) if policy == "Owner" else merged_into({}, all_keys)

        planned = plan(spec, left, now)

        assert len(planned.changes.remove) == removed
        assert (planned.verdict is not None and planned.verdict.reason is Reason.GUARDED) is held
        assert (planned.action is None) is held
        assert planned.guarded is held

    def test_an_emptied_source_empties_no_target(self) -> None:
        planned = plan(new_spec(max_deletions=100), {}, there(_NOW))

        assert verdict_of(planned) == (Reason.GUARDED, True)
        assert planned.changes.remove == ("A", "B", "C", "D")

    def test_a_release_lets_it_pass(self) -> None:
        shown = plan_status(plan(new_spec(), {}, there(_NOW)).changes)
        planned = plan(new_spec(), {}, there(_NOW), PlanContext(UID, released=shown, written_before=True))

        assert isinstance(planned.action, ReplaceTarget)

    def test_a_release_lets_nothing_pass_that_the_person_has_not_seen(self) -> None:
        shown = plan_status(plan(new_spec(), _ONE, there(_NOW)).changes)

        emptied = plan(new_spec(), {}, there(_NOW), PlanContext(UID, released=shown, written_before=True))

        assert emptied.guarded

    def test_keys_that_others_added_count_as_keys_before_for_they_go_too(self) -> None:
        def meddle(body: Body) -> None:
            body["data"] |= {f"EXTRA{number}": b64("cnry-x") for number in range(5)}

        assert verdict_of(plan(new_spec(), _NOW, there(_NOW, meddle))) == (Reason.GUARDED, True)

    def test_an_empty_target_has_nothing_to_guard(self) -> None:
        assert isinstance(plan(new_spec(), _ONE, there({})).action, ApplyTarget)

    def test_the_message_counts_and_names_the_keys_but_not_too_many(self) -> None:
        planned = plan(new_spec(), {}, there({f"K{number:02}": "cnry-x" for number in range(12)}))

        assert planned.verdict is not None
        assert "12 of 12 keys would be removed" in planned.verdict.message
        assert "K09 and 2 more" in planned.verdict.message
        assert "K10" not in planned.verdict.message


class TestWhatKubernetesRefuses:
    @pytest.mark.parametrize("recreate", [True, False])
    @pytest.mark.parametrize(
        ("wanted", "data", "changes"),
        [
            pytest.param({"type": "kubernetes.io/tls"}, _NOW, [], id="another type"),
            pytest.param({"immutable": True}, _OTHER, [immutable], id="another value under immutable"),
            pytest.param({"immutable": True}, _LESS, [immutable], id="a key less under immutable"),
            pytest.param({}, _NOW, [immutable], id="immutable no longer"),
            pytest.param({"type": "Opaque"}, _NOW, [of_type_tls], id="a type that somebody else chose"),
        ],
    )
    def test_what_can_not_be_changed_is_recreated_only_when_asked(
        self, wanted: dict[str, Any], data: Mapping[str, str], changes: list[Change], *, recreate: bool
    ) -> None:
        planned = plan(new_spec(**wanted, recreate=recreate), data, there(_NOW, *changes))

        if recreate:
            assert isinstance(planned.action, RecreateTarget)
            assert planned.action.uid == "target-uid"
        else:
            assert verdict_of(planned) == (Reason.TARGET_IMMUTABLE, True)

    def test_labels_of_an_immutable_target_change_without_ado(self) -> None:
        planned = plan(new_spec(immutable=True, labels={"team": "a"}), _NOW, there(_NOW, immutable))

        assert isinstance(planned.action, ApplyTarget)

    def test_a_missing_type_is_opaque(self) -> None:
        def untyped(body: Body) -> None:
            del body["type"]

        assert plan(new_spec(), _NOW, there(_NOW, untyped)) == TargetPlan()


class TestOrder:
    """Several checks object at once; the first of the order speaks."""

    @pytest.mark.parametrize(
        ("mode", "target", "data", "changes", "reason"),
        [
            pytest.param(
                "Plan", {"type": "kubernetes.io/tls"}, _ONE, [foreign], Reason.TARGET_CONFLICT,
                id="whose it is, before what would be lost, what is refused, and the mode",
            ),
            pytest.param(
                "Plan", {"type": "kubernetes.io/tls", "adopt": True}, _ONE, [controlled_by_another],
                Reason.TARGET_CONFLICT, id="a controller, before adoption",
            ),
            pytest.param(
                "Plan", {"type": "kubernetes.io/tls"}, _ONE, [], Reason.GUARDED,
                id="what would be lost, before what is refused and the mode",
            ),
            pytest.param(
                "Apply", {"type": "kubernetes.io/tls", "recreate": True}, _ONE, [], Reason.GUARDED,
                id="what would be lost, before recreation",
            ),
            pytest.param(
                "Plan", {"type": "kubernetes.io/tls"}, _NOW, [], Reason.TARGET_IMMUTABLE,
                id="what is refused, before the mode",
            ),
            pytest.param("Plan", {}, _OTHER, [], Reason.PLANNED, id="the mode last"),
        ],
    )  # fmt: skip
    def test_the_first_that_objects_decides(
        self,
        mode: str,
        target: dict[str, Any],
        data: Mapping[str, str],
        changes: list[Change],
        reason: Reason,
    ) -> None:
        assert verdict_of(plan(new_spec(mode=mode, **target), data, there(_NOW, *changes)))[0] is reason

    @pytest.mark.parametrize(
        ("policy", "now", "data", "reason"),
        [
            pytest.param(
                "Merge", {"A": "cnry-theirs"}, _ONE, Reason.TARGET_CONFLICT, id="foreign values first"
            ),
            pytest.param("Merge", {}, {"NEW": "cnry-n"}, Reason.GUARDED, id="then what would be lost"),
        ],
    )
    def test_merging_has_the_same_order(
        self, policy: str, now: Mapping[str, str], data: Mapping[str, str], reason: Reason
    ) -> None:
        there_now = merged_into(now, {"B": "cnry-b", "C": "cnry-c"}, immutable)

        assert verdict_of(plan(new_spec(mode="Plan", creationPolicy=policy), data, there_now))[0] is reason

    def test_merging_into_an_immutable_target_is_refused_before_the_mode(self) -> None:
        planned = plan(new_spec(mode="Plan", creationPolicy="Merge"), _ONE, merged_into({}, {}, immutable))

        assert verdict_of(planned) == (Reason.TARGET_IMMUTABLE, True)


class TestPlanMode:
    def test_the_message_counts_the_keys_and_says_how_to_go_on(self) -> None:
        planned = plan(new_spec(mode="Plan"), {"A": "cnry-x", "B": "cnry-b", "NEW": "cnry-n"}, there(_LESS))

        assert planned.verdict is not None
        assert "3 keys of Secret web would change" in planned.verdict.message
        assert "keybearer.dev/request: approve-plan" in planned.verdict.message

    def test_exactly_the_plan_that_was_seen_may_be_carried_out(self) -> None:
        spec, now = new_spec(mode="Plan"), there(_NOW)
        seen = plan_status(plan(spec, _OTHER, now).changes)

        approved = plan(spec, _OTHER, now, PlanContext(UID, approved=seen, written_before=True))

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
        context = PlanContext(UID, approved=seen, written_before=True)

        assert verdict_of(plan(new_spec(mode="Plan"), _OTHER, there(_NOW), context))[0] is Reason.PLANNED

    def test_a_plan_that_only_restores_metadata_needs_approval_too(self) -> None:
        def meddle(body: Body) -> None:
            body["metadata"]["labels"]["theirs"] = "x"

        spec, now = new_spec(mode="Plan"), there(_NOW, meddle)
        assert verdict_of(plan(spec, _NOW, now))[0] is Reason.PLANNED
        approved = PlanContext(UID, approved=PlanStatus(), written_before=True)
        assert isinstance(plan(spec, _NOW, now, approved).action, ReplaceTarget)

    def test_an_approval_of_the_very_plan_is_a_release_of_the_guard_as_well(self) -> None:
        spec, now = new_spec(mode="Plan"), there(_NOW)
        held = plan(spec, _ONE, now)
        assert held.guarded

        approved = PlanContext(UID, approved=plan_status(held.changes), written_before=True)
        assert isinstance(plan(spec, _ONE, now, approved).action, ReplaceTarget)

    def test_outside_plan_mode_an_approval_releases_nothing(self) -> None:
        now = there(_NOW)
        held = plan(new_spec(), _ONE, now)

        approved = PlanContext(UID, approved=plan_status(held.changes), written_before=True)
        assert plan(new_spec(), _ONE, now, approved).guarded

    def test_a_release_of_the_guard_approves_no_plan(self) -> None:
        shown = plan_status(plan(new_spec(), _ONE, there(_NOW)).changes)
        released = PlanContext(UID, released=shown, written_before=True)

        assert verdict_of(plan(new_spec(mode="Plan"), _ONE, there(_NOW), released))[0] is Reason.PLANNED

    def test_what_is_as_planned_needs_no_approval(self) -> None:
        assert plan(new_spec(mode="Plan"), _NOW, there(_NOW)) == TargetPlan()

    def test_names_in_a_plan_are_bounded_and_the_rest_is_counted(self) -> None:
        shown = plan_status(
            KeyChanges(add=tuple(f"K{number:03}" for number in range(PLAN_NAMES_MAX + 3)), remove=("X",))
        )

        assert len(shown.add) == PLAN_NAMES_MAX
        assert (shown.remove, shown.omitted) == (("X",), 3)


class TestCreateOnce:
    def test_the_first_write_happens(self) -> None:
        assert isinstance(
            plan(new_spec(mode="CreateOnce"), _ONE, None, PlanContext(UID)).action, CreateTarget
        )

    @pytest.mark.parametrize(
        ("data", "changes"),
        [
            pytest.param(_OTHER, [], id="the source changed"),
            pytest.param(_NOW, [foreign], id="somebody took the labels off"),
            pytest.param(_NOW, [controlled_by_another], id="it has another controller by now"),
            pytest.param({}, [], id="the source was emptied"),
            pytest.param(_OTHER, [immutable], id="somebody made it immutable"),
            pytest.param(_NOW, [], id="nothing happened"),
        ],
    )
    @pytest.mark.parametrize("policy", ["Owner", "Merge"])
    def test_from_then_on_the_target_may_be_whatever_it_is(
        self, data: Mapping[str, str], changes: list[Change], policy: str
    ) -> None:
        planned = plan(new_spec(mode="CreateOnce", creationPolicy=policy), data, there(_NOW, *changes))

        assert planned == TargetPlan(left_alone=True)

    def test_a_target_that_exists_before_the_first_write_is_judged_as_ever(self) -> None:
        planned = plan(new_spec(mode="CreateOnce"), _ONE, there(_NOW, foreign), PlanContext(UID))

        assert verdict_of(planned)[0] is Reason.TARGET_CONFLICT
