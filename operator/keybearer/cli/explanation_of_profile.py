"""What a CertificateProfile does and how it stands, in words. Pure: from what the API server shows, without keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue, ValidationError

from keybearer.cli.explanation_parts import (
    Explanation,
    SeenObject,
    Standing,
    Story,
    correct_workloads,
    explained,
    missing_workloads,
    names,
    restarts_told,
    several,
)
from keybearer.controllers.certificateprofile.reasons import REMEDIES
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec, RemoteDeletionPolicy
from keybearer.controllers.certificateprofile.status import (
    CertificateProfileStatus,
    CertificateRequestStatus,
)
from keybearer.controllers.mode import Mode
from keybearer.controllers.remedy import AS_THE_MESSAGE_SAYS

__all__ = ["explain_profile", "secrets_of_profile"]

_TOLD = 20
"""Certificates that are told of one by one."""


def explain_profile(body: Mapping[str, JsonValue], secrets: Mapping[str, SeenObject | None]) -> Explanation:
    """Return what the CertificateProfile issues, how it stands, what is wrong and what to do next.

    Args:
        body: the CertificateProfile as the API server shows it.
        secrets: the Secrets that `secrets_of_profile` names; None for one that doesn't exist.
    """

    def tell(spec: CertificateProfileSpec, status: CertificateProfileStatus) -> Story:
        standing = Standing("certificateprofile", body, status.conditions, status)
        return _Story(standing, spec, status, secrets)

    return explained(body, tell, spec=CertificateProfileSpec, status=CertificateProfileStatus)


def secrets_of_profile(body: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return the names of the Secrets with the credentials of the CertificateProfile; none of an unreadable one."""
    try:
        spec = CertificateProfileSpec.model_validate(body.get("spec") or {})
    except ValidationError:
        return ()
    return (spec.identity_ref.name,)


@dataclass(frozen=True, slots=True)
class _Story(Story):
    spec: CertificateProfileSpec
    status: CertificateProfileStatus
    secrets: Mapping[str, SeenObject | None]

    def reads(self) -> Iterator[str]:
        project = self.spec.project_slug or self.spec.project_id
        where = "the organization's project for certificates" if project is None else f"project {project}"
        slug = self.spec.remote_slug(self.standing.name)
        if self.spec.existing:
            yield f"Profile {slug} of {where}, which the service has and this object changes nothing of."
        else:
            signer = "certificates that sign themselves"
            if self.spec.ca_ref is not None:
                signer = f"authority {self.spec.ca_ref}"
            yield f"Profile {slug} of {where}, which it manages: policy {self.spec.policy_ref}, {signer}."
        yield f"It asks as the machine identity in Secret {self.spec.identity_ref.name}."

    def writes(self) -> Iterator[str]:
        if not self.spec.certificates:
            yield "No certificates of its own: others ask for them by the profile."
        issued = [f"{one.name} in Secret {one.target_name}" for one in self.spec.certificates]
        count = several(len(issued), "certificate")
        if issued and self.spec.mode is Mode.PLAN:
            yield f"Nothing: mode is Plan. It would issue {count}: {names(issued)}."
        elif issued and self.spec.mode is Mode.SUSPENDED:
            yield f"Nothing: mode is Suspended. Otherwise it would keep {count}: {names(issued)}."
        elif issued and self.spec.mode is Mode.CREATE_ONCE:
            yield f"{count}, issued once and left alone afterwards: {names(issued)}."
        elif issued:
            yield f"{count}, issued and renewed: {names(issued)}."
        revoked = [one.name for one in self.spec.certificates if one.revoke_on_delete]
        if revoked:
            yield f"Revoked when it is deleted: {names(revoked)}."
        if self.spec.on_delete is RemoteDeletionPolicy.RETAIN and not self.spec.existing:
            yield "The profile stays in the service when the CertificateProfile is deleted."

    def stands(self) -> Iterator[str]:
        yield from self.standing.stands()
        if self.status.issued is not None:
            renewal = self.status.next_renewal_time
            then = "" if renewal is None else f"; the next one is renewed {renewal.isoformat()}"
            yield f"Issued and valid: {self.status.issued}{then}."
        yield from self._ends()
        for planned in self.status.plan[:_TOLD]:
            need = "" if planned.need is None else f" ({planned.need})"
            against = (
                f"; against it: {'; '.join(planned.violations)}"
                if planned.violations
                else ", nothing against it"
            )
            yield f"Planned for {planned.name}: {planned.action}{need}{against}."
        if self.status.wave is not None:
            yield f"The authority has another key since {self.status.wave.started_at.isoformat()}; all follow it."
        if self.status.revocations:
            yield f"Still to be revoked: {several(len(self.status.revocations), 'certificate')}."
        yield from restarts_told(self.status.workloads)

    def _ends(self) -> Iterator[str]:
        """Yield until when each certificate is valid that is in its Secret."""
        stored = [one for one in self.status.certificate_requests if one.not_after is not None]
        for one in stored[:_TOLD]:
            renewal = "" if one.renewal_time is None else f", renewed {one.renewal_time.isoformat()}"
            revoked = "; it is revoked" if one.revoked else ""
            end = "" if one.not_after is None else one.not_after.isoformat()
            yield f"Certificate {one.name} in Secret {one.secret_name} is valid until {end}{renewal}{revoked}."
        rest = [one.not_after for one in stored[_TOLD:] if one.not_after is not None]
        if rest:
            yield f"{several(len(rest), 'further certificate')}; the first of them ends {min(rest).isoformat()}."

    def _in_trouble(self) -> list[CertificateRequestStatus]:
        return [one for one in self.status.certificate_requests if one.reason is not None]

    def wrong(self) -> Iterator[str]:
        yield from self.standing.wrong()
        troubled = self._in_trouble()
        for one in troubled[:_TOLD]:
            again = one.next_attempt_time
            when = "" if again is None else f" (asked again {again.isoformat()})"
            yield f"Certificate {one.name}: {one.reason}: {one.message or 'no message'}{when}"
        if len(troubled) > _TOLD:
            yield f"{several(len(troubled) - _TOLD, 'further certificate')} in trouble."
        for name, seen in self.secrets.items():
            if seen is None:
                yield f"There is no Secret {name} in namespace {self.standing.namespace}."
        yield from missing_workloads(self.status.workloads)

    def next_steps(self) -> Iterator[str]:
        yield from self.standing.next_steps()
        for one in self._in_trouble():
            remedy = REMEDIES.get(one.reason or "", AS_THE_MESSAGE_SAYS)
            yield self.standing.told(remedy)
        for name, seen in self.secrets.items():
            if seen is None and self.standing.is_ready:
                yield f"Create the Secret {name} in namespace {self.standing.namespace}."
        yield from correct_workloads(self.status.workloads, "spec.certificates[].rolloutRestart")
