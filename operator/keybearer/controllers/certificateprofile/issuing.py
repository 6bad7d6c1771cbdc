"""The certificates of one CertificateProfile in one run: a round for them, the end of others, and what is told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from keybearer.base.clock import Clock
from keybearer.controllers.certificateprofile.case import Case
from keybearer.controllers.certificateprofile.casework import Broken, CaseBuilder
from keybearer.controllers.certificateprofile.conclusion import (
    Issued,
    Outcome,
    Standing,
    aspects_of,
    conclude,
    facts_of,
)
from keybearer.controllers.certificateprofile.former_authorities import former_authorities, last_end
from keybearer.controllers.certificateprofile.profiles import REFRESH
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.removal import Removal
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.certificateprofile.round import CertificateRound
from keybearer.controllers.certificateprofile.setting import RoundTools, Setting
from keybearer.controllers.certificateprofile.status import CertificateRequestStatus, ProfileStatus
from keybearer.controllers.conditions import Tone
from keybearer.controllers.issuance.service import PresentProfile
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.resource_fields import write_duration
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.workers import RunResult

__all__ = ["Issuing"]

_SOON = timedelta(milliseconds=50)
_BUDGETS = frozenset({Reason.ISSUES_USED.value, Reason.BUDGET_USED.value})


class Issuing:
    """Has certificates issued, stored and taken back; holds no state of its own."""

    def __init__(
        self,
        clock: Clock,
        builder: CaseBuilder,
        tools: RoundTools,
        removal: Removal,
        telemetry: Telemetry,
    ) -> None:
        self._clock = clock
        self._builder = builder
        self._tools = tools
        self._removal = removal
        self._telemetry = telemetry

    async def issue(self, setting: Setting) -> tuple[Outcome, RunResult]:
        """Do a round, take back what the manifest names no more, and return what came of it.

        Raises:
            ObjectGoneError: the CertificateProfile is gone.
            ReconcileError: the keyring can't be written, or the service not be asked at all.
            KubeError: the API server refuses or can't be asked.
        """
        scene, spec, previous = setting.scene, setting.scene.spec, setting.scene.previous
        cases, broken = await self._builder.build(scene.seen, spec, previous, setting.profile)
        names = {entry.name for entry in spec.certificates}
        gone = [entry for entry in previous.certificate_requests if entry.name not in names]
        work = CertificateRound(self._tools, setting, cases)
        await work.run()
        due = await self._removal.retire(scene, gone, scene.secret_names, scene.time(self._clock.now()))
        revoked = await self._removal.revoke((*previous.revocations, *due), scene.service)
        now = scene.time(self._clock.now())
        signing = {one.key for one in work.authorities}
        dropped = [one for one in previous.authorities if one.key not in signing]
        last = await last_end(setting, now) if dropped else None
        standings = _in_order(spec, cases, broken, now)
        tone, reason, message = conclude(standings)
        if revoked.trouble is not None and tone is Tone.READY:
            tone, reason, message = Tone.WAITING, revoked.trouble.reason, revoked.trouble.message
        issued = Issued(
            entries=tuple(one.entry for one in standings),
            authorities=work.authorities,
            former=former_authorities(previous.former_authorities, dropped, work.authorities, last, now),
            wave=work.rolling.wave,
            lost_keys=work.lost_keys,
            revocations=revoked.left,
            valid=sum(one.valid for one in standings),
            aspects=aspects_of(standings, scene.service.clock_ahead),
        )
        self._tell(setting, standings, cases)
        outcome = Outcome(tone, reason, message, profile=_profile_status(setting.profile), issued=issued)
        troubles = [one.trouble for one in standings]
        # What a person must change is looked at again with the rest; only what may pass by itself backs off.
        failed = any(
            one is not None and not isinstance(one, StalledError) for one in (*troubles, revoked.trouble)
        )
        return outcome, RunResult(failed=failed, requeue_after=None if failed else _again(work, cases, now))

    def _tell(self, setting: Setting, standings: Sequence[Standing], cases: Sequence[Case]) -> None:
        """Tell Events and metrics of what has changed."""
        metrics = self._telemetry.metrics.certificates
        metrics.show(setting.scene.seen.key, facts_of(standings))
        before = {entry.name: entry for entry in setting.scene.previous.certificate_requests}
        for one in standings:
            was = before.get(one.entry.name)
            if one.entry.status is not None and (was is None or _state(was) != _state(one.entry)):
                metrics.request_is(setting.scene.seen.key.kind, one.entry.status.value)
        for case in cases:
            if case.renewed:
                message = f"certificate {case.name} was issued anew ({case.entry.need}) and is in Secret "
                self._telemetry.certificate(
                    setting.scene.seen, "Renewed", message + case.entry.secret_name, fine=True
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
                self._telemetry.certificate(setting.scene.seen, case.entry.reason, message, fine=False)


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
