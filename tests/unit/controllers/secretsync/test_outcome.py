from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.conditions import Tone
from keybearer.controllers.secretsync.outcome import Arrival, SyncOutcome, build_status, says_the_same
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.status import KEYS_MAX, KeyState, KeyStatus, SecretSyncStatus, Updates
from keybearer.controllers.target.changes import KeyChanges
from keybearer.controllers.target.spec import TargetKind
from keybearer.controllers.target.status import PlanStatus, TargetStatus

_T0 = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)
_LATER = _T0 + timedelta(minutes=5)
_TARGET = TargetStatus(kind=TargetKind.SECRET, name="web", keys=2, fingerprint="f" * 32)
_READY = SyncOutcome(Tone.READY, Reason.SYNCED, "2 keys", source="dev:/", target=_TARGET, refreshed_at=_T0)
_WAITING = SyncOutcome(Tone.WAITING, Reason.SERVICE_UNAVAILABLE, "away")
_STALLED = SyncOutcome(Tone.STALLED, Reason.SOURCE_NOT_FOUND, "no such folder")
_GUARDED = SyncOutcome(Tone.HELD, Reason.GUARDED, "too many", changes=KeyChanges(remove=("A", "B")))
_PLANNED = SyncOutcome(Tone.HELD, Reason.PLANNED, "would change", changes=KeyChanges(add=("A",)))
_PAUSED = SyncOutcome(Tone.PAUSED, Reason.SUSPENDED, "paused")
_ALL = [_READY, _WAITING, _STALLED, _GUARDED, _PLANNED, _PAUSED]


def build(
    report: SyncOutcome, previous: SecretSyncStatus | None = None, *, now: datetime = _T0, generation: int = 1
) -> SecretSyncStatus:
    return build_status(
        previous or SecretSyncStatus(),
        report,
        generation=generation,
        arrival=Arrival(Updates.POLLING),
        now=now,
    )


def conditions(status: SecretSyncStatus) -> dict[str, tuple[str, str]]:
    return {one.type: (one.status.value, one.reason) for one in status.conditions}


def read_back(status: SecretSyncStatus) -> SecretSyncStatus:
    """Return the status as the next run reads it."""
    return SecretSyncStatus.model_validate_json(orjson.dumps(status.to_wire()))


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        pytest.param(_READY, {"Ready": ("True", "Synced")}, id="ready"),
        pytest.param(
            _WAITING,
            {"Ready": ("False", "ServiceUnavailable"), "Reconciling": ("True", "ServiceUnavailable")},
            id="waiting is in progress",
        ),
        pytest.param(
            _STALLED,
            {"Ready": ("False", "SourceNotFound"), "Stalled": ("True", "SourceNotFound")},
            id="stalled needs a person",
        ),
        pytest.param(
            _GUARDED,
            {"Ready": ("False", "Guarded"), "Stalled": ("True", "Guarded"), "Guarded": ("True", "Guarded")},
            id="the guard has a condition of its own",
        ),
        pytest.param(_PLANNED, {"Ready": ("False", "Planned")}, id="a plan that waits for approval"),
        pytest.param(
            _PAUSED,
            {"Ready": ("False", "Suspended"), "Reconciling": ("False", "Suspended")},
            id="suspended from the start",
        ),
    ],
)
def test_each_outcome_has_its_conditions(report: SyncOutcome, expected: dict[str, tuple[str, str]]) -> None:
    status = build(report, generation=7)

    assert conditions(status) == expected
    assert status.observed_generation == 7
    assert {one.observed_generation for one in status.conditions} == {7}


def test_conditions_of_an_earlier_outcome_go() -> None:
    guarded = build(_GUARDED)

    assert set(conditions(build(_READY, guarded))) == {"Ready"}
    assert set(conditions(build(_WAITING, guarded))) == {"Ready", "Reconciling"}


def test_suspending_keeps_what_was_good_good() -> None:
    paused = build(_PAUSED, build(_READY))

    assert conditions(paused) == {"Ready": ("True", "Synced"), "Reconciling": ("False", "Suspended")}


@pytest.mark.parametrize("report", _ALL, ids=lambda report: str(report.reason))
def test_a_condition_keeps_its_time_while_its_status_stays(report: SyncOutcome) -> None:
    first = build(report)
    second = build(replace(report, message="other words"), read_back(first), now=_LATER, generation=2)

    assert {one.last_transition_time for one in first.conditions} == {_T0.replace(microsecond=0)}
    assert [one.last_transition_time for one in second.conditions] == [
        one.last_transition_time for one in first.conditions
    ]


