"""Certificate profiles as people make, see, change and delete them (interface.md 2.6 and 4.7, wire.md 5.4)."""

from __future__ import annotations

from dataclasses import replace

from keybearer.base.certificate_terms import EnrollmentType, IssuerType
from keybearer.base.clock import Clock
from keybearer.base.ids import ProjectId, new_uuid
from keybearer.domain.access import ProjectAccess
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.approval_guard import require_free_authority, require_unguarded
from keybearer.domain.certificates.enrolling import put_enrollment
from keybearer.domain.certificates.lookup import access_to, certificate_project, in_project
from keybearer.domain.certificates.policy_binding import require_may_bind, require_of_policy
from keybearer.domain.certificates.profile_requests import (
    AcmeBinding,
    NewProfile,
    ProfileChange,
    ProfileDetail,
    ProfileView,
)
from keybearer.domain.errors import ForbiddenError, InvalidError, NotFoundError, SchemaViolationError
from keybearer.domain.unchanged import Unchanged
from keybearer.store.audit import AuditEvent
from keybearer.store.certificate_policies import CertificatePolicy
from keybearer.store.certificate_profiles import CertificateProfile, ProfileFilter
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import CERTIFICATE_OBJECTS_MAX

__all__ = ["CertificateProfiles"]

_WHAT, _POLICY, _AUTHORITY = "Certificate profile", "Certificate policy", "Certificate authority"


