"""One unit of work: the repositories of one transaction, and what it moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, Self, TypeVar, overload

from sqlalchemy import BindParameter, bindparam, select, union_all, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId, OrganizationId, ProjectId
from keybearer.store.acme_accounts import AcmeAccounts
from keybearer.store.acme_challenges import AcmeChallenges
from keybearer.store.app_connections import AppConnections
from keybearer.store.audit import AuditEvent, AuditRecord
from keybearer.store.audit_chain.macs import AUDIT_KEY, AuditKeys
from keybearer.store.audit_chain.taking_in import begin_register
from keybearer.store.audit_chain.verification import AuditVerification, Known, check_audit_log
from keybearer.store.audit_chain.writing import AuditWriter
from keybearer.store.audit_log import AuditLog
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
from keybearer.store.columns import moved, reached
from keybearer.store.credential_resealing import CredentialResealing
from keybearer.store.credentials import Credentials
from keybearer.store.enrollments import Enrollments
from keybearer.store.folder_seals import FolderSeals
from keybearer.store.folders import Folders
from keybearer.store.former_places import FormerPlaces
from keybearer.store.former_slugs import FormerSlugs
from keybearer.store.grants import Grants
from keybearer.store.identities import Identities
from keybearer.store.imports import Imports
from keybearer.store.keys import Keys
from keybearer.store.login_failures import FailedLogins
from keybearer.store.pki_subscribers import PkiSubscribers
from keybearer.store.place_seals import PlaceSeals
from keybearer.store.project_seals import ProjectSeals
from keybearer.store.projects import Projects
from keybearer.store.pushes import Pushes
from keybearer.store.reference_bindings import ReferenceBindings
from keybearer.store.references import References
from keybearer.store.resealing import Resealing
from keybearer.store.revisions import Changes
from keybearer.store.root_keys import RootKeyring
from keybearer.store.seal_conversion import SealConversion
from keybearer.store.sealing.keyring import Keyring
from keybearer.store.secret_syncs import SecretSyncs
from keybearer.store.secrets import Secrets
from keybearer.store.sync_backlog import SyncBacklog
from keybearer.store.sync_claims import SyncClaims
from keybearer.store.sync_jobs import SyncJobs
from keybearer.store.sync_looks import SyncLooks
from keybearer.store.sync_names import SyncNames
from keybearer.store.tables.identities import IdentityRow, OrganizationRow
from keybearer.store.tables.projects import ProjectRow
from keybearer.store.tags import Tags
from keybearer.store.users import Users

__all__ = ["UnitOfWork"]

Repository = TypeVar("Repository")

# Each change begins with one of these: their statements are built once.
_MOVE_PROJECT = (
    update(ProjectRow)
    .where(ProjectRow.id == bindparam("moving"))
    .values(revision=moved(ProjectRow.revision))
    .returning(ProjectRow.revision, ProjectRow.places)
)
_MOVE_NAMES = (
    update(OrganizationRow)
    .where(OrganizationRow.id == bindparam("moving"))
    .values(names_revision=moved(OrganizationRow.names_revision))
    .returning(OrganizationRow.names_revision)
)
_MOVE_IDENTITY = (
    update(IdentityRow)
    .where(IdentityRow.id == bindparam("moving"))
    .values(permission_revision=moved(IdentityRow.permission_revision))
)
_WANTED: BindParameter[list[str]] = bindparam("wanted", expanding=True)
_REVISIONS = union_all(
    select(ProjectRow.id, ProjectRow.revision).where(ProjectRow.id.in_(_WANTED)),
    select(OrganizationRow.id, OrganizationRow.names_revision).where(OrganizationRow.id.in_(_WANTED)),
)


class _FirstUse(Generic[Repository]):
    """An attribute of a unit that is built when it is first used; the unit keeps it."""

    def __init__(self, build: Callable[[UnitOfWork], Repository]) -> None:
        self._build = build

    def __set_name__(self, owner: type[UnitOfWork], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, unit: None, owner: type[UnitOfWork]) -> Self: ...

    @overload
    def __get__(self, unit: UnitOfWork, owner: type[UnitOfWork]) -> Repository: ...

    def __get__(self, unit: UnitOfWork | None, owner: type[UnitOfWork]) -> Self | Repository:
        """Build the repository, and put it in the place of this attribute."""
        if unit is None:
            return self
        built = self._build(unit)
        unit.__dict__[self._name] = built
        return built


class UnitOfWork:
    """Repositories that share one transaction. Never used by two tasks, nor after its block.

    A transaction uses few repositories, so each is built when it is first used.

    The repositories of secrets and folders note in `changes` which lists they changed. Who changes imports says so:
    `unit.changes.folders.append(ListChange(ChangeKind.IMPORTS, project_id, environment, path))`; who changes more
    than single lists, a slug that references name say, adds the organization to `unit.changes.organizations`.
    """

    def __init__(
        self,
        connection: AsyncConnection,
        keyring: Keyring | None,
        clock: Clock,
        audit_writer: Callable[[], AuditWriter],
    ) -> None:
        self._connection = connection
        self._keyring = keyring
        self._audit_writer = audit_writer
        self._clock = clock
        self.changes = Changes()

    root_keys = _FirstUse(lambda self: RootKeyring(self._connection, self._keyring, self._clock))
    keys = _FirstUse(lambda self: Keys(self._connection, self._keyring, self.root_keys, self._clock))
    place_seals = _FirstUse(lambda self: PlaceSeals(self._connection, self.keys))
    folder_seals = _FirstUse(lambda self: FolderSeals(self._connection, self.keys, self.place_seals))
    resealing = _FirstUse(
        lambda self: Resealing(self._connection, self.keys, self.place_seals, self.folder_seals, self._clock)
    )
    seal_conversion = _FirstUse(
        lambda self: SealConversion(
            self._connection, self.keys, self.place_seals, self.folder_seals, self.resealing
        )
    )
    credential_resealing = _FirstUse(lambda self: CredentialResealing(self._connection, self.keys))
    identities = _FirstUse(lambda self: Identities(self._connection))
    users = _FirstUse(lambda self: Users(self._connection))
    failed_logins = _FirstUse(lambda self: FailedLogins(self._connection))
    credentials = _FirstUse(lambda self: Credentials(self._connection))
    auth_methods = _FirstUse(lambda self: AuthMethods(self._connection, self.keys))
    projects = _FirstUse(lambda self: Projects(self._connection, self.place_seals))
    former_slugs = _FirstUse(lambda self: FormerSlugs(self._connection))
    grants = _FirstUse(lambda self: Grants(self._connection))
    folders = _FirstUse(
        lambda self: Folders(self._connection, self.place_seals, self.folder_seals, self.changes)
    )
    imports = _FirstUse(lambda self: Imports(self._connection))
    tags = _FirstUse(lambda self: Tags(self._connection))
    audit_log = _FirstUse(lambda self: AuditLog(self._connection, self.changes, self._audit_writer()))
    secrets = _FirstUse(
        lambda self: Secrets(self._connection, self.keys, self.place_seals, self.folder_seals, self.changes)
    )
    references = _FirstUse(lambda self: References(self._connection))
    bindings = _FirstUse(lambda self: ReferenceBindings(self._connection))
    app_connections = _FirstUse(lambda self: AppConnections(self._connection, self.keys))
    secret_syncs = _FirstUse(lambda self: SecretSyncs(self._connection))
    sync_jobs = _FirstUse(lambda self: SyncJobs(self._connection, self.changes))
    sync_claims = _FirstUse(lambda self: SyncClaims(self._connection, self._clock))
    sync_backlog = _FirstUse(lambda self: SyncBacklog(self._connection))
    sync_looks = _FirstUse(lambda self: SyncLooks(self._connection))
    pushes = _FirstUse(lambda self: Pushes(self._connection))
    sync_names = _FirstUse(lambda self: SyncNames(self._connection))
    former_places = _FirstUse(lambda self: FormerPlaces(self._connection))
    _seals = _FirstUse(lambda self: ProjectSeals(self.keys))
    certificate_authorities = _FirstUse(lambda self: CertificateAuthorities(self._connection, self._seals))
    acme_accounts = _FirstUse(lambda self: AcmeAccounts(self._connection, self._seals))
    acme_challenges = _FirstUse(lambda self: AcmeChallenges(self._connection))
    certificate_policies = _FirstUse(lambda self: CertificatePolicies(self._connection))
    certificate_profiles = _FirstUse(lambda self: CertificateProfiles(self._connection, self._seals))
    enrollments = _FirstUse(lambda self: Enrollments(self._connection, self._seals))
    certificate_applications = _FirstUse(lambda self: CertificateApplications(self._connection))
    certificate_requests = _FirstUse(
        lambda self: CertificateRequests(self._connection, self._seals, self.changes)
    )
    certificate_request_claims = _FirstUse(lambda self: CertificateRequestClaims(self._connection))
    certificate_request_search = _FirstUse(lambda self: CertificateRequestSearch(self._connection))
    certificate_approvals = _FirstUse(lambda self: CertificateApprovals(self._connection))
    certificates = _FirstUse(lambda self: Certificates(self._connection, self._seals, self.changes))
    pki_subscribers = _FirstUse(lambda self: PkiSubscribers(self._connection))

    async def audit(self, event: AuditEvent) -> None:
        """Write down what this unit does: durable with it, undone with it."""
        await self.audit_log.add([AuditRecord.of(event, self._clock.now())])

    async def audit_writer(self, writer_id: str) -> AuditWriter:
        """Return the writer of this process's audit chains; the first call ever makes the key and the register."""
        is_first = await self.keys.found_server_key(AUDIT_KEY) is None
        keys = AuditKeys.of(await self.keys.server_key(AUDIT_KEY))
        writer = AuditWriter(keys, writer_id, self._clock)
        await begin_register(self._connection, writer, is_first=is_first)
        return writer

    async def verify_audit_log(self, known: Known | None) -> AuditVerification:
        """Return what the check of the audit log finds; without the log's key, it reports every line.

        Raises:
            ConfigurationError: the root key that wrapped its key was not given.
        """
        keys = AuditKeys.of(await self.keys.found_server_key(AUDIT_KEY) or b"")
        return await check_audit_log(self._connection, keys, known)

    async def store_audit(self) -> None:
        """Store the added lines right before the unit commits; tell `settle_audit` whether it did."""
        if "audit_log" in self.__dict__:
            await self.audit_log.store()

    def settle_audit(self, *, committed: bool | None) -> None:
        """Say whether the unit was committed; None if nobody knows."""
        if "audit_log" in self.__dict__:
            self.audit_log.settle(committed=committed)

    async def revisions(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the present revision of each project and of each organization's names that exists, by id."""
        rows = await self._connection.execute(_REVISIONS, {"wanted": list(ids)})
        return {row.id: row.revision for row in rows}

    async def move_project(self, project_id: ProjectId) -> None:
        """Raise the project's revision. Called before the change itself: it also queues writers."""
        if project_id in self.changes.revisions:
            return
        row = (await self._connection.execute(_MOVE_PROJECT, self._moving(project_id))).one_or_none()
        if row is not None:
            self.changes.revisions[project_id] = row.revision
            self.place_seals.hold(project_id, row.places)

    async def move_names(self, organization_id: OrganizationId) -> None:
        """Raise the revision of the organization's project slugs."""
        moving = self._moving(organization_id)
        revision: int = (await self._connection.execute(_MOVE_NAMES, moving)).scalar_one()
        self.changes.revisions[organization_id] = revision

    async def move_identity(self, identity_id: IdentityId) -> None:
        """Raise the revision of what the identity may do; caches of it are dropped."""
        await self._connection.execute(_MOVE_IDENTITY, self._moving(identity_id))
        self.changes.identities.add(identity_id)

    def drop_identity(self, identity_id: IdentityId) -> None:
        """Have caches forget the identity's tokens when this unit commits; what it may do stays."""
        self.changes.identities.add(identity_id)

    def drop_token(self, token_id: str) -> None:
        """Have caches forget the token when this unit commits."""
        self.changes.tokens.add(token_id)

    def _moving(self, moved_id: str) -> dict[str, object]:
        return {"moving": moved_id, **reached(self._clock.now())}
