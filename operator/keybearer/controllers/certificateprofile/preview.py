"""What `mode: Plan` says: what would be done about each certificate, and which rules of the policy it breaks."""

from __future__ import annotations

from collections.abc import Sequence

from keybearer.controllers.certificateprofile.case import Case
from keybearer.controllers.certificateprofile.casework import CaseBuilder
from keybearer.controllers.certificateprofile.conclusion import Outcome
from keybearer.controllers.certificateprofile.decisions import Decision, Keep, Mint
from keybearer.controllers.certificateprofile.gate import Authority
from keybearer.controllers.certificateprofile.policy_check import violations_of
from keybearer.controllers.certificateprofile.profiles import FoundProfile, Profiles
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.round import CertificateRound
from keybearer.controllers.certificateprofile.setting import RoundTools, Scene, Setting
from keybearer.controllers.certificateprofile.status import PlannedCertificate
from keybearer.controllers.conditions import Tone
from keybearer.controllers.issuance.service import PresentProfile

__all__ = ["Preview"]

_VIOLATIONS_MAX = 32


class Preview:
    """Plans without doing anything."""

    def __init__(self, profiles: Profiles, builder: CaseBuilder, tools: RoundTools) -> None:
        self._profiles = profiles
        self._builder = builder
        self._tools = tools

    async def look(self, scene: Scene) -> Outcome:
        """Return what would be done, and which rules stand against it; nothing is asked for or written.

        Raises:
            ReconcileError: the service refuses or can't be asked.
            KubeError: the API server can't be asked.
        """
        found = await self._profiles.find(scene)
        profile = await self._profile(scene, found)
        policy = await scene.service.policy(profile.policy_id)
        cases, broken = await self._builder.build(scene.seen, scene.spec, scene.previous, profile)
        authority = await self._authority(scene, profile, found)
        setting = Setting(scene, profile, authority)
        decisions = await CertificateRound(self._tools, setting, cases).preview()
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
        return Outcome(
            Tone.STALLED if violated else Tone.HELD,
            Reason.POLICY_VIOLATED if violated else Reason.PLANNED,
            message,
            plan=tuple(planned),
        )

    async def _authority(
        self, scene: Scene, profile: PresentProfile, found: FoundProfile | None
    ) -> Authority | None:
        if found is not None:
            return found.authority
        return await self._profiles.authority_of(scene, profile)

    async def _profile(self, scene: Scene, found: FoundProfile | None) -> PresentProfile:
        """Return the profile as it would be."""
        if scene.spec.existing:
            if found is None:
                raise TypeError(scene.seen.key)
            return found.profile
        described, _ = await self._profiles.describe(scene)
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
    shown = tuple(violations)[:_VIOLATIONS_MAX]
    return PlannedCertificate(name=case.name, action=action, need=need, violations=shown)
