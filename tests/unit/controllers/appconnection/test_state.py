"""keybearer.controllers.appconnection.state: what those who use a connection are told of it."""

from __future__ import annotations

import pytest

from keybearer.controllers.appconnection.state import connection_state
from keybearer.controllers.objects import ObservedObject, no_targets
from unit.controllers.fakes.targets import Body, Field


def _seen(*, deleting: bool = False, **status: Field) -> ObservedObject:
    meta: Body = {"namespace": "team-a", "name": "store", "uid": "uid-1"}
    if deleting:
        meta["deletionTimestamp"] = "2026-03-01T12:00:00Z"
    body: Body = {"metadata": meta, "spec": {}, "status": status}
    return ObservedObject.from_body("AppConnection", body, trigger_at=0, targets_of=no_targets)


def _ready(status: str) -> list[Body]:
    at = "2026-03-01T12:00:00Z"
    return [{"type": "Ready", "status": status, "lastTransitionTime": at, "reason": "R", "message": "why"}]


@pytest.mark.parametrize(
    ("status", "can_be_used", "trouble"),
    [
        pytest.param({}, False, None, id="new"),
        pytest.param({"id": "c-1", "conditions": _ready("True")}, True, None, id="ready"),
        pytest.param({"conditions": _ready("True")}, False, None, id="ready without an id"),
        pytest.param({"id": "c-1", "conditions": _ready("False")}, False, "why", id="it never worked"),
        pytest.param(
            {"id": "c-1", "version": 1, "conditions": _ready("False")},
            True,
            "why",
            id="its change is refused",
        ),
        pytest.param({"id": "c-1", "version": 1}, True, None, id="it worked, and nothing more is known"),
    ],
)
def test_a_connection_is_used_that_works_or_did(
    status: Body, trouble: str | None, *, can_be_used: bool
) -> None:
    state = connection_state(_seen(**status))

    assert state.id == ("c-1" if can_be_used else None)
    assert state.trouble == trouble


def test_a_connection_that_is_being_deleted_is_not_used() -> None:
    assert connection_state(_seen(deleting=True, id="c-1", conditions=_ready("True"))).id is None
