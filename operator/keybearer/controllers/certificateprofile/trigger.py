"""Whether a certificate is asked for, and why: what is wanted, what there is, and the time. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.status import LostKeys, Need
from keybearer.controllers.issuance.service import RequestState

__all__ = [
    "OPEN_REQUESTS",
    "Allowance",
    "Attempt",
    "CertificateView",
    "Decision",
    "Fail",
    "Failed",
    "Fetch",
    "Keep",
    "Live",
    "Mint",
    "Post",
    "SecretState",
    "Step",
    "Wait",
    "Wanted",
    "decide",
    "mints_left",
    "with_mints",
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A certificate as the spec describes it.

    Attributes:
        name: of the certificate.
        digest: of all that decides what it says; another one asks for another certificate.
    """

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Live:
    """The certificate that was stored last.

    Attributes:
        revision: that brought it.
        certificate_id: in the service; None where it isn't known, so that it can't be fetched again.
        digest: of what it was asked to be.
        not_after: when it ends.
        renewal_time: when it is renewed; None where its end is fixed.
        authority: digest of the key that signed it; None where it signed itself.
    """

    revision: int
    certificate_id: str | None
    digest: str | None
    not_after: datetime
    renewal_time: datetime | None
    authority: str | None = None


class SecretState(Enum):
    """What became of the Secret since it was written."""

    AS_WRITTEN = "as written"
    DRIFTED = "drifted"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that was begun and whose certificate isn't stored yet.

    Attributes:
        revision: of the attempt.
        digest: of what is asked for.
        fresh: noted down in this very run, so that nothing of it can have been sent.
        request: as the service has it; None where it has none.
        settled_at: until when it may still reach the service, which doesn't know it; None where it can't.
        given_up: its key may be used no more.
    """

    revision: int
    digest: str
    fresh: bool = False
    request: RequestState | None = None
    settled_at: datetime | None = None
    given_up: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """The failures since it last went well.

    Attributes:
        digest: of what was asked for.
        revision: that failed; its request is not to be counted again.
        next_attempt: when it is asked for again.
    """

    digest: str | None
    revision: int | None
    next_attempt: datetime | None


@dataclass(frozen=True, slots=True)
class CertificateView:
    """One certificate: what is wanted, what is there, and what is under way.

    Attributes:
        key_held: whether the stored certificate's key can be had without a new certificate.
        revoked: whether the service says that the stored certificate was revoked.
        refit: whether the Secret has to be written anew for what isn't its certificate: `ca.crt`, keystores, labels
            or annotations.
        held_until: when another may be asked for again, whatever the need; None: now.
    """

    wanted: Wanted
    live: Live | None = None
    secret: SecretState = SecretState.MISSING
    key_held: bool = True
    attempt: Attempt | None = None
    failed: Failed | None = None
    revoked: bool = False
    refit: bool = False
    held_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the profile as a whole lets happen in this run.

    Attributes:
        authority: digest of the key that the authority has now; None where it isn't known, or there is none.
        rolling: certificates that may follow the authority's new key now.
        mints: how many certificates the budget for lost keys still lets be issued.
        asked: a person asked for another try, so that no failure is waited out.
        renew: a person asked for new certificates.
        once: nothing is done about what was issued once.
    """

    now: datetime
    authority: str | None = None
    rolling: frozenset[str] = frozenset()
    mints: int = 0
    asked: bool = False
    renew: bool = False
    once: bool = False


@dataclass(frozen=True, slots=True)
class Keep:
    """Nothing is asked for."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Something is asked for, or would be, but not now.

    Attributes:
        reason: what is waited for; None where the last failure still says it.
        until: when to look again; None where the run itself says when.
    """

    reason: Reason | None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Mint:
    """Begin a new attempt.

    Attributes:
        need: why.
        cancel: the id of a request that it takes the place of.
    """

    need: Need
    cancel: str | None = None


@dataclass(frozen=True, slots=True)
class Post:
    """Send an attempt that the service doesn't know."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Fetch:
    """Get what was issued and store it."""

    attempt: Attempt
    certificate_id: str


@dataclass(frozen=True, slots=True)
class Fail:
    """Count a request that came to nothing."""

    attempt: Attempt
    status: RequestStatus
    message: str


Step = Keep | Wait | Mint | Post | Fetch | Fail


@dataclass(frozen=True, slots=True)
class Decision:
    """What is done about one certificate.

    Attributes:
        step: towards the next certificate, if one is needed.
        restore: the Secret is written anew with the certificate that it had, without asking for another.
    """

    step: Step
    restore: bool = False


_KEEP = Keep()
OPEN_REQUESTS = {
    RequestStatus.PENDING_APPROVAL: Reason.PENDING_APPROVAL,
    RequestStatus.PENDING: Reason.PENDING,
    RequestStatus.PENDING_VALIDATION: Reason.PENDING_VALIDATION,
}
"""The reason of a certificate whose request has this status."""


def decide(view: CertificateView, allowance: Allowance) -> Decision:
    """Return what is done about one certificate."""
    if allowance.once and view.live is not None and view.attempt is None:
        return Decision(_KEEP)
    attempt = view.attempt
    step = _begin(view, allowance) if attempt is None else _pursue(view, attempt, allowance)
    if isinstance(step, Mint) and view.held_until is not None:
        # What failed again and again is told as that: it is no loop of needs.
        step = Wait(Reason.ISSUE_BUDGET_USED if view.failed is None else None, view.held_until)
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
        return Wait(OPEN_REQUESTS[request.status])
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
        return Wait(Reason.MINT_BUDGET_USED)
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
    return Wait(None, failed.next_attempt)


def _can_restore(view: CertificateView) -> bool:
    return view.live is not None and view.live.certificate_id is not None and view.key_held


def _wants_restoring(view: CertificateView, allowance: Allowance) -> bool:
    """Tell whether the Secret is to be written anew; never with what has ended."""
    if view.live is None or view.live.not_after <= allowance.now or not _can_restore(view):
        return False
    return view.secret is not SecretState.AS_WRITTEN or view.refit


_HOUR = timedelta(hours=1)


def mints_left(used: LostKeys | None, budget: int, now: datetime) -> tuple[int, datetime | None]:
    """Return how many may be issued now, and when the hour ends of which some are used."""
    current = _of_this_hour(used, now)
    if current is None:
        return budget, None
    return max(budget - current.minted, 0), current.since + _HOUR


def with_mints(used: LostKeys | None, minted: int, now: datetime) -> LostKeys | None:
    """Return what is used after that many more were issued."""
    current = _of_this_hour(used, now)
    if minted == 0:
        return current
    if current is None:
        return LostKeys(since=now.replace(microsecond=0), minted=minted)
    return current.model_copy(update={"minted": current.minted + minted})


def _of_this_hour(used: LostKeys | None, now: datetime) -> LostKeys | None:
    # An hour that begins in the future was noted by a clock that was wrong.
    return used if used is not None and used.since <= now < used.since + _HOUR else None
