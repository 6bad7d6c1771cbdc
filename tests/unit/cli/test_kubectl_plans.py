"""What would be done: as a status has it planned, and as a manifest lets it be foreseen. Names only, never values."""

from __future__ import annotations

from typing import Any

import pytest

from keybearer.cli.kubectl.field_changes import changed_fields
from keybearer.cli.kubectl.foreseen import foresee, read_spec, secrets_needed, targets_named
from keybearer.cli.kubectl.foresight import Around
from keybearer.cli.kubectl.steps import Action, Step, planned
from keybearer.cli.kubectl.trial import taken_from_others
from keybearer.kube.errors import FieldConflict
from support.rows import each_row

UID = "uid-1"
SOURCE = {"projectSlug": "shop", "environment": "dev"}
SYNC: dict[str, Any] = {"identityRef": {"name": "reader"}, "source": SOURCE}
PROFILE: dict[str, Any] = {
    "identityRef": {"name": "reader"},
    "policyRef": {"name": "web"},
    "caRef": {"name": "issuing"},
    "certificates": [{"name": "front"}],
}
CONNECTION: dict[str, Any] = {"identityRef": {"name": "reader"}, "app": "idp", "method": "client-credentials"}
OURS, OTHERS, NOBODYS = UID, "uid-2", ""


