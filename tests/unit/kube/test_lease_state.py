from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from keybearer.kube.lease_state import Election, LeaseClaim, LeaseRecord, LeaseTerms, Standing
from keybearer.kube.resources import ObjectKey

KEY = ObjectKey("keybearer", "operator")
WALL = datetime(2026, 3, 1, 12, tzinfo=UTC)


def election(identity: str = "me") -> Election:
    return Election(LeaseClaim(KEY, identity))


def record(
    holder: str = "other", renewed_at: str = "t1", seconds: int = 15, version: str = "1"
) -> LeaseRecord:
    return LeaseRecord(holder, timedelta(seconds=seconds), "t0", renewed_at, 3, version)


def test_an_absent_lease_is_free() -> None:
    assert election().observe(None, 100) is Standing.FREE


def test_a_released_lease_is_free_at_once() -> None:
    assert election().observe(record(holder=""), 100) is Standing.FREE


def test_a_foreign_lease_is_taken_until_it_has_not_changed_for_its_duration_on_our_clock() -> None:
    view = election()

    assert view.observe(record(renewed_at="t1"), 100) is Standing.TAKEN
    assert view.observe(record(renewed_at="t2"), 114) is Standing.TAKEN
    assert view.observe(record(renewed_at="t2"), 128.9) is Standing.TAKEN
    assert view.observe(record(renewed_at="t2"), 129) is Standing.FREE


def test_a_renew_time_of_long_ago_is_no_reason_to_take_it() -> None:
    """Clocks of machines differ; only what we saw counts."""
    assert election().observe(record(renewed_at="1970-01-01T00:00:00.000000Z"), 100) is Standing.TAKEN


def test_the_holders_own_duration_counts() -> None:
    view = election()
    view.observe(record(seconds=60), 100)

    assert view.observe(record(seconds=60), 130) is Standing.TAKEN


def test_a_label_on_the_lease_is_no_sign_of_life() -> None:
    view = election()
    view.observe(record(version="1"), 100)

    assert view.observe(record(version="2"), 115) is Standing.FREE


def test_we_may_write_for_ten_seconds_from_before_the_renewal_was_sent() -> None:
    view = election()
    view.won(record(holder="me"), began=100)

    assert view.may_write_until == 110


def test_seeing_another_holder_ends_our_writing_at_once() -> None:
    view = election()
    view.won(record(holder="me"), began=100)
    view.observe(record(holder="other"), 101)

    assert view.may_write_until < 101


def test_seeing_ourselves_does_not_prolong_anything() -> None:
    view = election()
    view.won(record(holder="me"), began=100)

    assert view.observe(record(holder="me", renewed_at="t9"), 105) is Standing.OURS
    assert view.may_write_until == 110


def test_taking_over_counts_a_transition_and_renewing_does_not() -> None:
    view = election()
    view.observe(record(holder=""), 100)
    taken = view.claim_spec(WALL)
    view.won(LeaseRecord.from_object({"metadata": {"resourceVersion": "2"}, "spec": taken}), 100)
    renewed = view.claim_spec(WALL + timedelta(seconds=2))

    assert taken == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-03-01T12:00:00.000000Z",
        "renewTime": "2026-03-01T12:00:00.000000Z",
        "leaseTransitions": 4,
    }
    assert renewed == {**taken, "renewTime": "2026-03-01T12:00:02.000000Z"}


def test_the_first_holder_is_no_transition() -> None:
    view = election()
    view.observe(None, 100)

    assert view.claim_spec(WALL)["leaseTransitions"] == 0


def test_a_lease_without_a_spec_is_free() -> None:
    bare = LeaseRecord.from_object({"metadata": {"resourceVersion": "1"}})

    assert election().observe(bare, 100) is Standing.FREE


@pytest.mark.parametrize(
    ("duration", "renew_deadline", "retry"),
    [
        pytest.param(10, 10, 2, id="a deadline as long as the lease"),
        pytest.param(15, 2, 2, id="no time for a second attempt"),
        pytest.param(15, 10, 0, id="no pause"),
    ],
)
def test_terms_that_could_let_two_write_are_refused(duration: int, renew_deadline: int, retry: int) -> None:
    with pytest.raises(ValueError, match="less than"):
        LeaseTerms(timedelta(seconds=duration), timedelta(seconds=renew_deadline), timedelta(seconds=retry))
