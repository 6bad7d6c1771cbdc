"""Internal certificate authorities as people make, see, change and delete them (wire.md section 5.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from pydantic import JsonValue

from keybearer.base.certificate_terms import AuthorityKind, AuthorityStatus, AuthorityType
from keybearer.base.clock import Clock
from keybearer.base.ids import ProjectId, new_uuid
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.authority_lookup import authority_event, internal_authority
from keybearer.domain.certificates.authority_requests import (
    AuthorityChange,
    AuthorityView,
    Configuration,
    NewAuthority,
    NewAuthorityCertificate,
)
from keybearer.domain.certificates.authority_signing import AuthoritySigning
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.lookup import certificate_project
from keybearer.domain.errors import InvalidError
from keybearer.pki.errors import PkiError
from keybearer.store.audit import AuditDetail
from keybearer.store.certificate_authorities import CertificateAuthority
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import CERTIFICATE_OBJECTS_MAX

__all__ = ["CertificateAuthorities", "require_free_name", "require_room", "require_unused"]

_SUBJECT = Subject.CERTIFICATE_AUTHORITIES
_NAMED = 5
"""Authorities that a message names."""


class CertificateAuthorities:
    """Decides about certificate authorities.

    Every method raises NotFoundError for an authority or project that isn't there, and ForbiddenError where the
    principal may not. Keys are made and used with no transaction open.
    """

    def __init__(self, database: Database, work: KeyWork, clock: Clock) -> None:
        self._database = database
        self._work = work
        self._own = AuthoritySigning(work)
        self._clock = clock

    async def list(self, principal: Principal, project_id: str | None) -> Sequence[CertificateAuthority]:
        """Return the project's authorities of all kinds, by name."""
        async with self._database.reading() as unit:
            access = await certificate_project(unit, principal, project_id, Action.READ, _SUBJECT)
            return await unit.certificate_authorities.of_project(access.project.id)

    async def internal(self, principal: Principal, project_id: str | None) -> Sequence[AuthorityView]:
        """Return the project's internal authorities, by name."""
        async with self._database.reading() as unit:
            access = await certificate_project(unit, principal, project_id, Action.READ, _SUBJECT)
            found = await unit.certificate_authorities.of_project(access.project.id, AuthorityKind.INTERNAL)
            certificates = await unit.certificate_authorities.certificates(
                [one.certificate_id for one in found if one.certificate_id is not None]
            )
        return [
            AuthorityView(one, Configuration.of(one), certificates.get(one.certificate_id or ""))
            for one in found
        ]

    async def get(self, principal: Principal, authority_id: str) -> AuthorityView:
        """Return one internal authority."""
        async with self._database.reading() as unit:
            return await _view(unit, await internal_authority(unit, principal, authority_id, Action.READ))

    async def create(self, principal: Principal, new: NewAuthority) -> AuthorityView:
        """Make an internal authority; a root that is told until when has its certificate at once.

        Raises:
            InvalidError: the name is taken, the project has too many, or no such key or certificate can be made.
            LimitReachedError: too many keys are being made.
        """
        async with self._database.reading() as unit:
            await require_room(unit, principal, new.project_id, new.name)
        configuration, now = new.configuration, self._clock.now()
        try:
            key = await self._work.new_key(configuration.key_algorithm)
        except PkiError as error:
            raise InvalidError(str(error)) from error
        authority_id = new_uuid()
        certificate = None
        if configuration.type is AuthorityType.ROOT and new.not_after is not None:
            wanted = NewAuthorityCertificate(new.not_after, new.not_before, configuration.max_path_length)
            certificate = await self._own.root(authority_id, configuration, key, wanted, 1, now)
        async with self._database.writing() as unit:
            project_id = await require_room(unit, principal, new.project_id, new.name)
            authority = CertificateAuthority(
                id=authority_id,
                project_id=project_id,
                name=new.name,
                kind=AuthorityKind.INTERNAL,
                status=AuthorityStatus.PENDING_CERTIFICATE
                if certificate is None
                else configuration.once_certified,
                enable_direct_issuance=new.enable_direct_issuance,
                configuration=_kept(configuration),
                certificate_id=None if certificate is None else certificate.id,
                created_at=now,
                updated_at=now,
            )
            await unit.certificate_authorities.add(authority, key.der())
            if certificate is not None:
                await unit.certificate_authorities.add_certificate(certificate)
            await unit.audit(authority_event(principal, EventType.CREATE_CERTIFICATE_AUTHORITY, authority))
        return AuthorityView(authority, configuration, certificate)

    async def update(self, principal: Principal, authority_id: str, change: AuthorityChange) -> AuthorityView:
        """Change an authority; the status of one without a certificate is what it becomes with its first.

        Raises:
            InvalidError: the name is taken.
        """
        async with self._database.writing() as unit:
            authority = await internal_authority(unit, principal, authority_id, Action.EDIT, for_change=True)
            if change.name is not None and change.name != authority.name:
                await require_free_name(unit, authority.project_id, change.name)
            changed = replace(_changed(authority, change), updated_at=self._clock.now())
            configuration = Configuration.of(changed)
            await unit.certificate_authorities.update(changed)
            await unit.audit(
                authority_event(
                    principal,
                    EventType.UPDATE_CERTIFICATE_AUTHORITY,
                    changed,
                    **_audit_details(changed, configuration),
                )
            )
            return await _view(unit, changed)

    async def delete(self, principal: Principal, authority_id: str, *, force: bool = False) -> AuthorityView:
        """Remove an authority with its key; what it signed lives on.

        Args:
            principal: who asks.
            authority_id: which one.
            force: though nothing that it signed can be revoked from then on.

        Raises:
            InvalidError: a profile or a subscriber uses it, or what it signed is still valid and `force` isn't said.
        """
        async with self._database.writing() as unit:
            authority = await internal_authority(
                unit, principal, authority_id, Action.DELETE, for_change=True
            )
            await require_unused(unit, authority)
            now = self._clock.now()
            valid = await unit.certificates.count_valid(authority.id, now)
            below = await unit.certificate_authorities.names_below(authority.id, now)
            if (valid or below) and not force:
                raise InvalidError(_still_needed(authority, valid, below))
            view = await _view(unit, authority)
            await unit.certificate_authorities.delete(authority.id)
            await unit.audit(
                authority_event(
                    principal,
                    EventType.DELETE_CERTIFICATE_AUTHORITY,
                    authority,
                    stillValid=valid,
                    authoritiesBelow=len(below),
                )
            )
            return view


