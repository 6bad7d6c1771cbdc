"""What a client can be asked, by group: `client.secrets`, `client.projects`.

A group is loaded when it is first used: a process uses few of them, and all together take about as long to load as
the libraries below.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Generic

from keybearer.client.resources import Shell

if TYPE_CHECKING:
    from keybearer.client.groups.app_connections import AppConnectionsApi
    from keybearer.client.groups.audit_logs import AuditLogsApi
    from keybearer.client.groups.auth import AuthApi
    from keybearer.client.groups.certificate_approvals import ApprovalPoliciesApi, ApprovalRequestsApi
    from keybearer.client.groups.certificate_holders import CertificateApplicationsApi, PkiSubscribersApi
    from keybearer.client.groups.certificate_setup import (
        CertificateAuthoritiesApi,
        CertificatePoliciesApi,
        CertificateProfilesApi,
    )
    from keybearer.client.groups.certificates import CertificateRequestsApi, CertificatesApi
    from keybearer.client.groups.environments import EnvironmentsApi
    from keybearer.client.groups.folders import FoldersApi
    from keybearer.client.groups.grants import GrantsApi
    from keybearer.client.groups.identities import IdentitiesApi
    from keybearer.client.groups.imports import ImportsApi
    from keybearer.client.groups.keys import KeysApi
    from keybearer.client.groups.memberships import MembershipsApi
    from keybearer.client.groups.organizations import OrganizationsApi
    from keybearer.client.groups.projects import ProjectsApi
    from keybearer.client.groups.secret_syncs import SecretSyncsApi
    from keybearer.client.groups.secrets import SecretsApi
    from keybearer.client.groups.status import StatusApi
    from keybearer.client.groups.tags import TagsApi
    from keybearer.client.groups.users import UsersApi

__all__ = ["Groups"]


class Groups(ABC, Generic[Shell]):
    """A client's groups, each made when it is first used."""

    @abstractmethod
    def _shell(self) -> Shell:
        """Return what takes the calls."""

    @cached_property
    def auth(self) -> AuthApi[Shell]:
        """Logging in, and the token in use (interface.md section 4.9)."""
        from keybearer.client.groups.auth import AuthApi

        return AuthApi(self._shell())

    @cached_property
    def secrets(self) -> SecretsApi[Shell]:
        """Secrets (interface.md section 4.8)."""
        from keybearer.client.groups.secrets import SecretsApi

        return SecretsApi(self._shell())

    @cached_property
    def projects(self) -> ProjectsApi[Shell]:
        """Projects."""
        from keybearer.client.groups.projects import ProjectsApi

        return ProjectsApi(self._shell())

    @cached_property
    def environments(self) -> EnvironmentsApi[Shell]:
        """Environments of projects."""
        from keybearer.client.groups.environments import EnvironmentsApi

        return EnvironmentsApi(self._shell())

    @cached_property
    def folders(self) -> FoldersApi[Shell]:
        """Folders of environments."""
        from keybearer.client.groups.folders import FoldersApi

        return FoldersApi(self._shell())

    @cached_property
    def imports(self) -> ImportsApi[Shell]:
        """What folders take from others of their project."""
        from keybearer.client.groups.imports import ImportsApi

        return ImportsApi(self._shell())

    @cached_property
    def tags(self) -> TagsApi[Shell]:
        """Tags of projects."""
        from keybearer.client.groups.tags import TagsApi

        return TagsApi(self._shell())

    @cached_property
    def identities(self) -> IdentitiesApi[Shell]:
        """Machine identities, and how they log in."""
        from keybearer.client.groups.identities import IdentitiesApi

        return IdentitiesApi(self._shell())

    @cached_property
    def memberships(self) -> MembershipsApi[Shell]:
        """The roles that identities and users have in a project."""
        from keybearer.client.groups.memberships import MembershipsApi

        return MembershipsApi(self._shell())

    @cached_property
    def grants(self) -> GrantsApi[Shell]:
        """What members may do in parts of a project."""
        from keybearer.client.groups.grants import GrantsApi

        return GrantsApi(self._shell())

    @cached_property
    def audit_logs(self) -> AuditLogsApi[Shell]:
        """What was done, and by whom."""
        from keybearer.client.groups.audit_logs import AuditLogsApi

        return AuditLogsApi(self._shell())

    @cached_property
    def users(self) -> UsersApi[Shell]:
        """People."""
        from keybearer.client.groups.users import UsersApi

        return UsersApi(self._shell())

    @cached_property
    def organizations(self) -> OrganizationsApi[Shell]:
        """Organizations."""
        from keybearer.client.groups.organizations import OrganizationsApi

        return OrganizationsApi(self._shell())

    @cached_property
    def app_connections(self) -> AppConnectionsApi[Shell]:
        """Credentials for remotes, that syncs push with."""
        from keybearer.client.groups.app_connections import AppConnectionsApi

        return AppConnectionsApi(self._shell())

    @cached_property
    def secret_syncs(self) -> SecretSyncsApi[Shell]:
        """What pushes the secrets of folders to remotes."""
        from keybearer.client.groups.secret_syncs import SecretSyncsApi

        return SecretSyncsApi(self._shell())

    @cached_property
    def certificates(self) -> CertificatesApi[Shell]:
        """Certificates (interface.md section 4.5)."""
        from keybearer.client.groups.certificates import CertificatesApi

        return CertificatesApi(self._shell())

    @cached_property
    def certificate_requests(self) -> CertificateRequestsApi[Shell]:
        """What certificates were asked for, and how that stands (interface.md section 4.6)."""
        from keybearer.client.groups.certificates import CertificateRequestsApi

        return CertificateRequestsApi(self._shell())

    @cached_property
    def certificate_profiles(self) -> CertificateProfilesApi[Shell]:
        """What certificates are issued from (interface.md section 4.7)."""
        from keybearer.client.groups.certificate_setup import CertificateProfilesApi

        return CertificateProfilesApi(self._shell())

    @cached_property
    def certificate_policies(self) -> CertificatePoliciesApi[Shell]:
        """What may be asked for of certificates."""
        from keybearer.client.groups.certificate_setup import CertificatePoliciesApi

        return CertificatePoliciesApi(self._shell())

    @cached_property
    def certificate_authorities(self) -> CertificateAuthoritiesApi[Shell]:
        """Who signs certificates."""
        from keybearer.client.groups.certificate_setup import CertificateAuthoritiesApi

        return CertificateAuthoritiesApi(self._shell())

    @cached_property
    def certificate_applications(self) -> CertificateApplicationsApi[Shell]:
        """What has certificates of its own."""
        from keybearer.client.groups.certificate_holders import CertificateApplicationsApi

        return CertificateApplicationsApi(self._shell())

    @cached_property
    def pki_subscribers(self) -> PkiSubscribersApi[Shell]:
        """Whose certificates all say the same (interface.md section 4.10)."""
        from keybearer.client.groups.certificate_holders import PkiSubscribersApi

        return PkiSubscribersApi(self._shell())

    @cached_property
    def approval_policies(self) -> ApprovalPoliciesApi[Shell]:
        """Whose agreement certificate requests need."""
        from keybearer.client.groups.certificate_approvals import ApprovalPoliciesApi

        return ApprovalPoliciesApi(self._shell())

    @cached_property
    def approval_requests(self) -> ApprovalRequestsApi[Shell]:
        """Certificate requests that need agreement."""
        from keybearer.client.groups.certificate_approvals import ApprovalRequestsApi

        return ApprovalRequestsApi(self._shell())

    @cached_property
    def keys(self) -> KeysApi[Shell]:
        """The keys that seal what the embedded service stores."""
        from keybearer.client.groups.keys import KeysApi

        return KeysApi(self._shell())

    @cached_property
    def status(self) -> StatusApi[Shell]:
        """Whether the service is up."""
        from keybearer.client.groups.status import StatusApi

        return StatusApi(self._shell())
