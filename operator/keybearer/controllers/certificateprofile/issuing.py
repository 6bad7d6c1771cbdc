"""The certificates of a CertificateProfile in one run: a round for them, the end of others, or what would be done."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from keybearer.base.certificate_terms import CertificateStatus, RevocationReason
from keybearer.base.clock import Clock
from keybearer.controllers.certificateprofile.authorities import former_authorities, last_end
from keybearer.controllers.certificateprofile.case import Case
from keybearer.controllers.certificateprofile.conclusion import (
    Issued,
    ProfileOutcome,
    Standing,
    aspects_of,
    conclude,
    facts_of,
)
from keybearer.controllers.certificateprofile.context import (
    RoundContext,
    RoundTools,
    RunContext,
)
from keybearer.controllers.certificateprofile.gather import Broken, CaseBuilder
from keybearer.controllers.certificateprofile.policy import Authority, violations_of
from keybearer.controllers.certificateprofile.profile_secrets import ProfileSecrets
from keybearer.controllers.certificateprofile.profiles import REFRESH, FoundProfile, Profiles
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.certificateprofile.round import CertificateRound
from keybearer.controllers.certificateprofile.status import (
    REVOCATIONS_MAX,
    VIOLATIONS_MAX,
    CertificateRequestStatus,
    PlannedCertificate,
    ProfileStatus,
    Revocation,
)
from keybearer.controllers.certificateprofile.trigger import Decision, Keep, Mint
from keybearer.controllers.conditions import Tone
from keybearer.controllers.issuance.service import CertificateService, PresentProfile
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.outcome import ReconcileError, StalledError
from keybearer.controllers.resource_fields import write_duration
from keybearer.controllers.target.restart import Restarts, WantedRestart
from keybearer.controllers.target.spec import Workload
from keybearer.controllers.target.status import WORKLOADS_MAX, WorkloadStatus
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.workers import RunResult

__all__ = ["CertificateRemoval", "Issuing", "Preview", "Revoked"]

_SOON = timedelta(milliseconds=50)
_BUDGETS = frozenset({Reason.ISSUE_BUDGET_USED.value, Reason.MINT_BUDGET_USED.value})


@dataclass(frozen=True, slots=True)
class Revoked:
    """What came of revoking.

    Attributes:
        left: what is still to be revoked.
        trouble: why it could not be.
    """

    left: tuple[Revocation, ...] = ()
    trouble: ReconcileError | None = None


class CertificateRemoval:
    """Takes certificates back."""

    def __init__(self, secrets: ProfileSecrets) -> None:
        self._secrets = secrets

    async def retire(
        self,
        run: RunContext,
        entries: Iterable[CertificateRequestStatus],
        still_named: Collection[str],
        now: datetime,
    ) -> tuple[Revocation, ...]:
        """Delete the Secrets of certificates that are no longer wanted, and return what is to be revoked of them.

        Args:
            run: the run.
            entries: what the status says of them.
            still_named: names of Secrets that the object keeps other certificates, or its keys, in.
            now: the present.

        Raises:
            ReconcileError: the service can't be asked.
            KubeError: the API server refuses or can't be asked.
        """
        due: list[Revocation] = []
        for entry in entries:
            if entry.secret_name not in still_named:
                target = TargetKey("Secret", run.seen.key.namespace, entry.secret_name)
                await self._secrets.retire(target, run.seen.uid)
            if entry.revoke_on_delete or entry.is_open:
                due += await self._end_requests(run, entry, now)
        return tuple(due)

    async def revoke(self, due: Sequence[Revocation], service: CertificateService) -> Revoked:
        """Revoke; what can't be is left for another time."""
        left: list[Revocation] = []
        trouble: ReconcileError | None = None
        for one in due:
            try:
                await service.revoke(one.certificate_id, RevocationReason.CESSATION_OF_OPERATION)
            except ReconcileError as error:
                left.append(one)
                trouble = error
        return Revoked(tuple(left[:REVOCATIONS_MAX]), trouble)

    @staticmethod
    async def _end_requests(
        run: RunContext, entry: CertificateRequestStatus, now: datetime
    ) -> list[Revocation]:
        """Cancel what is open, and return what was ever issued for the certificate and is still active."""
        if run.previous.profile is None:
            return []
        marks = run.marks_of(entry.name)
        due: list[Revocation] = []
        # Also what another profile was asked for, that the spec named before.
        for request in await run.service.requests_of(marks, None, run.project_id):
            if not request.status.is_final:
                await run.service.cancel(request.id)
            is_active = request.certificate_status in (None, CertificateStatus.ACTIVE)
            if entry.revoke_on_delete and request.certificate_id is not None and is_active:
                due.append(
                    Revocation(certificate_id=request.certificate_id, since=now.replace(microsecond=0))
                )
        return due


