"""Applications, the profiles attached to them, and enrollment of the two together (wire.md section 5.7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from keybearer.base.certificate_terms import EnrollmentType
from keybearer.base.clock import Clock
from keybearer.base.ids import ProjectId, new_uuid
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.enrolling import EnrollmentTerms, put_enrollment
from keybearer.domain.certificates.lookup import access_to, certificate_project, in_project
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.unchanged import UNCHANGED, Unchanged
from keybearer.store.audit import AuditDetail, AuditEvent
from keybearer.store.certificate_applications import AttachedProfile, CertificateApplication
from keybearer.store.database import Database
from keybearer.store.enrollments import Enrollment
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import CERTIFICATE_OBJECTS_MAX

__all__ = ["ApplicationChange", "Applications", "AttachedView", "NewApplication"]

_WHAT, _PROFILE = "Application", "Certificate profile"
_NOT_ATTACHED = "Certificate profile is not attached to the application"


@dataclass(frozen=True, slots=True)
class NewApplication:
    """An application to be made."""

    project_id: str | None
    name: str
    description: str | None
    profile_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApplicationChange:
    """What changes of an application."""

    name: str | None = None
    description: str | Unchanged | None = UNCHANGED


@dataclass(frozen=True, slots=True)
class AttachedView:
    """A profile that is attached, with the ways of enrollment that were set for the two, by their kind."""

    attached: AttachedProfile
    enrollments: Mapping[str, Enrollment]


class Applications:
    """Decides about applications.

    Every method raises NotFoundError for an application, profile or project that isn't there, and ForbiddenError
    where the principal may not.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def list(
        self, principal: Principal, project_id: str | None, *, search: str | None, offset: int, limit: int
    ) -> tuple[list[CertificateApplication], int]:
        """Return a page of the project's applications by name, and how many there are in all."""
        async with self._database.reading() as unit:
            access = await certificate_project(
                unit, principal, project_id, Action.READ, Subject.CERTIFICATE_APPLICATIONS
            )
            return await unit.certificate_applications.of_project(
                access.project.id, search=search, offset=offset, limit=limit
            )

    async def get(self, principal: Principal, application_id: str) -> CertificateApplication:
        """Return one application."""
        async with self._database.reading() as unit:
            return await _found(unit, principal, application_id, Action.READ)

    async def named(self, principal: Principal, name: str, project_id: str | None) -> CertificateApplication:
        """Return the project's application of that name."""
        async with self._database.reading() as unit:
            access = await certificate_project(
                unit, principal, project_id, Action.READ, Subject.CERTIFICATE_APPLICATIONS
            )
            found = await unit.certificate_applications.named(access.project.id, name)
            if found is None:
                raise NotFoundError(f"{_WHAT} not found")
            return found

    async def create(self, principal: Principal, new: NewApplication) -> CertificateApplication:
        """Make an application, with profiles attached.

        Raises:
            InvalidError: the name is taken, or the project has too many.
        """
        async with self._database.writing() as unit:
            access = await certificate_project(
                unit, principal, new.project_id, Action.CREATE, Subject.CERTIFICATE_APPLICATIONS
            )
            project_id, now = access.project.id, self._clock.now()
            if await unit.certificate_applications.count_of(project_id) >= CERTIFICATE_OBJECTS_MAX:
                raise InvalidError(f"A project has at most {CERTIFICATE_OBJECTS_MAX} applications")
            await _require_free_name(unit, project_id, new.name)
            await _require_profiles(unit, project_id, new.profile_ids)
            application = CertificateApplication(new_uuid(), project_id, new.name, new.description, now, now)
            await unit.certificate_applications.add(application)
            await unit.certificate_applications.attach(application.id, new.profile_ids, now)
            await unit.audit(
                _event(
                    principal,
                    EventType.CREATE_CERTIFICATE_APPLICATION,
                    application,
                    profileIds=[*new.profile_ids],
                )
            )
            return application

    async def update(
        self, principal: Principal, application_id: str, change: ApplicationChange
    ) -> CertificateApplication:
        """Change an application.

        Raises:
            InvalidError: the new name is taken.
        """
        async with self._database.writing() as unit:
            application = await _found(unit, principal, application_id, Action.EDIT, for_change=True)
            if change.name is not None and change.name != application.name:
                await _require_free_name(unit, application.project_id, change.name)
            changed = replace(
                application,
                name=change.name or application.name,
                description=application.description
                if isinstance(change.description, Unchanged)
                else change.description,
                updated_at=self._clock.now(),
            )
            await unit.certificate_applications.update(changed)
            await unit.audit(_event(principal, EventType.UPDATE_CERTIFICATE_APPLICATION, changed))
            return changed

    async def delete(self, principal: Principal, application_id: str) -> CertificateApplication:
        """Remove an application; its certificates live on."""
        async with self._database.writing() as unit:
            application = await _found(unit, principal, application_id, Action.DELETE, for_change=True)
            await unit.certificate_applications.delete(application.id)
            await unit.audit(_event(principal, EventType.DELETE_CERTIFICATE_APPLICATION, application))
            return application

    async def profiles(self, principal: Principal, application_id: str) -> Sequence[AttachedView]:
        """Return the profiles attached to an application, by slug."""
        async with self._database.reading() as unit:
            application = await _found(unit, principal, application_id, Action.READ)
            return await _attached(unit, application.id)

    async def attach(
        self, principal: Principal, application_id: str, profile_ids: Sequence[str]
    ) -> Sequence[AttachedView]:
        """Attach profiles, and return all that are attached now."""
        async with self._database.writing() as unit:
            application = await _found(unit, principal, application_id, Action.EDIT, for_change=True)
            await _require_profiles(unit, application.project_id, profile_ids)
            await unit.certificate_applications.attach(application.id, profile_ids, self._clock.now())
            await unit.audit(
                _event(
                    principal,
                    EventType.ATTACH_CERTIFICATE_PROFILES,
                    application,
                    profileIds=[*profile_ids],
                )
            )
            return await _attached(unit, application.id)

    async def detach(self, principal: Principal, application_id: str, profile_id: str) -> None:
        """Let go of a profile, with what is set for the two together."""
        async with self._database.writing() as unit:
            application = await _found(unit, principal, application_id, Action.EDIT, for_change=True)
            await _attached_one(unit, application.id, profile_id)
            await unit.enrollments.delete(profile_id, application.id)
            await unit.certificate_applications.detach(application.id, profile_id)
            await unit.audit(
                _event(principal, EventType.DETACH_CERTIFICATE_PROFILE, application, profileId=profile_id)
            )

    async def enrollment(self, principal: Principal, application_id: str, profile_id: str) -> AttachedView:
        """Return what is set for an application and a profile together."""
        async with self._database.reading() as unit:
            application = await _found(unit, principal, application_id, Action.READ)
            return await _attached_one(unit, application.id, profile_id)

    async def enroll(
        self, principal: Principal, application_id: str, profile_id: str, terms: EnrollmentTerms
    ) -> Enrollment:
        """Set one way of enrollment for an application and a profile together."""
        async with self._database.writing() as unit:
            application = await _found(unit, principal, application_id, Action.EDIT, for_change=True)
            view = await _attached_one(unit, application.id, profile_id)
            enrollment = await put_enrollment(
                unit,
                application.project_id,
                profile_id,
                application.id,
                terms,
                view.enrollments.values(),
                self._clock.now(),
            )
            await unit.audit(
                _event(
                    principal,
                    EventType.SET_CERTIFICATE_ENROLLMENT,
                    application,
                    profileId=profile_id,
                    enrollmentType=terms.kind.value,
                )
            )
            return enrollment

    async def unenroll(
        self, principal: Principal, application_id: str, profile_id: str, kind: EnrollmentType
    ) -> None:
        """Take away one way of enrollment, set or not, of an application and a profile together."""
        async with self._database.writing() as unit:
            application = await _found(unit, principal, application_id, Action.EDIT, for_change=True)
            await _attached_one(unit, application.id, profile_id)
            await unit.enrollments.delete(profile_id, application.id, kind)
            await unit.audit(
                _event(
                    principal,
                    EventType.REMOVE_CERTIFICATE_ENROLLMENT,
                    application,
                    profileId=profile_id,
                    enrollmentType=kind.value,
                )
            )


