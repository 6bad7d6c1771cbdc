"""How one run of a CertificateProfile ended, as its status. Pure; the instant is passed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from keybearer.base.clock import format_instant
from keybearer.controllers.certificate_metrics import CertificateFacts
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.status import (
    AuthorityStatus,
    CertificateProfileStatus,
    CertificateRequestStatus,
    FormerAuthority,
    LostKeys,
    PlannedCertificate,
    ProfileStatus,
    Revocation,
    Wave,
)
from keybearer.controllers.conditions import (
    BUDGET_USED,
    CLOCK_IN_SYNC,
    Aspect,
    Tone,
    aspects_in,
    build_conditions,
)
from keybearer.controllers.issuance.timing import CLOCKS_AGREE
from keybearer.controllers.outcome import Outcome, ReconcileError, StalledError
from keybearer.controllers.target.status import WorkloadStatus

__all__ = ["Issued", "ProfileOutcome", "Standing", "aspects_of", "build_status", "conclude", "facts_of"]

_NAMED = 5
"""Certificates whose trouble a message spells out."""
_FOR_PEOPLE: frozenset[str] = frozenset(
    {
        Reason.REQUEST_REFUSED,
        Reason.REQUEST_REJECTED,
        Reason.NOT_CONFORMANT,
        Reason.REVOKED,
        Reason.SPEC_INVALID,
        Reason.CSR_INVALID,
        Reason.KEYSTORE_PASSWORD_NOT_FOUND,
        Reason.TARGET_CONFLICT,
        Reason.TARGET_REFUSED,
        Reason.TOO_LARGE,
        Reason.POLICY_VIOLATED,
    }
)
"""What ends when somebody changes something."""
_STALLS_WHAT_IS_VALID: frozenset[str] = frozenset({Reason.RENEW_BEFORE_TOO_LONG})
"""What somebody has to change though the certificate is good."""
_DEFAULT_MESSAGES: Mapping[str, str] = {
    Reason.ISSUING: "it is being asked for",
    Reason.PENDING_APPROVAL: "a person has to approve it in the service",
    Reason.PENDING: "the authority has not answered yet",
    Reason.PENDING_VALIDATION: "the authority is checking that the names are ours",
    Reason.REVOKED: "mode is CreateOnce, so that no other is asked for",
    Reason.MINT_BUDGET_USED: "its key was lost, and hourlyMintBudget is used up for this hour",
}


_REVOKED = "the certificate in its Secret was revoked"


@dataclass(frozen=True, slots=True)
class Standing:
    """How one certificate stands at the end of a run.

    Attributes:
        entry: as the status says.
        valid: its Secret holds a certificate as asked for, which hasn't ended and wasn't revoked.
        trouble: what kept the run from doing what was decided.
    """

    entry: CertificateRequestStatus
    valid: bool
    trouble: ReconcileError | None = None


@dataclass(frozen=True, slots=True)
class Issued:
    """What a round leads to, beside the conditions of its end."""

    entries: tuple[CertificateRequestStatus, ...]
    authorities: tuple[AuthorityStatus, ...]
    former: tuple[FormerAuthority, ...]
    wave: Wave | None
    lost_keys: LostKeys | None
    revocations: tuple[Revocation, ...]
    valid: int
    workloads: tuple[WorkloadStatus, ...] = ()
    aspects: tuple[Aspect, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileOutcome(Outcome):
    """How one run of a CertificateProfile ended.

    Attributes:
        profile: as the service has it.
        issued: what the round came to.
        plan: what `mode: Plan` would do.
    """

    profile: ProfileStatus | None = None
    issued: Issued | None = None
    plan: tuple[PlannedCertificate, ...] | None = None


def conclude(standings: Sequence[Standing]) -> tuple[Tone, str, str]:
    """Return what the conditions say of all certificates together."""
    total, valid = len(standings), sum(one.valid for one in standings)
    told = [(one, *_said_of(one)) for one in standings]
    flawed = [(one, reason, text) for one, reason, text in told if reason is not None]
    bad = [one for one in flawed if not one[0].valid or one[1] in _STALLS_WHAT_IS_VALID]
    worries = [one for one in flawed if one not in bad]
    count = (
        "no certificate is described"
        if total == 0
        else f"{valid} of {total} certificates are issued and valid"
    )
    if not bad:
        return Tone.READY, Reason.ISSUED, _listed(count, worries)
    for_people = [one for one in bad if _is_for_people(one[0], one[1])]
    first = (for_people or bad)[0]
    tone = Tone.STALLED if for_people else Tone.WAITING
    return tone, str(first[1]), _listed(count, [*for_people, *(one for one in bad if one not in for_people)])


def build_status(
    previous: CertificateProfileStatus, outcome: ProfileOutcome, *, generation: int, now: datetime
) -> CertificateProfileStatus:
    """Return the whole status that the outcome leads to."""
    changes: dict[str, object] = {
        "observed_generation": generation,
        "conditions": build_conditions(
            previous.conditions,
            outcome.tone,
            outcome.reason,
            outcome.message,
            generation=generation,
            now=now,
            beside=aspects_in(previous.conditions) if outcome.issued is None else outcome.issued.aspects,
        ),
        "last_handled_requested_at": outcome.handled or previous.last_handled_requested_at,
        "profile": outcome.profile or previous.profile,
        "plan": outcome.plan or (),
    }
    issued = outcome.issued
    if issued is not None:
        renewals = [one.renewal_time for one in issued.entries if one.renewal_time is not None]
        changes |= {
            "certificate_requests": issued.entries,
            "authorities": issued.authorities,
            "former_authorities": issued.former,
            "wave": issued.wave,
            "lost_keys": issued.lost_keys,
            "revocations": issued.revocations,
            "workloads": issued.workloads,
            "issued": f"{issued.valid}/{len(issued.entries)}",
            "next_renewal_time": min(renewals, default=None),
        }
    return previous.model_copy(update=changes)


def aspects_of(
    standings: Sequence[Standing], ahead: timedelta | None, contested: ReconcileError | None = None
) -> tuple[Aspect, ...]:
    """Return what conditions tell beside the end of the round.

    Args:
        standings: of all certificates.
        ahead: by how much the service's clock is ahead of ours; None where that isn't known.
        contested: the refusal of a repair, when others keep changing the Secrets.
    """
    aspects: list[Aspect] = []
    held = [one for one in standings if one.entry.held_since is not None]
    lost = [one for one in standings if one.entry.reason == Reason.MINT_BUDGET_USED and one not in held]
    if held or lost:
        told = [*((one, None, _told_issues(one)) for one in held), *((one, *_said_of(one)) for one in lost)]
        reason = Reason.ISSUE_BUDGET_USED if held else Reason.MINT_BUDGET_USED
        aspects.append(Aspect(BUDGET_USED, true=True, reason=reason, message=_listed("", told)))
    elif contested is not None:
        aspects.append(Aspect(BUDGET_USED, true=True, reason=contested.reason, message=contested.message))
    if ahead is not None and abs(ahead) > CLOCKS_AGREE:
        which = "behind" if ahead > timedelta() else "ahead of"
        minutes = round(abs(ahead) / timedelta(minutes=1))
        message = (
            f"the operator's clock is {minutes // 60} h {minutes % 60} min {which} the service's; certificates are "
            "renewed by the service's"
        )
        aspects.append(Aspect(CLOCK_IN_SYNC, true=False, reason=Reason.CLOCK_DIFFERS, message=message))
    return tuple(aspects)


def _told_issues(one: Standing) -> str:
    entry = one.entry
    since = "" if entry.held_since is None else f" since {format_instant(entry.held_since)}"
    until = ""
    if entry.reason == Reason.ISSUE_BUDGET_USED and entry.next_attempt_time is not None:
        until = f"; not again before {format_instant(entry.next_attempt_time)}"
    return f"it is asked for as often as it may be{since}, the last time for the need {entry.need}{until}"


def facts_of(standings: Sequence[Standing]) -> list[CertificateFacts]:
    """Return what the metrics tell of the certificates."""
    return [
        CertificateFacts(
            name=one.entry.name,
            secret=one.entry.secret_name,
            ready=one.valid,
            not_before=one.entry.not_before,
            not_after=one.entry.not_after,
            renewal=one.entry.renewal_time,
        )
        for one in standings
    ]


def _said_of(one: Standing) -> tuple[str | None, str]:
    reason, text = _plainly_said_of(one)
    if not one.entry.revoked:
        return reason, text
    return reason, f"{_REVOKED}; {text}"


def _plainly_said_of(one: Standing) -> tuple[str | None, str]:
    if one.trouble is not None:
        return one.trouble.reason, one.trouble.message
    reason = one.entry.reason
    if reason == Reason.ISSUE_BUDGET_USED:
        return reason, _told_issues(one)
    if reason is not None:
        return reason, one.entry.message or _DEFAULT_MESSAGES.get(reason, "")
    if one.valid:
        return None, ""
    why = Reason.REVOKED if one.entry.revoked else Reason.ISSUING
    return why, _DEFAULT_MESSAGES[why]


def _is_for_people(one: Standing, reason: str | None) -> bool:
    return isinstance(one.trouble, StalledError) or (one.trouble is None and reason in _FOR_PEOPLE)


def _listed(count: str, said: Sequence[tuple[Standing, str | None, str]]) -> str:
    parts = [f"{one.entry.name}: {text}" for one, _, text in said[:_NAMED]]
    if len(said) > _NAMED:
        parts.append(f"and {len(said) - _NAMED} more")
    return "; ".join([count, *parts] if count else parts)
