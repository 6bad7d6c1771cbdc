"""keybearer.controllers.appconnection.plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keybearer.controllers.appconnection.plan import (
    Applied,
    CreateConnection,
    DesiredConnection,
    PresentConnection,
    RotationTerms,
    UpdateConnection,
    plan_connection,
)
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.ownership import mark_of, marked

_MARK = mark_of("cluster-1", "uid-1")
_OTHERS = mark_of("cluster-2", "uid-1")
_TERMS = RotationTerms(30, 3, 15)
_DESIRED = DesiredConnection(
    name="store",
    app="cloud",
    method="access-key",
    credentials={"accessKeyId": "AKIA", "secretAccessKey": "cnry-key"},
    fingerprint="f1",
    description="For releases",
    mark=_MARK,
    project_id="p1",
)
_PRESENT = PresentConnection(
    id="c1",
    name="store",
    app="cloud",
    method="access-key",
    description=marked("For releases", _MARK),
    project_id="p1",
    credentials_hash="h1",
    version=1,
)
_APPLIED = Applied("c1", "f1", "h1")


def test_nothing_is_done_about_what_is_as_described() -> None:
    assert plan_connection(_DESIRED, _PRESENT, _APPLIED) is None


def test_what_is_not_there_is_created() -> None:
    assert plan_connection(_DESIRED, None, _APPLIED) == CreateConnection(_DESIRED)


@pytest.mark.parametrize(
    ("desired", "present", "applied", "with_credentials"),
    [
        pytest.param({"fingerprint": "f2"}, {}, {}, True, id="other credentials in the manifest"),
        pytest.param({}, {"credentials_hash": "h2"}, {}, True, id="other credentials in the service"),
        pytest.param({}, {}, {"fingerprint": None}, True, id="a status that was lost"),
        pytest.param({}, {"name": "renamed"}, {}, False, id="another name in the service"),
        pytest.param({"description": "Else"}, {}, {}, False, id="another description"),
        pytest.param({}, {"description": None}, {}, False, id="a mark that was taken off"),
        pytest.param({"rotation": _TERMS}, {}, {}, False, id="a rotation that is wanted"),
        pytest.param({}, {"rotation": _TERMS}, {}, False, id="a rotation that is not"),
    ],
)
def test_what_differs_is_changed_with_credentials_only_where_they_differ(
    desired: dict[str, Any],
    present: dict[str, Any],
    applied: dict[str, Any],
    *,
    with_credentials: bool,
) -> None:
    wanted = replace(_DESIRED, **desired)
    planned = plan_connection(wanted, replace(_PRESENT, **present), replace(_APPLIED, **applied))
    assert planned == UpdateConnection("c1", wanted, with_credentials)


def test_credentials_that_the_service_made_anew_are_left_to_it_until_the_manifest_has_others() -> None:
    rotating = replace(_DESIRED, rotation=_TERMS)
    rotated = replace(_PRESENT, rotation=_TERMS, credentials_hash="h2", version=2)
    assert plan_connection(rotating, rotated, _APPLIED) is None
    newer = replace(rotating, fingerprint="f2")
    assert plan_connection(newer, rotated, _APPLIED) == UpdateConnection("c1", newer, with_credentials=True)


@pytest.mark.parametrize(
    ("description", "connection_id", "adopts", "reason"),
    [
        pytest.param(marked("x", _OTHERS), "c1", True, "ConnectionConflict", id="another's, whoever asks"),
        pytest.param("by hand", "c2", False, "ConnectionConflict", id="nobody's, not to be adopted"),
        pytest.param("by hand", "c2", True, None, id="nobody's, to be adopted"),
        pytest.param("by hand", "c1", False, None, id="ours without its mark"),
        pytest.param(marked("x", _MARK), "c2", False, None, id="ours by its mark"),
    ],
)
def test_only_what_is_ours_or_may_be_adopted_is_changed(
    description: str, connection_id: str, reason: str | None, *, adopts: bool
) -> None:
    present = replace(_PRESENT, id=connection_id, description=description)
    desired = replace(_DESIRED, adopts=adopts)
    if reason is None:
        assert isinstance(plan_connection(desired, present, _APPLIED), UpdateConnection)
        return
    with pytest.raises(StalledError) as refused:
        plan_connection(desired, present, _APPLIED)
    assert refused.value.reason == reason


@pytest.mark.parametrize("change", [{"app": "codehost"}, {"method": "assume-role"}, {"project_id": None}])
def test_what_can_t_be_changed_is_told(change: dict[str, Any]) -> None:
    with pytest.raises(StalledError, match="can't become") as refused:
        plan_connection(replace(_DESIRED, **change), _PRESENT, _APPLIED)
    assert refused.value.reason == "ImmutableField"