async def _found(
    unit: UnitOfWork, principal: Principal, application_id: str, action: Action, *, for_change: bool = False
) -> CertificateApplication:
    found = await unit.certificate_applications.get(application_id, for_change=for_change)
    application, _ = await access_to(unit, principal, found, _WHAT, action, Subject.CERTIFICATE_APPLICATIONS)
    return application


async def _attached(unit: UnitOfWork, application_id: str) -> list[AttachedView]:
    enrollments = await unit.enrollments.of_application(application_id)
    return [
        AttachedView(
            attached, {one.kind: one for one in enrollments if one.profile_id == attached.profile_id}
        )
        for attached in await unit.certificate_applications.profiles_of(application_id)
    ]


async def _attached_one(unit: UnitOfWork, application_id: str, profile_id: str) -> AttachedView:
    for view in await _attached(unit, application_id):
        if view.attached.profile_id == profile_id:
            return view
    raise NotFoundError(_NOT_ATTACHED)


async def _require_profiles(unit: UnitOfWork, project_id: ProjectId, profile_ids: Iterable[str]) -> None:
    wanted = list(profile_ids)
    found = await unit.certificate_profiles.by_ids(wanted)
    for profile_id in wanted:
        in_project(found.get(profile_id), project_id, _PROFILE)


async def _require_free_name(unit: UnitOfWork, project_id: ProjectId, name: str) -> None:
    if await unit.certificate_applications.named(project_id, name) is not None:
        raise InvalidError(f'Application with name "{name}" already exists in project')


def _event(
    principal: Principal, kind: EventType, application: CertificateApplication, /, **details: AuditDetail
) -> AuditEvent:
    return audited(
        principal,
        kind,
        application.project_id,
        applicationId=application.id,
        name=application.name,
        **details,
    )
