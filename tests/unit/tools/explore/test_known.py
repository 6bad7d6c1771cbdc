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


@pytest.mark.parametrize(("missed", "of"), [(0, 0), (17, 1617), (2, 100)])
def test_a_moment_that_does_not_come_now_and_then_is_let_pass(missed: int, of: int) -> None:
    assert not reached_too_few(missed=missed, of=of)


@pytest.mark.parametrize(("missed", "of"), [(1, 1), (1, 12), (3, 100), (1617, 1617)])
def test_a_search_of_which_more_than_a_fiftieth_was_not_reached_has_shown_nothing(
    missed: int, of: int
) -> None:
    assert reached_too_few(missed=missed, of=of)