class Preview:
    """Plans without doing anything."""

    def __init__(self, profiles: Profiles, builder: CaseBuilder, tools: RoundTools) -> None:
        self._profiles = profiles
        self._builder = builder
        self._tools = tools

    async def look(self, run: RunContext) -> ProfileOutcome:
        """Return what would be done, and which rules stand against it; nothing is asked for or written.

        Raises:
            ReconcileError: the service refuses or can't be asked.
            KubeError: the API server can't be asked.
        """
        found = await self._profiles.find(run)
        profile = await self._profile(run, found)
        policy = await run.service.policy(profile.policy_id)
        cases, broken = await self._builder.build(run.seen, run.spec, run.previous, profile)
        authority = await self._authority(run, profile, found)
        context = RoundContext(run, profile, authority)
        decisions = await CertificateRound(self._tools, context, cases).preview()
        planned = [
            _planned(
                case,
                decision,
                () if policy is None else violations_of(case.desired, policy, profile, authority),
            )
            for case, decision in zip(cases, decisions, strict=True)
        ]
        planned += [
            PlannedCertificate(name=one.entry.name, action="Refuse", violations=(one.trouble.message,))
            for one in broken
        ]
        violated = [one for one in planned if one.violations]
        to_do = sum(one.action != "Keep" for one in planned)
        message = f"mode is Plan: {to_do} of {len(planned)} certificates would be dealt with, see status.plan"
        if violated:
            first = f"{violated[0].name}: {violated[0].violations[0]}"
            message = f"{message}; {len(violated)} of them stand against the policy: {first}"
        return ProfileOutcome(
            Tone.STALLED if violated else Tone.HELD,
            Reason.POLICY_VIOLATED if violated else Reason.PLANNED,
            message,
            plan=tuple(planned),
        )

    async def _authority(
        self, run: RunContext, profile: PresentProfile, found: FoundProfile | None
    ) -> Authority | None:
        if found is not None:
            return found.authority
        return await self._profiles.authority_of(run, profile)

    async def _profile(self, run: RunContext, found: FoundProfile | None) -> PresentProfile:
        """Return the profile as it would be."""
        if run.spec.existing:
            if found is None:
                raise TypeError("an existing profile was not found, and that was not refused")
            return found.profile
        described, _ = await self._profiles.describe(run)
        return PresentProfile(
            "" if found is None else found.profile.id,
            described.slug,
            described.policy_id,
            described.ca_id,
            described.issuer_type,
            described.description,
            described.defaults,
        )


def _planned(case: Case, decision: Decision, violations: Sequence[str]) -> PlannedCertificate:
    step = decision.step
    action, need = "Keep", None
    if decision.restore:
        action = "Restore"
    if isinstance(step, Mint):
        action, need = "Issue", step.need
    elif not isinstance(step, Keep):
        action = "Wait"
    shown = tuple(violations)[:VIOLATIONS_MAX]
    return PlannedCertificate(name=case.name, action=action, need=need, violations=shown)