class CertificateProfiles:
    """Decides about certificate profiles.

    Every method raises NotFoundError for a profile or project that isn't there, and ForbiddenError where the
    principal may not.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def list(
        self, principal: Principal, project_id: str | None, wanted: ProfileFilter, *, offset: int, limit: int
    ) -> tuple[list[ProfileView], int]:
        """Return a page of the project's profiles by slug, and how many there are in all."""
        async with self._database.reading() as unit:
            access = await certificate_project(
                unit, principal, project_id, Action.READ, Subject.CERTIFICATE_PROFILES
            )
            found, total = await unit.certificate_profiles.of_project(
                access.project.id, wanted, offset=offset, limit=limit
            )
            enrollments = await unit.enrollments.of_profiles([one.id for one in found])
        views = [
            ProfileView(profile, {one.kind: one for one in enrollments if one.profile_id == profile.id})
            for profile in found
        ]
        return views, total

    async def get(self, principal: Principal, profile_id: str) -> ProfileDetail:
        """Return one profile with what it refers to."""
        async with self._database.reading() as unit:
            profile, _ = await _found(unit, principal, profile_id, Action.READ)
            policy = await unit.certificate_policies.get(profile.policy_id)
            if policy is None:
                raise AssertionError("a certificate profile has no policy")
            authority = (
                None
                if profile.authority_id is None
                else await unit.certificate_authorities.get(profile.authority_id)
            )
            return ProfileDetail(await _view(unit, profile), policy, authority)

    async def with_slug(self, principal: Principal, slug: str, project_id: str | None) -> ProfileView:
        """Return the project's profile of that slug."""
        async with self._database.reading() as unit:
            access = await certificate_project(
                unit, principal, project_id, Action.READ, Subject.CERTIFICATE_PROFILES
            )
            profile = await unit.certificate_profiles.with_slug(access.project.id, slug)
            if profile is None:
                raise NotFoundError(f"{_WHAT} not found")
            return await _view(unit, profile)

    async def create(self, principal: Principal, new: NewProfile) -> ProfileView:
        """Make a profile; without a project it is made in the one of its policy.

        Raises:
            NotFoundError: the policy or the authority isn't one of the project.
            ForbiddenError: the slug is taken, the policy leaves its profiles to admins, or it would go around the
                approval that the authority's profiles need.
            InvalidError: the project has too many, or the authority signs by another policy alone.
        """
        async with self._database.writing() as unit:
            policy = await unit.certificate_policies.get(new.policy_id)
            access = await _project_of(unit, principal, new, policy)
            project_id = access.project.id
            policy = in_project(policy, project_id, _POLICY)
            require_may_bind(access, policy)
            if new.authority_id is not None:
                await _require_authority(unit, access, new.authority_id, policy.id)
            if await unit.certificate_profiles.count_of(project_id) >= CERTIFICATE_OBJECTS_MAX:
                raise InvalidError(f"A project has at most {CERTIFICATE_OBJECTS_MAX} certificate profiles")
            await _require_free_slug(unit, project_id, new.slug)
            now = self._clock.now()
            profile = CertificateProfile(
                id=new_uuid(),
                project_id=project_id,
                policy_id=policy.id,
                authority_id=new.authority_id,
                slug=new.slug,
                description=new.description,
                issuer_type=new.issuer_type,
                enrollment_type=new.enrollment_type or EnrollmentType.API,
                external_configs=new.external_configs,
                defaults=new.defaults,
                created_at=now,
                updated_at=now,
            )
            await unit.certificate_profiles.add(profile)
            for terms in new.enrollments:
                await put_enrollment(unit, project_id, profile.id, None, terms, (), now)
            await unit.audit(_event(principal, EventType.CREATE_CERTIFICATE_PROFILE, profile))
            return await _view(unit, profile)

    async def update(self, principal: Principal, profile_id: str, change: ProfileChange) -> ProfileView:
        """Change a profile; what was issued stays as it is.

        Raises:
            NotFoundError: the policy or the authority isn't one of the project.
            ForbiddenError: the new slug is taken, the policy or the authority would change where a policy leaves its
                profiles to admins, or it would go around the approval that the authority's profiles need.
            InvalidError: the authority signs by another policy alone.
            SchemaViolationError: issuer, authority and enrollment don't go together.
        """
        async with self._database.writing() as unit:
            profile, access = await _found(unit, principal, profile_id, Action.EDIT, for_change=True)
            if change.policy_id is not None and change.policy_id != profile.policy_id:
                for policy_id in (change.policy_id, profile.policy_id):
                    found = await unit.certificate_policies.get(policy_id)
                    require_may_bind(access, in_project(found, profile.project_id, _POLICY))
                if profile.authority_id is not None and change.authority_id in (None, profile.authority_id):
                    present = await unit.certificate_authorities.get(profile.authority_id)
                    authority = in_project(present, profile.project_id, _AUTHORITY)
                    await require_of_policy(unit, authority, change.policy_id)
            if change.authority_id is not None and change.authority_id != profile.authority_id:
                await require_unguarded(unit, access, profile)
                # What a policy allows for one authority isn't meant for every other.
                bound = await unit.certificate_policies.get(change.policy_id or profile.policy_id)
                require_may_bind(access, in_project(bound, profile.project_id, _POLICY))
                await _require_authority(
                    unit, access, change.authority_id, change.policy_id or profile.policy_id
                )
            if change.slug is not None and change.slug != profile.slug:
                await _require_free_slug(unit, profile.project_id, change.slug)
            changed = replace(_changed(profile, change), updated_at=self._clock.now())
            _require_together(changed)
            await unit.certificate_profiles.update(changed)
            await _enroll(unit, changed, change)
            await unit.audit(_event(principal, EventType.UPDATE_CERTIFICATE_PROFILE, changed))
            return await _view(unit, changed)

    async def delete(self, principal: Principal, profile_id: str) -> ProfileView:
        """Remove a profile, in use or not; certificates and requests of it live on without one.

        Raises:
            ForbiddenError: its requests need approval, which the principal may not change.
        """
        async with self._database.writing() as unit:
            profile, access = await _found(unit, principal, profile_id, Action.DELETE, for_change=True)
            await require_unguarded(unit, access, profile)
            view = await _view(unit, profile)
            await unit.certificate_profiles.delete(profile.id)
            await unit.audit(_event(principal, EventType.DELETE_CERTIFICATE_PROFILE, profile))
            return view

    async def acme_binding(self, principal: Principal, profile_id: str) -> AcmeBinding:
        """Return what an ACME client would make an account with; that it was shown is written down.

        Raises:
            NotFoundError: the profile has no enrollment by ACME.
        """
        async with self._database.writing() as unit:
            profile, _ = await _found(unit, principal, profile_id, Action.EDIT)
            enrollment = (await _view(unit, profile)).enrollments.get(EnrollmentType.ACME)
            secret = None if enrollment is None else await unit.enrollments.secret(enrollment)
            if enrollment is None or secret is None:
                raise NotFoundError("Certificate profile has no ACME configuration")
            await unit.audit(_event(principal, EventType.REVEAL_ACME_BINDING, profile))
            return AcmeBinding(enrollment.id, secret)


