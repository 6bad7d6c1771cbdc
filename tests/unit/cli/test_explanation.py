"""A SecretSync in words: what it reads and writes, how it stands, what is wrong and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from keybearer.cli.explanation import explain
from keybearer.cli.explanation_parts import SeenObject

UID = "uid-1"
TARGET = SeenObject(("DB_HOST", "DB_PASSWORD"), UID)
IDENTITY = SeenObject(("clientId", "clientSecret"))
SOURCE: dict[str, Any] = {"projectSlug": "shop", "environment": "dev"}


def secret_sync(status: dict[str, Any] | None = None, generation: int = 1, **spec: object) -> dict[str, Any]:
    whole = {"source": SOURCE, "identityRef": {"name": "reader"}, **spec}
    return {
        "metadata": {"name": "web", "namespace": "team-a", "uid": UID, "generation": generation},
        "spec": {key: value for key, value in whole.items() if value is not None},
        **({"status": status} if status is not None else {}),
    }


def ready(
    status: str = "True", reason: str = "Synced", message: str = "2 keys", **more: object
) -> dict[str, Any]:
    condition = {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }
    return {"observedGeneration": 1, "conditions": [condition], **more}


def test_a_healthy_one_needs_nothing() -> None:
    told = explain(secret_sync(ready()), TARGET, IDENTITY)
    assert told.reads[0] == "Project shop, environment dev, folder /."
    assert told.writes[0] == "Secret team-a/web, which it owns and keeps exactly so."
    assert "It exists, with 2 keys: DB_HOST, DB_PASSWORD." in told.writes
    assert told.stands[0].startswith("Ready since 2026-01-02T03:04:05")
    assert (told.wrong, told.next_steps) == ([], [])


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        ("User", "Correct it. keybearer folders list"),
        ("ServiceAdministrator", "Ask an administrator of the service: Correct it. keybearer folders list"),
        ("ClusterAdministrator", "Ask an administrator of the operator: Correct it. keybearer folders list"),
        ("Nobody", "Correct it. keybearer folders list"),
    ],
)
def test_what_the_operator_diagnosed_is_shown_with_whose_turn_it_is(turn: str, says: str) -> None:
    diagnosis = {"turn": turn, "step": "Correct it.", "command": "keybearer folders list"}
    told = explain(
        secret_sync(ready("False", "SourceNotFound", "why", diagnosis=diagnosis)), TARGET, IDENTITY
    )
    assert told.wrong == ["SourceNotFound: why"]
    assert told.stands == ["Not ready since 2026-01-02T03:04:05+00:00 (SourceNotFound)."]
    assert told.next_steps == [says]


def test_the_status_of_an_older_operator_refers_to_its_message() -> None:
    told = explain(secret_sync(ready("False", "SourceNotFound", "why")), TARGET, IDENTITY)
    assert told.next_steps == ["Do what the message says."]


def test_one_that_nobody_looked_at_asks_for_the_operator() -> None:
    told = explain(secret_sync(), None, IDENTITY)
    assert told.wrong == ["No operator has looked at it yet."]
    (step,) = told.next_steps
    assert step.startswith("Check that an operator runs and serves namespace team-a. ")
    assert step.endswith(" keybearer doctor")
    assert "It doesn't exist yet." in told.writes


def test_an_edit_that_was_not_seen_yet_is_told() -> None:
    told = explain(secret_sync(ready(), generation=2), TARGET, IDENTITY)
    assert "hasn't seen the last edit" in told.wrong[0]


def test_a_missing_identity_is_named_with_what_to_create() -> None:
    told = explain(secret_sync(ready()), TARGET, None)
    assert told.wrong == ["There is no Secret reader in namespace team-a."]
    assert "clientSecret" in told.next_steps[0]


def test_workloads_are_told_with_their_restarts_and_missing_ones_with_what_to_do() -> None:
    shop, slip = {"kind": "Deployment", "name": "shop"}, {"kind": "StatefulSet", "name": "shoop"}
    workloads = [
        shop | {"lastRestartTime": "2026-01-02T03:04:05Z", "dueSince": "2026-01-02T03:04:35Z"},
        slip | {"missingSince": "2026-01-02T03:04:05Z", "dueSince": "2026-01-02T03:04:35Z"},
    ]
    body = secret_sync(ready(workloads=workloads), target={"rolloutRestart": [shop, slip]})
    told = explain(body, TARGET, IDENTITY)
    assert told.stands[-2:] == [
        "Deployment shop is still to be restarted for a change at 2026-01-02T03:04:35+00:00.",
        "Deployment shop was last restarted at 2026-01-02T03:04:05+00:00.",
    ]
    assert told.wrong == [
        "StatefulSet shoop of rolloutRestart doesn't exist, as seen since 2026-01-02T03:04:05+00:00."
    ]
    assert told.next_steps == [
        "Correct the name shoop in spec.target.rolloutRestart, or create the StatefulSet."
    ]


def test_keys_with_a_problem_are_listed() -> None:
    keys = [{"key": "A B", "state": "Failed", "reason": "InvalidName", "message": "rename it"}]
    told = explain(secret_sync(ready(keys=keys)), TARGET, IDENTITY)
    assert told.wrong == ["Key A B is failed: rename it"]


def test_a_key_that_cannot_be_written_says_what_to_do_and_one_that_another_overrides_asks_for_nothing() -> (
    None
):
    clash = {"key": "DB_HOST", "state": "Overridden", "reason": "Clash", "message": "from /a and /b"}
    told = explain(secret_sync(ready(keys=[clash])), TARGET, IDENTITY)
    assert told.next_steps == []
    keys = [clash, {"key": "A B", "state": "Failed", "reason": "InvalidKey", "message": "no valid key"}]
    step = "Rename or exclude it in source.keys."
    status = ready("False", "InvalidKey", "A B", keys=keys, diagnosis={"turn": "User", "step": step})
    assert explain(secret_sync(status), TARGET, IDENTITY).next_steps == [step]


def test_keys_that_somebody_took_from_the_target_are_missed() -> None:
    status = ready(
        keys=[{"key": "DB_HOST", "state": "Synced"}, {"key": "GONE", "state": "Synced"}],
        target={"kind": "Secret", "name": "web", "keys": 2},
    )
    told = explain(secret_sync(status), TARGET, IDENTITY)
    assert told.wrong == ["The target lacks keys that were written: GONE."]


def test_what_the_user_may_not_look_at_is_not_called_missing() -> None:
    hidden = SeenObject((), is_hidden=True)
    status = ready(
        keys=[{"key": "A", "state": "Synced"}], target={"kind": "Secret", "name": "web", "keys": 1}
    )
    told = explain(secret_sync(status), hidden, hidden)
    assert "You may not look at it." in told.writes
    assert (told.wrong, told.next_steps) == ([], [])


def test_a_target_of_another_one_is_told() -> None:
    told = explain(secret_sync(ready()), SeenObject(("A",), "uid-2"), IDENTITY)
    assert told.wrong == ["The target belongs to another object."]
    assert told.writes[0] == "Secret team-a/web, once that is its own."


def test_names_of_others_are_told_with_the_command_that_removes_them_and_are_not_wrong() -> None:
    push = {"keys": 3, "foreign": ["OLD_A", "OLD_B"], "foreignTotal": 2}
    told = explain(secret_sync(ready(push=push)), TARGET, IDENTITY)
    assert "The destination holds 2 names of others, which stay: OLD_A, OLD_B." in told.stands
    assert "keybearer.dev/request=remove-foreign" in told.stands[-1]
    assert (told.wrong, told.next_steps) == ([], [])


def test_with_an_empty_source_the_import_of_these_names_is_offered_and_not_their_removal() -> None:
    push = {"keys": 0, "foreign": ["PROD"], "foreignTotal": 1}
    told = explain(secret_sync(ready(push=push)), TARGET, IDENTITY)
    assert "keybearer.dev/request=import" in told.stands[-1]
    assert not any("remove-foreign" in line for line in told.stands)


def test_names_that_failed_at_the_destination_are_told_with_why() -> None:
    push = {"failed": [{"name": "APP_A", "key": "A", "message": "too long"}], "failedTotal": 3}
    told = explain(secret_sync(ready(push=push)), TARGET, IDENTITY)
    assert told.wrong == ["Name APP_A at the destination failed: too long", "And 2 more names failed."]


def test_a_plan_shows_names_and_how_to_approve_it() -> None:
    status = ready("False", "Planned", "waits", plan={"add": ["A", "B"], "remove": ["C"]})
    told = explain(secret_sync(status, mode="Plan"), None, IDENTITY)
    assert told.writes[0] == "Nothing: mode is Plan. Approved, it would write Secret team-a/web."
    assert {"Held back: add A, B.", "Held back: remove C."} <= set(told.stands)
    assert told.stands[0].endswith("(Planned): waits")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"mode": "Suspended"}, "Nothing: mode is Suspended. Otherwise it would write Secret team-a/web."),
        ({"mode": "CreateOnce"}, "Secret team-a/web, once; afterwards it is left alone."),
        ({"target": {"name": "other"}}, "Secret team-a/other, which it owns and keeps exactly so."),
        (
            {"target": {"creationPolicy": "Merge"}},
            "Secret team-a/web: it adds keys to what belongs to somebody else, and touches no others.",
        ),
        ({"target": {"kind": "ConfigMap"}}, "ConfigMap team-a/web, which it owns and keeps exactly so."),
    ],
)
def test_what_is_written_follows_mode_and_target(spec: dict[str, Any], said: str) -> None:
    assert explain(secret_sync(ready(), **spec), TARGET, IDENTITY).writes[0] == said


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({}, "The Secret is deleted with the SecretSync, unless onDelete is Retain."),
        ({"onDelete": "Retain"}, "What was written stays when the SecretSync is deleted."),
        ({"creationPolicy": "Merge"}, "The keys that it added are removed when the SecretSync is deleted."),
    ],
)
def test_what_becomes_of_the_target_with_the_secretsync_is_told(target: dict[str, Any], said: str) -> None:
    written = {"kind": "Secret", "name": "web", "keys": 2, "fingerprint": "f" * 32}
    assert said in explain(secret_sync(ready(target=written), target=target), TARGET, IDENTITY).writes


def test_of_a_target_that_was_never_written_no_deletion_is_announced() -> None:
    writes = explain(secret_sync(ready("False", "TargetConflict", "why")), TARGET, IDENTITY).writes
    assert "Once written, the Secret is deleted with the SecretSync, unless onDelete is Retain." in writes


def test_what_is_read_names_the_selection() -> None:
    source = {
        **SOURCE,
        "secretPath": "/apps",
        "recursive": True,
        "includeImports": False,
        "tagSlugs": ["red"],
        "keys": {"include": ["DB_*"], "exclude": ["DB_OLD"], "items": [{"key": "CERT", "decode": "Base64"}]},
    }
    told = explain(secret_sync(ready(), source=source, refreshInterval="30s"), TARGET, IDENTITY)
    assert told.reads[0] == (
        "Project shop, environment dev, folder /apps, and all folders below, without imports, only with the tags "
        "red, names like DB_*, but DB_OLD, and CERT in another form."
    )
    assert "The source is compared every 30 s." in told.reads


def test_what_is_planned_or_held_back_by_the_guard_is_not_wrong_key_by_key() -> None:
    keys = [{"key": "DB_HOST", "state": "Pending"}]
    planned = ready("False", "Planned", "waits", plan={"add": ["DB_HOST"]}, keys=keys)
    assert explain(secret_sync(planned, mode="Plan"), None, IDENTITY).wrong == []
    guarded = ready("False", "Guarded", "3 of 3 keys would go", keys=keys)
    assert explain(secret_sync(guarded), TARGET, IDENTITY).wrong == ["Guarded: 3 of 3 keys would go"]


def test_of_a_source_that_takes_single_secrets_alone_those_are_named() -> None:
    items = [{"key": "username"}, {"key": "password"}, {"key": "password", "as": "PASSWORD"}]
    source = {**SOURCE, "keys": {"include": [], "items": items}}
    told = explain(secret_sync(ready(), source=source), TARGET, IDENTITY)
    assert told.reads[0] == (
        "Project shop, environment dev, folder /, only what is named: username, password."
    )


def test_a_spec_that_can_not_be_read_names_the_field() -> None:
    told = explain(secret_sync(source=None), None, None)
    assert told.wrong == ["The spec can't be read: spec give exactly one of source and sources."]
    assert told.next_steps


def test_a_destination_is_told_with_its_connection_and_how_far_the_push_is() -> None:
    spec: dict[str, Any] = {
        "destination": "cloud-parameter-store",
        "connectionRef": {"name": "store"},
        "destinationConfig": {"region": "eu-central-1", "path": "/app/"},
        "destinationDeletionPolicy": "RemoveSecrets",
    }
    sync = {"id": "s1", "destination": "cloud-parameter-store", "syncStatus": "failed"}
    told = explain(secret_sync(ready("False", "PushFailed", "no", sync=sync), **spec), None, IDENTITY)
    assert told.writes == [
        "The service pushes the folder to cloud-parameter-store through AppConnection store.",
        "What was pushed is removed when the SecretSync is deleted.",
    ]
    assert "The sync in the service (s1) is failed." in told.stands


def test_a_key_that_the_diagnosis_is_about_has_its_step_once() -> None:
    keys = [{"key": "A", "state": "Failed", "reason": "KeyNotFound", "message": "dev:/ has no secret A"}]
    step, command = "Create the secret, or correct the item.", "keybearer secrets list --project shop"
    diagnosis = {"turn": "User", "step": step, "command": command}
    told = explain(
        secret_sync(ready("False", "KeyNotFound", "A", keys=keys, diagnosis=diagnosis)), TARGET, IDENTITY
    )
    assert told.next_steps == [f"{step} {command}"]


@pytest.mark.parametrize(
    ("why", "says"),
    [
        (
            "EventsDenied",
            "The service denies events of the source to the identity. A change shows within 300 s.",
        ),
        ("EventsUnavailable", "The service has no events for the identity. A change shows within 300 s."),
        ("TooManyStreams", "as many streams of events as it may. A change shows within 300 s."),
        (
            "EventsFailed",
            "A stream of events can't be opened; the operator tries again. A change shows within",
        ),
        (None, "Changes become known by polling."),
    ],
)
def test_why_changes_are_polled_is_told(why: str | None, says: str) -> None:
    status = ready(updates="Polling", **({} if why is None else {"pollingReason": why}))
    told = explain(secret_sync(status, refreshInterval="5m"), TARGET, IDENTITY)
    line = next(one for one in told.stands if one.startswith("Changes become known by polling."))
    assert says in line
    assert why is not None or line == says