def body(kind: str = "SecretSync", spec: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    meta = {"name": "web", "namespace": "team-a", "uid": UID, "generation": 1}
    return {"kind": kind, "metadata": meta, "spec": SYNC if spec is None else spec, **more}


def foreseen(
    before: dict[str, Any] | None, after: dict[str, Any], around: Around | None = None
) -> list[tuple[str, Action]]:
    steps = foresee(before, after, read_spec(after), around or Around())
    return [(step.subject, step.action) for step in steps]


def test_keys_that_a_plan_holds_back_are_listed_what_goes_first() -> None:
    status = {"observedGeneration": 1, "plan": {"add": ["A"], "change": ["B"], "remove": ["C"], "omitted": 2}}
    told = planned(body(spec={**SYNC, "mode": "Plan"}, status=status))
    assert [(step.action, step.detail) for step in told.steps] == [
        (Action.REMOVE, "C"),
        (Action.CHANGE, "B"),
        (Action.ADD, "A"),
        (Action.CHANGE, "and 2 keys more, which the status has no room for"),
    ]
    assert "kubectl keybearer sync -n team-a secretsync/web --request approve-plan --wait" in told.next_step


def test_what_the_guard_holds_back_is_released_by_the_command_that_is_shown() -> None:
    told = planned(body(status={"observedGeneration": 1, "plan": {"remove": ["C"]}}))
    assert "the guard" in told.told
    assert "--request release-guard" in told.next_step


def test_what_the_guard_holds_back_of_a_plan_is_released_not_approved() -> None:
    status = {
        "observedGeneration": 1,
        "plan": {"remove": ["C"]},
        "conditions": [{"type": "Ready", "status": "False", "reason": "Guarded"}],
    }
    told = planned(body(spec={**SYNC, "mode": "Plan"}, status=status))
    assert "the guard" in told.told
    assert "--request release-guard" in told.next_step


def test_a_plan_with_nothing_to_do_and_an_object_without_a_plan_say_so() -> None:
    told = planned(body(spec={**SYNC, "mode": "Plan"}, status={"observedGeneration": 1}))
    assert (told.steps, "nothing to do" in told.told) == ([], True)
    told = planned(body(status={"observedGeneration": 1}))
    assert (told.steps, "mode is Apply" in told.told) == ([], True)


def test_an_object_that_failed_has_no_plan_but_its_failure() -> None:
    failed = {
        "type": "Ready",
        "status": "False",
        "reason": "SourceNotFound",
        "message": "shop/dev:/ doesn't exist",
    }
    for mode in ("Plan", "Apply"):
        told = planned(
            body(spec={**SYNC, "mode": mode}, status={"observedGeneration": 1, "conditions": [failed]})
        )
        assert told.has_failed
        assert "is not Ready (SourceNotFound): shop/dev:/ doesn't exist" in told.told
        assert told.next_step == "kubectl keybearer explain -n team-a secretsync/web says what to do."
        diagnosis = {"turn": "User", "step": "Correct it.", "command": "keybearer folders list"}
        status = {"observedGeneration": 1, "conditions": [failed], "diagnosis": diagnosis}
        assert planned(body(spec={**SYNC, "mode": mode}, status=status)).next_step == (
            "Correct it. keybearer folders list"
        )


def test_what_changes_once_another_lets_the_target_go_is_a_plan() -> None:
    refused = {
        "type": "Ready",
        "status": "False",
        "reason": "TargetConflict",
        "message": "Secret web is controlled by ExternalSecret web; free it",
    }
    diagnosis = {"turn": "User", "step": "Free it.", "command": "kubectl patch"}
    status = {
        "observedGeneration": 1,
        "conditions": [refused],
        "plan": {"change": ["B"]},
        "diagnosis": diagnosis,
    }
    told = planned(body(spec={**SYNC, "mode": "Plan"}, status=status))

    assert told.steps == [Step(SECRET, Action.CHANGE, "B")]
    assert not told.has_failed
    assert "is controlled by ExternalSecret web" in told.told
    assert told.told.endswith("Once that is settled, this would be done:")
    assert told.next_step == "Free it. kubectl patch"

    nothing = planned(body(spec={**SYNC, "mode": "Plan"}, status={**status, "plan": {}}))
    assert nothing.told.endswith("Once that is settled, no key would change.")
    without = planned(
        body(spec={**SYNC, "mode": "Plan"}, status={"observedGeneration": 1, "conditions": [refused]})
    )
    assert without.has_failed


def test_what_a_person_asked_for_or_decides_has_not_failed() -> None:
    for reason in ("Planned", "Guarded", "Suspended"):
        held = {"type": "Ready", "status": "False", "reason": reason, "message": "as asked"}
        told = planned(
            body(spec={**SYNC, "mode": "Plan"}, status={"observedGeneration": 1, "conditions": [held]})
        )
        assert not told.has_failed


def test_a_plan_of_an_earlier_spec_says_how_to_have_a_newer_one() -> None:
    told = planned(
        body(spec={**SYNC, "mode": "Plan"}, status={"observedGeneration": 0, "plan": {"add": ["A"]}})
    )
    assert "earlier" in told.told
    assert "--wait" in told.next_step


def test_certificates_of_a_plan_are_listed_with_the_rules_against_them() -> None:
    plan = [
        {"name": "a", "action": "Issue", "need": "First", "violations": ["no"]},
        {"name": "b", "action": "Keep"},
        {"name": "c", "action": "Refuse", "violations": ["why"]},
        {"name": "d", "action": "SomethingNew"},
    ]
    status = {"observedGeneration": 1, "plan": plan}
    told = planned(body("CertificateProfile", {**PROFILE, "mode": "Plan"}, status=status))
    assert told.steps[:3] == [
        Step("certificate a", Action.ISSUE, "First"),
        Step("certificate a", Action.REFUSE, "no"),
        Step("certificate b", Action.KEEP),
    ]
    assert [step.action for step in told.steps[3:]] == [Action.REFUSE, Action.REFUSE, Action.WAIT]


def test_what_is_refused_is_corrected_before_a_plan_is_carried_out() -> None:
    refused = {"name": "a", "action": "Issue", "need": "First", "violations": ["no"]}
    status = {"observedGeneration": 1, "plan": [refused, {"name": "b", "action": "Keep"}]}
    told = planned(body("CertificateProfile", {**PROFILE, "mode": "Plan"}, status=status))
    assert "all that there is to do is refused" in told.told
    assert "the policy allow it" in told.next_step
    assert "Apply" not in told.next_step
    status["plan"] = [refused, {"name": "b", "action": "Issue"}]
    told = planned(body("CertificateProfile", {**PROFILE, "mode": "Plan"}, status=status))
    assert "the policy allow it" in told.next_step
    assert told.next_step.endswith("The rest: set spec.mode to Apply.")


def test_changed_fields_are_paths_and_never_values() -> None:
    before: dict[str, Any] = {
        "a": "cnry-1",
        "b": {"c": 1},
        "list": [1],
        "named": [{"name": "x", "v": 1}, {"name": "y"}],
    }
    after: dict[str, Any] = {
        "a": "cnry-2",
        "b": {"d": 1},
        "list": [2],
        "named": [{"name": "x", "v": 2}, {"name": "z"}],
    }
    told = list(changed_fields(before, after))
    assert told == [
        "spec.a",
        "spec.b.c (gone)",
        "spec.b.d (new)",
        "spec.list",
        "spec.named[x].v",
        "spec.named[y] (gone)",
        "spec.named[z] (new)",
    ]
    assert list(changed_fields(before, before)) == []


SECRET = "Secret team-a/web"
THERE = ("Secret", "web")


@each_row(
    ("spec", "around", "expected"),
    [
        pytest.param({}, Around(), [(SECRET, Action.CREATE)], id="no target yet"),
        pytest.param({}, Around({THERE: OURS}), [(SECRET, Action.CHANGE)], id="own target"),
        pytest.param({}, Around({THERE: NOBODYS}), [(SECRET, Action.REFUSE)], id="somebody's target"),
        pytest.param(
            {"target": {"adopt": True}}, Around({THERE: NOBODYS}), [(SECRET, Action.CHANGE)], id="adopted"
        ),
        pytest.param(
            {"target": {"adopt": True}}, Around({THERE: OTHERS}), [(SECRET, Action.REFUSE)], id="a rival's"
        ),
        pytest.param(
            {"target": {"creationPolicy": "Merge"}},
            Around(),
            [(SECRET, Action.REFUSE)],
            id="nothing to merge into",
        ),
        pytest.param(
            {"target": {"creationPolicy": "Merge"}},
            Around({THERE: NOBODYS}),
            [(SECRET, Action.CHANGE)],
            id="merge",
        ),
        pytest.param(
            {"target": {"adopt": True}},
            Around({THERE: NOBODYS}, controllers={THERE: "ExternalSecret web"}),
            [(SECRET, Action.REFUSE)],
            id="controlled by another",
        ),
        pytest.param(
            {"mode": "Plan", "target": {"adopt": True}},
            Around({THERE: NOBODYS}, controllers={THERE: "ExternalSecret web"}),
            [("SecretSync team-a/web", Action.PLAN), (SECRET, Action.REFUSE)],
            id="plan of what another controls",
        ),
        pytest.param({"mode": "CreateOnce"}, Around({THERE: OURS}), [(SECRET, Action.KEEP)], id="once"),
        pytest.param({"mode": "Plan"}, Around(), [("SecretSync team-a/web", Action.PLAN)], id="plan"),
        pytest.param(
            {"mode": "Suspended"}, Around(), [("SecretSync team-a/web", Action.KEEP)], id="suspended"
        ),
        pytest.param({}, Around(unknown=frozenset({THERE})), [(SECRET, Action.WAIT)], id="may not look"),
        pytest.param(
            {},
            Around(missing=frozenset({"reader"})),
            [("SecretSync team-a/web", Action.REFUSE)],
            id="no identity",
        ),
    ],
)
def test_what_a_changed_secretsync_leads_to(
    spec: dict[str, Any], around: Around, expected: list[tuple[str, Action]]
) -> None:
    before = body(spec={**SYNC, "refreshInterval": "1m"})
    after = body(spec={**SYNC, "refreshInterval": "2m", **spec})
    assert foreseen(before, after, around) == [("SecretSync team-a/web", Action.CHANGE), *expected]


def test_what_is_as_the_manifest_says_is_kept() -> None:
    assert foreseen(body(), body()) == [("SecretSync team-a/web", Action.KEEP)]


def test_another_target_takes_the_place_of_the_old_one() -> None:
    before = body(status={"target": {"kind": "Secret", "name": "web"}})
    after = body(spec={**SYNC, "target": {"name": "other"}})
    assert foreseen(before, after)[1:] == [
        ("Secret team-a/other", Action.CREATE),
        (SECRET, Action.REMOVE),
    ]


def test_certificates_are_issued_changed_and_removed() -> None:
    before = body("CertificateProfile", {**PROFILE, "certificates": [{"name": "a"}, {"name": "b"}]})
    after = body(
        "CertificateProfile", {**PROFILE, "certificates": [{"name": "a", "secretName": "x"}, {"name": "c"}]}
    )
    assert foreseen(before, after)[1:] == [
        ("certificate a", Action.CHANGE),
        ("certificate c", Action.ISSUE),
        ("certificate b", Action.REMOVE),
    ]
    taken = Around({("Secret", "c"): OTHERS})
    assert ("certificate c", Action.REFUSE) in foreseen(before, after, taken)
    assert foreseen(None, body("CertificateProfile", PROFILE)) == [
        ("CertificateProfile team-a/web", Action.CREATE),
        ("profile web", Action.CREATE),
        ("certificate front", Action.ISSUE),
    ]


@pytest.mark.parametrize(
    ("kind", "spec", "change"),
    [
        pytest.param("AppConnection", CONNECTION, {"app": "cloud"}, id="app of a connection"),
        pytest.param(
            "CertificateProfile", PROFILE, {"caRef": {"name": "other"}}, id="authority of a profile"
        ),
    ],
)
def test_what_can_not_be_changed_is_refused(kind: str, spec: dict[str, Any], change: dict[str, Any]) -> None:
    after = body(kind, {**spec, **change})
    assert foreseen(body(kind, spec), after) == [
        (f"{kind} team-a/web", Action.CHANGE),
        (f"{kind} team-a/web", Action.REFUSE),
    ]


def test_a_connection_is_made_in_the_service_and_needs_its_secrets() -> None:
    kept = {"valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}}
    after = body("AppConnection", {**CONNECTION, "credentials": {"clientSecret": kept}})
    assert secrets_needed(read_spec(after)) == ("reader", "login")
    assert foreseen(None, after)[-1] == ("connection web", Action.CREATE)
    missing = Around(missing=frozenset({"login"}))
    (_, refused) = foresee(None, after, read_spec(after), missing)
    assert refused.detail.startswith("CredentialsNotFound")


def test_what_is_looked_at_is_what_would_be_written() -> None:
    config = {**SYNC, "target": {"kind": "ConfigMap", "name": "settings"}}
    assert targets_named("web", read_spec(body(spec=config))) == (("ConfigMap", "settings"),)
    assert targets_named("web", read_spec(body("CertificateProfile", PROFILE))) == (("Secret", "front"),)
    assert targets_named("web", read_spec(body("AppConnection", CONNECTION))) == ()


def test_what_kubectl_applied_before_is_its_own_and_what_others_manage_is_told() -> None:
    before = FieldConflict("kubectl-client-side-apply", ".spec.mode")
    other = FieldConflict("argocd-controller", ".spec.mode")
    assert taken_from_others([before, other], "kubectl") == (other,)
    assert taken_from_others([before, other], "argocd-controller") == (before,)