async def _found(
    unit: UnitOfWork, principal: Principal, profile_id: str, action: Action, *, for_change: bool = False
) -> tuple[CertificateProfile, ProjectAccess]:
    found = await unit.certificate_profiles.get(profile_id, for_change=for_change)
    return await access_to(unit, principal, found, _WHAT, action, Subject.CERTIFICATE_PROFILES)


async def _view(unit: UnitOfWork, profile: CertificateProfile) -> ProfileView:
    found = await unit.enrollments.of_profiles([profile.id])
    return ProfileView(profile, {one.kind: one for one in found})


async def _project_of(
    unit: UnitOfWork, principal: Principal, new: NewProfile, policy: CertificatePolicy | None
) -> ProjectAccess:
    if new.project_id is None and policy is not None:
        _, access = await access_to(
            unit, principal, policy, _POLICY, Action.CREATE, Subject.CERTIFICATE_PROFILES
        )
        return access
    return await certificate_project(
        unit, principal, new.project_id, Action.CREATE, Subject.CERTIFICATE_PROFILES
    )


async def _require_authority(
    unit: UnitOfWork, access: ProjectAccess, authority_id: str, policy_id: str
) -> None:
    found = await unit.certificate_authorities.get(authority_id)
    authority = in_project(found, access.project.id, _AUTHORITY)
    await require_free_authority(unit, access, authority)
    await require_of_policy(unit, authority, policy_id)


async def _require_free_slug(unit: UnitOfWork, project_id: ProjectId, slug: str) -> None:
    if await unit.certificate_profiles.with_slug(project_id, slug) is not None:
        raise ForbiddenError(
            "Certificate profile with this name already exists in project", name="ForbiddenError"
        )


def _changed(profile: CertificateProfile, change: ProfileChange) -> CertificateProfile:
    return replace(
        profile,
        policy_id=change.policy_id or profile.policy_id,
        authority_id=change.authority_id or profile.authority_id,
        slug=change.slug or profile.slug,
        description=profile.description if isinstance(change.description, Unchanged) else change.description,
        issuer_type=change.issuer_type or profile.issuer_type,
        enrollment_type=change.enrollment_type or profile.enrollment_type,
        external_configs=profile.external_configs
        if isinstance(change.external_configs, Unchanged)
        else change.external_configs,
        defaults=profile.defaults if isinstance(change.defaults, Unchanged) else change.defaults,
    )


def _require_together(profile: CertificateProfile) -> None:
    if profile.issuer_type == IssuerType.CA and profile.authority_id is None:
        raise SchemaViolationError("CA issuer type requires a CA ID", field="issuerType")
    if profile.issuer_type == IssuerType.SELF_SIGNED:
        if profile.authority_id is not None:
            raise SchemaViolationError("Self-signed issuer type cannot have a CA ID", field="issuerType")
        if profile.enrollment_type != EnrollmentType.API:
            raise SchemaViolationError(
                "Self-signed issuer type only supports API enrollment", field="enrollmentType"
            )


async def _enroll(unit: UnitOfWork, profile: CertificateProfile, change: ProfileChange) -> None:
    """Store the ways that are given; another way than before, named by its type, puts an end to the others."""
    present = await unit.enrollments.of_profiles([profile.id])
    given = {terms.kind for terms in change.enrollments}
    kind = change.enrollment_type
    if kind is not None:
        title = kind.value.upper()
        if kind not in given and all(one.kind != kind for one in present):
            raise SchemaViolationError(
                f"{title} enrollment type requires {title} configuration", field="enrollmentType"
            )
        for other in given - {kind}:
            raise SchemaViolationError(
                f"{title} enrollment type cannot have {other.value.upper()} configuration",
                field="enrollmentType",
            )
        for one in present:
            if one.kind != kind:
                await unit.enrollments.delete(profile.id, None, one.kind)
    for terms in change.enrollments:
        await put_enrollment(unit, profile.project_id, profile.id, None, terms, present, profile.updated_at)


def _event(principal: Principal, kind: EventType, profile: CertificateProfile) -> AuditEvent:
    return audited(
        principal,
        kind,
        profile.project_id,
        certificateProfileId=profile.id,
        slug=profile.slug,
        certificatePolicyId=profile.policy_id,
        caId=profile.authority_id,
    )