class Issuing:
    """Has certificates issued, stored and taken back; holds no state of its own."""

    def __init__(
        self,
        clock: Clock,
        builder: CaseBuilder,
        tools: RoundTools,
        removal: CertificateRemoval,
        telemetry: Telemetry,
    ) -> None:
        self._clock = clock
        self._builder = builder
        self._tools = tools
        self._removal = removal
        self._telemetry = telemetry

    async def issue(self, context: RoundContext) -> tuple[ProfileOutcome, RunResult]:
        """Do a round, take back what the manifest names no more, and return what came of it.

        Raises:
            ObjectGoneError: the CertificateProfile is gone.
            ReconcileError: the keyring can't be written, or the service not be asked at all.
            KubeError: the API server refuses or can't be asked.
        """
        run, spec, previous = context.run, context.run.spec, context.run.previous
        cases, broken = await self._builder.build(run.seen, spec, previous, context.profile)
        names = {entry.name for entry in spec.certificates}
        gone = [entry for entry in previous.certificate_requests if entry.name not in names]
        work = CertificateRound(self._tools, context, cases)
        await work.run()
        restarts = await self._restart(run, cases, broken)
        due = await self._removal.retire(run, gone, run.secret_names, run.time(self._clock.now()))
        revoked = await self._removal.revoke((*previous.revocations, *due), run.service)
        now = run.time(self._clock.now())
        signing = {one.key for one in work.authorities}
        dropped = [one for one in previous.authorities if one.key not in signing]
        last = await last_end(context, now) if dropped else None
        standings = _in_order(spec, cases, broken, now)
        tone, reason, message = conclude(standings)
        namespace = run.seen.key.namespace
        targets = (TargetKey("Secret", namespace, name) for name in sorted(run.secret_names))
        contested = self._tools.secrets.contested(run.seen, targets)
        if contested is not None and tone is Tone.READY:
            # Said as long as it goes on, not after each repair anew.
            tone, reason, message = Tone.WAITING, contested.reason, contested.message
        if revoked.trouble is not None and tone is Tone.READY:
            tone, reason, message = Tone.WAITING, revoked.trouble.reason, revoked.trouble.message
        if restarts.message and tone is Tone.READY:
            message = f"{message}; {restarts.message}"
        if restarts.trouble is not None and tone is Tone.READY:
            message = f"{message}; {restarts.trouble.message}"
        issued = Issued(
            workloads=restarts.workloads,
            entries=tuple(one.entry for one in standings),
            authorities=work.authorities,
            former=former_authorities(previous.former_authorities, dropped, work.authorities, last, now),
            wave=work.rolling.wave,
            lost_keys=work.lost_keys,
            revocations=revoked.left,
            valid=sum(one.valid for one in standings),
            aspects=aspects_of(standings, run.service.clock_ahead, contested),
        )
        self._tell(context, standings, cases)
        known = (*(one.trouble for one in standings), revoked.trouble, contested, restarts.trouble)
        troubles = [one for one in known if one is not None]
        outcome = ProfileOutcome(
            tone,
            reason,
            message,
            profile=_profile_status(context.profile),
            issued=issued,
            remedy=next((one.remedy for one in troubles if one.reason == reason), None),
        )
        # What a person must change is looked at again with the rest; only what may pass by itself backs off.
        if any(one.retry and not isinstance(one, StalledError) for one in troubles):
            return outcome, RunResult(failed=True)
        waits = (*(one.after for one in troubles), restarts.after)
        later = [wait for wait in waits if wait is not None]
        return outcome, RunResult(requeue_after=min((_again(work, cases, now), *later)))

    async def _restart(self, run: RunContext, cases: Sequence[Case], broken: Sequence[Broken]) -> Restarts:
        """Restart the workloads that read the Secrets, once for each change of them."""
        before, renewed = run.previous.workloads, {case.name for case in cases if case.renewed}
        entries = {one.name: one for one in (*(case.entry for case in cases), *(one.entry for one in broken))}
        followed: dict[Workload, list[CertificateRequestStatus]] = {}
        for certificate in run.spec.certificates:
            for workload in certificate.rollout_restart:
                followed.setdefault(workload, []).append(entries[certificate.name])
        wanted = [
            WantedRestart(
                workload,
                _value_for(read),
                any(one.name in renewed for one in read) or _is_owed(place, read, before),
            )
            for place, (workload, read) in enumerate(followed.items())
        ]
        is_first = not run.previous.certificate_requests
        look = is_first or run.previous.observed_generation != run.seen.generation
        restarts = await self._tools.restarter.settle(run.seen, wanted, before, look=look)
        for case in cases:
            named = {(one.kind, one.name) for one in case.desired.entry.rollout_restart}
            if case.entry.restart_due and not named & restarts.unsettled:
                case.say(restart_due=None)
        return restarts

    def _tell(self, context: RoundContext, standings: Sequence[Standing], cases: Sequence[Case]) -> None:
        """Tell Events and metrics of what has changed."""
        metrics = self._telemetry.metrics.certificates
        metrics.show(context.run.seen.key, facts_of(standings))
        before = {entry.name: entry for entry in context.run.previous.certificate_requests}
        for one in standings:
            was = before.get(one.entry.name)
            if one.entry.status is not None and (was is None or _state(was) != _state(one.entry)):
                metrics.request_is(context.run.seen.key.kind, one.entry.status.value)
        for case in cases:
            if case.renewed:
                message = f"certificate {case.name} was issued anew ({case.entry.need}) and is in Secret "
                self._telemetry.certificate(
                    context.run.seen, "Renewed", message + case.entry.secret_name, fine=True
                )
            was = before.get(case.name)
            if case.entry.reason in _BUDGETS and (was is None or was.reason != case.entry.reason):
                self._telemetry.effect_delayed(case.limit.effect)
            failures = 0 if was is None else was.failures or 0
            if (
                (case.entry.failures or 0) > failures
                and case.has_certificate
                and case.entry.reason is not None
            ):
                # What is served goes on, so that no condition tells of it.
                message = f"certificate {case.name} could not be issued anew: {case.entry.message}"
                self._telemetry.certificate(context.run.seen, case.entry.reason, message, fine=False)


