"""What keeps a target from being written: its owner, the guard of deletions, Kubernetes, and which comes first."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from keybearer.controllers.target.changes import KeyChanges, plan_status
from keybearer.controllers.target.decisions import (
    ApplyTarget,
    PlanContext,
    RecreateTarget,
    ReplaceTarget,
    TargetAction,
    TargetPlan,
)
from keybearer.controllers.target.desired import OWNER_LABEL
from keybearer.controllers.target.guard import Removal
from keybearer.controllers.target.plan import plan_target
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.work import WorkKey
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
    merged_into,
    new_spec,
    of_type_tls,
    present,
    stored,
    there,
)


class TestSize:
    large = {f"{number:05}".ljust(220, "k"): "v" for number in range(7000)}  # noqa: RUF012 - read only

    def test_what_the_store_has_no_room_for_is_refused_before_a_plan_is_shown(self) -> None:
        for spec, now in (
            (new_spec(), None),
            (new_spec(mode="Plan"), None),
            (new_spec(recreate=True), there(NOW, immutable)),
        ):
            planned = plan(spec, {**NOW, **self.large}, now)
            assert verdict_of(planned) == (TargetReason.TOO_LARGE, True)
            assert planned.verdict is not None
            assert "exclude keys" in planned.verdict.message

    def test_one_of_ours_that_is_too_large_with_its_field_managers_is_patched(self) -> None:
        large = dict(list(self.large.items())[:4000])
        assert isinstance(plan(new_spec(), {**NOW, **large}, there(NOW)).action, ReplaceTarget)
        assert isinstance(plan(new_spec(), {**NOW, "NEW": "cnry-n"}, there(NOW)).action, ApplyTarget)

    @pytest.mark.parametrize("surplus", [0, 1])
    @pytest.mark.parametrize("policy", ["Owner", "Merge"])
    def test_values_are_counted_together(self, policy: str, surplus: int) -> None:
        theirs, ours = {"THEIRS": "v" * 1024}, {"OURS": "v" * 1024}
        changed = {"NEW": "v" * (1024 * 1023 + surplus)}
        if policy == "Owner":
            planned = plan(new_spec(max_deletions=100), {**theirs, **changed}, there({**theirs, **ours}))
        else:
            planned = plan(
                new_spec(creationPolicy="Merge"), {**changed, "OURS": ""}, merged_into(theirs, ours)
            )

        assert (planned.action is None) is bool(surplus), planned.verdict
        if surplus:
            assert verdict_of(planned) == (TargetReason.TOO_LARGE, True)

    def test_names_count_for_each_field_manager_of_a_merge(self) -> None:
        large = dict(list(self.large.items())[:4000])
        merged = plan(new_spec(creationPolicy="Merge"), {**NOW, **large}, merged_into({}, NOW))
        assert verdict_of(merged)[0] is TargetReason.TOO_LARGE


class TestOwnership:
    @pytest.mark.parametrize(
        ("change", "adopt", "outcome"),
        [
            pytest.param(foreign, False, TargetReason.CONFLICT, id="somebody else's is not touched"),
            pytest.param(foreign, True, ApplyTarget, id="nobody's is adopted when asked"),
            pytest.param(
                controlled_by_another, False, TargetReason.CONFLICT, id="a controlled one is not touched"
            ),
            pytest.param(
                controlled_by_another, True, TargetReason.CONFLICT, id="a controlled one is never adopted"
            ),
        ],
    )
    def test_whose_object_it_is_decides(
        self, change: Change, *, adopt: bool, outcome: TargetReason | type[TargetAction]
    ) -> None:
        planned = plan(new_spec(adopt=adopt), OTHER, there(NOW, change))

        if isinstance(outcome, TargetReason):
            assert verdict_of(planned) == (outcome, True)
        else:
            assert isinstance(planned.action, outcome)

    def test_a_controlled_target_names_its_controller(self) -> None:
        planned = plan(new_spec(), OTHER, there(NOW, controlled_by_another))

        assert planned.verdict is not None
        assert "controlled by Deployment web" in planned.verdict.message
        assert planned.verdict.remedy is not None

    @pytest.mark.parametrize("controller", [True, False])
    @pytest.mark.parametrize(
        ("kind", "name"),
        [
            ("Deployment", "web; touch /tmp/taken"),
            ("Deployment", "$(touch /tmp/taken)"),
            ("Deployment", "web\ntouch /tmp/taken"),
            ("Deployment", "--kubeconfig=/tmp/theirs"),
            ("Deployment;id #", "web"),
            ("--server=https://theirs.example", "web"),
        ],
    )
    def test_no_command_takes_text_of_an_owner_that_no_kind_or_name_is(
        self, kind: str, name: str, *, controller: bool
    ) -> None:
        def owned(body: Body) -> None:
            foreign(body)
            owner = {
                "apiVersion": "apps/v1",
                "kind": kind,
                "name": name,
                "uid": "d",
                "controller": controller,
            }
            body["metadata"]["ownerReferences"] = [owner]

        planned = plan(new_spec(), OTHER, there(NOW, owned))

        assert planned.verdict is not None
        assert planned.verdict.remedy is not None
        words = shlex.split(planned.verdict.remedy.command)
        assert words == [
            *("kubectl", "-n", "team-a", "get", "secret", "web", "--show-managed-fields"),
            *("-o", "jsonpath={.metadata.managedFields[*].manager}"),
        ]

    def test_a_controlled_target_comes_with_the_command_that_frees_it_and_not_with_a_deletion(self) -> None:
        verdict = plan(new_spec(), OTHER, there(NOW, controlled_by_another)).verdict

        assert verdict is not None
        assert verdict.remedy is not None
        told = verdict.message + verdict.remedy.step
        assert "or delete" not in told
        assert "don't delete Deployment web before that" in told
        assert "set target.adopt to take it over" in told
        assert shlex.split(verdict.remedy.command)[:7] == [
            *("kubectl", "-n", "team-a", "patch", "secret", "web", "--type=json"),
        ]
        assert json.loads(shlex.split(verdict.remedy.command)[-1]) == [
            {"op": "test", "path": "/metadata/ownerReferences/0/uid", "value": "d"},
            {"op": "remove", "path": "/metadata/ownerReferences/0"},
        ]

    def test_a_plan_shows_what_is_changed_once_another_controller_lets_go(self) -> None:
        planned = plan(new_spec(adopt=True, mode="Plan"), OTHER, there(NOW, controlled_by_another))

        assert verdict_of(planned) == (TargetReason.CONFLICT, True)
        assert planned.changes == KeyChanges(change=("A",))
        assert planned.verdict is not None
        assert planned.verdict.is_planned_ahead
        assert "status.plan shows what changes once it is free" in planned.verdict.message

    @each_row(
        ("spec", "change"),
        [
            pytest.param({"adopt": True}, controlled_by_another, id="in another mode"),
            pytest.param({"mode": "Plan"}, controlled_by_another, id="without adopt"),
            pytest.param(
                {"mode": "Plan", "adopt": True, "type": "kubernetes.io/tls"},
                controlled_by_another,
                id="what could not be taken over once free",
            ),
            pytest.param({"mode": "Plan"}, foreign, id="what nobody controls"),
        ],
    )
    def test_no_keys_of_others_are_told_where_no_plan_is_asked_for_or_fulfilled(
        self, spec: dict[str, Any], change: Change
    ) -> None:
        planned = plan(new_spec(**spec), OTHER, there(NOW, change))

        assert verdict_of(planned) == (TargetReason.CONFLICT, True)
        assert not planned.changes
        assert planned.verdict is not None
        assert not planned.verdict.is_planned_ahead

    def test_an_adopted_target_keeps_foreign_labels_and_gets_ours(self) -> None:
        labels = patched_metadata(plan(new_spec(adopt=True), LESS, there(NOW, foreign)))["labels"]

        assert "theirs" not in labels
        assert labels[OWNER_LABEL] == UID

    def test_adopting_counts_foreign_keys_for_the_guard(self) -> None:
        planned = plan(new_spec(adopt=True), {"NEW": "cnry-new"}, there(NOW, foreign))

        assert verdict_of(planned) == (TargetReason.GUARDED, True)

    def test_the_owner_is_told_by_uid_not_by_name(self) -> None:
        """A SecretSync that was deleted and created again does not find its old self's target its own."""
        planned = plan_target(
            desired(new_spec(), OTHER, uid="reborn"),
            there(NOW, onDelete="Retain"),
            new_spec().write_rules,
            PlanContext("reborn", "no keys", AT),
        )

        assert verdict_of(planned) == (TargetReason.CONFLICT, True)

    def test_whoever_else_it_belongs_to_is_told_by_kind_and_name(self) -> None:
        theirs = stored(desired(new_spec(onDelete="Retain"), NOW, uid="uid-other").body)
        other = WorkKey("CertificateProfile", "team-a", "shop")
        context = PlanContext(UID, "no keys", AT, rivals={"uid-other": other})

        planned = plan(new_spec(adopt=True), OTHER, present(theirs), context)

        assert verdict_of(planned) == (TargetReason.CONFLICT, True)
        assert planned.verdict is not None
        assert "belongs to CertificateProfile shop; choose another target.name" in planned.verdict.message

    def test_what_goes_with_an_object_that_does_not_control_it_is_not_adopted(self) -> None:
        def referred(body: Body) -> None:
            foreign(body)
            other = {"apiVersion": "kafka.strimzi.io/v1", "kind": "Kafka", "name": "shop", "uid": "k"}
            body["metadata"]["ownerReferences"] = [other]

        planned = plan(new_spec(adopt=True), OTHER, there(NOW, referred))

        assert verdict_of(planned) == (TargetReason.CONFLICT, True)
        assert planned.verdict is not None
        assert "belongs to Kafka shop; choose another target.name" in planned.verdict.message

    def test_what_an_object_of_ours_that_is_gone_left_behind_is_nobodys(self) -> None:
        def left(body: Body) -> None:
            body["metadata"]["ownerReferences"][0]["uid"] = "gone"
            body["metadata"]["ownerReferences"][0]["controller"] = False
            body["metadata"]["labels"][OWNER_LABEL] = "gone"

        assert isinstance(
            plan(new_spec(adopt=True), OTHER, there(NOW, left)).action, ReplaceTarget | ApplyTarget
        )


