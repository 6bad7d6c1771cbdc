"""How an object stands in a line: kstatus by its rules, what comes first, and when something is done next."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from keybearer.cli.kubectl.standing import Health, health_of, renewal_of, short_duration, standing_of
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.conditions import Tone, build_conditions
from support.gitops import GITOPS_PAGE, healths

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def body(
    kind: str = "SecretSync",
    tone: Tone | None = None,
    reason: str = "Reason",
    *,
    also: tuple[str, ...] = (),
    generation: int = 1,
    deleted: bool = False,
    status: dict[str, Any] | None = None,
    **spec: object,
) -> dict[str, Any]:
    told: dict[str, Any] = {"observedGeneration": -1, **(status or {})}
    if tone is not None:
        conditions = build_conditions((), tone, reason, "why", generation=1, now=NOW, also=also)
        listed = [one.model_dump(mode="json", by_alias=True) for one in conditions]
        told |= {"observedGeneration": 1, "conditions": listed}
    meta: dict[str, Any] = {"name": "web", "namespace": "team-a", "generation": generation}
    if deleted:
        meta["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    return {"kind": kind, "metadata": meta, "spec": spec, "status": told}


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        pytest.param(body(), ("InProgress", "Progressing"), id="new"),
        pytest.param(body(tone=Tone.READY), ("Current", "Healthy"), id="ready"),
        pytest.param(body(tone=Tone.READY, generation=2), ("InProgress", "Progressing"), id="edited"),
        pytest.param(body(tone=Tone.WAITING), ("InProgress", "Progressing"), id="waiting"),
        pytest.param(body(tone=Tone.STALLED), ("Failed", "Degraded"), id="stalled"),
        pytest.param(body(tone=Tone.HELD, reason="Planned"), ("InProgress", "Suspended"), id="plan"),
        pytest.param(
            body(tone=Tone.HELD, reason="Guarded", also=("Stalled", "Guarded")),
            ("Failed", "Degraded"),
            id="guard",
        ),
        pytest.param(body(tone=Tone.PAUSED, mode="Suspended"), ("InProgress", "Suspended"), id="suspended"),
        pytest.param(body(tone=Tone.READY, deleted=True), ("Terminating", "Progressing"), id="deleted"),
    ],
)
def test_health_as_gitops_tools_read_it(one: dict[str, Any], expected: tuple[str, str]) -> None:
    assert healths(one) == expected


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        pytest.param({}, Health.CURRENT, id="without generation, status and conditions"),
        pytest.param(
            {"metadata": {"generation": 2}, "status": {"observedGeneration": 1}},
            Health.IN_PROGRESS,
            id="generation is not observed",
        ),
        pytest.param(
            {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}},
            Health.IN_PROGRESS,
            id="ready is unknown",
        ),
        pytest.param(
            {
                "status": {
                    "conditions": [
                        {"type": "Ready", "status": "True"},
                        {"type": "Stalled", "status": "True"},
                        {"type": "Reconciling", "status": "True"},
                    ]
                }
            },
            Health.FAILED,
            id="the first of the two conditions decides, before Ready",
        ),
        pytest.param(
            {"metadata": {"deletionTimestamp": "x", "generation": 2}, "status": {"observedGeneration": 1}},
            Health.TERMINATING,
            id="deletion comes first",
        ),
    ],
)
def test_the_rules_of_kstatus_in_their_order(one: dict[str, Any], expected: Health) -> None:
    assert health_of(one) is expected


def test_the_table_of_the_page_knows_each_word_of_kstatus() -> None:
    told = re.findall(r"^\|(?:[^|]*\|){4} (\w+) \|", GITOPS_PAGE.read_text(), re.MULTILINE)
    assert set(Health) <= {*told}


def test_workloads_that_do_not_exist_are_named() -> None:
    workloads = [
        {"kind": "Deployment", "name": "shop"},
        {"kind": "Deployment", "name": "shoop", "missingSince": "2026-01-02T03:04:05Z"},
    ]
    assert standing_of(body(tone=Tone.READY, status={"workloads": workloads})).missing_workloads == (
        "Deployment shoop",
    )


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param([{"name": "a"}], (Health.CURRENT, "Issued", "why"), id="renewed"),
        pytest.param(
            [{"name": "a", "reason": Reason.ISSUING}],
            (Health.IN_PROGRESS, "Issuing", "a: Issuing"),
            id="under way",
        ),
        pytest.param(
            [
                {"name": "a", "reason": Reason.PENDING},
                {"name": "b", "reason": Reason.REQUEST_REFUSED, "message": "no such name"},
            ],
            (Health.FAILED, "RequestRefused", "b: RequestRefused: no such name; a: Pending"),
            id="refused",
        ),
    ],
)
def test_a_renewal_stands_as_its_certificates_do(
    entries: list[dict[str, JsonValue]], expected: tuple[Health, str, str]
) -> None:
    one = body("CertificateProfile", Tone.READY, "Issued", status={"certificateRequests": entries})
    found = renewal_of(one)
    assert (found.health, found.reason, found.message) == expected


def test_a_renewal_of_what_is_not_ready_stands_as_the_object_does() -> None:
    entries = [{"name": "a", "reason": Reason.REQUEST_REFUSED}]
    one = body("CertificateProfile", Tone.WAITING, "Pending", status={"certificateRequests": entries})
    assert renewal_of(one) == standing_of(one)


def test_troubles_come_first() -> None:
    objects = [
        body(tone=Tone.READY, refreshInterval="5m"),
        body(tone=Tone.PAUSED, reason="Suspended", mode="Suspended"),
        body(tone=Tone.READY, deleted=True),
        body(tone=Tone.WAITING),
        body(),
        body(tone=Tone.HELD, reason="Planned"),
        body(tone=Tone.STALLED),
    ]
    told = [standing_of(one) for one in objects]
    assert [one.urgency for one in told] == [6, 3, 4, 3, 2, 1, 0]


def test_one_that_nobody_looked_at_says_so() -> None:
    told = standing_of(body())
    assert (told.ready, told.reason, told.next_hint) == ("", "NotSeen", "")
    assert "no operator" in told.message


def test_a_plan_waits_for_a_decision_and_a_suspended_one_for_nothing() -> None:
    told = standing_of(body(tone=Tone.HELD, reason="Planned", mode="Plan", refreshInterval="5m"))
    assert (told.is_planned, told.is_held, told.next_hint) == (True, True, "your decision")
    told = standing_of(body(tone=Tone.PAUSED, reason="Suspended", mode="Suspended"))
    assert (told.is_suspended, told.is_held) == (True, False)


def test_an_edit_that_was_not_seen_is_told_before_what_is_old() -> None:
    assert standing_of(body(tone=Tone.READY, generation=2)).message.startswith("the last edit was not seen")


def test_when_it_was_in_step_last_and_when_something_is_next() -> None:
    sync = body(
        tone=Tone.READY,
        refreshInterval="5m",
        status={
            "lastRefreshTime": "2026-01-01T00:00:00Z",
            "sync": {"lastSyncedAt": "2026-01-02T00:00:00Z"},
        },
    )
    told = standing_of(sync)
    assert (told.last_sync, told.next_hint) == (datetime(2026, 1, 2, tzinfo=UTC), "within 5m")
    assert standing_of(body(tone=Tone.READY, refreshInterval="0")).next_hint == "on change"
    profile = body(
        "CertificateProfile",
        Tone.READY,
        status={
            "nextRenewalTime": "2026-03-01T00:00:00Z",
            "certificateRequests": [
                {"name": "a", "notBefore": "2026-01-01T00:00:00Z"},
                {"name": "b", "nextAttemptTime": "2026-01-05T00:00:00Z"},
            ],
        },
    )
    told = standing_of(profile)
    assert told.last_sync == datetime(2026, 1, 1, tzinfo=UTC)
    assert told.next_sync == datetime(2026, 1, 5, tzinfo=UTC)
    connection = body(
        "AppConnection", Tone.READY, status={"rotation": {"nextRotationAt": "2026-02-01T00:00:00Z"}}
    )
    connection["metadata"]["managedFields"] = [
        {"manager": "keybearer", "subresource": "status", "time": "2026-01-02T01:00:00Z"},
        {"manager": "someone", "subresource": "status", "time": "2026-01-03T01:00:00Z"},
    ]
    told = standing_of(connection)
    assert told.last_sync == datetime(2026, 1, 2, 1, tzinfo=UTC)
    assert told.next_sync == datetime(2026, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (7199, "119m"),
        (7200, "2h"),
        (172799, "47h"),
        (172800, "2d"),
        (-5, "0s"),
    ],
)
def test_lengths_of_time_are_short(seconds: int, told: str) -> None:
    assert short_duration(timedelta(seconds=seconds)) == told


@pytest.mark.parametrize("status", [None, [], "x", {"conditions": "x"}, {"conditions": [1]}, {"plan": 3}])
def test_a_status_of_a_stranger_breaks_nothing(status: JsonValue) -> None:
    told = standing_of({"kind": "SecretSync", "metadata": {"name": "web"}, "status": status})
    assert told.name == "web"


@pytest.mark.parametrize(
    ("why", "interval", "hint"),
    [
        ("EventsDenied", "1h", "within 1h: events denied"),
        ("EventsUnavailable", "5m", "within 5m: no events"),
        ("TooManyStreams", "5m", "within 5m: too many streams"),
        ("EventsFailed", "0", "on change: events failed"),
        ("SomethingOfALaterVersion", "5m", "within 5m"),
    ],
)
def test_why_a_change_shows_late_is_told_in_the_line(why: str, interval: str, hint: str) -> None:
    sync = body(tone=Tone.READY, refreshInterval=interval, status={"pollingReason": why})
    assert standing_of(sync).next_hint == hint


@pytest.mark.parametrize("reason", ["CredentialsRejected", "PermissionDenied", "SourceNotFound"])
def test_a_source_that_is_refused_is_read_again_without_a_change(reason: str) -> None:
    assert standing_of(body(tone=Tone.STALLED, reason=reason)).next_hint == "within 1m"
    pushed = body(tone=Tone.STALLED, reason=reason, destination="gitlab")
    assert standing_of(pushed).next_hint == "on your change"
