from __future__ import annotations

import pytest

from keybearer.controllers.objects import ObservedObject, no_targets
from keybearer.controllers.requests import pending_request
from keybearer.controllers.secretsync.status import SecretSyncStatus
from unit.controllers.fakes.targets import UID, Body


def seen(**annotations: str) -> ObservedObject:
    named = {f"keybearer.dev/{name}": value for name, value in annotations.items()}
    meta = {"namespace": "team-a", "name": "web", "uid": UID, "annotations": named}
    body: Body = {"metadata": meta, "spec": {}}
    return ObservedObject.from_body("SecretSync", body, trigger_at=0, targets_of=no_targets)


@pytest.mark.parametrize(
    ("annotations", "answered", "kind"),
    [
        pytest.param({}, None, None, id="nothing is asked"),
        pytest.param({"request": "release-guard"}, None, None, id="without a time it is no request"),
        pytest.param({"requestedAt": "1"}, None, "sync", id="a time alone asks for a sync"),
        pytest.param({"requestedAt": "1", "request": "release-guard"}, None, "release-guard", id="a release"),
        pytest.param({"requestedAt": "1", "request": "approve-plan"}, "1", None, id="answered already"),
        pytest.param(
            {"requestedAt": "2", "request": "sync"}, "1", "sync", id="asked again with a fresh value"
        ),
        pytest.param({"requestedAt": "2", "request": "dance"}, "1", "dance", id="a word we don't know"),
    ],
)
def test_what_a_person_asks_for(annotations: dict[str, str], answered: str | None, kind: str | None) -> None:
    status = SecretSyncStatus(last_handled_requested_at=answered)
    request = pending_request(seen(**annotations), status.last_handled_requested_at)

    assert (request.kind if request is not None else None) == kind


@pytest.mark.parametrize(
    ("kind", "releases", "approves"),
    [
        ("sync", False, False),
        ("remove-foreign", False, False),
        ("import", False, False),
        ("release-guard", True, False),
        ("approve-plan", False, True),
        ("Release-Guard", False, False),
    ],
)
def test_only_the_exact_words_let_something_pass(kind: str, *, releases: bool, approves: bool) -> None:
    request = pending_request(seen(requestedAt="1", request=kind), None)

    assert request is not None
    assert (request.releases_guard, request.approves_plan) == (releases, approves)


@pytest.mark.parametrize(
    ("behavior", "is_wrong"),
    [
        (None, False),
        ("prioritize-source", False),
        ("prioritize-destination", False),
        ("prioritise-source", True),
    ],
)
def test_an_import_that_is_to_behave_in_an_unknown_way_says_which_ways_there_are(
    behavior: str | None, *, is_wrong: bool
) -> None:
    asked = {"requestedAt": "1", "request": "import"}
    request = pending_request(
        seen(**asked, **({} if behavior is None else {"import-behavior": behavior})), None
    )

    assert request is not None
    assert request.imports
    said = request.wrong_behavior or ""
    assert ("neither prioritize-source nor prioritize-destination" in said) == (said != "") == is_wrong


@pytest.mark.parametrize(("kind", "removes"), [("remove-foreign", True), ("sync", False), ("remove", False)])
def test_only_one_word_removes_what_others_have_at_a_destination(kind: str, *, removes: bool) -> None:
    request = pending_request(seen(requestedAt="1", request=kind), None)

    assert request is not None
    assert request.removes_foreign is removes
    assert request.kind == kind
    assert not request.as_sync().removes_foreign
    assert request.as_sync().requested_at == "1"


def test_a_long_time_is_answered_by_its_beginning_and_then_is_answered() -> None:
    long = "x" * 5000
    request = pending_request(seen(requestedAt=long), None)
    assert request is not None

    answered = SecretSyncStatus(last_handled_requested_at=request.requested_at)
    assert pending_request(seen(requestedAt=long), answered.last_handled_requested_at) is None