class TestGuard:
    @each_row(
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
    @each_row("policy", ["Owner", "Merge"])
    def test_the_share_that_may_go_at_once(
        self, percent: int, before: int, removed: int, policy: str, *, held: bool
    ) -> None:
        all_keys = {f"K{number:03}": f"cnry-{number}" for number in range(before)}
        left = dict(list(all_keys.items())[removed:]) | {"NEW": "cnry-new"}
        spec = new_spec(max_deletions=percent, creationPolicy=policy)
        now = there(all_keys) if policy == "Owner" else merged_into({}, all_keys)

        planned = plan(spec, left, now)

        assert len(planned.changes.remove) == removed
        assert (planned.verdict is not None and planned.verdict.reason is TargetReason.GUARDED) is held
        assert (planned.action is None) is held
        assert planned.guarded is held

    def test_an_emptied_source_empties_no_target(self) -> None:
        planned = plan(new_spec(max_deletions=100), {}, there(NOW))

        assert verdict_of(planned) == (TargetReason.GUARDED, True)
        assert planned.changes.remove == ("A", "B", "C", "D")

    def test_a_release_lets_it_pass(self) -> None:
        shown = plan_status(plan(new_spec(), {}, there(NOW)).changes)
        planned = plan(
            new_spec(), {}, there(NOW), PlanContext(UID, "no keys", AT, released=shown, written_before=True)
        )

        assert isinstance(planned.action, ReplaceTarget)

    def test_a_release_lets_nothing_pass_that_the_person_has_not_seen(self) -> None:
        shown = plan_status(plan(new_spec(), ONE, there(NOW)).changes)

        emptied = plan(
            new_spec(), {}, there(NOW), PlanContext(UID, "no keys", AT, released=shown, written_before=True)
        )

        assert emptied.guarded

    @pytest.mark.parametrize("policy", ["Owner", "Merge"])
    def test_keys_that_go_one_by_one_are_held_like_all_at_once(self, policy: str) -> None:
        """At the end as many are left as one change would have left."""
        spec = new_spec(creationPolicy=policy)
        data = {f"K{number:02}": "cnry-v" for number in range(20)}
        past: tuple[Removal, ...] = ()
        planned = None
        while planned is None or planned.verdict is None:
            now = there(data) if policy == "Owner" else merged_into({}, data)
            data.popitem()
            planned = plan(spec, data, now, PlanContext(UID, "no keys", AT, past=past, written_before=True))
            past = past if planned.past is None else planned.past

        assert verdict_of(planned)[0] is TargetReason.GUARDED
        assert len(data) == 9
        assert "1 of 10 keys would be removed (K09) after 10 others within 24h" in planned.verdict.message

    def test_keys_that_came_back_or_went_before_the_window_do_not_count(self) -> None:
        yesterday = Removal(AT - timedelta(hours=24), 100, tuple(f"K{number}" for number in range(60)))
        back = Removal(AT - timedelta(hours=1), 4, ("A", "B"))
        context = PlanContext(UID, "no keys", AT, past=(yesterday, back), written_before=True)
        planned = plan(new_spec(), LESS, there(NOW), context)

        assert isinstance(planned.action, ReplaceTarget)
        assert planned.past == (back, Removal(AT, 4, ("D",)))

    def test_a_release_begins_anew(self) -> None:
        past = (Removal(AT, 20, tuple(f"K{number}" for number in range(10))),)
        held = plan(new_spec(), LESS, there(NOW), PlanContext(UID, "no keys", AT, past=past))
        assert held.guarded
        released = PlanContext(UID, "no keys", AT, past=past, released=plan_status(held.changes))

        assert plan(new_spec(), LESS, there(NOW), released).past == ()

    def test_what_removes_nothing_leaves_the_memory_as_it_is(self) -> None:
        assert plan(new_spec(), OTHER, there(NOW)).past is None

    def test_keys_that_others_added_count_as_keys_before_for_they_go_too(self) -> None:
        def meddle(body: Body) -> None:
            body["data"] |= {f"EXTRA{number}": b64("cnry-x") for number in range(5)}

        assert verdict_of(plan(new_spec(), NOW, there(NOW, meddle))) == (TargetReason.GUARDED, True)

    def test_an_empty_target_has_nothing_to_guard(self) -> None:
        assert isinstance(plan(new_spec(), ONE, there({})).action, ApplyTarget)

    def test_the_message_counts_and_names_the_keys_but_not_too_many(self) -> None:
        planned = plan(new_spec(), {}, there({f"K{number:02}": "cnry-x" for number in range(12)}))

        assert planned.verdict is not None
        assert "12 of 12 keys would be removed" in planned.verdict.message
        assert "K09 and 2 more" in planned.verdict.message
        assert "K10" not in planned.verdict.message


class TestWhatKubernetesRefuses:
    @each_row("recreate", [True, False])
    @each_row(
        ("wanted", "data", "changes"),
        [
            pytest.param({"type": "kubernetes.io/tls"}, NOW, [], id="another type"),
            pytest.param({"immutable": True}, OTHER, [immutable], id="another value under immutable"),
            pytest.param({"immutable": True}, LESS, [immutable], id="a key less under immutable"),
            pytest.param({}, NOW, [immutable], id="immutable no longer"),
            pytest.param({"type": "Opaque"}, NOW, [of_type_tls], id="a type that somebody else chose"),
        ],
    )
    def test_what_can_not_be_changed_is_recreated_only_when_asked(
        self, wanted: dict[str, Any], data: Mapping[str, str], changes: list[Change], *, recreate: bool
    ) -> None:
        planned = plan(new_spec(**wanted, recreate=recreate), data, there(NOW, *changes))

        if recreate:
            assert isinstance(planned.action, RecreateTarget)
            assert planned.action.uid == "target-uid"
        else:
            assert verdict_of(planned) == (TargetReason.IMMUTABLE, True)

    @pytest.mark.parametrize("mode", ["Apply", "Plan", "CreateOnce"])
    @pytest.mark.parametrize("recreate", [True, False])
    def test_what_others_made_of_another_type_is_never_deleted(self, mode: str, *, recreate: bool) -> None:
        spec = new_spec(mode=mode, adopt=True, recreate=recreate)

        planned = plan(spec, NOW, there(NOW, foreign, of_type_tls), PlanContext(UID, "no keys", AT))

        assert verdict_of(planned) == (TargetReason.CONFLICT, True)
        assert planned.verdict is not None
        assert "delete it yourself" in planned.verdict.message

    @pytest.mark.parametrize("recreate", [True, False])
    def test_what_others_made_immutable_is_never_deleted(self, *, recreate: bool) -> None:
        spec = new_spec(adopt=True, immutable=True, recreate=recreate)

        planned = plan(spec, OTHER, there(NOW, foreign, immutable), PlanContext(UID, "no keys", AT))

        assert verdict_of(planned) == (TargetReason.CONFLICT, True)
        assert planned.verdict is not None
        assert "is immutable" in planned.verdict.message
        assert "delete it yourself" in planned.verdict.message

    def test_what_others_made_immutable_is_taken_over_with_the_data_that_it_has(self) -> None:
        spec = new_spec(adopt=True, immutable=True)

        assert isinstance(plan(spec, NOW, there(NOW, foreign, immutable)).action, ApplyTarget)

    def test_what_a_secret_sync_of_the_same_name_left_behind_is_others_too(self) -> None:
        left = there(NOW, of_type_tls, onDelete="Retain")
        planned = plan_target(
            desired(new_spec(), NOW, uid="reborn"),
            left,
            new_spec(adopt=True, recreate=True).write_rules,
            PlanContext("reborn", "no keys", AT),
        )

        assert verdict_of(planned) == (TargetReason.CONFLICT, True)

    def test_our_own_that_lost_its_label_is_recreated_still(self) -> None:
        def unlabelled(body: Body) -> None:
            del body["metadata"]["labels"]

        planned = plan(new_spec(adopt=True, recreate=True), NOW, there(NOW, unlabelled, of_type_tls))

        assert isinstance(planned.action, RecreateTarget)

    def test_our_own_that_lost_its_label_is_known_by_the_reference_that_controls_it(self) -> None:
        def unlabelled(body: Body) -> None:
            del body["metadata"]["labels"]

        planned = plan(new_spec(), NOW, there(NOW, unlabelled))
        assert planned.verdict is None
        assert isinstance(planned.action, ApplyTarget)

        retained = new_spec(onDelete="Retain")
        assert verdict_of(plan(retained, NOW, there(NOW, unlabelled, onDelete="Retain"))) == (
            TargetReason.CONFLICT,
            True,
        )

    def test_labels_of_an_immutable_target_change_without_ado(self) -> None:
        planned = plan(new_spec(immutable=True, labels={"team": "a"}), NOW, there(NOW, immutable))

        assert isinstance(planned.action, ApplyTarget)

    def test_a_missing_type_is_opaque(self) -> None:
        def untyped(body: Body) -> None:
            del body["type"]

        assert plan(new_spec(), NOW, there(NOW, untyped)) == TargetPlan()


class TestOrder:
    """Several checks object at once; the first of the order speaks."""

    @pytest.mark.parametrize(
        ("mode", "target", "data", "changes", "reason"),
        [
            pytest.param(
                "Plan", {"type": "kubernetes.io/tls"}, ONE, [foreign], TargetReason.CONFLICT,
                id="whose it is, before what would be lost, what is refused, and the mode",
            ),
            pytest.param(
                "Plan", {"type": "kubernetes.io/tls", "adopt": True}, ONE, [controlled_by_another],
                TargetReason.CONFLICT, id="a controller, before adoption",
            ),
            pytest.param(
                "Plan", {"type": "kubernetes.io/tls"}, ONE, [], TargetReason.GUARDED,
                id="what would be lost, before what is refused and the mode",
            ),
            pytest.param(
                "Apply", {"type": "kubernetes.io/tls", "recreate": True}, ONE, [], TargetReason.GUARDED,
                id="what would be lost, before recreation",
            ),
            pytest.param(
                "Plan", {"type": "kubernetes.io/tls"}, NOW, [], TargetReason.IMMUTABLE,
                id="what is refused, before the mode",
            ),
            pytest.param("Plan", {}, OTHER, [], TargetReason.PLANNED, id="the mode last"),
        ],
    )  # fmt: skip
    def test_the_first_that_objects_decides(
        self,
        mode: str,
        target: dict[str, Any],
        data: Mapping[str, str],
        changes: list[Change],
        reason: TargetReason,
    ) -> None:
        assert verdict_of(plan(new_spec(mode=mode, **target), data, there(NOW, *changes)))[0] is reason

    @pytest.mark.parametrize(
        ("policy", "now", "data", "reason"),
        [
            pytest.param(
                "Merge", {"A": "cnry-theirs"}, ONE, TargetReason.CONFLICT, id="foreign values first"
            ),
            pytest.param("Merge", {}, {"NEW": "cnry-n"}, TargetReason.GUARDED, id="then what would be lost"),
        ],
    )
    def test_merging_has_the_same_order(
        self, policy: str, now: Mapping[str, str], data: Mapping[str, str], reason: TargetReason
    ) -> None:
        there_now = merged_into(now, {"B": "cnry-b", "C": "cnry-c"}, immutable)

        assert verdict_of(plan(new_spec(mode="Plan", creationPolicy=policy), data, there_now))[0] is reason

    def test_merging_into_an_immutable_target_is_refused_before_the_mode(self) -> None:
        planned = plan(new_spec(mode="Plan", creationPolicy="Merge"), ONE, merged_into({}, {}, immutable))

        assert verdict_of(planned) == (TargetReason.IMMUTABLE, True)
