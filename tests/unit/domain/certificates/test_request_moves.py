"""Moves of certificate requests, and the rules of approval."""

from __future__ import annotations

import itertools

import pytest

from keybearer.base.certificate_terms import RequestStatus
from keybearer.domain.certificates.approval_rules import (
    ApprovalTerms,
    Ballot,
    decided,
    require_voter,
)
from keybearer.domain.certificates.transitions import CANCELLABLE, MOVES, may_move, require_move
from keybearer.domain.errors import ForbiddenError, InvalidError
from keybearer.wire.certificates.approvals import ApprovalStatus, Verdict
from support.rows import each_row

S = RequestStatus
ALLOWED = {
    (S.PENDING_APPROVAL, S.PENDING),
    (S.PENDING_APPROVAL, S.REJECTED),
    (S.PENDING_APPROVAL, S.FAILED),
    (S.PENDING, S.ISSUED),
    (S.PENDING, S.FAILED),
    (S.PENDING, S.PENDING_VALIDATION),
    (S.PENDING_VALIDATION, S.ISSUED),
    (S.PENDING_VALIDATION, S.FAILED),
}
YES, NO = Verdict.APPROVE, Verdict.REJECT


@each_row(("status", "target"), list(itertools.product(S, S)))
def test_exactly_these_moves_are_allowed(status: S, target: S) -> None:
    allowed = (status, target) in ALLOWED
    assert may_move(status, target) is allowed
    if not allowed:
        with pytest.raises(InvalidError, match=status):
            require_move(status, target)


def test_every_status_is_in_the_table_and_final_ones_stay() -> None:
    assert MOVES.keys() == set(S)
    assert {status for status in S if status.is_final} == {status for status in S if not MOVES[status]}
    assert {status for status in S if not status.is_final} == CANCELLABLE


@pytest.mark.parametrize(
    ("required", "said", "outcome"),
    [
        pytest.param(1, [], ApprovalStatus.PENDING, id="nobody"),
        pytest.param(1, [("a", YES)], ApprovalStatus.APPROVED, id="one of one"),
        pytest.param(2, [("a", YES)], ApprovalStatus.PENDING, id="one of two"),
        pytest.param(2, [("a", YES), ("a", YES)], ApprovalStatus.PENDING, id="one twice is one"),
        pytest.param(2, [("a", YES), ("b", YES)], ApprovalStatus.APPROVED, id="two of two"),
        pytest.param(2, [("a", YES), ("b", NO)], ApprovalStatus.REJECTED, id="one rejects"),
        pytest.param(1, [("b", NO), ("a", YES)], ApprovalStatus.REJECTED, id="whoever came first"),
    ],
)
def test_enough_agree_or_one_rejects(
    required: int, said: list[tuple[str, Verdict]], outcome: ApprovalStatus
) -> None:
    assert decided(ApprovalTerms(required), [Ballot(*one) for one in said]) is outcome


@pytest.mark.parametrize(
    ("terms", "status", "voter", "said", "refusal"),
    [
        pytest.param(ApprovalTerms(1), "pending", "a", [], None, id="anybody"),
        pytest.param(ApprovalTerms(1, ("a",)), "pending", "a", [], None, id="an approver"),
        pytest.param(ApprovalTerms(1, ("b",)), "pending", "a", [], ForbiddenError, id="no approver"),
        pytest.param(ApprovalTerms(1), "pending", "me", [], ForbiddenError, id="who asked"),
        pytest.param(
            ApprovalTerms(1, (), allow_self=True), "pending", "me", [], None, id="who asked, allowed"
        ),
        pytest.param(ApprovalTerms(2), "pending", "a", [("a", YES)], InvalidError, id="twice"),
        pytest.param(ApprovalTerms(1), "approved", "a", [], InvalidError, id="over"),
        pytest.param(ApprovalTerms(1), "expired", "a", [], InvalidError, id="too late"),
    ],
)
def test_who_is_heard(
    terms: ApprovalTerms,
    status: str,
    voter: str,
    said: list[tuple[str, Verdict]],
    refusal: type[Exception] | None,
) -> None:
    arguments = (terms, ApprovalStatus(status), voter, "me", [Ballot(*one) for one in said])
    if refusal is None:
        require_voter(*arguments)
    else:
        with pytest.raises(refusal):
            require_voter(*arguments)
