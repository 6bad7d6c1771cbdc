"""One unit of work: the repositories of one transaction, and what it moved."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select, union_all, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId, OrganizationId, ProjectId
from keybearer.store.acme_accounts import AcmeAccounts
from keybearer.store.acme_challenges import AcmeChallenges
from keybearer.store.app_connections import AppConnections
from keybearer.store.audit import AuditEvent, AuditLog, AuditRecord
from keybearer.store.auth_methods import AuthMethods
from keybearer.store.certificate_applications import CertificateApplications
from keybearer.store.certificate_approvals import CertificateApprovals
from keybearer.store.certificate_authorities import CertificateAuthorities
from keybearer.store.certificate_policies import CertificatePolicies
from keybearer.store.certificate_profiles import CertificateProfiles
from keybearer.store.certificate_request_claims import CertificateRequestClaims
from keybearer.store.certificate_request_search import CertificateRequestSearch
from keybearer.store.certificate_requests import CertificateRequests
from keybearer.store.certificates import Certificates
from keybearer.store.columns import moved
from keybearer.store.credential_resealing import CredentialResealing
from keybearer.store.credentials import Credentials
from keybearer.store.enrollments import Enrollments
from keybearer.store.folders import Folders
from keybearer.store.grants import Grants
from keybearer.store.identities import Identities
from keybearer.store.imports import Imports
from keybearer.store.keys import Keys
from keybearer.store.pki_subscribers import PkiSubscribers
from keybearer.store.project_seals import ProjectSeals
from keybearer.store.projects import Projects
from keybearer.store.pushes import Pushes
from keybearer.store.references import References
from keybearer.store.resealing import Resealing
from keybearer.store.revisions import Changes
from keybearer.store.root_keys import RootKeyring
from keybearer.store.sealing.keyring import Keyring
from keybearer.store.secret_syncs import SecretSyncs
from keybearer.store.secrets import Secrets
from keybearer.store.sync_claims import SyncClaims
from keybearer.store.sync_jobs import SyncJobs
from keybearer.store.tables.identities import IdentityRow, OrganizationRow
from keybearer.store.tables.projects import ProjectRow
from keybearer.store.tags import Tags
from keybearer.store.users import Users

__all__ = ["UnitOfWork"]


class UnitOfWork:
    """Repositories that share one transaction. Never used by two tasks, nor after its block.

    The repositories of secrets and folders note in `changes` which lists they changed. Who changes imports says so:
    `unit.changes.folders.append(ListChange(ChangeKind.IMPORTS, project_id, environment, path))`; who changes more
    than single lists, a slug that references name say, adds the organization to `unit.changes.organizations`.
    """

    def __init__(self, connection: AsyncConnection, keyring: Keyring | None, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self.changes = Changes()
        self.root_keys = RootKeyring(connection, keyring, clock)
        self.keys = Keys(connection, keyring, self.root_keys, clock)
        self.resealing = Resealing(connection, self.keys, clock)
        self.credential_resealing = CredentialResealing(connection, self.keys)
        self.identities = Identities(connection)
        self.users = Users(connection)
        self.credentials = Credentials(connection)
        self.auth_methods = AuthMethods(connection, self.keys)
        self.projects = Projects(connection)
        self.grants = Grants(connection)
        self.folders = Folders(connection, self.changes)
        self.imports = Imports(connection)
        self.tags = Tags(connection)
        self.audit_log = AuditLog(connection, self.changes)
        self.secrets = Secrets(connection, self.keys, self.changes)
        self.references = References(connection)
        self.app_connections = AppConnections(connection, self.keys)
        self.secret_syncs = SecretSyncs(connection)
        self.sync_jobs = SyncJobs(connection, self.changes)
        self.sync_claims = SyncClaims(connection, clock)
        self.pushes = Pushes(connection)
        seals = ProjectSeals(self.keys)
        self.certificate_authorities = CertificateAuthorities(connection, seals)
        self.acme_accounts = AcmeAccounts(connection, seals)
        self.acme_challenges = AcmeChallenges(connection)
        self.certificate_policies = CertificatePolicies(connection)
        self.certificate_profiles = CertificateProfiles(connection, seals)
        self.enrollments = Enrollments(connection, seals)
        self.certificate_applications = CertificateApplications(connection)
        self.certificate_requests = CertificateRequests(connection, seals, self.changes)
        self.certificate_request_claims = CertificateRequestClaims(connection)
        self.certificate_request_search = CertificateRequestSearch(connection)
        self.certificate_approvals = CertificateApprovals(connection)
        self.certificates = Certificates(connection, seals, self.changes)
        self.pki_subscribers = PkiSubscribers(connection)

    async def audit(self, event: AuditEvent) -> None:
        """Write down what this unit does: durable with it, undone with it."""
        await self.audit_log.add([AuditRecord.of(event, self._clock.now())])

    async def revisions(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the present revision of each project and of each organization's names that exists, by id."""
        wanted = list(ids)
        statement = union_all(
            select(ProjectRow.id, ProjectRow.revision).where(ProjectRow.id.in_(wanted)),
            select(OrganizationRow.id, OrganizationRow.names_revision).where(OrganizationRow.id.in_(wanted)),
        )
        return {row.id: row.revision for row in await self._connection.execute(statement)}

    async def move_project(self, project_id: ProjectId) -> None:
        """Raise the project's revision. Called before the change itself: it also queues writers."""
        if project_id in self.changes.revisions:
            return
        statement = (
            update(ProjectRow)
            .where(ProjectRow.id == project_id)
            .values(revision=moved(ProjectRow.revision, self._clock.now()))
            .returning(ProjectRow.revision)
        )
        revision = (await self._connection.execute(statement)).scalar_one_or_none()
        if revision is not None:
            self.changes.revisions[project_id] = revision

    async def move_names(self, organization_id: OrganizationId) -> None:
        """Raise the revision of the organization's project slugs."""
        statement = (
            update(OrganizationRow)
            .where(OrganizationRow.id == organization_id)
            .values(names_revision=moved(OrganizationRow.names_revision, self._clock.now()))
            .returning(OrganizationRow.names_revision)
        )
        revision = (await self._connection.execute(statement)).scalar_one()
        self.changes.revisions[organization_id] = revision

    async def move_identity(self, identity_id: IdentityId) -> None:
        """Raise the revision of what the identity may do; caches of it are dropped."""
        statement = (
            update(IdentityRow)
            .where(IdentityRow.id == identity_id)
            .values(permission_revision=moved(IdentityRow.permission_revision, self._clock.now()))
        )
        await self._connection.execute(statement)
        self.changes.identities.add(identity_id)

    def drop_token(self, token_id: str) -> None:
        """Have caches forget the token when this unit commits."""
        self.changes.tokens.add(token_id)
