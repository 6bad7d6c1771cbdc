"""The domain of issuance on a database of its own, without HTTP."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Generic, TypeVar

from keybearer.base.certificate_terms import KeyAlgorithm, KeyUsage
from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId, OrganizationId, ProjectId, new_uuid
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import OrganizationRole, Principal
from keybearer.domain.certificates.approval import Approvals
from keybearer.domain.certificates.deciding import Deciding, NewCertificate
from keybearer.domain.certificates.finishing import Finishing
from keybearer.domain.certificates.issuance import Issuance, IssuedCertificate
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.renewal import Renewal
from keybearer.domain.certificates.signing import Signing
from keybearer.domain.projects import NewProject, Projects
from keybearer.domain.server_keys import RootKeySource, unlock
from keybearer.pki.issuance import Template, new_serial_number, self_sign
from keybearer.pki.keys import generate_private_key
from keybearer.pki.names import Subject
from keybearer.store.certificate_approvals import ApprovalPolicy
from keybearer.store.certificate_authorities import AuthorityCertificate, CertificateAuthority
from keybearer.store.certificate_policies import CertificatePolicy
from keybearer.store.certificate_profiles import CertificateProfile
from keybearer.store.certificates import Certificate
from keybearer.store.database import Database
from keybearer.store.engines import sqlite_url
from keybearer.store.enrollments import Enrollment
from keybearer.store.records import Identity, Organization
from keybearer.store.sealing.envelope import new_key_material
from keybearer.wire.certificates.attributes import CertificateAttributes

__all__ = ["IssuingDomain", "issuing_domain"]


ClockT = TypeVar("ClockT", bound=Clock)


@dataclass
class IssuingDomain(Generic[ClockT]):
    """A service's domain by this clock, with a profile whose certificates renew ten days before their end."""

    time: ClockT
    database: Database
    admin: Principal
    project_id: ProjectId
    profile_id: str
    policy: CertificatePolicy
    issuance: Issuance
    renewal: Renewal
    approvals: Approvals
    audit: AuditTrail

    async def issue(self, days: int = 30) -> IssuedCertificate:
        """Issue a certificate with a key of the service."""
        attributes = {"commonName": "a", "ttl": f"{days}d", "keyAlgorithm": "EC_prime256v1"}
        new = NewCertificate(self.profile_id, CertificateAttributes.model_validate(attributes))
        return await self.issuance.issue(self.admin, new)

    async def certificate(self, certificate_id: str) -> Certificate:
        """Return a certificate that is there."""
        async with self.database.reading() as unit:
            found = await unit.certificates.get(certificate_id)
        if found is None:
            raise LookupError(f"there is no certificate {certificate_id}")
        return found

    async def need_approval(self, ttl: int | None) -> None:
        """Have requests need one agreement, for so many seconds."""
        now = self.time.now()
        async with self.database.writing() as unit:
            await unit.certificate_approvals.add_policy(
                ApprovalPolicy(
                    id=new_uuid(),
                    project_id=self.project_id,
                    profile_id=self.profile_id,
                    name="p",
                    is_enabled=True,
                    required_approvals=1,
                    approver_ids=(),
                    bypass_identity_ids=(),
                    allow_self_approval=False,
                    request_ttl=ttl,
                    created_at=now,
                    updated_at=now,
                )
            )


@asynccontextmanager
async def issuing_domain(directory: Path, time: ClockT) -> AsyncIterator[IssuingDomain[ClockT]]:
    """Yield the domain on a fresh database in the directory."""
    database = Database(sqlite_url(directory / "keybearer.db"), time)
    await database.prepare()
    root_key = base64.b64encode(new_key_material()).decode()
    await unlock(database, RootKeySource(directory / "root.key", root_key))
    now = time.now()
    organization = Organization(OrganizationId(new_uuid()), "Home", "home", 1, now)
    identity = Identity(IdentityId(new_uuid()), organization.id, "admin", OrganizationRole.ADMIN, 1, now, now)
    async with database.writing() as unit:
        await unit.identities.add_organization(organization)
        await unit.identities.add(identity)
    admin = Principal(identity.id, organization.id, OrganizationRole.ADMIN, 1, "token")
    new = NewProject("c", "c", None, "cert-manager", default_environments=False, delete_protection=False)
    project_id = (await Projects(database, time).create(admin, new)).project.id
    policy = CertificatePolicy(new_uuid(), project_id, "policy", None, {}, now, now)
    profile_id = await _furnish(database, project_id, policy)
    work = KeyWork()
    signing = Signing(work)
    deciding = Deciding(signing, work, time)
    issuance = Issuance(database, deciding, signing, time)
    audit = AuditTrail(database, time)
    yield IssuingDomain(
        time,
        database,
        admin,
        project_id,
        profile_id,
        policy,
        issuance,
        Renewal(database, deciding, issuance, work, audit, time),
        Approvals(database, Finishing(deciding, signing, time), time),
        audit,
    )
    await database.close()


async def _furnish(database: Database, project_id: ProjectId, policy: CertificatePolicy) -> str:
    now, end = policy.created_at, policy.created_at + timedelta(days=3650)
    key = generate_private_key(KeyAlgorithm.EC_P256)
    usages = frozenset({KeyUsage.KEY_CERT_SIGN, KeyUsage.CRL_SIGN})
    root = self_sign(
        Template(Subject.of("Root"), now, end, new_serial_number(), key_usages=usages, is_ca=True), key
    )
    authority = CertificateAuthority(
        id=new_uuid(),
        project_id=project_id,
        name="root",
        kind="internal",
        status="active",
        enable_direct_issuance=True,
        configuration={},
        certificate_id=None,
        created_at=now,
        updated_at=now,
    )
    own = AuthorityCertificate(
        new_uuid(), authority.id, None, 1, root.pem, "", root.serial, "", None, now, end, now
    )
    profile = CertificateProfile(
        new_uuid(), project_id, policy.id, authority.id, "web", None, "ca", "api", None, None, now, now
    )
    settings = {"autoRenew": True, "renewBeforeDays": 10}
    async with database.writing() as unit:
        await unit.certificate_authorities.add(replace(authority, certificate_id=own.id), key.der())
        await unit.certificate_authorities.add_certificate(own)
        await unit.certificate_policies.add(policy)
        await unit.certificate_profiles.add(profile)
        await unit.enrollments.put(
            Enrollment(new_uuid(), project_id, profile.id, None, "api", settings, now, now)
        )
    return profile.id
