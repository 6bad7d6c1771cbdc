"""All tables in one place: what migrations are compared with."""

from __future__ import annotations

from sqlalchemy import MetaData, Table

from keybearer.store.tables.app_connections import AppConnectionRow
from keybearer.store.tables.audit import AuditChainRow, AuditLogRow, AuditRegisterRow
from keybearer.store.tables.auth_methods import KubernetesAuthRow, LdapAuthRow
from keybearer.store.tables.base import Row
from keybearer.store.tables.certificate_approvals import (
    ApprovalPolicyRow,
    ApprovalRequestRow,
    ApprovalVoteRow,
)
from keybearer.store.tables.certificate_authorities import (
    AcmeAccountRow,
    AuthorityCertificateRow,
    CertificateAuthorityRow,
    RevocationListRow,
)
from keybearer.store.tables.certificate_profiles import (
    ApplicationProfileRow,
    CertificateApplicationRow,
    CertificatePolicyRow,
    CertificateProfileRow,
    EnrollmentRow,
)
from keybearer.store.tables.certificates import (
    AcmeChallengeRow,
    CertificateRequestRow,
    CertificateRow,
    PkiSubscriberRow,
    RequestMetadataRow,
)
from keybearer.store.tables.grants import GRANTS
from keybearer.store.tables.identities import (
    AccessTokenRow,
    ClientSecretRow,
    IdentityRow,
    OrganizationRow,
    UniversalAuthRow,
)
from keybearer.store.tables.imports import IMPORTS
from keybearer.store.tables.keys import (
    DataKeyRow,
    KeyHolderRow,
    KeyRotationRow,
    RootKeyRow,
    ServerKeyRow,
)
from keybearer.store.tables.projects import (
    EnvironmentRow,
    FolderRow,
    FormerSlugRow,
    MembershipRow,
    ProjectRow,
)
from keybearer.store.tables.secret_syncs import (
    FormerPlaceRow,
    FormerPushRow,
    PushRow,
    SecretSyncRow,
    SyncJobRow,
    SyncNameRow,
)
from keybearer.store.tables.secrets import (
    ReferenceBindingRow,
    SecretReferenceRow,
    SecretRow,
    SecretTagRow,
    SecretVersionRow,
)
from keybearer.store.tables.users import LoginFailureRow, UserRow
from keybearer.store.tags import TAGS

__all__ = ["TABLES", "schema"]

_ROWS: tuple[type[Row], ...] = (
    OrganizationRow,
    IdentityRow,
    UniversalAuthRow,
    ClientSecretRow,
    AccessTokenRow,
    KubernetesAuthRow,
    LdapAuthRow,
    UserRow,
    LoginFailureRow,
    ProjectRow,
    FormerSlugRow,
    MembershipRow,
    EnvironmentRow,
    FolderRow,
    ServerKeyRow,
    DataKeyRow,
    RootKeyRow,
    KeyHolderRow,
    KeyRotationRow,
    SecretRow,
    SecretVersionRow,
    SecretTagRow,
    SecretReferenceRow,
    ReferenceBindingRow,
    AuditLogRow,
    AuditChainRow,
    AuditRegisterRow,
    AppConnectionRow,
    SecretSyncRow,
    SyncJobRow,
    PushRow,
    SyncNameRow,
    FormerPlaceRow,
    FormerPushRow,
    CertificateAuthorityRow,
    AuthorityCertificateRow,
    RevocationListRow,
    AcmeAccountRow,
    CertificatePolicyRow,
    CertificateProfileRow,
    CertificateApplicationRow,
    ApplicationProfileRow,
    EnrollmentRow,
    PkiSubscriberRow,
    CertificateRow,
    CertificateRequestRow,
    RequestMetadataRow,
    AcmeChallengeRow,
    ApprovalPolicyRow,
    ApprovalRequestRow,
    ApprovalVoteRow,
)
TABLES: tuple[Table, ...] = (
    *(Row.metadata.tables[row.__tablename__] for row in _ROWS),
    GRANTS,
    IMPORTS,
    TAGS,
)


def schema() -> MetaData:
    """Return the metadata with every table of `TABLES`."""
    return Row.metadata