def test_a_condition_that_turns_gets_a_new_time() -> None:
    (ready,) = build(_READY, build(_STALLED), now=_LATER).conditions

    assert ready.last_transition_time == _LATER.replace(microsecond=0)


@pytest.mark.parametrize("report", _ALL, ids=lambda report: str(report.reason))
@given(before=st.sampled_from(_ALL))
def test_the_same_outcome_again_says_the_same_and_is_not_written(
    report: SyncOutcome, before: SyncOutcome
) -> None:
    first = build(report, build(before))
    again = build(replace(report, refreshed_at=_LATER), read_back(first), now=_LATER)

    assert says_the_same(again, read_back(first))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"generation": 2}, id="generation"),
        pytest.param({"message": "other words"}, id="message"),
        pytest.param({"reason": "Other"}, id="reason"),
        pytest.param({"source": "prod:/"}, id="source"),
        pytest.param({"handled": "now"}, id="answered request"),
        pytest.param({"target": _TARGET.model_copy(update={"keys": 3})}, id="target"),
        pytest.param({"keys": (KeyStatus(key="A", state=KeyState.SYNCED, version=2),)}, id="keys"),
        pytest.param({"tone": Tone.WAITING}, id="tone"),
    ],
)
def test_any_other_difference_is_told(change: dict[str, object]) -> None:
    first = build(_READY)
    generation = 2 if "generation" in change else 1
    fields = {name: value for name, value in change.items() if name != "generation"}
    second = build(replace(_READY, **fields), first, generation=generation)  # type: ignore[arg-type]

    assert not says_the_same(second, first)


def test_only_the_time_of_the_refresh_alone_is_not_told() -> None:
    first = build(_READY)
    second = build(replace(_READY, refreshed_at=_LATER), first, now=_LATER)

    assert second.last_refresh_time == _LATER
    assert says_the_same(second, first)
    assert not says_the_same(first.model_copy(update={"updates": Updates.EVENTS}), first)


def test_what_a_report_does_not_say_stays_as_it_was() -> None:
    keys = (KeyStatus(key="A", state=KeyState.SYNCED),)
    before = build(replace(_READY, keys=keys, handled="first"))
    after = build(_WAITING, before)

    assert (after.source, after.target, after.keys, after.keys_total) == ("dev:/", _TARGET, keys, 1)
    assert after.last_refresh_time == before.last_refresh_time
    assert after.last_handled_requested_at == "first"


def test_a_plan_is_shown_while_it_is_held_and_no_longer() -> None:
    held = build(_GUARDED)

    assert held.plan == PlanStatus(remove=("A", "B"))
    assert build(_READY, held).plan is None
    assert build(_WAITING, held).plan is None


def test_keys_are_bounded_problems_first_and_counted() -> None:
    fine = [KeyStatus(key=f"K{number:03}", state=KeyState.SYNCED) for number in range(150)]
    problems = [
        KeyStatus(key="CLASH", state=KeyState.OVERRIDDEN, reason="Clash"),
        KeyStatus(key="BAD", state=KeyState.FAILED, reason="InvalidKey"),
        KeyStatus(key="HELD", state=KeyState.PENDING),
    ]
    status = build(replace(_READY, keys=(*fine[:75], *problems, *fine[75:])))

    assert [key.key for key in status.keys[:4]] == ["CLASH", "BAD", "HELD", "K000"]
    assert len(status.keys) == KEYS_MAX
    assert status.keys_total == 152, "what another secret overrides is no key of its own"


def test_more_problems_than_room_are_counted_too() -> None:
    problems = tuple(KeyStatus(key=str(number), state=KeyState.FAILED) for number in range(KEYS_MAX + 50))
    status = build(replace(_READY, keys=problems))

    assert (len(status.keys), status.keys_total) == (KEYS_MAX, KEYS_MAX + 50)


def test_no_keys_any_more_is_something_else_than_not_knowing() -> None:
    before = build(replace(_READY, keys=(KeyStatus(key="A", state=KeyState.SYNCED),)))
    after = build(replace(_READY, keys=()), before)

    assert (after.keys, after.keys_total) == ((), 0)


def test_a_plan_for_what_another_controls_is_shown_with_the_conflict() -> None:
    refused = SyncOutcome(
        Tone.STALLED,
        Reason.TARGET_CONFLICT,
        "somebody else's",
        changes=KeyChanges(change=("A",)),
        is_planned_ahead=True,
    )
    status = build(refused)

    assert conditions(status)["Stalled"] == ("True", "TargetConflict")
    assert status.plan == PlanStatus(change=("A",))
    assert build(replace(refused, is_planned_ahead=False), status).plan is None
