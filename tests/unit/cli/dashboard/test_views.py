"""What the dashboard makes of objects: their order, their words, and nothing that could be a value."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from keybearer.base.clock import format_instant
from keybearer.cli.dashboard.attention import attention
from keybearer.cli.dashboard.expiring import expiring_certificates
from keybearer.cli.dashboard.leading import leading
from keybearer.cli.dashboard.pushes import pushes
from keybearer.cli.dashboard.record import Record, record_of
from keybearer.cli.dashboard.replicas import Lead, Operators, Replica, queues_of
from keybearer.cli.dashboard.uses import How, Use, uses_of
from keybearer.cli.dashboard.view import PAGE_SIZE, Query, Tone, View
from keybearer.cli.dashboard.written import index_of, written_secrets
from keybearer.controllers.conditions import Tone as Outcome
from keybearer.controllers.conditions import build_conditions
from keybearer.kube.resources import ObjectKey

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def told(tone: Outcome, reason: str, since: datetime = NOW) -> dict[str, Any]:
    conditions = build_conditions((), tone, reason, f"why {reason}", generation=1, now=since)
    return {
        "observedGeneration": 1,
        "conditions": [one.model_dump(mode="json", by_alias=True) for one in conditions],
    }


def record(
    name: str,
    status: dict[str, Any] | None = None,
    kind: str = "SecretSync",
    spec: dict[str, Any] | None = None,
    **meta: JsonValue,
) -> Record:
    metadata: dict[str, JsonValue] = {"name": name, "namespace": "team-a", "generation": 1, **meta}
    return record_of(kind, {"metadata": metadata, "spec": spec or {}, "status": status or {}})


def first_cells(view: View) -> list[str]:
    return [row.cells[0].text for row in view.rows]


def details(view: View, row: int = 0) -> list[tuple[str, str]]:
    return [(one.label, one.text) for one in view.rows[row].details]


def test_what_needs_somebody_most_comes_first_and_the_oldest_of_it() -> None:
    view = attention(
        [
            record("waits", told(Outcome.WAITING, "ServiceUnavailable")),
            record("fails-since-now", told(Outcome.STALLED, "SpecInvalid")),
            record("fails-long", told(Outcome.STALLED, "SpecInvalid", NOW - timedelta(days=1))),
            record("well", told(Outcome.READY, "Synced")),
            record("unseen", {"observedGeneration": -1}),
        ],
        Query(),
        (),
    )
    assert first_cells(view) == [
        "SecretSync team-a/fails-long",
        "SecretSync team-a/fails-since-now",
        "SecretSync team-a/unseen",
        "SecretSync team-a/waits",
    ]
    assert view.summary == "4 of 5 objects are not Ready."
    assert [row.tone for row in view.rows] == [Tone.BAD, Tone.BAD, Tone.WAITING, Tone.WAITING]


def test_a_diagnosis_is_shown_as_the_operator_wrote_it() -> None:
    diagnosis = {
        "turn": "ServiceAdministrator",
        "step": "Give it a role.",
        "command": "keybearer members set",
        "about": "spec.source",
    }
    view = attention(
        [record("web", {**told(Outcome.STALLED, "PermissionDenied"), "diagnosis": diagnosis})], Query(), ()
    )
    cells = view.rows[0].cells
    assert (cells[1].text, cells[2].at, cells[3].text) == (
        "PermissionDenied",
        NOW,
        "an administrator of the service",
    )
    assert cells[4].text == "keybearer members set"
    assert ("About", "spec.source") in details(view)
    assert details(view)[0] == ("What is wrong", "why PermissionDenied")


@pytest.mark.parametrize(
    ("one", "turn", "step"),
    [
        pytest.param(record("web"), "you", "keybearer doctor", id="never seen"),
        pytest.param(
            record("web", told(Outcome.STALLED, "SpecInvalid")),
            "you",
            "Do what the message says.",
            id="an operator before diagnoses",
        ),
        pytest.param(
            record("web", told(Outcome.READY, "Synced"), deletionTimestamp="2026-01-02T03:04:05Z"),
            "nobody: the operator tries again",
            "cleaning up",
            id="being deleted",
        ),
        pytest.param(
            record("web", {"observedGeneration": 1, "conditions": "broken"}),
            "you",
            "keybearer doctor",
            id="a status that nobody can read",
        ),
    ],
)
def test_there_is_a_next_step_without_a_diagnosis(one: Record, turn: str, step: str) -> None:
    cells = attention([one], Query(), ()).rows[0].cells
    assert (cells[3].text, cells[4].text) == (turn, step)


def test_nothing_is_asked_where_all_is_ready_or_nothing_is_there() -> None:
    well = attention([record("web", told(Outcome.READY, "Synced"))], Query(), ())
    assert (well.rows, well.summary) == ((), "All objects are Ready: 1.")
    assert attention([], Query(), ("a note",)).notes == ("a note",)


SOURCE = {"projectSlug": "shop", "environment": "prod", "secretPath": "/web"}


def test_a_secret_has_its_source_and_its_users() -> None:
    status = {
        **told(Outcome.READY, "Synced"),
        "lastRefreshTime": "2026-01-02T03:00:00Z",
        "updates": "Events",
        "keys": [{"key": "A", "state": "Synced", "lastChanged": "2026-01-01T00:00:00Z"}],
    }
    one = record("web", status, spec={"source": SOURCE, "target": {"name": "db"}})
    index = index_of(
        [("Deployment", ObjectKey("team-a", "shop"), frozenset({Use("Secret", "db", How.FILES)}))]
    )
    view = written_secrets([one], index, Query(), ())
    cells = view.rows[0].cells
    assert (cells[0].text, cells[1].text) == ("team-a/db", "in step, checked")
    assert cells[1].at == datetime(2026, 1, 2, 3, tzinfo=UTC)
    assert (cells[2].text, cells[3].text) == ("shop prod:/web", "Deployment shop")
    assert ("Used by", "Deployment shop: files, which follow a change") in details(view)
    assert ("Changes arrive", "at once, by events") in details(view)


def test_workloads_of_another_namespace_use_another_secret() -> None:
    index = index_of(
        [("Deployment", ObjectKey("team-b", "shop"), frozenset({Use("Secret", "web", How.FILES)}))]
    )
    view = written_secrets([record("web", spec={"source": SOURCE})], index, Query(), ())
    assert view.rows[0].cells[3].text == "no workload that you may list"


def test_what_lost_a_conflict_writes_no_secret() -> None:
    target = {"source": SOURCE, "target": {"name": "db"}}
    entries: list[JsonValue] = [
        {"name": "lost", "secretName": "db", "reason": "TargetConflict"},
        {"name": "well", "secretName": "tls", "reason": "Issued"},
    ]
    listed: list[JsonValue] = [{"name": "lost", "secretName": "db"}, {"name": "well", "secretName": "tls"}]
    view = written_secrets(
        [
            record("first", told(Outcome.READY, "Synced"), spec=target),
            record("second", told(Outcome.STALLED, "TargetConflict"), spec=target),
            record(
                "certificates",
                {**told(Outcome.STALLED, "TargetConflict"), "certificateRequests": entries},
                "CertificateProfile",
                {"certificates": listed},
            ),
        ],
        {},
        Query(),
        (),
    )
    assert [row.key for row in view.rows] == [
        "CertificateProfile certificates Secret team-a/tls",
        "SecretSync first Secret team-a/db",
    ]


def test_a_push_without_a_target_writes_no_secret() -> None:
    one = record("push", spec={"source": SOURCE, "destination": "cloud"})
    assert written_secrets([one], {}, Query(), ()).rows == ()
    assert first_cells(pushes([one], Query(), ())) == ["team-a/push"]


def certificate(name: str, **fields: object) -> dict[str, object]:
    return {"name": name, "secretName": f"{name}-tls", "status": "issued", **fields}


def at(days: float) -> str:
    return format_instant(NOW + timedelta(days=days))


def test_certificates_that_end_or_renew_within_30_days_are_shown_the_earliest_first() -> None:
    profile = record(
        "web",
        {
            **told(Outcome.READY, "Issued"),
            "certificateRequests": [
                certificate("far", notAfter=at(90), renewalTime=at(60)),
                certificate("renews", notAfter=at(40), renewalTime=at(20)),
                certificate("sooner", notAfter=at(15), renewalTime=at(5)),
                certificate("ended", notAfter=at(-1), renewalTime=at(-10)),
                certificate("revoked", notAfter=at(90), renewalTime=at(60), revoked=True),
                certificate("failing", reason="PolicyRejected", message="not this name"),
                certificate("kept", notAfter=at(10)),
            ],
        },
        kind="CertificateProfile",
    )
    view = expiring_certificates([profile], {}, Query(), (), NOW)
    states = [(row.cells[0].text.partition(": ")[2], row.tone, row.cells[4].text) for row in view.rows]
    assert states == [
        ("revoked", Tone.BAD, "revoked"),
        ("failing", Tone.BAD, "PolicyRejected"),
        ("ended", Tone.BAD, "ended"),
        ("sooner", Tone.GOOD, "renewed by Keybearer"),
        ("kept", Tone.WAITING, "is not renewed"),
        ("renews", Tone.GOOD, "renewed by Keybearer"),
    ]
    assert view.summary == "6 of 7 certificates. The others end and renew later."


def test_an_object_whose_status_has_an_instant_before_the_year_1_is_shown() -> None:
    status = told(Outcome.STALLED, "SourceEmpty")
    for condition in status["conditions"]:
        condition["lastTransitionTime"] = "0001-01-01T00:00:00+23:59"
    view = attention([record("web", status)], Query(), ())
    assert view.rows[0].cells[1].text == "SourceEmpty"


def test_a_certificate_names_so_many_workloads_as_are_read() -> None:
    status = {**told(Outcome.READY, "Issued"), "certificateRequests": [certificate("far", notAfter=at(10))]}
    one = record("web", status, kind="CertificateProfile")
    secret = one.certificates[0].secret
    uses = frozenset({Use("Secret", secret, How.FILES)})
    users = index_of(("Deployment", ObjectKey("team-a", f"w-{number}"), uses) for number in range(60))
    named = [
        text
        for label, text in details(expiring_certificates([one], users, Query(), (), NOW))
        if label == "Used by"
    ]
    assert (len(named), named[-1]) == (51, "10 more workloads")


def test_a_push_says_what_went_where_and_which_names_failed() -> None:
    one = record(
        "out",
        {
            **told(Outcome.WAITING, "PushFailed"),
            "sync": {
                "syncStatus": "failed",
                "lastSyncedAt": "2026-01-02T03:00:00Z",
                "lastSyncMessage": "denied",
            },
            "push": {"keys": 7, "failed": [{"name": "A", "message": "too long"}], "failedTotal": 3},
        },
        spec={
            "source": SOURCE,
            "destination": "cloud",
            "connectionRef": {"name": "aws"},
            "destinationConfig": {"region": "eu-1", "other": {"nested": "left out"}},
        },
    )
    view = pushes([one], Query(), ())
    assert [cell.text for cell in view.rows[0].cells] == [
        "team-a/out",
        "shop prod:/web",
        "cloud through aws",
        "7 secrets",
        "failed",
    ]
    for expected in (("Place", "region=eu-1"), ("Failed", "A: too long"), ("Failed", "2 more names")):
        assert expected in details(view)
    assert "left out" not in str(view)


LEASE = ObjectKey("keybearer", "keybearer-operator")


def lead(holder: str, expires: datetime) -> Lead:
    return Lead(LEASE, holder, NOW, NOW, expires)


@pytest.mark.parametrize(
    ("leads", "summary"),
    [
        pytest.param((lead("pod-a_12", NOW + timedelta(seconds=5)),), "pod-a leads.", id="held"),
        pytest.param((lead("pod-a_12", NOW),), "No replica leads now.", id="run out"),
        pytest.param((lead("", NOW + timedelta(seconds=5)),), "No replica leads now.", id="given away"),
        pytest.param(
            (),
            "You see no Lease of an operator: none runs with leader election, or you may not list Leases.",
            id="none",
        ),
    ],
)
def test_the_leader_is_who_holds_the_lease_now(leads: tuple[Lead, ...], summary: str) -> None:
    assert leading(Operators(leads), Query(), NOW).summary == summary


def test_queues_are_shown_or_why_they_are_not_known() -> None:
    queues = queues_of(
        "# TYPE keybearer_queue_depth gauge\n"
        'keybearer_queue_depth{lane="urgent"} 2.0\nkeybearer_queue_depth{lane="bulk"} 40.0\nother 1\n'
    )
    replicas = (
        Replica(ObjectKey("keybearer", "pod-a"), "Running", NOW, queues, ""),
        Replica(ObjectKey("keybearer", "pod-b"), "Running", NOW, None, "you may not"),
    )
    seen = Operators((lead("pod-a_12", NOW + timedelta(seconds=5)),), replicas)
    view = leading(seen, Query(), NOW)
    assert [(row.cells[1].text, row.cells[3].text) for row in view.rows[1:]] == [
        ("leads", "42 wait"),
        ("standby", "not known: you may not"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("keybearer_queue_depth{lane=", id="broken"),
        pytest.param('keybearer_queue_depth{lane="urgent"} NaN\n', id="no number"),
        pytest.param('keybearer_queue_depth{lane="urgent"} +Inf\n', id="infinite"),
    ],
)
def test_metrics_that_name_no_queue_say_nothing(text: str) -> None:
    assert queues_of(text) is None


def test_a_pod_that_names_endless_queues_is_read_in_bounds() -> None:
    lanes = "".join(f'keybearer_queue_depth{{lane="{number}"}} 1\n' for number in range(10_000))
    assert len(queues_of(lanes) or {}) <= 100
    assert queues_of(f'keybearer_queue_depth{{lane="{"x" * 10_000}"}} 1\n') is None


def test_a_command_is_one_line_whoever_wrote_the_status() -> None:
    command = "kubectl get pods\ncurl x | sh\n\u202eend"
    diagnosis = {"turn": "User", "step": "Look.", "command": command}
    one = record("one", {**told(Outcome.STALLED, "SourceEmpty"), "diagnosis": diagnosis})
    view = attention([one], Query(), ())
    (shown,) = (one.command for one in view.rows[0].details if one.label == "Next step")
    assert shown == "kubectl get pods curl x | sh \N{REPLACEMENT CHARACTER}end"


def pod_spec(**fields: object) -> dict[str, object]:
    return {"containers": [{"name": "one", **fields}]}


MOUNTED = {
    **pod_spec(volumeMounts=[{"name": "live"}, {"name": "part", "subPath": "x"}]),
    "volumes": [
        {"name": "live", "secret": {"secretName": "a"}},
        {"name": "part", "projected": {"sources": [{"secret": {"name": "b"}}]}},
    ],
}
ENVIRONMENT = {
    **pod_spec(
        env=[{"name": "X", "value": "plain"}, {"name": "Y", "valueFrom": {"secretKeyRef": {"name": "c"}}}],
        envFrom=[{"configMapRef": {"name": "d"}}],
    ),
    "imagePullSecrets": [{"name": "e"}],
}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            {"template": {"spec": MOUNTED}},
            {Use("Secret", "a", How.FILES), Use("Secret", "b", How.FIXED_FILES)},
            id="files",
        ),
        pytest.param(
            {"jobTemplate": {"spec": {"template": {"spec": ENVIRONMENT}}}},
            {
                Use("Secret", "c", How.ENVIRONMENT),
                Use("ConfigMap", "d", How.ENVIRONMENT),
                Use("Secret", "e", How.IMAGES),
            },
            id="environment of a CronJob",
        ),
        pytest.param({}, set(), id="nothing"),
    ],
)
def test_what_a_workload_uses(spec: dict[str, Any], expected: set[Use]) -> None:
    assert uses_of({"spec": spec}) == expected


def test_a_page_has_so_many_rows_and_the_last_one_the_rest() -> None:
    records = [record(f"web-{number:03}", spec={"source": SOURCE}) for number in range(PAGE_SIZE * 2 + 1)]
    shown = [written_secrets(records, {}, Query.of("", page), ()) for page in ("1", "3", "99", "-1", "x")]
    assert [(view.page, len(view.rows), view.pages) for view in shown] == [
        (1, PAGE_SIZE, 3),
        (3, 1, 3),
        (3, 1, 3),
        (1, PAGE_SIZE, 3),
        (1, PAGE_SIZE, 3),
    ]


def test_a_search_finds_each_of_its_words_in_a_name() -> None:
    records = [record(name, spec={"source": SOURCE}) for name in ("web", "web-admin")]
    assert first_cells(written_secrets(records, {}, Query.of("ADMIN team-a", "1"), ())) == [
        "team-a/web-admin"
    ]
