"""What the search lets pass, and how much of it may go unreached."""

from __future__ import annotations

import pytest

from tools.explore.known import all_known
from tools.explore.run import reached_too_few

_LOST = (
    "CertificateProfile/web.status.certificateRequests[tls].id: nothing instead of '{id}'",
    "CertificateProfile/web.status.certificateRequests[tls].issues: '[]' instead of nothing",
    "CertificateProfile/web.status.certificateRequests[tls].issues[0].count: nothing instead of '1'",
    "CertificateProfile/web.status.certificateRequests[tls].need: nothing instead of 'First'",
)


@pytest.mark.parametrize(
    "plan",
    [
        "first certificate / write POST secrets/tls#1: killed after it",
        "first certificate / write PATCH certificateprofiles/status/web#1: killed before it",
        "first certificate / write PATCH certificateprofiles/status/web#1: answer 409",
        (
            "first certificate / event ADDED secrets(labels)/tls#1: dropped until the next list + "
            "write PATCH certificateprofiles/status/web#1: answer 500"
        ),
    ],
)
def test_a_status_that_was_not_written_explains_what_it_lacks(plan: str) -> None:
    assert all_known(plan, _LOST)


@pytest.mark.parametrize(
    "plan",
    [
        "first certificate / undisturbed",
        "first certificate / event ADDED secrets(labels)/tls#1: delivered twice",
        "first certificate / write POST secrets/tls#1: answer 500",
        "first certificate / call POST /api/v1/cert-manager/certificates#1: killed after it",
        "renewal / write PATCH certificateprofiles/status/web#1: answer 500",
    ],
)
def test_no_other_disturbance_does(plan: str) -> None:
    assert not all_known(plan, _LOST)


@pytest.mark.parametrize(
    ("missed", "of", "are_pairs"), [(0, 0, False), (17, 1617, False), (2, 100, False), (20, 200, True)]
)
def test_a_moment_that_does_not_come_now_and_then_is_let_pass(
    missed: int, of: int, *, are_pairs: bool
) -> None:
    assert not reached_too_few(missed=missed, of=of, are_pairs=are_pairs)


@pytest.mark.parametrize(
    ("missed", "of", "are_pairs"),
    [(1, 1, False), (1, 12, False), (3, 100, False), (1617, 1617, False), (21, 200, True)],
)
def test_a_search_of_which_more_than_that_was_not_reached_has_shown_nothing(
    missed: int, of: int, *, are_pairs: bool
) -> None:
    assert reached_too_few(missed=missed, of=of, are_pairs=are_pairs)


def test_an_adoption_that_got_no_answer_may_be_forgotten() -> None:
    lost = "SecretSync/web.status.target.removals[0].of: nothing instead of '2'"
    for act in ("killed after it", "answer lost", "delayed 20 s"):
        assert all_known(f"adopt / write PATCH secrets/web#1: {act}", [lost])
        assert not all_known(f"change / write PATCH secrets/web#2: {act}", [lost])