def _still_needed(authority: CertificateAuthority, valid: int, below: Sequence[str]) -> str:
    """Return why an authority had better stay: its key signs what tells of revocations."""
    shown = ", ".join(below[:_NAMED]) + (f" and {len(below) - _NAMED} more" if len(below) > _NAMED else "")
    parts = [
        *([f"certificates that it signed are still valid: {valid}"] if valid else []),
        *([f"authorities stand below it: {shown}"] if below else []),
    ]
    return (
        f"Certificate authority {authority.name} is still needed; {'; '.join(parts)}. Without it none of these can "
        "be revoked, and no list and no OCSP tells which were. Disable it, so that it signs no more; revoke them, "
        "delete those below it, or wait until they are over; or delete it all the same by force (force=true)"
    )


async def _view(unit: UnitOfWork, authority: CertificateAuthority) -> AuthorityView:
    certificate = (
        None
        if authority.certificate_id is None
        else await unit.certificate_authorities.certificate(authority.certificate_id)
    )
    return AuthorityView(authority, Configuration.of(authority), certificate)


async def require_room(
    unit: UnitOfWork, principal: Principal, project_id: str | None, name: str
) -> ProjectId:
    """Return the project in which an authority of that name may be made.

    Raises:
        NotFoundError: there is no such project.
        ForbiddenError: the principal may not make authorities there.
        InvalidError: the name is taken, or the project has too many.
    """
    access = await certificate_project(unit, principal, project_id, Action.CREATE, _SUBJECT)
    found_id = access.project.id
    if await unit.certificate_authorities.count_of(found_id) >= CERTIFICATE_OBJECTS_MAX:
        raise InvalidError(f"A project has at most {CERTIFICATE_OBJECTS_MAX} certificate authorities")
    await require_free_name(unit, found_id, name)
    return found_id


async def require_free_name(unit: UnitOfWork, project_id: ProjectId, name: str) -> None:
    """Let pass a name that no authority of the project has.

    Raises:
        InvalidError: one has it.
    """
    if await unit.certificate_authorities.named(project_id, name) is not None:
        raise InvalidError(f'Certificate authority with name "{name}" already exists in project')


async def require_unused(unit: UnitOfWork, authority: CertificateAuthority) -> None:
    """Let pass an authority that may be deleted.

    Raises:
        InvalidError: a profile or a subscriber uses it.
    """
    if await unit.certificate_authorities.is_used(authority.id):
        raise InvalidError(
            f"Certificate authority {authority.name} is in use by a certificate profile or a subscriber: "
            "delete or change that first"
        )


def _kept(configuration: Configuration) -> dict[str, JsonValue]:
    return {
        **asdict(configuration),
        "crl_distribution_point_urls": [*configuration.crl_distribution_point_urls],
    }


def _changed(authority: CertificateAuthority, change: AuthorityChange) -> CertificateAuthority:
    configuration = dict(authority.configuration)
    for name in ("friendly_name", "disable_managed_crl_distribution_point_url"):
        if getattr(change, name) is not None:
            configuration[name] = getattr(change, name)
    if change.crl_distribution_point_urls is not None:
        configuration["crl_distribution_point_urls"] = [*change.crl_distribution_point_urls]
    status = change.status or authority.status
    if change.status is not None and authority.certificate_id is None:
        configuration["once_certified"] = change.status
        is_wanted = change.status == AuthorityStatus.ACTIVE
        status = AuthorityStatus.PENDING_CERTIFICATE if is_wanted else authority.status
    return replace(
        authority,
        name=change.name or authority.name,
        status=status,
        enable_direct_issuance=authority.enable_direct_issuance
        if change.enable_direct_issuance is None
        else change.enable_direct_issuance,
        configuration=configuration,
    )


def _audit_details(authority: CertificateAuthority, configuration: Configuration) -> dict[str, AuditDetail]:
    """Return what the audit log tells of a changed authority: where clients look for what it revoked, above all."""
    return {
        "status": str(authority.status),
        "enableDirectIssuance": authority.enable_direct_issuance,
        "crlDistributionPointUrls": [*configuration.crl_distribution_point_urls],
        "disableManagedCrlDistributionPointUrl": configuration.disable_managed_crl_distribution_point_url,
    }
