from __future__ import annotations

import pytest

from tools.soak.freshness import Arrivals, Disturbance, Repairs, Sample, undisturbed

_ONE, _OTHER = ("soak-0", "one"), ("soak-0", "other")


@pytest.fixture
def arrivals() -> Arrivals:
    """Return arrivals of two Secrets that show revision 1."""
    arrivals = Arrivals()
    for key in (_ONE, _OTHER):
        arrivals.seen(key, 1, 0.0)
    return arrivals


def test_each_secret_waits_from_the_commit_to_its_event(arrivals: Arrivals) -> None:
    arrivals.committed(2, 10.0, [_ONE, _OTHER])
    arrivals.seen(_ONE, 2, 10.5)
    assert arrivals.waiting() == 1
    arrivals.seen(_OTHER, 2, 12.0)

    assert arrivals.samples == [Sample(10.0, 0.5), Sample(10.0, 2.0)]
    assert arrivals.waiting() == 0


def test_a_later_revision_ends_the_waits_for_earlier_ones(arrivals: Arrivals) -> None:
    arrivals.committed(2, 10.0, [_ONE])
    arrivals.committed(3, 11.0, [_ONE])
    arrivals.seen(_ONE, 3, 12.0)

    assert arrivals.samples == [Sample(10.0, 2.0), Sample(11.0, 1.0)]


def test_an_event_before_the_services_answer_is_no_wait(arrivals: Arrivals) -> None:
    arrivals.seen(_ONE, 2, 9.9)
    arrivals.committed(2, 10.0, [_ONE])

    assert arrivals.samples == [Sample(10.0, 0.0)]


def test_an_earlier_revision_ends_no_wait_and_is_told(arrivals: Arrivals) -> None:
    arrivals.committed(2, 10.0, [_ONE])
    assert arrivals.seen(_ONE, 2, 11.0)
    arrivals.committed(3, 12.0, [_ONE])

    assert arrivals.seen(_ONE, 2, 13.0)
    assert not arrivals.seen(_ONE, 1, 13.0)
    assert arrivals.waiting() == 1


def test_a_secret_that_was_never_right_and_one_that_left_wait_for_nothing(arrivals: Arrivals) -> None:
    arrivals.committed(2, 10.0, [("soak-0", "new"), _ONE])
    arrivals.forget(_ONE)
    arrivals.seen(_ONE, 2, 11.0)

    assert arrivals.samples == []
    assert arrivals.waiting() == 0


def test_a_repair_counts_from_the_first_damage() -> None:
    repairs = Repairs()
    repairs.right(_ONE, 1.0)
    repairs.damaged(_ONE, 5.0)
    repairs.damaged(_ONE, 6.0)
    repairs.right(_ONE, 7.0)
    repairs.right(_ONE, 8.0)

    assert repairs.samples == [Sample(5.0, 2.0)]


def test_waits_count_as_disturbed_by_when_they_began_and_not_by_how_long_they_took() -> None:
    disturbances = [
        Disturbance("a kill", began=100.0, ended=110.0, settles_seconds=15.0),
        Disturbance("a fault", began=120.0, ended=130.0, settles_seconds=5.0),
    ]
    samples = [Sample(at, 500.0) for at in (89.9, 90.1, 99.0, 105.0, 124.0, 134.9, 135.1, 300.0)]

    assert [sample.at for sample in undisturbed(samples, disturbances)] == [89.9, 135.1, 300.0]


def test_without_disturbances_all_is_undisturbed() -> None:
    samples = [Sample(1.0, 1.0)]

    assert undisturbed(samples, []) == samples
