"""A law: whatever was there, once a plan is carried out there is nothing left to plan; what others made stays.

The model of the API server here is as simple as what plans rely on; the real one is asked in the integration tests.
"""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.target.changes import plan_status
from keybearer.controllers.target.decisions import (
    ApplyTarget,
    CreateTarget,
    MergeTarget,
    PlanContext,
    RecreateTarget,
    ReplaceTarget,
    TargetAction,
    TargetPlan,
)
from keybearer.controllers.target.desired import MANAGED_LABEL, OWNER_LABEL, DesiredTarget
from keybearer.controllers.target.observed import PresentTarget, merge_manager
from keybearer.controllers.target.plan import plan_target
from unit.controllers.fakes.api_model import applied, merge_patched
from unit.controllers.fakes.targets import AT, UID, Body, b64, desired, new_spec, present, stored

_names = st.sampled_from(["A", "B", "C", "tls.crt", "x-y.z"])
_values = st.binary(max_size=6).map(lambda value: b"cnry-" + value)
_data = st.dictionaries(_names, _values, max_size=5)
_labels = st.dictionaries(
    st.sampled_from(["team", "app.kubernetes.io/part-of"]), st.sampled_from(["", "a", "b"])
)
_annotations = st.dictionaries(st.sampled_from(["note", "example.org/link"]), st.sampled_from(["", "a", "b"]))
_THEIR_REFERENCE: Body = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}
_OUR_REFERENCE: Body = {
    "apiVersion": "keybearer.dev/v1alpha1",
    "kind": "SecretSync",
    "name": "web",
    "uid": UID,
    "controller": True,
}
_references = st.lists(
    st.sampled_from([_THEIR_REFERENCE, _OUR_REFERENCE]), unique_by=lambda reference: str(reference["uid"])
)


@st.composite
def _targets(draw: st.DrawFn, *, merge: bool = False) -> SecretSyncSpec:
    return new_spec(
        kind=draw(st.sampled_from(["Secret", "ConfigMap"])),
        labels=dict(draw(_labels)),
        annotations=dict(draw(_annotations)),
        onDelete=draw(st.sampled_from(["Delete", "Retain"])),
        **({"creationPolicy": "Merge"} if merge else {"immutable": draw(st.booleans()), "recreate": True}),
        adopt=True,
    )


@st.composite
def _bodies(draw: st.DrawFn, kind: str) -> Body:
    body: Body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "web", "namespace": "team-a"}}
    data = {name: b64(value) for name, value in draw(_data).items()}
    if kind == "Secret":
        body |= {"data": data, "type": draw(st.sampled_from(["Opaque", "example.org/other"]))}
    else:
        body |= {"data": {name: "cnry-text" for name in data if name < "C"}}
        body |= {"binaryData": {name: value for name, value in data.items() if name >= "C"}}
    if draw(st.booleans()):
        body["immutable"] = draw(st.booleans())
    body["metadata"]["labels"] = dict(draw(_labels)) | draw(
        st.sampled_from([{}, {MANAGED_LABEL: "true"}, {MANAGED_LABEL: "true", OWNER_LABEL: UID}])
    )
    body["metadata"]["annotations"] = dict(draw(_annotations))
    body["metadata"]["ownerReferences"] = copy.deepcopy(draw(_references))
    return stored(body)


def carried_out(action: TargetAction, body: Body | None) -> Body:
    """Return the target after the action."""
    wanted: Body = copy.deepcopy(action.desired.body)
    if body is None or isinstance(action, CreateTarget | RecreateTarget):
        return stored(wanted, uid="new-uid")
    match action:
        case ReplaceTarget():
            patched: Body = merge_patched(body, action.patch)
            return patched
        case ApplyTarget():
            return applied(body, wanted, "keybearer")
        case MergeTarget():
            return applied(body, wanted, merge_manager(UID))


def _released(wanted: DesiredTarget, now: PresentTarget | None, spec: SecretSyncSpec) -> PlanContext:
    """What a person's release of the very change that the guard holds amounts to."""
    held = plan_target(wanted, now, spec.write_rules, PlanContext(UID, "no keys", AT))
    return PlanContext(UID, "no keys", AT, released=plan_status(held.changes))


def _may_be_adopted(wanted: DesiredTarget, now: PresentTarget) -> bool:
    """Whether nobody else has it, and nothing of it would have to be deleted."""
    is_same = bool(wanted.body.get("immutable")) and now.data == wanted.data
    return (
        now.owners.isdisjoint({"x"})
        and now.type == wanted.body.get("type", now.type)
        and (is_same or not now.immutable)
    )


@given(data=st.data())
def test_after_the_plan_is_carried_out_an_owned_target_needs_none(data: st.DataObject) -> None:
    spec = data.draw(_targets())
    wanted = desired(spec, data.draw(_data.filter(bool)))
    body = data.draw(st.none() | _bodies(spec.target.kind))
    now = None if body is None else present(body)
    context = _released(wanted, now, spec)

    planned = plan_target(wanted, now, spec.write_rules, context)
    if now is not None and UID not in now.owners and not _may_be_adopted(wanted, now):
        assert planned.action is None
        assert planned.verdict is not None
        return
    assert planned.verdict is None
    if planned.action is not None:
        body = carried_out(planned.action, body)

    assert body is not None
    assert plan_target(wanted, present(body), spec.write_rules, context) == TargetPlan()


@given(data=st.data())
def test_after_the_plan_is_carried_out_a_merged_target_needs_none(data: st.DataObject) -> None:
    spec = data.draw(_targets(merge=True))
    body = data.draw(_bodies(spec.target.kind).filter(lambda body: not body.get("immutable")))
    for _ in range(2):  # what the first merge wrote and the second no longer plans must go
        wanted = desired(spec, data.draw(_data.filter(bool)))
        context = _released(wanted, present(body), spec)
        planned = plan_target(wanted, present(body), spec.write_rules, context)
        assert planned.verdict is None
        if planned.action is not None:
            assert isinstance(planned.action, MergeTarget)
            body = carried_out(planned.action, body)

        assert plan_target(wanted, present(body), spec.write_rules, context) == TargetPlan()


@given(data=st.data())
def test_a_plan_never_keeps_and_never_loses_a_key_that_it_should_not(data: st.DataObject) -> None:
    """Each key that is planned or present is in exactly one of the lists, or equal in both."""
    spec = data.draw(_targets())
    wanted = desired(spec, data.draw(_data))
    now = present(data.draw(_bodies(spec.target.kind)))

    changes = plan_target(wanted, now, spec.write_rules, _released(wanted, now, spec)).changes

    listed = [*changes.add, *changes.change, *changes.remove]
    if listed:
        same = {key for key in wanted.data if now.data.get(key) == wanted.data[key]}
        assert sorted([*listed, *same]) == sorted(wanted.data.keys() | now.data.keys())
