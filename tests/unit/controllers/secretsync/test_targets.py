"""keybearer.controllers.secretsync.targets."""

from __future__ import annotations

import pytest

from keybearer.controllers.objects import TargetKey
from keybearer.controllers.secretsync.status import SecretSyncStatus
from keybearer.controllers.secretsync.targets import identity_of, noted_targets, targets_of
from unit.controllers.fakes.targets import SYNC, Field

_WEB = TargetKey("Secret", "team-a", "web")
_DB = TargetKey("Secret", "team-a", "db")


@pytest.mark.parametrize(
    ("target", "named"),
    [
        pytest.param(None, _WEB, id="no target: a Secret of its own name"),
        pytest.param({"name": "db"}, _DB, id="a name"),
        pytest.param({"kind": "ConfigMap"}, TargetKey("ConfigMap", "team-a", "web"), id="a kind"),
        pytest.param({"name": 5, "kind": []}, _WEB, id="no texts"),
        pytest.param("nonsense", _WEB, id="no mapping"),
    ],
)
def test_the_target_is_found_in_a_spec_that_nobody_has_judged_yet(target: Field, named: TargetKey) -> None:
    spec = {"source": {"projectId": "shop"}, **({} if target is None else {"target": target})}

    assert targets_of(spec, SYNC) == (named,)


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        pytest.param({"destination": "codehost"}, (), id="a destination alone"),
        pytest.param({"destination": "codehost", "target": {"name": "db"}}, (_DB,), id="and a target"),
        pytest.param({"destination": ""}, (_WEB,), id="no destination"),
        pytest.param(None, (_WEB,), id="no spec"),
    ],
)
def test_a_destination_takes_the_place_of_a_target_that_is_not_named(
    spec: Field, named: tuple[TargetKey, ...]
) -> None:
    assert targets_of(spec, SYNC) == named


def test_a_status_names_what_was_written_and_what_was_to_replace_it() -> None:
    written, moving = {"kind": "Secret", "name": "web"}, {"kind": "ConfigMap", "name": "db"}
    status = SecretSyncStatus.model_validate({"target": written, "movingTo": moving})

    assert noted_targets(status, "team-a") == (_WEB, TargetKey("ConfigMap", "team-a", "db"))
    assert noted_targets(SecretSyncStatus(), "team-a") == ()


@pytest.mark.parametrize(
    ("half", "name"),
    [
        pytest.param({}, "", id="it only reads there"),
        pytest.param({"spec": {"destination": "codehost"}}, "login", id="it has a sync made"),
        pytest.param({"status": {"sync": {"id": "s1"}}}, "login", id="it had one made"),
    ],
)
def test_the_identity_cleans_up_where_something_was_made_in_the_service(half: Field, name: str) -> None:
    spec = {"identityRef": {"name": "login"}, **half.get("spec", {})}

    assert identity_of({**half, "spec": spec}) == name
