"""One round for the certificates of a profile: look, decide, note, send, judge, store.

What must survive is noted before it is needed: an attempt with its key stands in the keyring before anything of it is
sent. All attempts of a round are noted in one write; requests go out and Secrets are written side by side, so many at
a time. A round may be cut off between any two lines and run again from the top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.certificateprofile.authorities import Rolling, plan_wave
from keybearer.controllers.certificateprofile.case import Case
from keybearer.controllers.certificateprofile.certificate_requests import (
    Noting,
    is_given_up,
    look_for_revoked,
    look_up_requests,
)
from keybearer.controllers.certificateprofile.context import RoundContext, RoundTools
from keybearer.controllers.certificateprofile.desired import csr_of
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.status import AuthorityStatus, LostKeys, Need
from keybearer.controllers.certificateprofile.storage import CertificateStorage
from keybearer.controllers.certificateprofile.trigger import (
    OPEN_REQUESTS,
    Allowance,
    Decision,
    Fail,
    Fetch,
    Keep,
    Mint,
    Post,
    SecretState,
    Step,
    Wait,
    decide,
    mints_left,
    with_mints,
)
from keybearer.controllers.concurrency import Concurrency
from keybearer.controllers.issuance.service import REQUEST_REFUSED, Order
from keybearer.controllers.issuance.timing import poll_interval
from keybearer.controllers.mode import Mode
from keybearer.controllers.outcome import ReconcileError, StalledError, WaitingError
from keybearer.controllers.run_ends import failure_of
from keybearer.kube.errors import AlreadyExistsError, KubeError, LeaseLostError
from keybearer.pki.keys import PrivateKey

__all__ = ["CertificateRound"]

_AT_ONCE = 16
"""Certificates that are asked for and stored side by side."""


@dataclass(slots=True)
class CertificateRound:
    """The round; made anew for each.

    Attributes:
        tools: what it works with.
        context: what it is about.
        cases: the certificates.
        rolling: how far a change of the authority is.
        lost_keys: what of the budget is used, as the status will say.
        more: whether attempts were left for the next round.
    """

    tools: RoundTools
    context: RoundContext
    cases: Sequence[Case]
    rolling: Rolling = field(default_factory=Rolling)
    lost_keys: LostKeys | None = None
    more: bool = False
    _now: datetime = field(init=False)
    _by_our_clock: datetime = field(init=False)
    _storage: CertificateStorage = field(init=False)
    _concurrency: Concurrency = field(default_factory=lambda: Concurrency(_AT_ONCE), init=False)

    def __post_init__(self) -> None:
        self._by_our_clock = self.tools.now()
        self._now = self.context.run.time(self._by_our_clock)
        previous = self.context.run.previous
        self.lost_keys = previous.lost_keys
        for case in self.cases:
            case.ahead = self._now - self._by_our_clock
            case.put_issues_right(self._now)
        self._storage = CertificateStorage(self.tools, self.context, self.cases, self._now)
        self.rolling = plan_wave(
            self.context.run.seen.uid,
            None if self.context.authority is None else self.context.authority.key,
            {case.name: case.entry.authority for case in self.cases if case.is_valid(self._now)},
            previous.wave,
            per_hour=self.context.run.spec.authority_change.per_hour,
            now=self._now,
        )

    @property
    def authorities(self) -> tuple[AuthorityStatus, ...]:
        """What `ca.crt` holds, as the status will say."""
        return self._storage.authorities

    async def run(self) -> None:
        """Do what is to be done; what came of it stands in the cases.

        Raises:
            ObjectGoneError: the CertificateProfile is gone.
            ReconcileError: the keyring can't be written, or the service not be asked at all.
            KubeError: the API server refuses or can't be asked.
        """
        if self.context.compared:
            await look_for_revoked(self.context, self.cases, self._concurrency)
        decisions = self._decide()
        # Whatever made them needed: a request by a person is answered by the run that begins what it asks for.
        is_open = any(case.entry.is_open or case.entry.is_begun for case in self.cases)
        if is_open or any(map(_does_something, decisions)) or self._storage.lacks_keyring():
            decisions = await self._begin(decisions)
        await self._concurrency.run(
            self._advance(case, decision) for case, decision in zip(self.cases, decisions, strict=True)
        )
        await self._refit()
        for case in self.cases:
            case.note_held(self._now)

    async def preview(self) -> list[Decision]:
        """Return what would be done; nothing is.

        Raises:
            KubeError: the API server can't be asked.
        """
        await self._read_what_is_noted()
        return self._decide()

    def _decide(self) -> list[Decision]:
        budget = self.context.run.spec.hourly_mint_budget
        left, hour_ends = mints_left(self.lost_keys, budget, self._by_our_clock)
        if hour_ends is not None:
            hour_ends += self._now - self._by_our_clock
        allowance = Allowance(
            now=self._now,
            authority=None if self.context.authority is None else self.context.authority.key,
            rolling=self.rolling.names,
            mints=left,
            asked=self.context.asked,
            renew=self.context.renew,
            once=self.context.run.spec.mode is Mode.CREATE_ONCE,
        )
        decided: list[Decision] = []
        for case in self.cases:
            decision = decide(case.view(self._now, key_held=self._storage.holds_key(case)), allowance)
            match decision.step:
                case Mint(need=Need.KEY_LOST):
                    allowance = replace(allowance, mints=allowance.mints - 1)
                case Wait(reason=Reason.MINT_BUDGET_USED):
                    decision = replace(decision, step=Wait(Reason.MINT_BUDGET_USED, hour_ends))
                case _:
                    pass
            decided.append(decision)
        return decided

    async def _begin(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Find out what was begun, begin what is decided, and return what is decided by then."""
        if self._is_first():
            try:
                return await self._note(decisions, is_first=True)
            except AlreadyExistsError:
                pass  # a run before this one was cut off after it had noted its attempts
        await self._read_what_is_noted()
        await look_up_requests(self.context, self.cases, self._concurrency, self.tools.orders, self._now)
        await self._concurrency.run(self._look_at_attempted_key(case) for case in self.cases)
        decisions = await self._note(self._decide(), is_first=False)
        await self._storage.write_recovered()
        return decisions

    async def _look_at_attempted_key(self, case: Case) -> None:
        """Find out whether an attempt goes on with a key that may be used no more."""
        attempt = case.open_attempt
        key = None if attempt is None else self._storage.attempted_key(case, attempt)
        if key is None or not (case.desired.keeps_key and case.has_certificate):
            return
        case.given_up = await is_given_up(self.context, case, key.public_key)

    def _is_first(self) -> bool:
        """Tell whether nothing speaks for a keyring: no status, no certificate, nothing that the watch showed."""
        is_new = not self.context.run.previous.certificate_requests
        return (
            is_new
            and not self._storage.was_ever_noted()
            and not any(case.has_certificate or case.secret is SecretState.DRIFTED for case in self.cases)
        )

    async def _note(self, decisions: Sequence[Decision], *, is_first: bool) -> list[Decision]:
        noting = Noting(self.context, self._storage, self._concurrency, self._now)
        settled = await noting.begin(self.cases, decisions, is_first=is_first)
        self.more = noting.more
        self.lost_keys = with_mints(self.lost_keys, noting.minted, self._by_our_clock)
        return settled

    async def _read_what_is_noted(self) -> None:
        await self._storage.read_keyring()
        drifted = [case for case in self.cases if case.secret is SecretState.DRIFTED and case.present is None]
        await self._concurrency.run(self._storage.read_secret(case) for case in drifted)
        await self._concurrency.run(self._storage.recover_key(case) for case in self.cases)

    # What is sent and stored

    async def _advance(self, case: Case, decision: Decision) -> None:
        try:
            if decision.restore:
                await self._restore(case, decision.step)
            await self._go_on(case, decision.step)
        except ReconcileError as error:
            case.trouble = error
        except KubeError as error:
            if isinstance(error, LeaseLostError):
                raise
            failure = failure_of(error)
            case.trouble = WaitingError(failure.reason, failure.message)

    async def _restore(self, case: Case, step: Step) -> None:
        try:
            await self._storage.rebuild(case)
        except WaitingError as error:
            # A fight over what was issued before holds no other certificate back; the run tells of it at its end.
            if error.reason != Reason.TARGET_CONTESTED or isinstance(step, Keep):
                raise

    async def _go_on(self, case: Case, step: Step) -> None:
        match step:
            case Keep():
                self._keep(case)
            case Wait(reason=reason, until=until):
                self._wait(case, reason, until)
            case Post():
                await self._post(case)
            case Fetch(certificate_id=certificate_id):
                await self._fetch(case, certificate_id)
            case Fail(attempt=attempt, status=status, message=message):
                case.say(status=status)
                self._count(case, _REASONS.get(status, Reason.REQUEST_FAILED), message, attempt.revision)
            case Mint():
                raise TypeError(f"certificate {case.name}: no attempt was noted before it is sent")

    def _keep(self, case: Case) -> None:
        if case.is_good:
            case.say(reason=None, message=None, next_attempt_time=None)
        case.look_at(case.entry.renewal_time)

    def _wait(self, case: Case, reason: Reason | None, until: datetime | None) -> None:
        if reason is not None:
            case.say(reason=reason.value)
        if reason in (None, Reason.ISSUE_BUDGET_USED):
            case.say(next_attempt_time=until)
        if case.request is not None:
            if case.request.status is not case.entry.status or case.request.message != case.entry.message:
                case.told(case.request, self._now)
            until = until or self._now + poll_interval(case.waits_since(self._now))
        case.look_at(until)

    async def _post(self, case: Case) -> None:
        attempt, desired, context = case.open_attempt, case.desired, self.context
        if attempt is None:
            raise TypeError(f"certificate {case.name} has no open attempt")
        if not case.fresh:
            await self._storage.require_target(case)
        key = self._storage.attempted_key(case, attempt)
        order = Order(
            profile_id=context.profile.id,
            application_id=context.run.spec.application_id,
            csr=desired.csr if key is None else await self._csr(case, key),
            attributes=desired.attributes,
            metadata=context.run.marks_of(case.name, attempt),
        )
        self.tools.require_lead()  # the service can't know which of two replicas leads
        which = context.run.order_of(case.name, attempt)
        self.tools.orders.begun(*which)
        try:
            answer = await context.run.service.issue(order)
        except StalledError as error:
            self.tools.orders.ended(*which)
            if error.reason not in (REQUEST_REFUSED, "PermissionDenied"):
                raise
            self._count(case, Reason.REQUEST_REFUSED, error.message, None)
            return
        self.tools.orders.found(*which)
        case.request = answer.request
        case.told(answer.request, self._now)
        if answer.issued is not None:
            await self._storage.store(case, answer.issued, key)
            return
        if answer.request.status.is_final:
            # Issued, and the certificate is to be fetched; or over already.
            case.look_at(self._now)
            return
        self._wait(case, OPEN_REQUESTS[answer.request.status], None)

    @staticmethod
    async def _csr(case: Case, key: PrivateKey) -> str:
        return case.made.csr if case.made is not None else await csr_of(case.desired, key)

    async def _fetch(self, case: Case, certificate_id: str) -> None:
        attempt = case.open_attempt
        if attempt is None:
            raise TypeError(f"certificate {case.name} has no open attempt")
        issued = await self.context.run.service.bundle(certificate_id)
        if issued is None:
            self._count(
                case, Reason.REQUEST_FAILED, "the certificate is gone from the service", attempt.revision
            )
            return
        await self._storage.store(case, issued, self._storage.attempted_key(case, attempt))

    async def _refit(self) -> None:
        """Write those Secrets anew whose `ca.crt` isn't what it should be by now."""
        stale = self._storage.stale()
        await self._concurrency.run(self._advance(case, Decision(Keep(), restore=True)) for case in stale)
        if any(case.trouble is not None for case in stale):
            # Noted only when all have it, so that what failed is written again.
            self._storage.authorities = self.context.run.previous.authorities or self._storage.authorities

    def _count(self, case: Case, reason: Reason, message: str, revision: int | None) -> None:
        case.failed(reason, message, now=self._now, rng=self.tools.rng, revision=revision)


_REASONS = {
    RequestStatus.FAILED: Reason.REQUEST_FAILED,
    RequestStatus.REJECTED: Reason.REQUEST_REJECTED,
    RequestStatus.ISSUED: Reason.NOT_CONFORMANT,
}


def _does_something(decision: Decision) -> bool:
    return decision.restore or not isinstance(decision.step, Keep)
