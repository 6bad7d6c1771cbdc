"""What is to be done about each certificate: from what is there, what is wanted and the time. Pure.

For one certificate the question is always the same: is an attempt under way, and how far is it? Is what the Secret
holds as it should be? Is another certificate needed, and may it be asked for now? What to do about the profile as a
whole (the budget for lost keys, the pace at which certificates follow a new authority) is settled before, in
`Allowance`.
"""

from __future__ import annotations

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.certificateprofile.decisions import (
    Decision,
    Fail,
    Fetch,
    Keep,
    Mint,
    Post,
    Step,
    Wait,
)
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.situation import (
    Allowance,
    Attempt,
    CertificateView,
    Live,
    SecretState,
)
from keybearer.controllers.certificateprofile.status import Need

__all__ = ["decide"]

_KEEP = Keep()
_WAITS = {
    RequestStatus.PENDING_APPROVAL: Reason.PENDING_APPROVAL,
    RequestStatus.PENDING: Reason.PENDING,
    RequestStatus.PENDING_VALIDATION: Reason.PENDING_VALIDATION,
}


def decide(view: CertificateView, allowance: Allowance) -> Decision:
    """Return what is done about one certificate."""
    if allowance.once and view.live is not None and view.attempt is None:
        return Decision(_KEEP)
    attempt = view.attempt
    step = _begin(view, allowance) if attempt is None else _pursue(view, attempt, allowance)
    if isinstance(step, Mint) and view.held_until is not None:
        # What failed again and again is told as that: it is no loop of needs.
        step = Wait(Reason.ISSUES_USED if view.failed is None else Reason.BACKING_OFF, view.held_until)
    return Decision(step, restore=not isinstance(step, Fetch) and _wants_restoring(view, allowance))


def _pursue(view: CertificateView, attempt: Attempt, allowance: Allowance) -> Step:
    request = attempt.request
    if attempt.given_up or attempt.digest != view.wanted.digest:
        is_open = request is not None and not request.status.is_final
        changed = Need.FIRST if view.live is None else Need.SPEC_CHANGED
        need = changed if attempt.digest != view.wanted.digest else Need.REVOKED
        return Mint(need, cancel=request.id if request is not None and is_open else None)
    if request is None:
        return _send(view, attempt, allowance)
    if not request.status.is_final:
        return Wait(_WAITS[request.status])
    was_counted = view.failed is not None and view.failed.revision == attempt.revision
    if was_counted:
        return _again(view, allowance) or Mint(_need_of(view, allowance) or Need.FIRST)
    if request.status is RequestStatus.ISSUED and request.certificate_id is not None:
        return Fetch(attempt, request.certificate_id)
    if request.status is RequestStatus.ISSUED:
        return Fail(attempt, request.status, "the service says issued, and names no certificate")
    return Fail(attempt, request.status, request.message or "the service says no more")


def _send(view: CertificateView, attempt: Attempt, allowance: Allowance) -> Step:
    waits = _again(view, allowance)
    if waits is not None:
        return waits
    settled_at = attempt.settled_at
    if not attempt.fresh and settled_at is not None and allowance.now < settled_at:
        return Wait(Reason.ISSUING, settled_at)
    return Post(attempt)


def _begin(view: CertificateView, allowance: Allowance) -> Step:
    need = _need_of(view, allowance)
    if need is None:
        return _KEEP
    waits = _again(view, allowance)
    if waits is not None:
        return waits
    if need is Need.KEY_LOST and allowance.mints < 1:
        return Wait(Reason.BUDGET_USED)
    return Mint(need)


def _need_of(view: CertificateView, allowance: Allowance) -> Need | None:
    """Return why another certificate is needed; the first that holds, so that what is urgent is told."""
    live = view.live
    if live is None:
        return Need.FIRST
    is_late = live.renewal_time is not None and allowance.now >= live.renewal_time
    is_lost = view.secret is not SecretState.AS_WRITTEN and not _can_restore(view)
    follows = _is_of_another_authority(live, allowance) and view.wanted.name in allowance.rolling
    reasons = (
        (live.digest != view.wanted.digest, Need.SPEC_CHANGED),
        (view.revoked, Need.REVOKED),
        (is_late, Need.RENEWAL),
        (is_lost, Need.KEY_LOST),
        (allowance.renew, Need.ASKED),
        (follows, Need.AUTHORITY_CHANGED),
    )
    return next((need for holds, need in reasons if holds), None)


def _is_of_another_authority(live: Live, allowance: Allowance) -> bool:
    return None not in (live.authority, allowance.authority) and live.authority != allowance.authority


def _again(view: CertificateView, allowance: Allowance) -> Wait | None:
    """Return how long a failure is still waited out: not where something else is asked for by now."""
    failed = view.failed
    if failed is None or failed.next_attempt is None or failed.digest != view.wanted.digest:
        return None
    if allowance.asked or allowance.now >= failed.next_attempt:
        return None
    return Wait(Reason.BACKING_OFF, failed.next_attempt)


def _can_restore(view: CertificateView) -> bool:
    return view.live is not None and view.live.certificate_id is not None and view.key_held


def _wants_restoring(view: CertificateView, allowance: Allowance) -> bool:
    """Tell whether the Secret is to be written anew; never with what has ended."""
    if view.live is None or view.live.not_after <= allowance.now or not _can_restore(view):
        return False
    return view.secret is not SecretState.AS_WRITTEN or view.refit
