"""What routes work with: built once at start, never changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from starlette.requests import Request

from keybearer.base.clock import Clock
from keybearer.destinations.catalogue import CATALOGUE, Catalogue
from keybearer.domain.admin import InstanceSetup, SetupDoor
from keybearer.domain.audit_list import AuditList
from keybearer.domain.audit_trail import DEFAULT_RETENTION, AuditTrail
from keybearer.domain.auth_methods import AuthMethods
from keybearer.domain.authentication import Authentication
from keybearer.domain.certificates.acme_accounts import AcmeSessions
from keybearer.domain.certificates.acme_authorities import AcmeAuthorities
from keybearer.domain.certificates.acme_challenges import AcmeChallenges
from keybearer.domain.certificates.acme_engine import AcmeEngine
from keybearer.domain.certificates.acme_revocation import AcmeRevocation
from keybearer.domain.certificates.applications import Applications
from keybearer.domain.certificates.approval import Approvals
from keybearer.domain.certificates.approval_policies import ApprovalPolicies
from keybearer.domain.certificates.authorities import CertificateAuthorities
from keybearer.domain.certificates.authority_certificates import AuthorityCertificates
from keybearer.domain.certificates.authority_revocation import AuthorityRevocation
from keybearer.domain.certificates.certificates import Certificates
from keybearer.domain.certificates.deciding import Deciding
from keybearer.domain.certificates.finishing import Finishing
from keybearer.domain.certificates.issuance import Issuance
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.lifecycle import CertificateLifecycle
from keybearer.domain.certificates.pointers import PublicPlaces
from keybearer.domain.certificates.policy_binding import PolicyBinding
from keybearer.domain.certificates.policy_service import CertificatePolicies
from keybearer.domain.certificates.profile_certificates import ProfileCertificates
from keybearer.domain.certificates.profiles import CertificateProfiles
from keybearer.domain.certificates.renewal import Renewal
from keybearer.domain.certificates.requests import CertificateRequests
from keybearer.domain.certificates.revocation_lists import RevocationLists
from keybearer.domain.certificates.signing import Signing
from keybearer.domain.certificates.status_answers import StatusAnswers
from keybearer.domain.certificates.status_signers import StatusSigners
from keybearer.domain.certificates.subscriber_issuance import SubscriberIssuance
from keybearer.domain.certificates.subscribers import PkiSubscribers
from keybearer.domain.connections.allowing import AllowedUse
from keybearer.domain.connections.proving import Proving
from keybearer.domain.connections.rotation import ConnectionRotation
from keybearer.domain.connections.service import AppConnections
from keybearer.domain.environments import Environments
from keybearer.domain.events import Events
from keybearer.domain.external_logins import ExternalLogins
from keybearer.domain.folders import Folders
from keybearer.domain.grants import ProjectGrants
from keybearer.domain.identities import Identities
from keybearer.domain.identity_memberships import IdentityMemberships
from keybearer.domain.key_rotation import KeyRotation
from keybearer.domain.lockouts import Lockouts
from keybearer.domain.memberships import UserMemberships
from keybearer.domain.outbound import Outbound, OutboundSettings, outbound_of
from keybearer.domain.passwords import Passwords
from keybearer.domain.projects import Projects
from keybearer.domain.secrets.dependents import dependent_changes
from keybearer.domain.secrets.entity_tags import EntityTags
from keybearer.domain.secrets.folder_imports import FolderImports
from keybearer.domain.secrets.history import SecretHistory
from keybearer.domain.secrets.moving import SecretMoving
from keybearer.domain.secrets.reading import SecretReading
from keybearer.domain.secrets.writing import SecretWriting
from keybearer.domain.server_keys import RootKeySource, ServerKeys
from keybearer.domain.syncs.asking import SyncRequests
from keybearer.domain.syncs.engine import SyncEngine
from keybearer.domain.syncs.jobs import JobTerms
from keybearer.domain.syncs.owners import SyncOwners
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.seeing import SyncedSecrets
from keybearer.domain.syncs.service import SecretSyncs
from keybearer.domain.syncs.triggers import SyncTriggers
from keybearer.domain.tags import Tags
from keybearer.domain.user_login import PasswordGate, UserLogins
from keybearer.domain.users import Users
from keybearer.server.list_cache import ListCache
from keybearer.store.database import Database

__all__ = ["ContextTerms", "ServiceContext", "build_context", "context_of"]

_CLOSED = SetupDoor()


@dataclass(frozen=True, slots=True)
class ContextTerms:
    """How the domain behaves where whoever runs the service may choose.

    Attributes:
        audit_retention: how long the audit log keeps its lines.
        audit_strict: whether readings of values are written down before they are answered.
        job_terms: how jobs of secret syncs are run.
        public_url: where everybody reaches the service; certificates say so. None: they say nothing.
        catalogue: where secrets can be pushed to.
    """

    audit_retention: timedelta = DEFAULT_RETENTION
    audit_strict: bool = False
    job_terms: JobTerms = field(default_factory=JobTerms)
    public_url: str | None = None
    catalogue: Catalogue = CATALOGUE


_USUAL = ContextTerms()


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """The domain, wired."""

    catalogue: Catalogue
    authentication: Authentication
    external_logins: ExternalLogins
    auth_methods: AuthMethods
    setup: InstanceSetup
    user_logins: UserLogins
    users: Users
    identity_memberships: IdentityMemberships
    memberships: UserMemberships
    identities: Identities
    projects: Projects
    environments: Environments
    folders: Folders
    tags: Tags
    imports: FolderImports
    reading: SecretReading
    writing: SecretWriting
    moving: SecretMoving
    history: SecretHistory
    lists: ListCache
    events: Events
    grants: ProjectGrants
    secret_syncs: SecretSyncs
    sync_requests: SyncRequests
    synced_secrets: SyncedSecrets
    sync_owners: SyncOwners
    sync_engine: SyncEngine
    audit: AuditTrail
    audit_list: AuditList
    key_rotation: KeyRotation
    app_connections: AppConnections
    allowed_use: AllowedUse
    connection_rotation: ConnectionRotation
    certificate_authorities: CertificateAuthorities
    acme_authorities: AcmeAuthorities
    acme_challenges: AcmeChallenges
    acme_engine: AcmeEngine
    authority_certificates: AuthorityCertificates
    certificate_policies: CertificatePolicies
    policy_binding: PolicyBinding
    certificate_profiles: CertificateProfiles
    profile_certificates: ProfileCertificates
    authority_revocation: AuthorityRevocation
    revocation_lists: RevocationLists
    status_answers: StatusAnswers
    certificate_applications: Applications
    issuance: Issuance
    certificates: Certificates
    certificate_requests: CertificateRequests
    approval_policies: ApprovalPolicies
    approvals: Approvals
    certificate_renewal: Renewal
    certificate_lifecycle: CertificateLifecycle
    pki_subscribers: PkiSubscribers
    subscriber_issuance: SubscriberIssuance


def build_context(
    database: Database,
    keys: ServerKeys,
    clock: Clock,
    door: SetupDoor = _CLOSED,
    terms: ContextTerms = _USUAL,
    outbound: Outbound | None = None,
    root_key: RootKeySource | None = None,
) -> ServiceContext:
    """Return the domain on this database.

    Args:
        database: prepared and unlocked.
        keys: of the service.
        clock: for all of it.
        door: who may set it up over the API while it is empty.
        terms: how it behaves.
        outbound: whom logins may ask; the open Internet by default.
        root_key: where new root keys appear; nowhere by default.
    """
    audit = AuditTrail(database, clock, retention=terms.audit_retention, strict=terms.audit_strict)
    passwords = Passwords()
    gate = PasswordGate(database, keys, passwords, clock)
    catalogue = terms.catalogue
    outbound = outbound or outbound_of(OutboundSettings(), clock, catalogue)
    authentication = Authentication(database, keys, clock)
    proving = Proving(outbound.remotes)
    app_connections = AppConnections(database, catalogue, proving, clock)
    writing = SecretWriting(database, clock)
    pushing = Pushing(
        database,
        catalogue,
        outbound.remotes,
        keys.sync_digests,
        writing,
        audit,
        clock,
        pace=terms.job_terms.pace,
    )
    key_work = KeyWork()
    # Apart: anybody may have lists and answers signed, and nobody's certificate is to wait for those.
    status_work = KeyWork()
    places = PublicPlaces(terms.public_url)
    status_signers = StatusSigners()
    signing = Signing(key_work, places.pointers)
    deciding = Deciding(signing, key_work, clock)
    issuance = Issuance(database, deciding, signing, clock)
    finishing = Finishing(deciding, signing, clock)
    acme = AcmeSessions(outbound.acme)
    triggers = SyncTriggers(database, pushing, clock, dependent_changes, terms.job_terms.start_delay)
    return ServiceContext(
        catalogue=catalogue,
        authentication=authentication,
        external_logins=ExternalLogins(database, keys, outbound, clock),
        auth_methods=AuthMethods(database, Lockouts(keys), clock),
        setup=InstanceSetup(database, keys, passwords, clock, door),
        user_logins=UserLogins(database, keys, gate, clock),
        users=Users(database, passwords, gate, clock),
        identity_memberships=IdentityMemberships(database, clock),
        memberships=UserMemberships(database, Lockouts(keys), clock),
        identities=Identities(database, keys, clock),
        projects=Projects(database, clock),
        environments=Environments(database, clock),
        folders=Folders(database, clock),
        tags=Tags(database, clock),
        imports=FolderImports(database, clock),
        reading=SecretReading(database, EntityTags(keys.entity_tags), audit),
        writing=writing,
        moving=SecretMoving(database, clock),
        history=SecretHistory(database, audit),
        lists=ListCache(database),
        events=Events(database, authentication, clock, dependent_changes),
        grants=ProjectGrants(database, clock),
        secret_syncs=SecretSyncs(database, catalogue, clock),
        sync_requests=SyncRequests(database, catalogue, clock),
        synced_secrets=SyncedSecrets(database, pushing),
        sync_owners=SyncOwners(database, catalogue, clock),
        sync_engine=SyncEngine(database, pushing, triggers, clock, terms.job_terms),
        audit=audit,
        audit_list=AuditList(database, audit),
        key_rotation=KeyRotation(database, root_key, clock),
        app_connections=app_connections,
        allowed_use=AllowedUse(database, catalogue, clock),
        connection_rotation=ConnectionRotation(database, catalogue, app_connections, proving, clock),
        certificate_authorities=CertificateAuthorities(database, key_work, clock),
        acme_authorities=AcmeAuthorities(database, acme, clock),
        acme_challenges=AcmeChallenges(database),
        acme_engine=AcmeEngine(database, acme, finishing, clock),
        authority_certificates=AuthorityCertificates(database, key_work, signing, places, clock),
        certificate_policies=CertificatePolicies(database, clock),
        policy_binding=PolicyBinding(database, clock),
        certificate_profiles=CertificateProfiles(database, clock),
        profile_certificates=ProfileCertificates(database, audit, clock),
        authority_revocation=AuthorityRevocation(database, clock),
        revocation_lists=RevocationLists(database, status_signers, status_work, clock),
        status_answers=StatusAnswers(database, status_signers, status_work, clock),
        certificate_applications=Applications(database, clock),
        issuance=issuance,
        certificates=Certificates(database, audit, clock),
        certificate_requests=CertificateRequests(database, audit, clock),
        approval_policies=ApprovalPolicies(database, clock),
        approvals=Approvals(database, finishing, clock),
        certificate_renewal=Renewal(database, deciding, issuance, key_work, audit, clock),
        certificate_lifecycle=CertificateLifecycle(database, AcmeRevocation(database, acme), clock),
        pki_subscribers=PkiSubscribers(database, clock),
        subscriber_issuance=SubscriberIssuance(database, signing, key_work, audit, clock),
    )


def context_of(request: Request) -> ServiceContext:
    """Return the context of the application that serves this request."""
    context: ServiceContext = request.app.state.context
    return context
