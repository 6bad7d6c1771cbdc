"""keybearer.controllers.certificateprofile.trigger."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.status import Need
from keybearer.controllers.certificateprofile.trigger import (
    Allowance,
    Attempt,
    CertificateView,
    Decision,
    Fail,
    Failed,
    Fetch,
    Keep,
    Live,
    Mint,
    Post,
    SecretState,
    Wait,
    Wanted,
    decide,
)
from keybearer.controllers.issuance.service import RequestState
from support.rows import each_row

_NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_LATER = _NOW + timedelta(minutes=1)
_WANTED = Wanted("front", "d1")
_LIVE = Live(1, "c1", "d1", _NOW + timedelta(days=30), _NOW + timedelta(days=1), "a1")
_GOOD = CertificateView(_WANTED, _LIVE, SecretState.AS_WRITTEN)
_NOTHING = CertificateView(_WANTED)
_ALLOWED = Allowance(_NOW, authority="a1", mints=1)
_OLD = Attempt(2, "d1")
_FAILED = Failed("d1", 2, _LATER)


def _state(status: RequestStatus, certificate_id: str | None = None) -> RequestState:
    return RequestState("r1", status, "because", certificate_id)


@each_row(
    ("view", "allowed", "step"),
    [
        pytest.param({}, {}, Keep(), id="all is well"),
        pytest.param({"live": None}, {}, Mint(Need.FIRST), id="there never was one"),
        pytest.param({"wanted": Wanted("front", "d2")}, {}, Mint(Need.SPEC_CHANGED), id="another spec"),
        pytest.param({"revoked": True}, {}, Mint(Need.REVOKED), id="revoked in the service"),
        pytest.param({}, {"now": _NOW + timedelta(days=1)}, Mint(Need.RENEWAL), id="renewal is due"),
        pytest.param(
            {"live": replace(_LIVE, renewal_time=None)},
            {"now": _NOW + timedelta(days=31)},
            Keep(),
            id="an end that is fixed",
        ),
        pytest.param({}, {"renew": True}, Mint(Need.ASKED), id="a person asks"),
        pytest.param(
            {},
            {"authority": "a2", "rolling": frozenset({"front"})},
            Mint(Need.AUTHORITY_CHANGED),
            id="its turn",
        ),
        pytest.param({}, {"authority": "a2"}, Keep(), id="another authority, not yet its turn"),
        pytest.param(
            {}, {"authority": None, "rolling": frozenset({"front"})}, Keep(), id="unknown authority"
        ),
    ],
)
def test_another_certificate_is_asked_for_where_one_is_needed(
    view: dict[str, Any], allowed: dict[str, Any], step: object
) -> None:
    assert decide(replace(_GOOD, **view), replace(_ALLOWED, **allowed)).step == step


@pytest.mark.parametrize("secret", [SecretState.DRIFTED, SecretState.MISSING])
def test_a_secret_is_restored_while_its_key_can_be_had(secret: SecretState) -> None:
    assert decide(replace(_GOOD, secret=secret), _ALLOWED) == Decision(Keep(), restore=True)


@pytest.mark.parametrize("secret", [SecretState.DRIFTED, SecretState.MISSING])
@pytest.mark.parametrize("why", [{"key_held": False}, {"live": replace(_LIVE, certificate_id=None)}])
def test_only_a_lost_key_brings_another_certificate_and_only_within_the_budget(
    secret: SecretState, why: dict[str, Any]
) -> None:
    view = replace(_GOOD, secret=secret, **why)

    assert decide(view, _ALLOWED) == Decision(Mint(Need.KEY_LOST))
    assert decide(view, replace(_ALLOWED, mints=0)) == Decision(Wait(Reason.MINT_BUDGET_USED))


def test_the_place_of_a_revoked_one_is_taken_whatever_the_budget() -> None:
    view = replace(_GOOD, revoked=True, secret=SecretState.MISSING, key_held=False)
    assert decide(view, replace(_ALLOWED, mints=0)).step == Mint(Need.REVOKED)


@pytest.mark.parametrize(
    "why",
    [
        {"live": None},
        {"wanted": Wanted("front", "d2")},
        {"revoked": True},
        {"secret": SecretState.MISSING, "key_held": False},
        {"attempt": replace(_OLD, digest="d0")},
    ],
    ids=["first", "spec changed", "revoked", "key lost", "attempt for another spec"],
)
def test_whatever_the_need_it_waits_once_the_budget_of_issues_is_used(why: dict[str, Any]) -> None:
    view = replace(_GOOD, held_until=_LATER, **why)

    assert decide(view, _ALLOWED).step == Wait(Reason.ISSUE_BUDGET_USED, _LATER)
    assert isinstance(decide(replace(view, held_until=None), _ALLOWED).step, Mint)


def test_what_is_noted_is_sent_though_the_budget_is_used() -> None:
    assert decide(replace(_NOTHING, attempt=_OLD, held_until=_LATER), _ALLOWED).step == Post(_OLD)


def test_an_attempt_whose_key_is_given_up_is_replaced() -> None:
    attempt = replace(_OLD, request=_state(RequestStatus.PENDING_APPROVAL), given_up=True)
    assert decide(replace(_GOOD, attempt=attempt), _ALLOWED).step == Mint(Need.REVOKED, cancel="r1")


def test_what_has_ended_is_not_restored() -> None:
    view = replace(_GOOD, secret=SecretState.MISSING, live=replace(_LIVE, not_after=_NOW))
    assert decide(view, _ALLOWED).restore is False


def test_a_secret_is_restored_while_its_renewal_waits() -> None:
    attempt = replace(_OLD, request=_state(RequestStatus.PENDING_APPROVAL))
    view = replace(_GOOD, secret=SecretState.DRIFTED, attempt=attempt)
    assert decide(view, _ALLOWED) == Decision(Wait(Reason.PENDING_APPROVAL), restore=True)


@pytest.mark.parametrize(
    ("attempt", "step"),
    [
        pytest.param(_OLD, Post(_OLD), id="never sent"),
        pytest.param(
            replace(_OLD, settled_at=_NOW + timedelta(seconds=3)),
            Wait(Reason.ISSUING, _NOW + timedelta(seconds=3)),
            id="perhaps still under way",
        ),
        pytest.param(
            replace(_OLD, fresh=True, settled_at=_NOW + timedelta(seconds=3)),
            Post(replace(_OLD, fresh=True, settled_at=_NOW + timedelta(seconds=3))),
            id="fresh",
        ),
        pytest.param(
            replace(_OLD, settled_at=_NOW),
            Post(replace(_OLD, settled_at=_NOW)),
            id="not under way any more",
        ),
    ],
)
def test_an_attempt_that_the_service_does_not_know_is_sent_once_it_cannot_be_under_way(
    attempt: Attempt, step: object
) -> None:
    assert decide(replace(_NOTHING, attempt=attempt), _ALLOWED).step == step


@pytest.mark.parametrize(
    ("request_", "step"),
    [
        (_state(RequestStatus.PENDING_APPROVAL), Wait(Reason.PENDING_APPROVAL)),
        (_state(RequestStatus.PENDING), Wait(Reason.PENDING)),
        (_state(RequestStatus.PENDING_VALIDATION), Wait(Reason.PENDING_VALIDATION)),
        (_state(RequestStatus.ISSUED, "c2"), Fetch),
        (_state(RequestStatus.ISSUED), Fail),
        (_state(RequestStatus.FAILED), Fail),
        (_state(RequestStatus.REJECTED), Fail),
    ],
    ids=lambda one: one.status if isinstance(one, RequestState) else "",
)
def test_each_status_of_a_request_leads_somewhere(request_: RequestState, step: object) -> None:
    decided = decide(replace(_NOTHING, attempt=replace(_OLD, request=request_)), _ALLOWED).step

    assert decided == step if isinstance(step, Wait) else isinstance(decided, step)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [RequestStatus.FAILED, RequestStatus.REJECTED, RequestStatus.ISSUED])
def test_what_was_counted_is_waited_out_and_then_asked_for_anew(status: RequestStatus) -> None:
    attempt = replace(_OLD, request=_state(status, "c2"))
    view = replace(_NOTHING, attempt=attempt, failed=_FAILED)

    assert decide(view, _ALLOWED).step == Wait(None, _LATER)
    assert decide(view, replace(_ALLOWED, now=_LATER)).step == Mint(Need.FIRST)
    assert decide(view, replace(_ALLOWED, asked=True)).step == Mint(Need.FIRST)


@pytest.mark.parametrize("status", list(RequestStatus))
def test_another_spec_takes_the_place_of_any_attempt_and_cancels_it_if_it_is_open(
    status: RequestStatus,
) -> None:
    attempt = replace(_OLD, digest="d0", request=_state(status))
    step = decide(replace(_NOTHING, attempt=attempt, failed=_FAILED), _ALLOWED).step

    assert step == Mint(Need.FIRST, cancel=None if status.is_final else "r1")


def test_failures_of_another_spec_are_not_waited_out() -> None:
    failed = replace(_FAILED, digest="d0")
    assert decide(replace(_NOTHING, failed=failed), _ALLOWED).step == Mint(Need.FIRST)


def test_what_is_created_once_is_left_alone_then() -> None:
    view = replace(_GOOD, secret=SecretState.MISSING, wanted=Wanted("front", "d2"))
    assert decide(view, replace(_ALLOWED, once=True)) == Decision(Keep())


_DAYS = st.integers(-100, 100).map(lambda days: _NOW + timedelta(days=days))
_DIGESTS = st.sampled_from(["d1", "d2"])
_LIVES = st.builds(Live, st.just(1), st.none() | st.just("c1"), _DIGESTS, _DAYS, st.none() | _DAYS)
_STATES = st.builds(_state, st.sampled_from(RequestStatus), st.none() | st.just("c2"))
_ATTEMPTS = st.builds(Attempt, st.just(2), _DIGESTS, st.booleans(), st.none() | _STATES, st.none() | _DAYS)
_VIEWS = st.builds(
    CertificateView,
    st.just(_WANTED),
    st.none() | _LIVES,
    st.sampled_from(SecretState),
    st.booleans(),
    st.none() | _ATTEMPTS,
    st.none() | st.builds(Failed, _DIGESTS, st.sampled_from([1, 2]), st.none() | _DAYS),
    st.booleans(),
    st.booleans(),
    st.none() | _DAYS,
)


@given(view=_VIEWS, mints=st.integers(0, 1), asked=st.booleans())
def test_whatever_there_is_nothing_is_asked_for_twice(
    view: CertificateView, mints: int, *, asked: bool
) -> None:
    decision = decide(view, replace(_ALLOWED, mints=mints, asked=asked))
    attempt = view.attempt

    if isinstance(decision.step, Post):
        assert attempt is not None
        assert attempt.request is None
        assert attempt.fresh or attempt.settled_at is None or attempt.settled_at <= _NOW
    if isinstance(decision.step, Mint):
        assert view.held_until is None
    if isinstance(decision.step, Mint) and attempt is not None and attempt.digest == _WANTED.digest:
        # Only where its request is over, and has been counted.
        assert attempt.request is not None
        assert attempt.request.status.is_final
        assert view.failed is not None
    if decision.restore:
        assert view.live is not None
        assert view.live.not_after > _NOW