def _value_for(read: Sequence[CertificateRequestStatus]) -> str:
    """Return what a restart for these certificates is known by: the first that needs it tells."""
    one = next((one for one in read if one.restart_due), read[0])
    return f"{one.secret_name}:{one.serial_number}"


def _is_owed(place: int, read: Sequence[CertificateRequestStatus], before: Sequence[WorkloadStatus]) -> bool:
    """Tell whether a restart is left to do that the status says of the certificate alone.

    So did an earlier version, and so it is with workloads beyond those that the status lists.
    """
    is_untold = not before or place >= WORKLOADS_MAX
    return is_untold and any(one.restart_due for one in read)


def _in_order(
    spec: CertificateProfileSpec, cases: Sequence[Case], broken: Sequence[Broken], now: datetime
) -> list[Standing]:
    """Return how each certificate stands, in the order of the spec."""
    by_name = {
        case.name: Standing(case.entry, case.is_valid(now), case.trouble or _flaw_of(case)) for case in cases
    }
    by_name |= {one.entry.name: Standing(one.entry, valid=False, trouble=one.trouble) for one in broken}
    return [by_name[entry.name] for entry in spec.certificates]


def _flaw_of(case: Case) -> StalledError | None:
    """Return what somebody has to change though all that was decided was done."""
    if not case.is_renewed_too_early:
        return None
    given = write_duration(case.desired.entry.renew_before or timedelta())
    lives = write_duration(case.desired.lifetime or case.lifetime or timedelta())
    return StalledError(
        Reason.RENEW_BEFORE_TOO_LONG,
        f"renewBefore is {given}, and it lives for {lives}: it is renewed when a third of that has passed; lower "
        "renewBefore to two thirds at most, or raise the lifetime",
    )


def _again(work: CertificateRound, cases: Sequence[Case], now: datetime) -> timedelta:
    """Return when to look again: when the next thing is due, and at the latest when the profile is compared."""
    if work.more:
        return _SOON
    due = [case.until for case in cases if case.until is not None]
    if work.rolling.again_at is not None:
        due.append(work.rolling.again_at)
    return min(max(min(due, default=now + REFRESH) - now, _SOON), REFRESH)


def _profile_status(profile: PresentProfile) -> ProfileStatus:
    return ProfileStatus(id=profile.id, slug=profile.slug, policy_id=profile.policy_id, ca_id=profile.ca_id)


def _state(entry: CertificateRequestStatus) -> tuple[object, ...]:
    return entry.revision, entry.status
