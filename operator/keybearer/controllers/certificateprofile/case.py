"""One certificate within one run: what is known of it, and what its status will say."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.certificateprofile.desired import DesiredCertificate, Made
from keybearer.controllers.certificateprofile.policy import Judged
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.secret_contents import KeptAttempt, Passwords
from keybearer.controllers.certificateprofile.status import CertificateRequestStatus
from keybearer.controllers.certificateprofile.trigger import (
    Attempt,
    CertificateView,
    Failed,
    Live,
    SecretState,
)
from keybearer.controllers.effect_budget import Ledger, Limit, free_at, issues_limit, put_right, spend, used
from keybearer.controllers.issuance.service import RequestState
from keybearer.controllers.issuance.timing import (
    earliest_renewal,
    is_too_early,
    next_attempt,
    renewal_time,
    spread,
)
from keybearer.controllers.outcome import ReconcileError
from keybearer.controllers.target.observed import PresentTarget

__all__ = ["Case", "new_entry"]

_SETTLED = {
    "reason": None,
    "message": None,
    "failures": None,
    "failed_spec": None,
    "failed_revision": None,
    "next_attempt_time": None,
    "revoked": None,
}


@dataclass(slots=True)
class Case:
    """One certificate within one round.

    Attributes:
        desired: what the manifest describes; where that can't be asked for, there is no case (`gather.Broken`).
        entry: as the status will say; replaced as the round goes on.
        secret: what became of its Secret.
        passwords: of its keystores.
        keystores: digest of them, and of the Secret's labels and annotations.
        present: its Secret, where it was read.
        kept: the attempt that the keyring notes.
        fresh: whether that was noted in this round.
        made: the key of that, with its request, where they were made in this round.
        request: of the attempt, as the service has it.
        settled_at: until when the attempt may still reach the service, which doesn't know it.
        given_up: the attempt's key may be used no more.
        trouble: what kept this round from doing what was decided; it is told, and tried again.
        until: when it is to be looked at again.
        anchors: what its Secret holds as `ca.crt`, if it was written in this round.
        renewed: whether it has another certificate since this round.
        ahead: by how much the clock that the round goes by is ahead of ours. What is counted is counted by ours: that
            of the service may be another one with each answer.
    """

    desired: DesiredCertificate
    entry: CertificateRequestStatus
    secret: SecretState = SecretState.MISSING
    passwords: Passwords = field(default_factory=Passwords)
    keystores: str | None = None
    present: PresentTarget | None = None
    kept: KeptAttempt | None = None
    fresh: bool = False
    made: Made | None = field(default=None, repr=False)
    request: RequestState | None = None
    settled_at: datetime | None = None
    given_up: bool = False
    trouble: ReconcileError | None = None
    until: datetime | None = None
    anchors: str | None = None
    renewed: bool = False
    ahead: timedelta = timedelta()

    @property
    def name(self) -> str:
        """What the certificate is called."""
        return self.desired.name

    @property
    def has_certificate(self) -> bool:
        """Whether one was stored."""
        return self.entry.certificate_revision is not None

    @property
    def open_attempt(self) -> KeptAttempt | None:
        """The attempt whose certificate isn't stored yet."""
        kept, stored = self.kept, self.entry.certificate_revision
        return kept if kept is not None and (stored is None or kept.revision > stored) else None

    @property
    def next_revision(self) -> int:
        """A number that no attempt had that is known of."""
        entry = self.entry
        known = (entry.revision, entry.certificate_revision, self.kept.revision if self.kept else None)
        return max((number for number in known if number is not None), default=0) + 1

    @property
    def limit(self) -> Limit:
        """How often it may be asked for."""
        return issues_limit(self.lifetime or timedelta())

    @property
    def lifetime(self) -> timedelta | None:
        """How long what is stored lives, else what is asked for; None where that isn't known."""
        begins, ends = self.entry.not_before, self.entry.not_after
        return self.desired.lifetime if begins is None or ends is None else ends - begins

    @property
    def is_renewed_too_early(self) -> bool:
        """Whether `renewBefore` leaves less than a third of the lifetime."""
        lives = (self.desired.lifetime, self.lifetime)
        fixed = self.desired.entry.asked.not_after is not None
        return not fixed and any(is_too_early(self.desired.entry.renew_before, one) for one in lives)

    def held_until(self, now: datetime) -> datetime | None:
        """Return when it may be asked for again, whatever the need; None: now."""
        free = free_at(self.entry.issues, self.limit, now - self.ahead)
        return None if free is None else free + self.ahead

    def spent(self, now: datetime) -> Ledger:
        """Return what was asked for of late, once more included."""
        return spend(self.entry.issues, self.limit, now - self.ahead)

    def put_issues_right(self, now: datetime) -> None:
        """Take what our clock noted for later, when it was wrong, as of now."""
        if self.entry.issues:
            self.say(issues=put_right(self.entry.issues, now - self.ahead))

    def note_held(self, now: datetime) -> None:
        """Note since when it is asked for as often as it may be; an hour without an issue ends that."""
        before = self.entry.held_since
        if not used(self.entry.issues, self.limit, now - self.ahead):
            self.say(held_since=None)
        elif before is None and self.held_until(now) is not None:
            self.say(held_since=now.replace(microsecond=0))

    def take_noted(self, attempt: KeptAttempt, now: datetime) -> None:
        """Take in what the keyring says of an attempt, where the status doesn't say it yet."""
        is_newer = attempt.revision > (self.entry.revision or 0)
        if is_newer or not self.entry.issues:
            self.say(issues=attempt.issues)
            self.put_issues_right(now)
        if is_newer:
            self.say(revision=attempt.revision, need=attempt.need, id=None, status=None)

    def see(self, shown: str | None) -> None:
        """Take in how the watch showed the Secret last, by its fingerprint; None where it showed none."""
        if shown is None:
            self.secret = SecretState.MISSING
        else:
            is_same = shown == self.entry.fingerprint
            self.secret = SecretState.AS_WRITTEN if is_same else SecretState.DRIFTED

    def view(self, now: datetime, *, key_held: bool) -> CertificateView:
        """Return what the plan needs."""
        entry, attempt = self.entry, self.open_attempt
        live = None
        if entry.certificate_revision is not None and entry.not_after is not None:
            live = Live(
                entry.certificate_revision,
                entry.certificate_id,
                entry.spec,
                entry.not_after,
                entry.renewal_time,
                entry.authority,
            )
        return CertificateView(
            wanted=self.desired.wanted,
            live=live,
            secret=self.secret,
            key_held=key_held,
            attempt=None
            if attempt is None
            else Attempt(
                attempt.revision, attempt.digest, self.fresh, self.request, self.settled_at, self.given_up
            ),
            failed=None
            if not entry.failures
            else Failed(entry.failed_spec, entry.failed_revision, entry.next_attempt_time),
            revoked=self.entry.revoked is True,
            refit=self.secret is SecretState.AS_WRITTEN and entry.keystores != self.keystores,
            held_until=self.held_until(now),
        )

    def say(self, **changes: object) -> None:
        """Change what the status will say."""
        self.entry = self.entry.model_copy(update=changes)

    def begin(self, attempt: KeptAttempt, made: Made | None) -> None:
        """Note that an attempt begins, with its key and request where the operator makes them."""
        self.kept, self.fresh, self.made, self.request = attempt, True, made, None
        self.given_up = False
        self.say(
            revision=attempt.revision,
            need=attempt.need,
            issues=attempt.issues,
            id=None,
            status=None,
            reason=Reason.ISSUING.value,
            message=None,
            requested_at=None,
        )

    def take_back(
        self, entry: CertificateRequestStatus, kept: KeptAttempt | None, request: RequestState | None
    ) -> None:
        """Forget an attempt that began but could not be noted; all is as it was before."""
        self.entry, self.kept, self.request = entry, kept, request
        self.fresh, self.made, self.trouble = False, None, None

    def look_at(self, instant: datetime | None) -> None:
        """Have it looked at again at that instant, or earlier."""
        if instant is not None and (self.until is None or instant < self.until):
            self.until = instant

    def told(self, state: RequestState, now: datetime) -> None:
        """Note how the request stands."""
        self.say(id=state.id, status=state.status, message=state.message)
        if self.entry.requested_at is None:
            self.say(requested_at=now.replace(microsecond=0))

    def stored(
        self, judged: Judged, certificate_id: str, *, uid: str, fingerprint: str, now: datetime
    ) -> None:
        """Note that the certificate of the open attempt is in its Secret."""
        attempt = self.open_attempt
        if attempt is None:
            raise TypeError(f"certificate {self.name} has no open attempt")
        entry, leaf = self.desired.entry, judged.leaf
        is_fixed = entry.asked.not_after is not None
        self.renewed = self.has_certificate
        self.say(
            **_SETTLED,
            status=RequestStatus.ISSUED,
            certificate_id=certificate_id,
            certificate_revision=attempt.revision,
            serial_number=leaf.serial,
            not_before=leaf.not_before.replace(microsecond=0),
            not_after=leaf.not_after.replace(microsecond=0),
            renewal_time=None
            if is_fixed
            else renewal_time(
                leaf.not_before, leaf.not_after, entry.renew_before, spread(uid, self.name), now
            ),
            spec=attempt.digest,
            authority=None if judged.authority is None else judged.authority.key,
            fingerprint=fingerprint,
            secret_name=entry.target_name,
            keystores=self.keystores,
            restart_due=True if self.renewed and entry.rollout_restart else None,
        )
        self._is_as_written()

    def written(self, fingerprint: str) -> None:
        """Note that its Secret holds again what it should."""
        target = self.desired.entry.target_name
        self.say(fingerprint=fingerprint, secret_name=target, keystores=self.keystores)
        self._is_as_written()

    def _is_as_written(self) -> None:
        # What was read of it before is what it was before.
        self.secret, self.present = SecretState.AS_WRITTEN, None

    def failed(
        self, reason: Reason, message: str, *, now: datetime, rng: Random, revision: int | None
    ) -> None:
        """Count a failure, and note when it is tried again.

        Args:
            reason: why, in a word.
            message: why, for people.
            now: the present.
            rng: for jitter.
            revision: of the request that failed; None where the service took none, so that the attempt stands.
        """
        digest = self.desired.digest
        before = self.entry.failures or 0 if self.entry.failed_spec == digest else 0
        rejected = reason is Reason.REQUEST_REJECTED
        at = next_attempt(now, before + 1, rng, rejected=rejected)
        self.say(
            reason=reason.value,
            message=message,
            failures=before + 1,
            failed_spec=digest,
            failed_revision=revision,
            next_attempt_time=at,
        )
        self.look_at(at)

    def forget_certificate(self) -> None:
        """Note that what was stored can't be had any more."""
        self.say(certificate_id=None)

    @property
    def is_good(self) -> bool:
        """Whether its Secret holds a certificate as asked for, and nothing is known against it."""
        return (
            self.has_certificate
            and self.secret is SecretState.AS_WRITTEN
            and self.entry.spec == self.desired.digest
        )

    def is_valid(self, now: datetime) -> bool:
        """Tell whether it is good, hasn't ended and wasn't revoked."""
        ends = self.entry.not_after
        return self.is_good and self.entry.revoked is not True and ends is not None and now < ends

    def waits_since(self, now: datetime) -> timedelta:
        """Return for how long its request has been open."""
        return now - (self.entry.requested_at or now)


def new_entry(
    desired: DesiredCertificate, before: CertificateRequestStatus | None
) -> CertificateRequestStatus:
    """Return what the status says of a certificate, or the beginning of it."""
    flag = True if desired.entry.revoke_on_delete else None
    if before is None:
        return CertificateRequestStatus(
            name=desired.name, secret_name=desired.entry.target_name, revoke_on_delete=flag
        )
    renewal = before.renewal_time
    if renewal is not None and before.not_before is not None and before.not_after is not None:
        # What an older version noted may be too early.
        renewal = max(renewal, earliest_renewal(before.not_before, before.not_after))
    return before.model_copy(update={"revoke_on_delete": flag, "renewal_time": renewal})
